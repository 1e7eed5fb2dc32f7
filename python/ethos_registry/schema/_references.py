"""References: inlined, or kept under `$defs` where that would not end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any
from urllib.parse import unquote

from ethos_registry.schema._compilation import (
    MAX_LEVELS,
    MAX_NODES,
    Compilation,
    NoSchemaError,
    in_place,
)
from ethos_registry.schema._conjunction import ABOUT, both, compact
from ethos_registry.schema._drafts import has_old_references, inner_places, node_of_2020_12
from ethos_registry.types._schema_rules import SCHEMA, SCHEMA_LISTS, SCHEMAS_BY_NAME

_KEPT_CHARS = 2_000
"""Up to this length, references are inlined even if that more than doubles the schema."""
_CUT_LEVELS = 3
"""How often a recursive definition is written out where a provider has no references."""


class _TooLargeError(NoSchemaError):
    """Written out, it has too many schemas."""


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
                raise
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
            raise _TooLargeError(
                f"it has over {MAX_NODES:,} schemas, counted where its references lead to them"
            )
        if levels == 0:
            raise NoSchemaError(f"it is nested deeper than {MAX_LEVELS} levels")
        node = node_of_2020_12(value, self._say, old_references=self.old)
        if not isinstance(node, dict):
            return node
        node.pop("$defs", None)
        pointer = node.pop("$ref", None)
        for _, holder, key in inner_places(node):
            holder[key] = self.written(holder[key], stack, levels - 1)
        return node if pointer is None else self._referred(pointer, node, stack, levels)

    def _referred(
        self, reference: str, node: dict[str, Any], stack: tuple[str, ...], levels: int
    ) -> Any:
        pointer = pointer_of(self.root, reference)
        is_recursive = pointer in self.recursive
        if self.keeps_definitions and (self.keeps_all or is_recursive):
            if is_recursive:
                self.compiler.say("rewritten", "", "recursive definitions stay as `$defs`")
            return {"$ref": f"#/$defs/{self._definition(pointer)}", **node}
        self.inlined = True
        if stack.count(pointer) >= _CUT_LEVELS:
            self.compiler.say("rewritten", "", f"recursion is cut after {_CUT_LEVELS} levels")
            self.compiler.widened += 1
            target = node_of_2020_12(schema_at(self.root, pointer))
            cut = {"type": target["type"]} if isinstance(target, dict) and "type" in target else {}
            return {**cut, **{name: node[name] for name in node if name in ABOUT}}
        target = self.written(schema_at(self.root, pointer), (*stack, pointer), levels - 1)
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
            target = schema_at(self.root, pointer)
            self.compiler.definitions[name] = self.written(target, (), MAX_LEVELS)
        return name

    def _say(self, message: str) -> None:
        self.compiler.say("rewritten", "", message)

    @cached_property
    def recursive(self) -> frozenset[str]:
        """The places that lead back to themselves."""
        followed = cache(lambda pointer: self._pointers_in(schema_at(self.root, pointer)))
        places = reached(self._pointers_in(self.root), followed)
        return frozenset(place for place in places if place in reached(followed(place), followed))

    def _pointers_in(self, schema: Any) -> set[str]:
        return {pointer_of(self.root, reference) for reference in references_in(schema)}


def reached(start: Iterable[str], follow: Callable[[str], Iterable[str]]) -> set[str]:
    """The places that one comes to from some, those included."""
    found: set[str] = set()
    todo = list(start)
    while todo:
        place = todo.pop()
        if place not in found:
            found.add(place)
            todo.extend(follow(place))
    return found


_SAME_PLACE = {"$defs": "definitions", "definitions": "$defs"}


def _inner_schemas(node: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each schema directly in a schema, with the steps to it."""
    for keyword, value in node.items():
        if keyword in SCHEMAS_BY_NAME or keyword == "dependencies":
            for name, item in value.items() if isinstance(value, dict) else ():
                yield (keyword, name), item
        elif (keyword in SCHEMA_LISTS or keyword == "items") and isinstance(value, list):
            for index, item in enumerate(value):
                yield (keyword, str(index)), item
        elif keyword in SCHEMA:
            yield (keyword,), value


def children(node: dict[str, Any]) -> Iterator[Any]:
    """Each schema directly in a schema; not those under `$defs`."""
    return (inner for steps, inner in _inner_schemas(node) if steps[0] not in _SAME_PLACE)


def escaped(name: str) -> str:
    """A name as a step of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


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


def nodes_of(root: Mapping[str, Any], schemas: Iterable[Any]) -> list[Mapping[str, Any]]:
    """The schemas that look at a value, with those inside them and behind references."""
    found: dict[int, Mapping[str, Any]] = {}
    todo = list(schemas)
    while todo:
        node = todo.pop()
        if isinstance(node, dict) and id(node) not in found:
            found[id(node)] = node
            todo.extend(in_place(node))
            todo += [target_of(root, reference) for reference in references_of(node)]
    return list(found.values())


def target_of(root: Mapping[str, Any], reference: str) -> Any:
    """The schema that a reference leads to; `True` for one that leads nowhere."""
    try:
        return schema_at(root, pointer_of(root, reference))
    except NoSchemaError:
        return True


def item_schema(schema: Mapping[str, Any], index: int) -> Any:
    """The schema of one item of a list; `None` if it has none."""
    first, items = schema.get("prefixItems") or (), schema.get("items")
    if isinstance(items, list):
        first, items = items, schema.get("additionalItems")
    return first[index] if index < len(first) else items


def _anchor(schema: Any, name: str, place: str, levels: int = MAX_LEVELS) -> str | None:
    """The place of a schema with this `$anchor`."""
    if not isinstance(schema, dict) or levels == 0:
        return None
    if (
        name in (schema.get("$anchor"), schema.get("$dynamicAnchor"))
        or schema.get("$id") == f"#{name}"
    ):
        return place
    for steps, inner in _inner_schemas(schema):
        found = _anchor(inner, name, "/".join([place, *map(escaped, steps)]), levels - 1)
        if found is not None:
            return found
    return None
