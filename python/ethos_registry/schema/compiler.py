"""The schema of a tool as one provider takes it.

The tool's own schema decides which arguments are valid; what is made here decides what the model
reads. So every pass may permit more, and none less: a valid argument fits the compiled schema, after
its properties are renamed. Where a pass permits more, or renames, there is a note.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import unquote

from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.read_only import read_only
from ethos_registry.contract.schema_keywords import SCHEMA, SCHEMA_LISTS, SCHEMAS_BY_NAME
from ethos_registry.contract.schema_order import KEYWORD_ORDER, ordered_schema
from ethos_registry.schema.conjunction import both, compact, is_same, types_of
from ethos_registry.schema.dialect import Dialect
from ethos_registry.schema.drafts import has_old_references, node_of_2020_12

__all__ = [
    "Compiled",
    "NoSchemaError",
    "NoteKind",
    "SchemaChange",
    "compile_schema",
    "described",
    "in_place",
    "names_at",
    "note_text",
    "renamed_properties",
]

NoteKind: TypeAlias = Literal["renamed", "rewritten", "described", "plain", "left_out"]
"""`renamed`: a property has another name; `rewritten`: the same in other words; `described`: the
model reads it in a description; `plain`: not sent as strict; `left_out`: not sent at all."""

MAX_LEVELS = 128
MAX_NODES = 20_000
_KEPT_CHARS = 2_000
"""Up to this length, references are inlined even if that more than doubles the schema."""
_CUT_LEVELS = 3
"""How often a recursive definition is written out where a provider has no references."""
_DIGEST_CHARS = 8
_MAX_NAME_CHARS = 64

_PLACES = {keyword: place for place, keyword in enumerate(KEYWORD_ORDER)}
_ABOUT = frozenset({"title", "description", "default", "examples", "deprecated"})
_UNSAID = frozenset({"title", "deprecated", "$schema"})
"""Keywords that a model need not read where the provider does not take them."""
_HAS_KIND = frozenset({"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "not", "if"})
"""Keywords that a schema is not just any value with."""
_ALL_TYPES = ("string", "number", "boolean", "object", "array", "null")
_LISTS_NAMES = frozenset({"additionalProperties", "anyOf", "oneOf", "allOf", "$ref"})
_LENGTHS = ("minLength", "maxLength")
_EMPTY = ({}, True)


class NoSchemaError(ConfigError):
    """A provider takes no form of the schema; the message states why."""


class SchemaChange(NamedTuple):
    """What a compiled schema does not state in the author's words."""

    kind: NoteKind
    path: str
    """Names of properties joined by `/`, `*` for items; empty for the whole."""
    message: str


class Compiled(NamedTuple):
    """A schema as a provider takes it."""

    schema: Mapping[str, Any]
    tool_note: str
    """What the tool's description has to say beside, or an empty string."""
    names: Mapping[str, str]
    """The properties that were renamed, new name to the author's."""
    changes: tuple[SchemaChange, ...]


def compile_schema(schema: Mapping[str, Any], dialect: Dialect) -> Compiled:
    """The schema in a provider's dialect; one that is taken as it is is not copied.

    Raises `NoSchemaError` for one that has no form there. Deterministic, and the same for a schema
    that was compiled before.
    """
    plain = schema
    if "$schema" in schema:
        plain = {name: value for name, value in schema.items() if name != "$schema"}
    if _is_taken(plain, dialect):
        return Compiled(plain, "", {}, ())
    return _Compiler(schema, dialect).compiled()


def described(schema: dict[str, Any], notes: Mapping[str, Any]) -> None:
    """Put keywords into a schema's description: `{minimum: 1, maxLength: 5}`."""
    if notes:
        note, text = note_text(notes), schema.get("description")
        schema["description"] = f"{text}\n\n{note}" if text else note


def note_text(notes: Mapping[str, Any]) -> str:
    """Keywords as a model reads them."""
    last = len(_PLACES)
    names = sorted(notes, key=lambda name: (_PLACES.get(name, -1 if name == "name" else last), name))
    return "{" + ", ".join(f"{name}: {compact(notes[name])}" for name in names) + "}"


# A schema that needs no change


_SIMPLE = frozenset(
    {
        "type",
        "description",
        "properties",
        "required",
        "items",
        "additionalProperties",
        "enum",
        "default",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
    }
)
_SIMPLE_WHERE_KNOWN = frozenset({"title", "examples", "exclusiveMinimum", "exclusiveMaximum"})


@lru_cache(maxsize=64)
def _simple_keywords(dialect: Dialect) -> frozenset[str]:
    """The keywords that need no look at what is beside them."""
    known = _SIMPLE | _SIMPLE_WHERE_KNOWN
    if dialect.keywords is not None:
        known &= dialect.keywords
    if dialect.root_keywords is not None or dialect.max_items_sum is not None:
        known -= {"maxItems"}
    return known - dialect.without


def _is_taken(schema: Mapping[str, Any], dialect: Dialect) -> bool:
    """Whether the dialect certainly takes the schema as it is; `False` if that takes a closer look.

    Most schemas pass, so this is what a list of many tools costs.
    """
    if dialect.root_keywords is not None:
        return False
    return (
        schema.get("type") == "object"
        and ("properties" in schema or not dialect.object_needs_properties)
        and _is_simple(schema, dialect, _simple_keywords(dialect), MAX_LEVELS)
    )


