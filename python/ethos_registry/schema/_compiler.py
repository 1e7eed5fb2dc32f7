"""The schema of a tool as one provider takes it.

The tool's own schema decides which arguments are valid; what is made here decides what the model
reads. So every pass may permit more, and none less: a valid argument fits the compiled schema,
after its properties are renamed. Where a pass permits more, or renames, there is a note.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from copy import copy
from functools import lru_cache
from typing import Any, NamedTuple

from ethos_registry.schema._compilation import (
    ALL_TYPES,
    EMPTY,
    IN_PLACE,
    MAX_LEVELS,
    MAX_NODES,
    NoSchemaError,
    NoteKind,
    SchemaChange,
    described,
    named_within,
    note_text,
    with_names,
)
from ethos_registry.schema._conjunction import ABOUT
from ethos_registry.schema._dialect import Dialect
from ethos_registry.schema._drafts import inner_places
from ethos_registry.schema._limit_pass import UNSAID, LimitPass, is_python_pattern
from ethos_registry.schema._references import References, children, reached, references_in
from ethos_registry.schema._value_pass import describe_in_branch
from ethos_registry.types._json_values import read_only
from ethos_registry.types._schema_rules import KEYWORD_ORDER, SCHEMA, in_order, ordered_schema


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
    takes_any_root = not dialect.object_needs_properties and dialect.root_keywords is None
    if plain.get("type") == "object" and ("properties" in plain or takes_any_root):
        form = _PlainForm(schema, dialect)
        try:
            return form.compiled(plain)
        except _NotPlainError:
            pass
    return _Compiler(schema, dialect).compiled()


# Schemas of plain keywords, which most are: one walk, and no copy where nothing changes. Only what
# is inside a schema of other keywords takes the passes, unless it refers to the rest.


_STRUCTURE = frozenset({"type", "properties", "required", "items"})
_ABOUT_PLAIN = ABOUT - {"deprecated"}
_PLAIN = (
    _STRUCTURE
    | _ABOUT_PLAIN
    | {
        "additionalProperties",
        "enum",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "format",
    }
)
_PLAIN_IF_UNCHANGED = frozenset({"const", "pattern", "propertyNames"})
_PLAIN_TYPES = frozenset(ALL_TYPES) - {"null"} | {"integer"}


class _Keywords(NamedTuple):
    """What becomes of the plain keywords under a dialect."""

    unchanged: frozenset[str]
    dropped: frozenset[str]
    described: frozenset[str]


@lru_cache(maxsize=128)
def _keywords(dialect: Dialect, *, is_root: bool) -> _Keywords:
    known = dialect.root_keywords if is_root and dialect.root_keywords else dialect.keywords
    plain = _PLAIN | _PLAIN_IF_UNCHANGED
    unchanged = (plain if known is None else plain & known) - dialect.without
    if not dialect.const:
        unchanged -= {"const"}
    if dialect.pattern not in ("any", "python"):
        unchanged -= {"pattern"}
    return _Keywords(
        unchanged, (_PLAIN & UNSAID) - unchanged, _PLAIN - UNSAID - unchanged - _STRUCTURE
    )


class _NotPlainError(Exception):
    """A schema needs a closer look."""


class _PlainForm:
    """A schema of plain keywords as a dialect has it: the same that the passes make of it.

    This is what a list of many tools costs the first time.
    """

    def __init__(self, author: Mapping[str, Any], dialect: Dialect) -> None:
        self.author = author
        self.dialect = dialect
        self.changes: list[SchemaChange] = []
        self.tool_note = ""
        self._max_items = 0
        self._root_words = _keywords(dialect, is_root=True)
        self._words = _keywords(dialect, is_root=False)
        self._passes: _Compiler | None = None
        """What takes the schemas that are not plain."""

    def compiled(self, root: Mapping[str, Any]) -> Compiled:
        """The whole; `_NotPlainError` if the root, or what it refers to, needs a closer look."""
        made = self._node(root, "", self.dialect, MAX_LEVELS, is_root=True)
        limit, names, changes = self.dialect.max_items_sum, dict[str, str](), self.changes
        if limit is not None and self._max_items > limit:
            raise _NotPlainError
        if self._passes is not None:
            names, changes = self._passes.names, [*changes, *self._passes.changes]
        return Compiled(made, self.tool_note, names, tuple(dict.fromkeys(changes)))

    def _inner(self, schema: Any, path: str, dialect: Dialect, levels: int) -> Any:
        """A schema that is not the root."""
        count = len(self.changes)
        try:
            return self._node(schema, path, dialect, levels)
        except _NotPlainError:
            del self.changes[count:]
        if (
            not isinstance(schema, dict)
            or isinstance(schema.get("required"), bool)
            or any(True for _ in references_in(schema))
        ):
            raise _NotPlainError  # it decides what is around it
        if self._passes is None:
            self._passes = _Compiler(self.author, self.dialect)
        node = References(self._passes).written(schema, (), levels)
        self._max_items += sum(values_of(node, "maxItems"))
        made = self._passes._schema(node, path, dialect, levels=levels)
        return ordered_schema(read_only(made))

    def _node(
        self, schema: Any, path: str, dialect: Dialect, levels: int, *, is_root: bool = False
    ) -> Any:
        """The schema itself if nothing in it changes; `_NotPlainError` if that is not certain."""
        if not isinstance(schema, dict) or levels == 0:
            raise _NotPlainError
        if dialect is self.dialect:
            words = self._root_words if is_root else self._words
        else:
            words = _keywords(dialect, is_root=False)
        kind = schema.get("type")
        is_nullable = False
        if isinstance(kind, list):
            is_nullable, kind = _is_nullable(schema, kind, dialect), ""
        elif kind is None and "anyOf" in schema:
            return self._union(schema, path, dialect, levels, words.unchanged)
        elif kind is None and "const" in schema and dialect.any_value != "any_of":
            kind = ""
        elif type(kind) is not str or kind not in _PLAIN_TYPES:
            raise _NotPlainError
        notes: dict[str, Any] = {}
        changed: dict[str, Any] | None = None
        if not words.unchanged.issuperset(schema):
            changed = dict(schema)
            for keyword, value in schema.items():
                if keyword in words.unchanged:
                    continue
                if keyword == "additionalProperties":
                    if type(value) is not bool:
                        raise _NotPlainError
                    if not value:
                        self._say("rewritten", path, "`additionalProperties: false` is not sent")
                elif keyword in words.described:
                    notes[keyword] = value
                elif keyword not in words.dropped:
                    raise _NotPlainError
                del changed[keyword]
        self._check(schema, kind, dialect)
        if "format" in schema and "format" in words.unchanged:
            if not dialect.pattern_with_length and ("minLength" in schema or "maxLength" in schema):
                raise _NotPlainError
            if dialect.formats is not None and schema["format"] not in dialect.formats:
                changed = changed or dict(schema)
                notes["format"] = changed.pop("format")
        self._max_items += schema.get("maxItems", 0)
        if notes:
            assert changed is not None
            self._describe(changed, notes, path, is_root=is_root)
        if is_nullable:
            [name] = [name for name in schema["type"] if name != "null"]
            return (schema if changed is None else changed) | {"type": name, "nullable": True}
        if kind == "object" or kind == "array":
            changed = self._inside(schema, changed, path, dialect, levels - 1)
        return schema if changed is None else changed

    def _union(
        self,
        schema: dict[str, Any],
        path: str,
        dialect: Dialect,
        levels: int,
        unchanged: frozenset[str],
    ) -> Any:
        """A union of plain branches, such as an optional value."""
        branches = schema["anyOf"]
        if (
            dialect.types == "joined"
            or (dialect.keywords is not None and "anyOf" not in dialect.keywords)
            or len(branches) < 2
            or not (about := schema.keys() - {"anyOf"}) <= _ABOUT_PLAIN
            or all(_is_list_of_values(branch) for branch in branches)
        ):
            raise _NotPlainError
        if dialect.types == "one":
            return self._nullable(schema, branches, path, dialect, levels - 1)
        if not unchanged.issuperset(about):
            raise _NotPlainError
        made = [
            branch if branch == _NULL else self._node(branch, path, dialect, levels - 1)
            for branch in branches
        ]
        if all(map(operator.is_, made, branches)):
            return schema
        return schema | {"anyOf": made}

    def _nullable(
        self,
        schema: dict[str, Any],
        branches: list[Any],
        path: str,
        dialect: Dialect,
        levels: int,
    ) -> Any:
        """A union where null is not a type, and nothing describes it but its first branch."""
        first, *others = [branch for branch in branches if branch != _NULL] or [None]
        if not isinstance(first, dict) or "anyOf" in first:
            raise _NotPlainError
        made = {name: value for name, value in schema.items() if name != "anyOf"}
        if others:
            if not made.keys() <= {"title", "description"}:
                raise _NotPlainError
            made.pop("title", None)
            about = made.pop("description", None)
            if about is not None:
                text = first.get("description")
                first = first | {"description": f"{about}\n\n{text}" if text else about}
                first = {name: first[name] for name in in_order(first)}
            nodes = [self._node(branch, path, dialect, levels) for branch in (first, *others)]
            made = {"anyOf": nodes}
        else:
            merged = {**first, **made}
            merged = {name: merged[name] for name in in_order(merged)}
            made = self._node(merged, path, dialect, levels)
        return made if len(others) + 1 == len(branches) else {**made, "nullable": True}

    def _check(self, schema: dict[str, Any], kind: str, dialect: Dialect) -> None:
        """Raise for what the passes would change."""
        if kind == "object":
            properties, required = schema.get("properties"), schema.get("required", ())
            if properties is None:
                if dialect.object_needs_properties or schema.keys() - {"type", "description"}:
                    raise _NotPlainError
            elif (
                not isinstance(properties, dict)
                or required == []
                or not isinstance(required, list | tuple)
                or not all(name in properties for name in required)
                or schema.get("additionalProperties") == {}
            ):
                raise _NotPlainError
            elif dialect.property_name is not None:
                matches = dialect.property_name.fullmatch
                if not all(map(matches, properties)):
                    raise _NotPlainError
        elif not _OF_OBJECTS.isdisjoint(schema):
            raise _NotPlainError
        if "items" in schema:
            if kind != "array" or schema["items"] in EMPTY or schema["items"] is False:
                raise _NotPlainError
        elif kind == "array" and dialect.array_needs_items:
            raise _NotPlainError
        if "enum" in schema:
            enum = schema["enum"]
            if kind in ("object", "array") or not enum or None in enum:
                raise _NotPlainError
            is_string = kind == "string" and all(isinstance(value, str) for value in enum)
            if dialect.string_enums and not is_string:
                raise _NotPlainError
        if dialect.pattern == "python" and not is_python_pattern(schema.get("pattern", "")):
            raise _NotPlainError
        if (
            type(schema.get("exclusiveMinimum")) is bool
            or type(schema.get("exclusiveMaximum")) is bool
        ):
            raise _NotPlainError

    def _describe(
        self, node: dict[str, Any], notes: dict[str, Any], path: str, *, is_root: bool
    ) -> None:
        for keyword in notes:
            if is_root:
                self._say("described", "", f"`{keyword}` at the root is in the tool's description")
            else:
                self._say("described", path, f"`{keyword}` is in the description")
        if is_root:
            self.tool_note = note_text(notes)
            return
        described(node, notes)
        description = node.pop("description")
        rest = {name: value for name, value in node.items() if name not in _BEFORE_DESCRIPTION}
        for name in rest:
            del node[name]
        node["description"] = description
        node.update(rest)

    def _inside(
        self,
        schema: dict[str, Any],
        changed: dict[str, Any] | None,
        path: str,
        dialect: Dialect,
        levels: int,
    ) -> dict[str, Any] | None:
        inner: dict[str, Any] = {}
        properties = schema.get("properties")
        if properties:
            begin = f"{path}/" if path else ""
            made = {
                name: self._inner(item, begin + name, dialect, levels)
                for name, item in properties.items()
            }
            if not all(map(operator.is_, made.values(), properties.values())):
                inner["properties"] = made
        for keyword in ("items", "additionalProperties", "propertyNames"):
            value = schema.get(keyword)
            if value is not None and type(value) is not bool:
                whole = dialect.items_are_whole and keyword == "items"
                place = f"{path}/*" if path else "*"
                found = self._inner(value, place, _WHOLE if whole else dialect, levels)
                if found is not value:
                    inner[keyword] = found
        return changed if not inner else {**(schema if changed is None else changed), **inner}

    def _say(self, kind: NoteKind, path: str, message: str) -> None:
        self.changes.append(SchemaChange(kind, path, message))


def _is_nullable(schema: dict[str, Any], kinds: list[Any], dialect: Dialect) -> bool:
    """Whether several types are written as one that is nullable; `False` if they stay a list."""
    if "enum" in schema or not kinds or any(kinds.count(kind) != 1 for kind in kinds):
        raise _NotPlainError
    if not all(kind in _SCALARS for kind in kinds):
        raise _NotPlainError
    if dialect.types != "one":
        return False
    if len(kinds) != 2 or kinds.count("null") != 1:
        raise _NotPlainError
    return True


_NULL = {"type": "null"}
_SCALARS = ("string", "null", "number", "integer", "boolean")
_OF_OBJECTS = frozenset({"properties", "required", "additionalProperties", "propertyNames"})
_BEFORE_DESCRIPTION = frozenset(KEYWORD_ORDER[: KEYWORD_ORDER.index("description")])


def _is_list_of_values(schema: Any) -> bool:
    return isinstance(schema, dict) and ("enum" in schema or "const" in schema)


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
            name: self._schema(body, f"$defs/{name}", self.dialect)
            for name, body in self.definitions.items()
        }
        used = reached(
            references_in(node),
            lambda pointer: references_in(definitions.get(pointer.removeprefix("#/$defs/"))),
        )
        needed = {name: definitions[name] for name in definitions if f"#/$defs/{name}" in used}
        if needed:
            node["$defs"] = needed
        ordered: Mapping[str, Any] = ordered_schema(read_only(node))
        note = note_text(notes) if notes else ""
        return Compiled(ordered, note, self.names, tuple(self.changes))

    def _schema(
        self,
        schema: Any,
        path: str,
        dialect: Dialect,
        notes: dict[str, Any] | None = None,
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
        notes = {} if notes is None else notes
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
        for keyword, holder, key in inner_places(node):
            schema, place, rules = holder[key], items, dialect
            notes: dict[str, Any] = {}
            if keyword == "properties":
                place = f"{path}/{key}" if path else key
                notes = {"name": renamed[key]} if key in renamed else {}
            elif keyword in IN_PLACE:
                place = path
            elif keyword in SCHEMA and isinstance(schema, bool):
                if keyword != "items" or dialect.boolean_schemas:
                    continue
            elif keyword == "items" and dialect.items_are_whole:
                rules = _WHOLE
            names = sent if keyword in IN_PLACE else None
            holder[key] = self._schema(schema, place, rules, notes, sent=names, levels=levels)

    def is_exact(self, schema: Any, path: str, dialect: Dialect) -> bool:
        """Whether a schema permits in the dialect just what it does for the author."""
        known = self.exact.get((id(schema), dialect))
        if known is None:
            trial = copy(self)
            trial.changes, trial.names = {}, {}
            is_exact = not any(True for _ in references_in(schema))
            if is_exact:
                trial._schema(schema, path, dialect)
                is_exact = trial.widened == self.widened
            known = self.exact[id(schema), dialect] = schema, is_exact
        return known[1]

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
"""The rules inside `items` where a provider takes all of it."""


def values_of(schema: Any, keyword: str) -> Iterator[Any]:
    if isinstance(schema, dict):
        if keyword in schema:
            yield schema[keyword]
        for inner in children(schema):
            yield from values_of(inner, keyword)
