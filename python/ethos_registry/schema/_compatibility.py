"""Checks that a function accepts what the schema of its tool permits.

What is true for every call is compared, at every depth; nothing is called. Constraints between
fields and validators with code of their own are up to the author.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any, NamedTuple

from pydantic.fields import FieldInfo

from ethos_registry import _core
from ethos_registry.schema._arguments import Arguments
from ethos_registry.schema._fixed_values import listed_values, type_of
from ethos_registry.schema._problems import json_phrase
from ethos_registry.types._checks import brief
from ethos_registry.types._errors import ConfigError

# What a JSON Schema permits, as far as its types, listed values and fields show it.

# Schemas are frozen: their objects are dicts, and checking for a dict costs a fraction of checking
# for a mapping.


class Side(NamedTuple):
    """A schema of a value, and the definitions that its references lead to.

    >>> side = Side({"anyOf": [{"type": "integer"}, {"const": None}]}, {})
    >>> sorted(side.types)
    ['integer', 'null']
    """

    schema: Any
    definitions: Mapping[str, Any]
    followed: frozenset[str] = frozenset()
    """References that led here: what a schema that refers to itself states is read once."""

    def at(self, schema: Any) -> Side:
        """A schema of another value."""
        return Side(schema, self.definitions)

    @property
    def parts(self) -> list[Mapping[str, Any]]:
        """The schemas that the value must all match: this one, its `$ref` and its `allOf`.

        `True` has none. A reference that leads out of the definitions is left out.

        >>> definitions = {"a": {"type": "integer"}}
        >>> Side({"allOf": [{"$ref": "#/$defs/a"}, {"minimum": 1}]}, definitions).parts[1:]
        [{'$ref': '#/$defs/a'}, {'type': 'integer'}, {'minimum': 1}]
        """
        found: list[Mapping[str, Any]] = []
        followed, todo = self.followed, [self.schema]
        while todo:
            schema = todo.pop()
            if not isinstance(schema, dict):
                continue
            found.append(schema)
            if "allOf" in schema:
                todo += reversed(schema["allOf"])
            place = schema.get("$ref")
            if isinstance(place, str) and place.startswith("#/$defs/") and place not in followed:
                followed |= {place}
                todo.append(self.definitions.get(place.rpartition("/")[2]))
        return found

    def unions(self, part: Mapping[str, Any]) -> list[list[Side]]:
        """The alternatives of each `anyOf` and `oneOf` of a part."""
        lists = [part[keyword] for keyword in ("anyOf", "oneOf") if part.get(keyword)]
        if not lists:
            return []
        followed = self.followed.union(each["$ref"] for each in self.parts if "$ref" in each)
        return [[Side(item, self.definitions, followed) for item in items] for items in lists]

    @property
    def types(self) -> frozenset[str] | None:
        """The JSON types that the value may have; `None` if they are not restricted."""
        found = [types for part in self.parts for types in self._types_of(part)]
        return reduce(_both, found) if found else None

    def _types_of(self, part: Mapping[str, Any]) -> Iterator[frozenset[str]]:
        declared = part.get("type")
        if declared is not None:
            yield frozenset([declared] if isinstance(declared, str) else declared)
        values = listed_values(part)
        if values is not None:
            yield frozenset(map(type_of, values))
        for union in self.unions(part):
            types = [alternative.types for alternative in union]
            known = [item for item in types if item is not None]
            if len(known) == len(types):
                yield frozenset().union(*known)

    @property
    def values(self) -> dict[str, Any] | None:
        """The values that are listed, by their JSON text; `None` if others are permitted too.

        >>> Side({"anyOf": [{"enum": ["a", 1]}, {"type": "null"}]}, {}).values
        {'"a"': 'a', '1': 1, 'null': None}
        """
        found = [values for part in self.parts for values in self._values_of(part)]
        if not found:
            return None
        first, *others = found
        return {text: first[text] for text in first if all(text in other for other in others)}

    def _values_of(self, part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        values = listed_values(part)
        if values is not None:
            yield {json.dumps(value, sort_keys=True): value for value in values}
        if part.get("type") == "null":
            yield {"null": None}
        for union in self.unions(part):
            merged: dict[str, Any] = {}
            for alternative in union:
                listed = alternative.values
                if listed is None:
                    break
                merged |= listed
            else:
                yield merged

    @property
    def properties(self) -> dict[str, Any]:
        """The fields that are described; one that several parts describe must match all."""
        found: dict[str, list[Any]] = {}
        for part in self.parts:
            for name, schema in part.get("properties", {}).items():
                found.setdefault(name, []).append(schema)
        return {
            name: schemas[0] if len(schemas) == 1 else {"allOf": schemas}
            for name, schemas in found.items()
        }

    @property
    def required(self) -> list[str]:
        """The fields that are required."""
        return list(dict.fromkeys(name for part in self.parts for name in part.get("required", ())))

    @property
    def others(self) -> Any:
        """`additionalProperties`, for fields that are not described; `None` if it is absent."""
        key = "additionalProperties"
        stated = [part[key] for part in self.parts if key in part]
        return False if False in stated else stated[0] if stated else None


def _both(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    """The types in both; a whole number is a number."""
    both = left & right
    if "integer" in left | right and "number" in left | right:
        both |= {"integer"}
    return both


# Two schemas of one value compared at every depth: what one permits, the other must accept.

_MAX_DEPTH = 8
"""How many levels of fields and items are compared."""
_MAX_VALUES_SHOWN = 5


def disagreements(
    place: str, declared: Side, accepted: Side, depth: int = _MAX_DEPTH
) -> Iterator[str]:
    """Why a value that `declared` permits is refused by `accepted`: sentences with the way out."""
    if declared == accepted:
        return
    permitted, taken = declared.types, accepted.types
    if permitted is not None and taken is not None:
        whole = {"integer"} if "number" in taken else set()  # a whole number is a number
        if wrong := permitted - taken - whole:
            yield (
                f"the schema permits type {' or '.join(sorted(wrong))} for `{place}`, but the "
                f"function accepts {' or '.join(sorted(taken))}; change the schema's `type` or the "
                "annotation"
            )
            return
    values = accepted.values
    if values is not None:
        yield from _values(place, declared.values, values)
    if depth > 0:
        for one, other in _pairs(declared, accepted):
            yield from _fields(place, one, other, depth - 1)
            yield from _items(place, one, other, depth - 1)


def _values(
    place: str, permitted: Mapping[str, Any] | None, taken: Mapping[str, Any]
) -> Iterator[str]:
    if permitted is None:
        yield (
            f"the function accepts only {_some(taken)} for `{place}`, and the schema permits other "
            "values; list them under `enum`, or widen the annotation"
        )
        return
    beyond = {text: value for text, value in permitted.items() if text not in taken}
    if beyond:
        yield (
            f"the schema permits {_some(beyond)} for `{place}`, but the function accepts only "
            f"{_some(taken)}; shorten `enum`, or widen the annotation"
        )


def _pairs(declared: Side, accepted: Side) -> Iterator[tuple[Side, Side]]:
    """The alternatives of both sides that describe the same kind of value.

    An alternative for which the function has several of the kind is not compared: any may fit.
    """
    for kind in ("object", "array"):
        theirs = [side for side in _branches(accepted) if kind in (side.types or ())]
        if len(theirs) == 1:
            for ours in _branches(declared):
                if kind in (ours.types or ()):
                    yield ours, theirs[0]


def _branches(side: Side) -> list[Side]:
    """The alternatives of a union at the root of a schema; the schema itself if it has no union."""
    unions = [union for part in side.parts for union in side.unions(part)]
    if len(unions) != 1:
        return [side]
    return [branch for item in unions[0] for branch in _branches(item)]


def _fields(place: str, declared: Side, accepted: Side, depth: int) -> Iterator[str]:
    ours, theirs = declared.properties, accepted.properties
    their_others = accepted.others
    if not theirs and their_others is None:
        return
    for name in sorted({*accepted.required}.difference(declared.required)):
        if ours or declared.others is False:  # a bare object describes no fields at all
            yield (
                f"the function requires `{place}.{name}`, and the schema does not; add it to "
                f"`required` of `{place}`, or give the field a default"
            )
    for name, schema in ours.items():
        inner = f"{place}.{name}"
        if name not in theirs and their_others is False:
            yield (
                f"the schema has a property `{inner}`, but the function accepts no such field; "
                "add the field, or remove the property"
            )
            continue
        other = theirs.get(name, their_others)
        yield from disagreements(inner, declared.at(schema), accepted.at(other), depth)
    yield from _other_fields(place, declared, accepted, depth)


def _other_fields(place: str, declared: Side, accepted: Side, depth: int) -> Iterator[str]:
    """Fields that neither side describes by name: only what the schema states is compared."""
    ours, theirs = declared.others, accepted.others
    if ours is None or ours is False:
        return
    if theirs is False:
        yield (
            f"the schema permits further fields of `{place}` by `additionalProperties`, but the "
            "function accepts none; set it to false, or accept them"
        )
    elif isinstance(theirs, dict):
        yield from disagreements(f"{place}.*", declared.at(ours), accepted.at(theirs), depth)


def _items(place: str, declared: Side, accepted: Side, depth: int) -> Iterator[str]:
    ours = [part["items"] for part in declared.parts if "items" in part]
    theirs = [part["items"] for part in accepted.parts if "items" in part]
    if not theirs:
        return
    item: Any = ours[0] if len(ours) == 1 else {"allOf": ours} if ours else None
    if isinstance(item, list):  # a tuple before draft 2020-12
        for index, one in enumerate(item):
            yield from disagreements(
                f"{place}[{index}]", declared.at(one), accepted.at(theirs[0]), depth
            )
    elif item is not None:
        yield from disagreements(f"{place}[]", declared.at(item), accepted.at(theirs[0]), depth)


def _some(values: Mapping[str, Any]) -> str:
    first = [json_phrase(value) for value in list(values.values())[:_MAX_VALUES_SHOWN]]
    more = f" and {len(values) - len(first)} more" if len(values) > len(first) else ""
    return f"{', '.join(first)}{more}"


_PLAIN_KEYS = frozenset({"type", "enum", "anyOf", "default", "description", "title"})
_PLAIN_TYPES = {str: "string", int: "integer", bool: "boolean", float: "number", type(None): "null"}


class _Finding(Exception):  # noqa: N818 - it never leaves this module
    """A disagreement and the parameter that it is about."""

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(problem)
        self.parameter = parameter


def check_compatibility(tool_name: str, declared: Mapping[str, Any], arguments: Arguments) -> None:
    """Raise `ConfigError` with the tool, the parameter and the way out if the two disagree.

    The function's signature must accept every call that is valid in the `declared` schema, and the
    schema's defaults must be those of the function. A schema that was derived from the signature
    can only have wrong defaults.

    >>> def search(query: str, limit: int = 5): ...
    >>> schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    >>> check_compatibility("search", schema, Arguments(search))
    Traceback (most recent call last):
    ethos_registry.ConfigError: tool `search`: parameter `query` has no default, \