def _is_simple(schema: Any, dialect: Dialect, keywords: frozenset[str], levels: int) -> bool:
    if not isinstance(schema, dict) or levels == 0 or not keywords.issuperset(schema):
        return False
    kind = schema.get("type")
    if type(kind) is not str or kind not in _ALL_TYPES and kind != "integer":
        return False
    properties = schema.get("properties")
    if kind == "object":
        if "enum" in schema or not isinstance(properties, dict):
            return properties is None and _has_no_names(schema, dialect)
        name_rule = dialect.property_name
        for name, item in properties.items():
            if name_rule is not None and name_rule.fullmatch(name) is None:
                return False
            if not _is_simple(item, dialect, keywords, levels - 1):
                return False
        required = schema.get("required", [])
        if not (
            isinstance(required, list) and properties.keys() >= set(required)
        ):
            return False
        others = schema.get("additionalProperties")
        if isinstance(others, dict):
            return _is_simple(others, dialect, keywords, levels - 1)
        return True
    if properties is not None or "required" in schema or "additionalProperties" in schema:
        return False
    if kind == "array":
        if "items" in schema:
            return _is_simple(schema["items"], dialect, keywords, levels - 1)
        return not dialect.array_needs_items
    if "items" in schema:
        return False
    if "enum" in schema and (
        not schema["enum"] or (dialect.string_enums and not _are_strings(schema["enum"], kind))
    ):
        return False
    return not (
        isinstance(schema.get("exclusiveMinimum"), bool)
        or isinstance(schema.get("exclusiveMaximum"), bool)
    )


def _has_no_names(schema: dict[str, Any], dialect: Dialect) -> bool:
    """Whether an object is any object."""
    return not dialect.object_needs_properties and schema.keys() <= {"type", "description"}


def _are_strings(values: list[Any], kind: str) -> bool:
    return kind == "string" and all(isinstance(value, str) for value in values)


# Names


def renamed_properties(names: Iterable[str], rule: re.Pattern[str]) -> dict[str, str]:
    """The names that a rule refuses, with those that are sent in their place.

    Accents are dropped and other characters become `_`; a name that is taken, empty or too long
    ends in eight hex digits of SHA-256 over the author's.

    >>> renamed_properties(["$top", "unit price"], re.compile("[A-Za-z_]+"))
    {'$top': 'top', 'unit price': 'unit_price'}
    """
    names = list(names)
    refused = [name for name in names if rule.fullmatch(name) is None]
    if not refused:
        return {}
    taken = {name for name in names if name not in refused}
    plain = {name: _plain_name(name, rule) for name in refused}
    sent: dict[str, str] = {}
    for name, short in plain.items():
        is_free = short not in taken and list(plain.values()).count(short) == 1
        if not is_free or rule.fullmatch(short) is None:
            digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
            begin = short[: _MAX_NAME_CHARS - _DIGEST_CHARS - 1] or "p"
            if rule.fullmatch(begin) is None:
                begin = f"p_{begin}"[: _MAX_NAME_CHARS - _DIGEST_CHARS - 1]
            short = f"{begin}_{digest[:_DIGEST_CHARS]}"
        sent[name] = short
    return sent


def _plain_name(name: str, rule: re.Pattern[str]) -> str:
    letters = [
        char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char)
    ]
    text = "".join(
        char if char == "_" or rule.fullmatch(f"a{char}") is not None else "_" for char in letters
    )
    return text.strip("_")


def names_at(node: Any, follow: Callable[[str], Any]) -> dict[str, None]:
    """The names of properties that one object may have by this schema, in order.

    `follow` returns the schema that a `$ref` leads to, or `None`.
    """
    found: dict[str, None] = {}
    seen: set[str] = set()

    def collect(schema: Any) -> None:
        if not isinstance(schema, dict):
            return
        for keyword in ("properties", "required", "dependentRequired", "dependentSchemas"):
            found.update(dict.fromkeys(schema.get(keyword) or ()))
        for names in (schema.get("dependentRequired") or {}).values():
            found.update(dict.fromkeys(names))
        for inner in in_place(schema):
            collect(inner)
        pointer = schema.get("$ref")
        if isinstance(pointer, str) and pointer not in seen:
            seen.add(pointer)
            collect(follow(pointer))

    collect(node)
    return found


