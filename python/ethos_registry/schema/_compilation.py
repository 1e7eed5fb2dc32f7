"""What the passes of the schema compiler share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from ethos_registry.schema._conjunction import both, compact, paragraphs
from ethos_registry.schema._dialect import Dialect
from ethos_registry.schema._drafts import inner_places
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import sha256_hex
from ethos_registry.types._schema_rules import in_order

# Names of properties: those that a provider refuses, and what is sent in their place.

_DIGEST_CHARS = 8
_MAX_NAME_CHARS = 64


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
            begin = short[: _MAX_NAME_CHARS - _DIGEST_CHARS - 1] or "p"
            if rule.fullmatch(begin) is None:
                begin = f"p_{begin}"[: _MAX_NAME_CHARS - _DIGEST_CHARS - 1]
            short = f"{begin}_{sha256_hex(name)[:_DIGEST_CHARS]}"
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


def with_names(schema: Any, sent: Mapping[str, str]) -> Any:
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


def named_within(schema: Any, sent: Mapping[str, str]) -> Any:
    """The same with the schemas that look at the same object."""
    if not sent or not isinstance(schema, dict):
        return schema
    node = with_names(schema, sent)
    for keyword, holder, key in inner_places(node):
        if keyword in _IN_PLACE:
            holder[key] = named_within(holder[key], sent)
    return node


NoteKind: TypeAlias = Literal["renamed", "rewritten", "described", "plain", "left_out"]
"""`renamed`: a property has another name; `rewritten`: the same in other words; `described`: the
model reads it in a description; `plain`: not sent as strict; `left_out`: not sent at all."""

MAX_LEVELS = 128
MAX_NODES = 20_000

ALL_TYPES = ("string", "number", "boolean", "object", "array", "null")
EMPTY: tuple[Any, ...] = ({}, True)


_IN_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
IN_PLACE = _IN_PLACE | {"dependentSchemas"}
"""Keywords of schemas that look at the same value."""
_NAMING = IN_PLACE | {"properties", "required", "dependentRequired", "$ref"}
"""Keywords by which an object's properties may get names."""


class NoSchemaError(ConfigError):
    """A provider takes no form of the schema; the message states why."""


class SchemaChange(NamedTuple):
    """What a compiled schema does not state in the author's words."""

    kind: NoteKind
    path: str
    """Names of properties joined by `/`, `*` for items; empty for the whole."""
    message: str


def described(schema: dict[str, Any], notes: Mapping[str, Any]) -> None:
    """Put keywords into a schema's description: `{minimum: 1, maxLength: 5}`."""
    if notes:
        schema["description"] = paragraphs(schema.get("description"), note_text(notes))


def note_text(notes: Mapping[str, Any]) -> str:
    """Keywords as a model reads them; the author's name of a property comes first."""
    names = sorted(in_order(notes), key=lambda keyword: keyword != "name")
    return "{" + ", ".join(f"{name}: {compact(notes[name])}" for name in names) + "}"


class Compilation:
    """One schema on its way through the passes."""

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
        self.exact: dict[tuple[int, Dialect], tuple[Any, bool]] = {}
        """Schemas by their `id`, and whether they are exact: without it, each level of nested `not`
        would double the time."""

    def say(self, kind: NoteKind, path: str, message: str) -> None:
        """Note a change."""
        self.changes[SchemaChange(kind, path, message)] = None

    def follow(self, pointer: str) -> Any:
        """The definition that a reference leads to; `None` if it does not stay."""
        return self.definitions.get(pointer.removeprefix("#/$defs/"))

    def sent_names(self, node: Any) -> dict[str, str]:
        """The properties of an object that have another name here."""
        rule = self.dialect.property_name
        if rule is None or not isinstance(node, dict) or not (_NAMING & node.keys()):
            return {}
        return renamed_properties(names_at(node, self.follow), rule)

    def conjunction(self, node: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
        """The parts of `allOf` and what is beside it as one, and the parts that do not fit in."""
        own = {name: value for name, value in node.items() if name != "allOf"}
        merged, united = own, dict[str, Any]()
        rest: list[Any] = []
        for part in node["allOf"]:
            flat = self.flat(part)
            found = both(united, flat)
            whole = None if found is None else both(found, own)
            if isinstance(whole, dict) and "allOf" not in whole:
                merged, united = whole, found
            else:
                rest.append(part)
        return merged, rest

    def written_out(self, schema: Any, seen: frozenset[str] = frozenset()) -> Any:
        """A schema that is a reference to a definition that stays, written out once.

        `seen` are references that are being written out: a definition may lead back to itself.
        """
        if not isinstance(schema, dict) or "$ref" not in schema or schema["$ref"] in seen:
            return schema
        target = self.written_out(self.follow(schema["$ref"]), seen | {schema["$ref"]})
        rest = {name: value for name, value in schema.items() if name != "$ref"}
        found = both(target, rest)
        return schema if found is None else found

    def flat(self, branch: Any, seen: frozenset[str] = frozenset()) -> Any:
        """A branch with its own `allOf` merged, where that can be done."""
        if not isinstance(branch, dict) or "allOf" not in branch:
            return branch
        merged: Any = {name: value for name, value in branch.items() if name != "allOf"}
        for part in branch["allOf"]:
            pointer = part.get("$ref") if isinstance(part, dict) else None
            inner = seen if pointer is None else seen | {pointer}
            merged = both(self.flat(self.written_out(part, seen), inner), merged)
            if merged is None:
                return branch
        return merged

    def is_exact(self, schema: Any, path: str, dialect: Dialect) -> bool:
        """Whether a schema permits in the dialect just what it does for the author."""
        raise NotImplementedError
