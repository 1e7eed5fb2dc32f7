"""The schema of a tool as one provider takes it.

The tool's own schema decides which arguments are valid; what is made here decides what the model
reads. So every pass may permit more, and none less: a valid argument fits the compiled schema,
after its properties are renamed. Where a pass permits more, or renames, there is a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from ethos_registry.schema._compilation import (
    ALL_TYPES,
    MAX_LEVELS,
    MAX_NODES,
    NoSchemaError,
    SchemaChange,
    described,
    named_within,
    note_text,
    with_names,
)
from ethos_registry.schema._dialect import Dialect
from ethos_registry.schema._limit_pass import LimitPass
from ethos_registry.schema._references import References, inner_schemas, references_in
from ethos_registry.schema._value_pass import describe_in_branch
from ethos_registry.types._json_values import read_only
from ethos_registry.types._schema_rules import SCHEMA, SCHEMA_LISTS, ordered_schema

__all__ = ["Compiled", "compile_schema"]


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
    if type(kind) is not str or (kind not in ALL_TYPES and kind != "integer"):
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
        if not (isinstance(required, list) and properties.keys() >= set(required)):
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


# The passes


class _Compiler(LimitPass):
    """One schema on its way through the passes.

    Older drafts and references come first, then the root. Then, for each schema from the outside
    in: `allOf` is merged, values are written as the dialect has them, properties are renamed, shape
    and limits follow. The order of keys comes last.
    """

    def compiled(self) -> Compiled:
        root = References(self).resolved()
        sent = self.sent_names(root)
        node, notes = self._root(root)
        limit = self.dialect.max_items_sum
        if limit is not None and sum(values_of(node, "maxItems")) > limit:
            self.without = self.without | {"maxItems"}
        notes = named_within(notes, sent)
        node = self._schema(node, "", self.dialect, notes, sent=sent, is_root=True)
        definitions = {
            name: self._schema(body, f"$defs/{name}", self.dialect, {})
            for name, body in self.definitions.items()
        }
        used = used_definitions(node, definitions)
        if used:
            node["$defs"] = used
        ordered: Mapping[str, Any] = ordered_schema(read_only(node))
        note = note_text(notes) if notes else ""
        return Compiled(ordered, note, self.names, tuple(self.changes))

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
            sent = self.sent_names(node)
        self._unite(node, path)
        self._values(node, path, dialect, notes, known)
        renamed = self._renamed(node, path, notes, sent)
        self._shape(node, path, dialect, is_root=is_root)
        self._limits(node, path, dialect, notes, known)
        self._kind(node, path, dialect)
        self.widened += len(notes.keys() - outer_names)
        for keyword in notes.keys() - outer_names:
            notes[keyword] = named_within({keyword: notes[keyword]}, sent)[keyword]
        for keyword in notes:
            if is_root:
                self.say("described", "", f"`{keyword}` at the root is in the tool's description")
            elif keyword != "name":
                self.say("described", path, f"`{keyword}` is in the description")
        if not is_root:
            described(node, notes)
        if dialect.types == "one" and "anyOf" in node:
            describe_in_branch(node)
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

    def is_exact(
        self, schema: Any, path: str, dialect: Dialect, sent: dict[str, str] | None = None
    ) -> bool:
        """Whether a schema permits in the dialect just what it does for the author."""
        if any(True for _ in references_in(schema)):
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
        node.update(with_names(node, sent))
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


_WHOLE = Dialect("whole")
"""What is kept inside `items` where a provider keeps all of it."""


def values_of(schema: Any, keyword: str) -> Iterator[Any]:
    if isinstance(schema, dict):
        if keyword in schema:
            yield schema[keyword]
        for _, inner in inner_schemas(schema):
            yield from values_of(inner, keyword)


def used_definitions(root: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    used: dict[str, Any] = {}
    todo = [root]
    while todo:
        for pointer in references_in(todo.pop()):
            name = pointer.removeprefix("#/$defs/")
            if name not in used and name in definitions:
                used[name] = definitions[name]
                todo.append(definitions[name])
    return used