def in_place(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The inner schemas that look at the same value."""
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(keyword) or ()
    for keyword in ("not", "if", "then", "else"):
        if keyword in schema:
            yield schema[keyword]
    yield from (schema.get("dependentSchemas") or {}).values()


def _with_names(schema: Any, sent: Mapping[str, str]) -> Any:
    """A schema whose object has its properties under other names."""
    if not sent or not isinstance(schema, dict):
        return schema
    node = dict(schema)
    for keyword in ("properties", "dependentSchemas"):
        if keyword in node:
            node[keyword] = {sent.get(name, name): item for name, item in node[keyword].items()}
    if "required" in node:
        node["required"] = [sent.get(name, name) for name in node["required"]]
    if "dependentRequired" in node:
        node["dependentRequired"] = {
            sent.get(name, name): [sent.get(other, other) for other in others]
            for name, others in node["dependentRequired"].items()
        }
    return node


def _named_within(schema: Any, sent: Mapping[str, str]) -> Any:
    """The same with the schemas that look at the same object."""
    if not sent or not isinstance(schema, dict):
        return schema
    node = _with_names(schema, sent)
    for keyword in ("allOf", "anyOf", "oneOf"):
        if keyword in node:
            node[keyword] = [_named_within(item, sent) for item in node[keyword]]
    for keyword in ("not", "if", "then", "else"):
        if keyword in node:
            node[keyword] = _named_within(node[keyword], sent)
    return node


# References


class _TooLargeError(Exception):
    """Inlining would write out too many schemas."""


class _References:
    """Writes a schema in the words of 2020-12 with its references inlined."""

    def __init__(self, compiler: _Compiler, *, keeps_all: bool = False) -> None:
        self.compiler = compiler
        self.root = compiler.author
        self.keeps_all = keeps_all
        self.keeps_definitions = compiler.dialect.keeps_definitions
        self.old = has_old_references(self.root)
        self.names: dict[str, str] = {}
        self.nodes = 0
        self.inlined = False
        self.recursive = self._recursive_pointers()

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
                return _References(compiler, keeps_all=True).resolved()
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
            return {**cut, **{name: node[name] for name in node if name in _ABOUT}}
        target = self.written(self.target(pointer), (*stack, pointer), levels - 1)
        merged = both(target, node)
        if merged is not None:
            return merged
        about = {name: node.pop(name) for name in list(node) if name in _ABOUT}
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
        document, _, fragment = reference.partition("#")
        own = self.root.get("$id", self.root.get("id"))
        if document and document != own:
            raise NoSchemaError(f"$ref leads to another document: {document}")
        if not fragment:
            return "#"
        if not fragment.startswith("/"):
            found = _anchor(self.root, fragment, "#")
            if found is None:
                raise NoSchemaError(f"$ref leads nowhere ({reference})")
            return found
        pointer = f"#{unquote(fragment)}"
        self.target(pointer)
        return pointer

    def target(self, pointer: str) -> Any:
        """The author's schema at a place."""
        value: Any = self.root
        for step in pointer[2:].split("/") if len(pointer) > 1 else ():
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, dict) and key in _SAME_PLACE and _SAME_PLACE[key] in value:
                value = value[_SAME_PLACE[key]]
            elif isinstance(value, list) and key.isascii() and key.isdigit() and int(key) < len(value):
                value = value[int(key)]
            else:
                raise NoSchemaError(f"$ref leads nowhere ({pointer})")
        if not isinstance(value, dict | bool):
            raise NoSchemaError(f"$ref leads to what is not a schema ({pointer})")
        return value

    def _recursive_pointers(self) -> frozenset[str]:
        """The places that lead back to themselves."""
        edges: dict[str, set[str]] = {}
        open_ = {self.pointer(reference) for reference in _references_in(self.root)}
        if not open_:
            return frozenset()
        while open_:
            pointer = open_.pop()
            if pointer not in edges:
                edges[pointer] = {self.pointer(r) for r in _references_in(self.target(pointer))}
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


def _inner_schemas(schema: Any) -> Iterator[tuple[str, Any]]:
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


def _references_in(schema: Any) -> Iterator[str]:
    todo = [(schema, MAX_LEVELS)]
    while todo:
        node, levels = todo.pop()
        if not isinstance(node, dict) or levels == 0:
            continue
        for keyword in ("$ref", "$recursiveRef"):
            if isinstance(node.get(keyword), str):
                yield node[keyword]
        todo.extend((inner, levels - 1) for _, inner in _inner_schemas(node))


def _anchor(schema: Any, name: str, place: str, levels: int = MAX_LEVELS) -> str | None:
    """The place of a schema with this `$anchor`."""
    if not isinstance(schema, dict) or levels == 0:
        return None
    if name in (schema.get("$anchor"), schema.get("$dynamicAnchor")) or schema.get("$id") == f"#{name}":
        return place
    named = [
        (f"/{keyword}/{key.replace('~', '~0').replace('/', '~1')}", item)
        for keyword in ("$defs", "definitions")
        for key, item in (schema.get(keyword) or {}).items()
    ]
    for step, inner in (*_inner_schemas(schema), *named):
        found = _anchor(inner, name, place + step, levels - 1)
        if found is not None:
            return found
    return None


# The passes


