"""References: inlined, or kept under `$defs` where that would not end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from ethos_registry.schema._compilation import (
    ABOUT,
    MAX_LEVELS,
    MAX_NODES,
    Compilation,
    NoSchemaError,
)
from ethos_registry.schema._conjunction import both, compact
from ethos_registry.schema._drafts import has_old_references, node_of_2020_12
from ethos_registry.types._schema_rules import SCHEMA, SCHEMA_LISTS, SCHEMAS_BY_NAME

_KEPT_CHARS = 2_000
"""Up to this length, references are inlined even if that more than doubles the schema."""
_CUT_LEVELS = 3
"""How often a recursive definition is written out where a provider has no references."""


class _TooLargeError(Exception):
    """Inlining would write out too many schemas."""


class References:
    """Writes a schema in the words of 2020-12 with its references inlined."""

    def __init__(self, compiler: Compilation, *, keeps_all: bool = False) -> None:
        self.compiler = compiler
        self.root = compiler.author
        self.keeps_all = keeps_all
        self.keeps_definitions = compiler.dialect.keeps_definitions
        self.old = has_old_references(self.root)
        self.names: dict[str, str] = {}
        self.nodes = 0
        self.inlined = False

    def resolved(self) -> Any:
        """The root; definitions that stay are with the compiler."""
        compiler = self.compiler
        try:
            written = self.written(self.root, (), MAX_LEVELS)
        except _TooLargeError:
            if self.keeps_all or not self.keeps_definitions:
                raise NoSchemaError(f"its references lead to over {MAX_NODES:,} schemas") from None
            written = None
        if self.keeps_all or not self.inlined:
            return written
        if self.keeps_definitions:
            size, limit = 0, max(2 * len(compact(self.root)), _KEPT_CHARS)
            if written is not None:
                size = len(compact([written, compiler.definitions]))
            if written is None or size > limit:
                compiler.definitions.clear()
                compiler.say("rewritten", "", "`$defs` stay: inlining would more than double it")
                return References(compiler, keeps_all=True).resolved()
        compiler.say("rewritten", "", "references are inlined")
        return written

    def written(self, value: Any, stack: tuple[str, ...], levels: int) -> Any:
        """A schema with all that is in it."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise _TooLargeError
        if levels == 0:
            raise NoSchemaError(f"it is nested deeper than {MAX_LEVELS} levels")
        node = node_of_2020_12(value, self._say, old_references=self.old)
        if not isinstance(node, dict):
            return node
        node.pop("$defs", None)
        pointer = node.pop("$ref", None)
        for keyword, inner in node.items():
            if keyword in SCHEMAS_BY_NAME:
                node[keyword] = {
                    name: self.written(item, stack, levels - 1) for name, item in inner.items()
                }
            elif keyword in SCHEMA_LISTS:
                node[keyword] = [self.written(item, stack, levels - 1) for item in inner]
            elif keyword in SCHEMA:
                node[keyword] = self.written(inner, stack, levels - 1)
        return node if pointer is None else self._referred(pointer, node, stack, levels)

    def _referred(
        self, reference: str, node: dict[str, Any], stack: tuple[str, ...], levels: int
    ) -> Any:
        pointer = self.pointer(reference)
        is_recursive = pointer in self.recursive
        if self.keeps_definitions and (self.keeps_all or is_recursive):
            if is_recursive:
                self.compiler.say("rewritten", "", "recursive definitions stay as `$defs`")
            return {"$ref": f"#/$defs/{self._definition(pointer)}", **node}
        self.inlined = True
        if stack.count(pointer) >= _CUT_LEVELS:
            self.compiler.say("rewritten", "", f"recursion is cut after {_CUT_LEVELS} levels")
            self.compiler.widened += 1
            target = node_of_2020_12(self.target(pointer))
            cut = {"type": target["type"]} if isinstance(target, dict) and "type" in target else {}
            return {**cut, **{name: node[name] for name in node if name in ABOUT}}
        target = self.written(self.target(pointer), (*stack, pointer), levels - 1)
        merged = both(target, node)
        if merged is not None:
            return merged
        about = {name: node.pop(name) for name in list(node) if name in ABOUT}
        return {**about, "allOf": [target, node]}

    def _definition(self, pointer: str) -> str:
        """The name under which a definition stays."""
        name = self.names.get(pointer)
        if name is None:
            last = "Arguments" if pointer == "#" else unquote(pointer.rpartition("/")[2])
            base = name = re.sub(r"[^A-Za-z0-9_.-]", "_", last.replace("~1", "/")) or "Definition"
            number = 2
            while name in self.names.values():
                name, number = f"{base}_{number}", number + 1
            self.names[pointer] = name
            self.compiler.definitions[name] = {}
            self.compiler.definitions[name] = self.written(self.target(pointer), (), MAX_LEVELS)
        return name

    def _say(self, message: str) -> None:
        self.compiler.say("rewritten", "", message)

    def pointer(self, reference: str) -> str:
        """The place that a reference names: `#` or `#/...`."""
        return pointer_of(self.root, reference)

    def target(self, pointer: str) -> Any:
        """The author's schema at a place."""
        return schema_at(self.root, pointer)

    @cached_property
    def recursive(self) -> frozenset[str]:
        """The places that lead back to themselves."""
        edges: dict[str, set[str]] = {}
        open_ = {self.pointer(reference) for reference in references_in(self.root)}
        if not open_:
            return frozenset()
        while open_:
            pointer = open_.pop()
            if pointer not in edges:
                edges[pointer] = {self.pointer(r) for r in references_in(self.target(pointer))}
                open_ |= edges[pointer]
        recursive = set()
        for pointer in edges:
            seen: set[str] = set()
            todo = list(edges[pointer])
            while todo:
                other = todo.pop()
                if other == pointer:
                    recursive.add(pointer)
                    break
                if other not in seen:
                    seen.add(other)
                    todo.extend(edges[other])
        return frozenset(recursive)


