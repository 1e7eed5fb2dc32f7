"""What the passes of the schema compiler share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.schema_order import KEYWORD_ORDER
from ethos_registry.schema.conjunction import both, compact
from ethos_registry.schema.dialect import Dialect
from ethos_registry.schema.property_names import names_at, renamed_properties

__all__ = [
    "ABOUT",
    "ALL_TYPES",
    "EMPTY",
    "MAX_LEVELS",
    "MAX_NODES",
    "Compilation",
    "NoSchemaError",
    "NoteKind",
    "SchemaChange",
    "described",
    "note_text",
]


NoteKind: TypeAlias = Literal["renamed", "rewritten", "described", "plain", "left_out"]
"""`renamed`: a property has another name; `rewritten`: the same in other words; `described`: the
model reads it in a description; `plain`: not sent as strict; `left_out`: not sent at all."""

MAX_LEVELS = 128
MAX_NODES = 20_000

_PLACES = {keyword: place for place, keyword in enumerate(KEYWORD_ORDER)}
ABOUT = frozenset({"title", "description", "default", "examples", "deprecated"})
ALL_TYPES = ("string", "number", "boolean", "object", "array", "null")
EMPTY: tuple[Any, ...] = ({}, True)


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
        note, text = note_text(notes), schema.get("description")
        schema["description"] = f"{text}\n\n{note}" if text else note


def note_text(notes: Mapping[str, Any]) -> str:
    """Keywords as a model reads them."""
    last = len(_PLACES)
    names = sorted(
        notes, key=lambda name: (_PLACES.get(name, -1 if name == "name" else last), name)
    )
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

    def say(self, kind: NoteKind, path: str, message: str) -> None:
        """Note a change."""
        self.changes[SchemaChange(kind, path, message)] = None

    def follow(self, pointer: str) -> Any:
        """The definition that a reference leads to; `None` if it does not stay."""
        return self.definitions.get(pointer.removeprefix("#/$defs/"))

    def sent_names(self, node: Any) -> dict[str, str]:
        """The properties of an object that have another name here."""
        rule = self.dialect.property_name
        if rule is None or not isinstance(node, dict):
            return {}
        return renamed_properties(names_at(node, self.follow), rule)

    def conjunction(
        self, parts: list[Any], own: dict[str, Any]
    ) -> tuple[dict[str, Any], list[Any]]:
        """The parts of `allOf` and what is beside it as one, and the parts that do not fit in."""
        merged, united = own, dict[str, Any]()
        rest: list[Any] = []
        for part in parts:
            flat = self.flat(part)
            found = both(united, flat)
            whole = None if found is None else both(found, own)
            if isinstance(whole, dict) and "allOf" not in whole:
                merged, united = whole, found
            else:
                rest.append(part)
        return merged, rest

    def written_out(self, schema: Any) -> Any:
        """A schema that is a reference to a definition that stays, written out once."""
        if not isinstance(schema, dict) or "$ref" not in schema:
            return schema
        target = self.follow(schema["$ref"])
        rest = {name: value for name, value in schema.items() if name != "$ref"}
        found = both(self.written_out(target), rest)
        return schema if found is None else found

    def flat(self, branch: Any) -> Any:
        """A branch with its own `allOf` merged, where that can be done."""
        if not isinstance(branch, dict) or "allOf" not in branch:
            return branch
        merged: Any = {name: value for name, value in branch.items() if name != "allOf"}
        for part in branch["allOf"]:
            merged = both(self.flat(self.written_out(part)), merged)
            if merged is None:
                return branch
        return merged

    def is_exact(
        self, schema: Any, path: str, dialect: Dialect, sent: dict[str, str] | None = None
    ) -> bool:
        """Whether a schema permits in the dialect just what it does for the author."""
        raise NotImplementedError