class _Compiler:
    """One schema on its way through the passes.

    Older drafts and references come first, then the root. Then, for each schema from the outside
    in: `allOf` is merged, properties are renamed, values, shape and limits are written as the
    dialect has them. The order of keys comes last.
    """

    def __init__(self, schema: Mapping[str, Any], dialect: Dialect) -> None:
        self.author = schema
        self.dialect = dialect
        self.changes: dict[SchemaChange, None] = {}
        self.definitions: dict[str, Any] = {}
        """The schemas that stay under `$defs`, by name."""
        self.names: dict[str, str] = {}
        self.without = dialect.without
        self.nodes = 0
        self.widened = 0
        """How often more was permitted than the author permits."""

    def compiled(self) -> Compiled:
        root = _References(self).resolved()
        sent = self._sent_names(root)
        node, notes = self._root(root)
        limit = self.dialect.max_items_sum
        if limit is not None and sum(_values_of(node, "maxItems")) > limit:
            self.without = self.without | {"maxItems"}
        notes = _named_within(notes, sent)
        node = self._schema(node, "", self.dialect, notes, sent=sent, is_root=True)
        definitions = {
            name: self._schema(body, f"$defs/{name}", self.dialect, {})
            for name, body in self.definitions.items()
        }
        used = _used_definitions(node, definitions)
        if used:
            node["$defs"] = used
        ordered: Mapping[str, Any] = ordered_schema(read_only(node))
        note = note_text(notes) if notes else ""
        return Compiled(ordered, note, self.names, tuple(self.changes))

    def say(self, kind: NoteKind, path: str, message: str) -> None:
        self.changes[SchemaChange(kind, path, message)] = None

    def _follow(self, pointer: str) -> Any:
        return self.definitions.get(pointer.removeprefix("#/$defs/"))

    def _sent_names(self, node: Any) -> dict[str, str]:
        rule = self.dialect.property_name
        if rule is None or not isinstance(node, dict):
            return {}
        return renamed_properties(names_at(node, self._follow), rule)

    # Root

    def _root(self, root: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """An object without what the provider refuses there, and what has to be said instead."""
        root = self._written_out(root)
        if root is False:
            raise NoSchemaError("the schema permits nothing")
        node: dict[str, Any] = {} if root is True else dict(root)
        if node.get("type") != "object":
            if "type" in node and "object" not in types_of(node):
                raise NoSchemaError("the root is not an object")
            node["type"] = "object"
            self.say("rewritten", "", "the root has the type object")
        notes: dict[str, Any] = {}
        refused = self.dialect.refused_at_root
        if "allOf" in refused and "allOf" in node:
            node = self._merged_root(node, notes)
        for keyword in ("anyOf", "oneOf"):
            if keyword in refused and keyword in node:
                self._union_at_root(node, keyword, notes)
        for keyword in ("not", "enum", "const", "if", "then", "else"):
            if keyword in refused and keyword in node:
                notes[keyword] = node.pop(keyword)
        if notes and "unevaluatedProperties" in node:  # it looks at what the others evaluated
            notes["unevaluatedProperties"] = node.pop("unevaluatedProperties")
        self.widened += len(notes)
        return node, notes

    def _merged_root(self, node: dict[str, Any], notes: dict[str, Any]) -> dict[str, Any]:
        own = {name: value for name, value in node.items() if name != "allOf"}
        merged, rest = self._conjunction(node["allOf"], own)
        if len(rest) < len(node["allOf"]):
            self.say("rewritten", "", "`allOf` at the root is merged")
        if rest:
            notes["allOf"] = rest
        return merged

    def _conjunction(
        self, parts: list[Any], own: dict[str, Any]
    ) -> tuple[dict[str, Any], list[Any]]:
        """The parts of `allOf` and what is beside it as one, and the parts that do not fit in."""
        merged, rest, united = own, [], {}
        for part in parts:
            flat = self._flat(part)
            found = both(united, flat)
            whole = None if found is None else both(found, own)
            if isinstance(whole, dict) and "allOf" not in whole:
                merged, united = whole, found
            else:
                rest.append(part)
        return merged, rest

    def _written_out(self, schema: Any) -> Any:
        """A schema that is a reference to a definition that stays, written out once."""
        if not isinstance(schema, dict) or "$ref" not in schema:
            return schema
        target = self._follow(schema["$ref"])
        rest = {name: value for name, value in schema.items() if name != "$ref"}
        found = both(self._written_out(target), rest)
        return schema if found is None else found

    def _flat(self, branch: Any) -> Any:
        """A branch with its own `allOf` merged, where that can be done."""
        if not isinstance(branch, dict) or "allOf" not in branch:
            return branch
        merged: Any = {name: value for name, value in branch.items() if name != "allOf"}
        for part in branch["allOf"]:
            merged = both(self._flat(self._written_out(part)), merged)
            if merged is None:
                return branch
        return merged

    def _union_at_root(self, node: dict[str, Any], keyword: str, notes: dict[str, Any]) -> None:
        """Properties of all branches in one object; the alternatives are for the description."""
        branches = [
            {} if branch is True else branch
            for branch in (self._flat(self._written_out(item)) for item in node.pop(keyword))
            if branch is True or (branch and _may_be_object(branch)) or branch == {}
        ]
        if not branches:
            raise NoSchemaError(f"no branch of `{keyword}` at the root is an object")
        own = node.get("properties", {})
        found: dict[str, list[Any]] = {name: [schema] for name, schema in own.items()}
        for branch in branches:
            for name, schema in branch.get("properties", {}).items():
                known = found.setdefault(name, [])
                if name not in own and not any(is_same(schema, item) for item in known):
                    known.append(schema)
        properties = {name: _either(schemas) for name, schemas in found.items()}
        required = dict.fromkeys(node.get("required", ()))
        required.update(
            (name, None)
            for name in branches[0].get("required", ())
            if all(name in branch.get("required", ()) for branch in branches)
        )
        if properties:
            node["properties"] = properties
        if required:
            node["required"] = list(required)
        others = node.get("additionalProperties", True)
        if isinstance(others, dict) and properties.keys() - own:
            notes["additionalProperties"] = node.pop("additionalProperties")
        elif others is True and all(
            branch.get("additionalProperties") is False and "patternProperties" not in branch
            for branch in branches
        ):
            node["additionalProperties"] = False
        notes[keyword] = [_rest(branch, properties) for branch in branches]

    # One schema

    def _schema(
        self,
        schema: Any,
        path: str,
        dialect: Dialect,
        notes: dict[str, Any],
        *,
        sent: dict[str, str] | None = None,
        is_root: bool = False,
        levels: int = MAX_LEVELS,
    ) -> Any:
        """A schema and all that is in it.

        `notes` are for its description, those of the root for the tool's. `sent` has the names of
        an object that an outer schema looks at, too.
        """
        self.nodes += 1
        if self.nodes > MAX_NODES or levels == 0:
            raise NoSchemaError(f"it has more than {MAX_NODES:,} schemas or {MAX_LEVELS} levels")
        if isinstance(schema, bool):
            if dialect.boolean_schemas and not notes:
                return schema
            schema = {} if schema else {"not": {}}
        node = dict(schema)
        if "$ref" in node and not dialect.ref_siblings and len(node) > 1:
            self.say("rewritten", path, "keywords beside `$ref` are left out")
            self.widened += 1
            node = {"$ref": node["$ref"]}
        known = dialect.root_keywords if is_root and dialect.root_keywords else dialect.keywords
        outer_names = frozenset(notes)
        if sent is None:
            sent = self._sent_names(node)
        self._unite(node, path)
        self._values(node, path, dialect, notes, known)
        renamed = self._renamed(node, path, notes, sent)
        self._shape(node, path, dialect, is_root=is_root)
        self._limits(node, path, dialect, notes, known)
        self._kind(node, path, dialect)
        self.widened += len(notes.keys() - outer_names)
        for keyword in notes.keys() - outer_names:
            notes[keyword] = _named_within({keyword: notes[keyword]}, sent)[keyword]
        for keyword in notes:
            if is_root:
                self.say("described", "", f"`{keyword}` at the root is in the tool's description")
            elif keyword != "name":
                self.say("described", path, f"`{keyword}` is in the description")
        if not is_root:
            described(node, notes)
        if dialect.types == "one" and "anyOf" in node:
            _describe_in_branch(node)
        self._inside(node, path, dialect, renamed, sent, levels - 1)
        return node

    def _inside(
        self,
        node: dict[str, Any],
        path: str,
        dialect: Dialect,
        renamed: Mapping[str, str],
        sent: dict[str, str],
        levels: int,
    ) -> None:
        """The schemas in a schema."""
        items = f"{path}/*" if path else "*"
        for keyword, value in node.items():
            if keyword == "properties":
                node[keyword] = {
                    name: self._schema(
                        item,
                        f"{path}/{name}" if path else name,
                        dialect,
                        {"name": renamed[name]} if name in renamed else {},
                        levels=levels,
                    )
                    for name, item in value.items()
                }
            elif keyword == "dependentSchemas":
                node[keyword] = {
                    name: self._schema(item, path, dialect, {}, sent=sent, levels=levels)
                    for name, item in value.items()
                }
            elif keyword == "patternProperties":
                node[keyword] = {
                    name: self._schema(item, items, dialect, {}, levels=levels)
                    for name, item in value.items()
                }
            elif keyword == "prefixItems":
                node[keyword] = [
                    self._schema(item, items, dialect, {}, levels=levels) for item in value
                ]
            elif keyword in SCHEMA_LISTS:
                node[keyword] = [
                    self._schema(item, path, dialect, {}, sent=sent, levels=levels)
                    for item in value
                ]
            elif keyword in ("not", "if", "then", "else"):
                node[keyword] = self._schema(value, path, dialect, {}, sent=sent, levels=levels)
            elif keyword in SCHEMA and not isinstance(value, bool):
                inner = _WHOLE if keyword == "items" and dialect.items_are_whole else dialect
                node[keyword] = self._schema(value, items, inner, {}, levels=levels)
            elif keyword == "items" and not dialect.boolean_schemas:
                node[keyword] = self._schema(value, items, dialect, {}, levels=levels)

    def _is_exact(
        self, schema: Any, path: str, dialect: Dialect, sent: dict[str, str] | None = None
    ) -> bool:
        """Whether a schema permits in the dialect just what it does for the author."""
        if any(True for _ in _references_in(schema)):
            return False
        changes, widened, nodes = dict(self.changes), self.widened, self.nodes
        names = dict(self.names)
        try:
            self._schema(schema, path, dialect, {}, sent=sent)
            return self.widened == widened
        finally:
            self.changes, self.widened, self.nodes, self.names = changes, widened, nodes, names

    def _renamed(
        self, node: dict[str, Any], path: str, notes: dict[str, Any], sent: dict[str, str]
    ) -> dict[str, str]:
        """Give properties the names that the provider takes; returns new name to old."""
        if not sent:
            return {}
        renamed = {sent[name]: name for name in node.get("properties", {}) if name in sent}
        node.update(_with_names(node, sent))
        if not renamed:
            return {}
        for new, old in renamed.items():
            self.say("renamed", path, f"`{old}` is sent as `{new}`")
        self.names.update(renamed)
        # These know properties by the author's names.
        if "patternProperties" in node or "propertyNames" in node:
            for keyword in ("patternProperties", "propertyNames", "additionalProperties"):
                if keyword in node:
                    notes[keyword] = node.pop(keyword)
        return renamed

    # Values

    def _values(
        self,
        node: dict[str, Any],
        path: str,
        dialect: Dialect,
        notes: dict[str, Any],
        known: frozenset[str] | None,
    ) -> None:
        if node.get("enum") == []:
            notes["enum"] = node.pop("enum")
        if "const" in node and not dialect.const and "enum" not in node:
            node["enum"] = [node.pop("const")]
            _add_type(node)
        if dialect.types == "joined" or (known is not None and "anyOf" not in known):
            _join_types(node)
        if "oneOf" in node and "anyOf" not in node:
            is_known = (known is None or "oneOf" in known) and "oneOf" not in self.without
            if not is_known or not all(
                self._is_exact(branch, path, dialect) for branch in node["oneOf"]
            ):
                node["anyOf"] = node.pop("oneOf")
                self.widened += 1
                self.say("rewritten", path, "`oneOf` is written as `anyOf`")
        if dialect.types == "one":
            self._single_type(node, notes)
        if dialect.string_enums and "enum" in node:
            if not all(isinstance(value, str) for value in node["enum"]):
                _add_type(node)
                notes["enum"] = node.pop("enum")
            elif node.setdefault("type", "string") != "string":
                notes["enum"] = node.pop("enum")

    def _unite(self, node: dict[str, Any], path: str) -> None:
        """Merge `allOf` and unions of one branch, as far as that can be stated."""
        is_new = True
        while is_new:
            is_new = False
            if "allOf" in node:
                own = {name: value for name, value in node.items() if name != "allOf"}
                merged, rest = self._conjunction(node["allOf"], own)
                if len(rest) < len(node["allOf"]):
                    self.say("rewritten", path, "`allOf` is merged")
                    is_new = True
                _replace(node, {**merged, "allOf": rest} if rest else merged)
            for keyword in ("anyOf", "oneOf"):
                if keyword in node:
                    is_new = self._branches(node, keyword, path) or is_new

    def _branches(self, node: dict[str, Any], keyword: str, path: str) -> bool:
        """Drop branches that permit nothing, and write described choices as one enum.

        Returns whether the one branch that is left was merged.
        """
        branches = [item for item in node[keyword] if item is not False and not _is_nothing(item)]
        if branches and len(branches) < len(node[keyword]):
            self.say("rewritten", path, f"a branch of `{keyword}` that permits nothing is dropped")
            node[keyword] = branches
        choices = _choices(node[keyword])
        if choices is not None and "enum" not in node and "const" not in node:
            values, lines = choices
            del node[keyword]
            node["enum"] = values
            _add_type(node)
            text = "\n".join(lines)
            about = node.get("description")
            node["description"] = f"{about}\n\n{text}" if about else text
            self.say("rewritten", path, "choices with descriptions are one enum")
        elif len(branches) == 1:
            rest = {name: value for name, value in node.items() if name != keyword}
            found = both(branches[0], rest)
            if isinstance(found, dict):
                _replace(node, found)
                return True
        return False

    def _single_type(self, node: dict[str, Any], notes: dict[str, Any]) -> None:
        """One type a schema: `nullable` for null, `anyOf` for several."""
        types = types_of(node)
        values = node.get("enum")
        if values is not None and not types:
            types = _value_types(values)
        is_nullable = "null" in types
        if values is not None and None in values:
            node["enum"] = [value for value in values if value is not None] or values
        branches = node.get("anyOf")
        if branches is not None:
            rest = [item for item in branches if not _is_null(item)]
            if len(rest) < len(branches) and rest:
                is_nullable = is_nullable or not types
                node["anyOf"] = rest
                if len(rest) == 1:
                    del node["anyOf"]
                    found = both(rest[0], node)
                    if isinstance(found, dict):
                        node.clear()
                        node.update(found)
                        types = types_of(node) or types
                        is_nullable = is_nullable or "null" in types
                    else:
                        node["anyOf"] = rest
        types = [name for name in types if name != "null"] or types
        if "anyOf" in node:
            self._push_into_branches(node, notes)
        elif len(types) == 1:
            node["type"] = types[0]
        elif types:
            del node["type"]
            node["anyOf"] = [_of_type(node, name) for name in types]
            for name in list(node):
                if name not in ("anyOf", *_ABOUT):
                    del node[name]
            self._push_into_branches(node, notes)
        if is_nullable and types != ["null"]:
            node["nullable"] = True

    def _push_into_branches(self, node: dict[str, Any], notes: dict[str, Any]) -> None:
        """Nothing may stand beside `anyOf`."""
        rest = {name: value for name, value in node.items() if name not in ("anyOf", *_ABOUT)}
        if rest:
            pushed = [both(branch, rest) for branch in node["anyOf"]]
            for name in rest:
                del node[name]
            if all(isinstance(branch, dict) for branch in pushed):
                node["anyOf"] = pushed
            else:
                notes.update(rest)

    # Shape

    def _shape(
        self, node: dict[str, Any], path: str, dialect: Dialect, *, is_root: bool
    ) -> None:
        types = types_of(node)
        if not dialect.boolean_schemas:
            self._without_booleans(node, path)
        if "object" in types:
            self._listed_names(node, path)
            if dialect.object_needs_properties and (is_root or not _LISTS_NAMES & node.keys()):
                node.setdefault("properties", {})
        if "array" in types and dialect.array_needs_items and "items" not in node:
            node["items"] = {}
            self.say("rewritten", path, "`items` is added")
        if dialect.any_value == "type_list" and node.get("items") in _EMPTY:
            node.pop("items", None)
        if not dialect.type_beside_any_of and "type" in node:
            for keyword in ("anyOf", "oneOf"):
                self._type_into(node, keyword, path)

    def _kind(self, node: dict[str, Any], path: str, dialect: Dialect) -> None:
        """A schema of any value has a type where the provider needs one."""
        if not _HAS_KIND & node.keys():
            if dialect.any_value == "type_list":
                node["type"] = list(_ALL_TYPES)
            elif dialect.any_value == "any_of":
                node["anyOf"] = _any_value(1)
                self.say("rewritten", path, "any value is written as all types")
                self.widened += 1
        elif dialect.any_value == "any_of" and "enum" in node:
            _add_type(node)

    def _without_booleans(self, node: dict[str, Any], path: str) -> None:
        properties = node.get("properties")
        if properties and False in properties.values():
            node["properties"] = {
                name: item for name, item in properties.items() if item is not False
            }
            self.widened += 1
            self.say("rewritten", path, "a property that is forbidden is left out")
        if node.get("items") is False:
            del node["items"]
            count = len(node.get("prefixItems", ()))
            node["maxItems"] = min(count, node.get("maxItems", count))
            self.say("rewritten", path, "`items: false` is written as `maxItems`")
        if node.get("not") is False:
            del node["not"]

    def _listed_names(self, node: dict[str, Any], path: str) -> None:
        """A name that is required has a property."""
        properties = node.get("properties", {})
        missing = [name for name in node.get("required", ()) if name not in properties]
        if not missing:
            return
        others = node.get("additionalProperties")
        schema = others if isinstance(others, dict) else {}
        node["properties"] = {**properties, **dict.fromkeys(missing, schema)}
        self.widened += others is False
        self.say("rewritten", path, "a required name is listed as a property")

    def _type_into(self, node: dict[str, Any], keyword: str, path: str) -> None:
        if keyword not in node or "type" not in node:
            return
        pushed = [both(branch, {"type": node["type"]}) for branch in node[keyword]]
        if all(isinstance(branch, dict) for branch in pushed):
            node[keyword] = [
                {**branch, "type": branch["type"]} if isinstance(branch, dict) else branch
                for branch in pushed
            ]
            del node["type"]
            self.say("rewritten", path, f"the type is written into `{keyword}`")

    # Limits

    def _limits(
        self,
        node: dict[str, Any],
        path: str,
        dialect: Dialect,
        notes: dict[str, Any],
        known: frozenset[str] | None,
    ) -> None:
        if node.get("additionalProperties") in _EMPTY and "additionalProperties" in node:
            if known is not None and "additionalProperties" not in known:
                del node["additionalProperties"]
        self._patterns(node, path, dialect, notes)
        for keyword in [name for name in node if not self._is_known(name, known)]:
            value = node.pop(keyword)
            if keyword == "additionalProperties" and value is False:
                self.widened += 1
                self.say("rewritten", path, "`additionalProperties: false` is not sent")
            elif keyword not in _UNSAID:
                notes[keyword] = value
        if "format" in node and dialect.formats is not None:
            if node["format"] not in dialect.formats:
                notes["format"] = node.pop("format")
        if not dialect.pattern_with_length and ("pattern" in node or "format" in node):
            for keyword in _LENGTHS:
                if keyword in node:
                    notes[keyword] = node.pop(keyword)
        if not dialect.pattern_beside_properties and "properties" in node:
            if "patternProperties" in node:
                notes["patternProperties"] = node.pop("patternProperties")
        self._reversed(node, path, dialect, notes)
        _move_dependent(node, notes)

    def _is_known(self, keyword: str, known: frozenset[str] | None) -> bool:
        if keyword == "$ref":
            return True
        return keyword not in self.without and (known is None or keyword in known)

    def _reversed(
        self, node: dict[str, Any], path: str, dialect: Dialect, notes: dict[str, Any]
    ) -> None:
        """Where permitting more inside would permit less outside, the whole is described."""
        for keyword in ("not", "if"):
            if keyword in node and not self._is_exact(node[keyword], path, dialect):
                notes[keyword] = node.pop(keyword)
        if "oneOf" in node and not all(
            self._is_exact(branch, path, dialect) for branch in node["oneOf"]
        ):
            notes["oneOf"] = node.pop("oneOf")
        if {"contains", "maxContains"} <= node.keys() and not self._is_exact(
            node["contains"], path, dialect
        ):
            notes["maxContains"] = node.pop("maxContains")

    def _patterns(
        self, node: dict[str, Any], path: str, dialect: Dialect, notes: dict[str, Any]
    ) -> None:
        pattern = node.get("pattern")
        if pattern is None or dialect.pattern == "any":
            return
        written: str | None = pattern
        if dialect.pattern == "python":
            written = pattern if _is_python_pattern(pattern) else None
        elif dialect.pattern == "none":
            written = None
        else:
            written = _anchored(pattern)
        if written is None:
            notes["pattern"] = node.pop("pattern")
        elif written != pattern:
            node["pattern"] = written
            self.say("rewritten", path, "the pattern is anchored")


_WHOLE = Dialect("whole")
"""What is kept inside `items` where a provider keeps all of it."""


def _replace(node: dict[str, Any], other: dict[str, Any]) -> None:
    node.clear()
    node.update(other)


def _values_of(schema: Any, keyword: str) -> Iterator[Any]:
    if isinstance(schema, dict):
        if keyword in schema:
            yield schema[keyword]
        for _, inner in _inner_schemas(schema):
            yield from _values_of(inner, keyword)


def _used_definitions(root: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    used: dict[str, Any] = {}
    todo = [root]
    while todo:
        for pointer in _references_in(todo.pop()):
            name = pointer.removeprefix("#/$defs/")
            if name not in used and name in definitions:
                used[name] = definitions[name]
                todo.append(definitions[name])
    return used


def _may_be_object(branch: dict[str, Any]) -> bool:
    return "type" not in branch or "object" in types_of(branch)


def _either(schemas: list[Any]) -> Any:
    """One schema for any of several."""
    if len(schemas) == 1:
        return schemas[0]
    values = []
    for schema in schemas:
        found = _fixed_values(schema)
        if found is None:
            return {"anyOf": schemas}
        values += [value for value in found if not any(is_same(value, item) for item in values)]
    node: dict[str, Any] = {"enum": values}
    _add_type(node)
    return node


def _fixed_values(schema: Any) -> list[Any] | None:
    """The values of a schema that is a list of them and nothing else."""
    if not isinstance(schema, dict) or schema.keys() - {"const", "enum", "type"}:
        return None
    if "const" in schema and "enum" not in schema:
        return [schema["const"]]
    return schema.get("enum") if "const" not in schema else None


def _rest(branch: dict[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """What a branch says that the merged object does not."""
    rest: dict[str, Any] = {}
    for keyword, value in branch.items():
        if keyword == "type":
            continue
        if keyword == "properties":
            value = {
                name: schema
                for name, schema in value.items()
                if not is_same(schema, properties[name])
            }
            if not value:
                continue
        rest[keyword] = value
    return rest


def _is_nothing(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.keys() == {"not"} and schema["not"] in _EMPTY


def _is_null(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    return schema.get("type") == "null" or schema.get("enum") == [None] or schema == {"const": None}


_CHOICE = frozenset({"const", "enum", "type", "title", "description"})


def _choices(branches: list[Any]) -> tuple[list[Any], list[str]] | None:
    """The values of branches that are one described value each, and a line for each."""
    values: list[Any] = []
    lines: list[str] = []
    for branch in branches:
        if not isinstance(branch, dict) or branch.keys() - _CHOICE:
            return None
        found = _fixed_values({name: branch[name] for name in branch if name in ("const", "enum")})
        if found is None or len(found) != 1 or any(is_same(found[0], item) for item in values):
            return None
        if "type" in branch and not _fits_type(found[0], types_of(branch)):
            return None
        values += found
        about = branch.get("description")
        shown = found[0] if isinstance(found[0], str) else compact(found[0])
        lines.append(f"{shown}: {about}" if about else shown)
    return (values, lines) if any("description" in item for item in branches) else None


def _type_of_value(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def _fits_type(value: Any, types: list[str]) -> bool:
    found = _type_of_value(value)
    return found in types or (found == "integer" and "number" in types)


def _value_types(values: list[Any]) -> list[str]:
    types = list(dict.fromkeys(map(_type_of_value, values)))
    if "number" in types and "integer" in types:
        types.remove("integer")
    return types


def _add_type(node: dict[str, Any]) -> None:
    """The type of the enum's values, where there is none."""
    if "type" not in node:
        types = _value_types(node["enum"])
        node["type"] = types[0] if len(types) == 1 else types


def _join_types(node: dict[str, Any]) -> None:
    """A union of bare types as a list of them."""
    branches = node.get("anyOf")
    if branches is None or "type" in node:
        return
    if all(isinstance(item, dict) and item.keys() == {"type"} for item in branches):
        node["type"] = list(dict.fromkeys(name for item in branches for name in types_of(item)))
        del node["anyOf"]


def _describe_in_branch(node: dict[str, Any]) -> None:
    """Put the description into the first branch: nothing may stand beside `anyOf`."""
    about = node.pop("description", None)
    if about is not None:
        first = node["anyOf"][0]
        first = {} if isinstance(first, bool) else dict(first)
        text = first.get("description")
        first["description"] = f"{about}\n\n{text}" if text else about
        node["anyOf"] = [first, *node["anyOf"][1:]]


_BY_TYPE = {
    "string": ("format", "pattern", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": (
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
    ),
    "object": (
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "dependentSchemas",
    ),
}


def _of_type(node: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """What a schema says of the values of one type."""
    relevant = _BY_TYPE.get("number" if kind == "integer" else kind, ())
    found = {"type": kind, **{name: node[name] for name in relevant if name in node}}
    if "enum" in node:
        found["enum"] = [value for value in node["enum"] if _fits_type(value, [kind])]
    for name in ("not", "oneOf", "allOf", "if", "then", "else", "const"):
        if name in node:
            found[name] = node[name]
    return found


def _any_value(levels: int) -> list[Any]:
    """Alternatives that are any value, lists in lists to some depth."""
    found: list[Any] = [
        {"type": "string"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "object", "properties": {}},
    ]
    if levels:
        found.append({"type": "array", "items": {"anyOf": _any_value(levels - 1)}})
    return [*found, {"type": "null"}]


def _move_dependent(node: dict[str, Any], notes: dict[str, Any]) -> None:
    """Describe keywords that would mean something else without those that are described."""
    for gone, dependent in (
        (("if",), ("then", "else")),
        (("properties", "patternProperties"), ("additionalProperties",)),
        (("prefixItems",), ("items",)),
        (("minContains",), ("contains", "maxContains")),
        (("contains",), ("minContains", "maxContains")),
        (tuple(_EVALUATE), ("unevaluatedProperties", "unevaluatedItems")),
    ):
        if any(keyword in notes for keyword in gone):
            for keyword in dependent:
                if keyword in node and not (keyword == "items" and node[keyword] in _EMPTY):
                    notes[keyword] = node.pop(keyword)


_EVALUATE = frozenset(
    {
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "properties",
        "patternProperties",
        "additionalProperties",
        "prefixItems",
        "items",
        "contains",
        "dependentSchemas",
    }
)


@lru_cache(maxsize=512)
def _is_python_pattern(pattern: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError):
            return False
    return True


_LOOKS_OR_REFERS = re.compile(r"\(\?<?[=!]|\\[1-9]|\\k<|\\[bB]")


def _anchored(pattern: str) -> str | None:
    """The pattern for an engine that matches the whole text; `None` where it has none."""
    if _LOOKS_OR_REFERS.search(pattern):
        return None
    begins = pattern.startswith("^")
    ends = pattern.endswith("$") and (len(pattern) - len(pattern[:-1].rstrip("\\"))) % 2 == 1
    body = pattern[1 if begins else 0 : -1 if ends else None]
    if re.search(r"(?<![\\\[])[\^$]", body):
        return None
    if "|" in body:
        if begins or ends:
            return pattern if _has_no_top_alternation(body) and begins and ends else None
        body = f"(?:{body})"
    return f"{'^' if begins else _ANY_START}{body}{'$' if ends else _ANY_END}"


_ANY_START, _ANY_END = r"^[\s\S]*", r"[\s\S]*$"


def _has_no_top_alternation(body: str) -> bool:
    depth, is_escaped, in_class = 0, False, False
    for char in body:
        if is_escaped:
            is_escaped = False
        elif char == "\\":
            is_escaped = True
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            return False
    return True