and the schema does not require it; add it to `required`, or give the parameter a default
    """
    try:
        if declared != arguments.schema:
            ours = Side(declared, declared.get("$defs", {}))
            theirs = Side(arguments.schema, arguments.schema.get("$defs", {}))
            _check_names(ours, arguments)
            properties, others = theirs.properties, theirs.others
            for name, schema in ours.properties.items():
                accepted = properties.get(name, others)
                if schema != accepted or "$ref" in str(schema):
                    _check_property(name, ours.at(schema), theirs.at(accepted))
            _check_other_properties(ours, theirs)
        for name, schema in declared.get("properties", {}).items():
            _check_own_default(name, schema, declared)
        _check_annotated_defaults(arguments)
    except _Finding as finding:
        raise ConfigError(
            f"tool `{tool_name}`: {finding}",
            context={"tool_name": tool_name, "field": finding.parameter, "value": declared},
        ) from None


def _check_names(declared: Side, arguments: Arguments) -> None:
    properties, required = declared.properties, declared.required
    derived = arguments.schema
    for name in required:
        if name not in properties:
            raise _Finding(
                name,
                f"the schema requires `{name}`, which is not one of its properties; describe it in "
                "`properties`, or remove it from `required`",
            )
    for name in properties:
        if name == arguments.parameters.context_name:
            raise _Finding(
                name,
                f"the schema has a property `{name}`, but the registry fills that parameter with "
                "the call's context; remove it from `properties`",
            )
        if name not in derived["properties"] and arguments.parameters.keywords is None:
            raise _Finding(
                name,
                f"the schema has a property `{name}`, but the function has no such parameter; add "
                "the parameter or `**kwargs`, or remove it from `properties`",
            )
    for name in derived.get("required", ()):
        if name not in properties:
            raise _Finding(
                name,
                f"parameter `{name}` has no default, and the schema does not have it; describe it "
                "in `properties`, or give the parameter a default",
            )
        if name not in required:
            raise _Finding(
                name,
                f"parameter `{name}` has no default, and the schema does not require it; add it to "
                "`required`, or give the parameter a default",
            )


def _check_property(name: str, ours: Side, theirs: Side) -> None:
    for problem in disagreements(name, ours, theirs):
        raise _Finding(name, problem)
    if isinstance(ours.schema, dict) and isinstance(theirs.schema, dict):
        _check_default(name, ours.schema, theirs.schema)


def _check_other_properties(declared: Side, arguments: Side) -> None:
    """`additionalProperties` of the arguments, where the schema states it."""
    if declared.others is None or declared.others is False:
        return
    if arguments.others is False:
        raise _Finding(
            "additionalProperties",
            "the schema permits further arguments by `additionalProperties`, but the function "
            "accepts none; set it to false, or add `**kwargs`",
        )
    ours, theirs = declared.at(declared.others), arguments.at(arguments.others)
    for problem in disagreements("**", ours, theirs):
        raise _Finding("additionalProperties", problem)


def _check_default(name: str, schema: Mapping[str, Any], accepted: Mapping[str, Any]) -> None:
    if "default" not in schema or "default" not in accepted:
        return
    said, true = schema["default"], accepted["default"]
    if said != true or isinstance(said, bool) != isinstance(true, bool):
        raise _Finding(
            name,
            f"the default of `{name}` is {brief(said)} in the schema and {brief(true)} in the "
            "function; make them equal, or remove `default` from the schema",
        )


def _check_own_default(name: str, schema: Any, declared: Mapping[str, Any]) -> None:
    """The default of a property must be valid in its own schema."""
    if not isinstance(schema, dict) or "default" not in schema:
        return
    default = schema["default"]
    if _is_plainly_valid(default, schema):
        return
    definitions = {"$defs": declared["$defs"]} if "$defs" in declared else {}
    try:
        validator = _core.SchemaValidator(definitions | {"allOf": [dict(schema)]})
    except ValueError:  # a pattern that only other engines run, or a reference to another document
        return
    if not validator.is_valid(default):
        raise _wrong_default(name, default)


def _check_annotated_defaults(arguments: Arguments) -> None:
    """A default must be valid for its annotation too, which may be narrower than the schema."""
    shown = arguments.schema["properties"]
    defaults = {
        name: FieldInfo.from_annotation(annotation).default
        for name, annotation in zip(
            arguments.binder.names, arguments.parameters.shown.values(), strict=True
        )
        if shown[name].get("default") is not None
    }
    if defaults:
        for name, *_ in arguments.binder.failing(defaults):
            if name in defaults:
                raise _wrong_default(str(name), defaults[str(name)])


def _wrong_default(name: str, default: object) -> _Finding:
    return _Finding(
        name,
        f"the default of `{name}`, {brief(default)}, is not valid in its own schema; correct "
        "the default, or permit it in the schema or the annotation",
    )


def _is_plainly_valid(value: object, schema: Any) -> bool:
    """A cheap check for the usual case: compiling a schema costs more than everything else."""
    if not isinstance(schema, dict) or not schema.keys() <= _PLAIN_KEYS:
        return False
    if "anyOf" in schema:
        return "type" not in schema and any(
            _is_plainly_valid(value, alternative) for alternative in schema["anyOf"]
        )
    if "enum" in schema and not any(
        type(value) is type(item) and value == item for item in schema["enum"]
    ):
        return False
    return schema.get("type") == _PLAIN_TYPES.get(type(value), "")