_SAME_PLACE = {"$defs": "definitions", "definitions": "$defs"}


def children(node: dict[str, Any]) -> Iterator[Any]:
    """Each schema directly in a schema; not those under `$defs`."""
    for keyword, value in node.items():
        if keyword in SCHEMAS_BY_NAME or keyword == "dependencies":
            if keyword != "$defs" and keyword != "definitions" and isinstance(value, dict):
                yield from value.values()
        elif (keyword in SCHEMA_LISTS or keyword == "items") and isinstance(value, list):
            yield from value
        elif keyword in SCHEMA:
            yield value


def inner_schemas(schema: Any) -> Iterator[tuple[str, Any]]:
    """Each schema directly in a schema, with the steps to it; not those under `$defs`."""
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        if keyword in ("$defs", "definitions"):
            continue
        if (keyword in SCHEMAS_BY_NAME or keyword == "dependencies") and isinstance(value, dict):
            for name, item in value.items():
                step = name.replace("~", "~0").replace("/", "~1")
                yield f"/{keyword}/{step}", item
        elif (keyword in SCHEMA_LISTS or keyword == "items") and isinstance(value, list):
            for index, item in enumerate(value):
                yield f"/{keyword}/{index}", item
        elif keyword in SCHEMA:
            yield f"/{keyword}", value


def references_in(schema: Any) -> Iterator[str]:
    """The references in a schema, not those under its `$defs`."""
    todo = [(schema, MAX_LEVELS)]
    while todo:
        node, levels = todo.pop()
        if not isinstance(node, dict) or levels == 0:
            continue
        yield from references_of(node)
        todo += [(inner, levels - 1) for inner in children(node)]


def references_of(schema: Mapping[str, Any]) -> Iterator[str]:
    """The references of one schema, not those inside it."""
    for keyword in ("$ref", "$recursiveRef", "$dynamicRef"):
        if isinstance(schema.get(keyword), str):
            yield schema[keyword]


def pointer_of(root: Mapping[str, Any], reference: str) -> str:
    """The place in a schema that a reference in it names: `#` or `#/...`, without escapes of URIs.

    Raises `NoSchemaError` if it leads nowhere, or to another document.
    """
    document, _, fragment = reference.partition("#")
    own = root.get("$id", root.get("id"))
    if document and document != own:
        raise NoSchemaError(f"$ref leads to another document: {document}")
    if not fragment:
        return "#"
    if not fragment.startswith("/"):
        found = _anchor(root, fragment, "#")
        if found is None:
            raise NoSchemaError(f"$ref leads nowhere ({reference})")
        return found
    pointer = f"#{unquote(fragment)}"
    schema_at(root, pointer)
    return pointer


def schema_at(root: Mapping[str, Any], pointer: str) -> Any:
    """The schema at a place; raises `NoSchemaError` if there is none."""
    value: Any = root
    for step in pointer[2:].split("/") if len(pointer) > 1 else ():
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, Mapping) and key in _SAME_PLACE and _SAME_PLACE[key] in value:
            value = value[_SAME_PLACE[key]]
        elif isinstance(value, list | tuple) and key.isascii() and key.isdigit():
            value = value[int(key)] if int(key) < len(value) else None
        else:
            raise NoSchemaError(f"$ref leads nowhere ({pointer})")
    if not isinstance(value, Mapping | bool):
        raise NoSchemaError(f"$ref leads to what is not a schema ({pointer})")
    return value


def _anchor(schema: Any, name: str, place: str, levels: int = MAX_LEVELS) -> str | None:
    """The place of a schema with this `$anchor`."""
    if not isinstance(schema, dict) or levels == 0:
        return None
    if (
        name in (schema.get("$anchor"), schema.get("$dynamicAnchor"))
        or schema.get("$id") == f"#{name}"
    ):
        return place
    named = [
        (f"/{keyword}/{key.replace('~', '~0').replace('/', '~1')}", item)
        for keyword in ("$defs", "definitions")
        for key, item in (schema.get(keyword) or {}).items()
    ]
    for step, inner in (*inner_schemas(schema), *named):
        found = _anchor(inner, name, place + step, levels - 1)
        if found is not None:
            return found
    return None
