"""Checks that a function accepts what the schema of its tool permits.

What is true for every call is compared, at every depth; nothing is called. Constraints between
fields and validators with code of their own are up to the author.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic.fields import FieldInfo

from ethos_registry import _core
from ethos_registry.schema._arguments import Arguments
from ethos_registry.schema._problems import json_phrase
from ethos_registry.types._checks import brief
from ethos_registry.types._errors import ConfigError

# What a JSON Schema permits, as far as its types, listed values and fields show it.

# Schemas are frozen: their objects are dicts, and checking for a dict costs a fraction of checking
# for a mapping.

_MAX_STEPS = 32
"""How many alternatives and references are followed."""


def parts(
    schema: Any, definitions: Mapping[str, Any], steps: int = _MAX_STEPS
) -> list[Mapping[str, Any]]:
    """The schemas that a value must all match: this one, its `$ref` and its `allOf`.

    `True` has none. A reference that leads out of the definitions is left out.

    >>> parts({"allOf": [{"$ref": "#/$defs/a"}, {"minimum": 1}]}, {"a": {"type": "integer"}})[1:]
    [{'$ref': '#/$defs/a'}, {'type': 'integer'}, {'minimum': 1}]
    """
    if not isinstance(schema, dict) or steps <= 0:
        return []
    found: list[Mapping[str, Any]] = [schema]
    place = schema.get("$ref")
    if isinstance(place, str) and place.startswith("#/$defs/"):
        found += parts(definitions.get(place.rpartition("/")[2]), definitions, steps - 1)
    for inner in schema.get("allOf", ()):
        found += parts(inner, definitions, steps - 1)
    return found


def allowed_types(
    schema: Any, definitions: Mapping[str, Any], steps: int = _MAX_STEPS
) -> frozenset[str] | None:
    """The JSON types that a value may have; `None` if the schema does not restrict them.

    >>> sorted(allowed_types({"anyOf": [{"type": "integer"}, {"const": None}]}, {}))
    ['integer', 'null']
    """
    permitted: frozenset[str] | None = None
    for part in parts(schema, definitions, steps):
        for types in _types_of_part(part, definitions, steps):
            if types is not None:
                permitted = types if permitted is None else _both(permitted, types)
    return permitted


def _types_of_part(
    part: Mapping[str, Any], definitions: Mapping[str, Any], steps: int
) -> Iterator[frozenset[str] | None]:
    declared = part.get("type")
    if declared is not None:
        yield frozenset([declared] if isinstance(declared, str) else declared)
    values = _enum_values(part)
    if values is not None:
        yield frozenset(map(_type_of, values))
    for union in alternatives(part):
        types = [allowed_types(alternative, definitions, steps - 1) for alternative in union]
        known = [item for item in types if item is not None]
        yield frozenset().union(*known) if len(known) == len(types) else None


def _both(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    """The types in both; a whole number is a number."""
    both = left & right
    if "integer" in left | right and "number" in left | right:
        both |= {"integer"}
    return both


def allowed_values(
    schema: Any, definitions: Mapping[str, Any], steps: int = _MAX_STEPS
) -> dict[str, Any] | None:
    """The values that are listed, by their JSON text; `None` if other values are permitted too.

    >>> allowed_values({"anyOf": [{"enum": ["a", 1]}, {"type": "null"}]}, {})
    {'"a"': 'a', '1': 1, 'null': None}
    """
    permitted: dict[str, Any] | None = None
    for part in parts(schema, definitions, steps):
        for values in _values_of_part(part, definitions, steps):
            if values is None:
                continue
            if permitted is None:
                permitted = values
            else:
                permitted = {key: item for key, item in permitted.items() if key in values}
    return permitted


def _values_of_part(
    part: Mapping[str, Any], definitions: Mapping[str, Any], steps: int
) -> Iterator[dict[str, Any] | None]:
    values = _enum_values(part)
    if values is not None:
        yield {json.dumps(value, sort_keys=True): value for value in values}
    if part.get("type") == "null":
        yield {"null": None}
    for union in alternatives(part):
        merged: dict[str, Any] = {}
        for alternative in union:
            listed = allowed_values(alternative, definitions, steps - 1)
            if listed is None:
                break
            merged |= listed
        else:
            yield merged


def alternatives(schema: Mapping[str, Any]) -> list[list[Any]]:
    """The lists of alternatives; a value must match one of each list."""
    return [schema[keyword] for keyword in ("anyOf", "oneOf") if schema.get(keyword)]


def _enum_values(schema: Mapping[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    values: list[Any] | None = schema.get("enum")
    return values


def _type_of(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    if value is None:
        return "null"
    return "object" if isinstance(value, Mapping) else "array"


# Two schemas of one value compared at every depth: what one permits, the other must accept.

_MAX_DEPTH = 8
"""How many levels of fields and items are compared."""
_MAX_VALUES_SHOWN = 5


class Side(NamedTuple):
    """A schema and the definitions that its references lead to."""

    schema: Any
    definitions: Mapping[str, Any]

    def at(self, schema: Any) -> Side:
        """Another schema of the same document."""
        return Side(schema, self.definitions)

    @property
    def parts(self) -> list[Mapping[str, Any]]:
        """The schemas that a value must all match."""
        return parts(self.schema, self.definitions)

    @property
    def types(self) -> frozenset[str] | None:
        """The permitted types, if they are restricted."""
        return allowed_types(self.schema, self.definitions)


def disagreements(
    place: str, declared: Side, accepted: Side, depth: int = _MAX_DEPTH
) -> Iterator[str]:
    """Why a value that `declared` permits is refused by `accepted`: sentences with the way out."""
    if declared == accepted:
        return
    permitted, taken = declared.types, accepted.types
    if permitted is not None and taken is not None and (wrong := _beyond(permitted, taken)):
        yield (
            f"the schema permits type {_listed(wrong)} for `{place}`, but the function accepts "
            f"{_listed(sorted(taken))}; change the schema's `type` or the annotation"
        )
        return
    values = allowed_values(*accepted)
    if values is not None:
        yield from _values(place, allowed_values(*declared), values)
    if depth > 0:
        for one, other in _pairs(declared, accepted):
            yield from _fields(place, one, other, depth - 1)
            yield from _items(place, one, other, depth - 1)


def _beyond(permitted: frozenset[str], taken: frozenset[str]) -> list[str]:
    """The types that are permitted and not accepted; a whole number is a number."""
    whole = {"integer"} if "number" in taken else set()
    return sorted(permitted - taken - whole)


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
        theirs = [side for side in _branches(accepted) if _may_be(side, kind)]
        if len(theirs) != 1:
            continue
        for ours in _branches(declared):
            if _may_be(ours, kind):
                yield ours, theirs[0]


def _branches(side: Side) -> list[Side]:
    """The alternatives of a union at the root of a schema; the schema itself if it has no union."""
    unions = [union for part in side.parts for union in alternatives(part)]
    if len(unions) != 1:
        return [side]
    return [branch for item in unions[0] for branch in _branches(side.at(item))]


def _may_be(side: Side, kind: str) -> bool:
    types = side.types
    return types is not None and kind in types


def _properties(side: Side) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for part in side.parts:
        for name, schema in part.get("properties", {}).items():
            found.setdefault(name, []).append(schema)
    return found


def _required(side: Side) -> set[str]:
    return {name for part in side.parts for name in part.get("required", ())}


def _others(side: Side) -> Any:
    """The `additionalProperties` of fields that are not described; `None` if it is absent."""
    stated = [part["additionalProperties"] for part in side.parts if "additionalProperties" in part]
    return False if False in stated else stated[0] if stated else None


def _fields(place: str, declared: Side, accepted: Side, depth: int) -> Iterator[str]:
    ours, theirs = _properties(declared), _properties(accepted)
    our_others, their_others = _others(declared), _others(accepted)
    if not theirs and their_others is None:
        return
    for name in sorted(_required(accepted) - _required(declared)):
        if ours or our_others is False:  # a bare object describes no fields at all
            yield (
                f"the function requires `{place}.{name}`, and the schema does not; add it to "
                f"`required` of `{place}`, or give the field a default"
            )
    for name, schemas in ours.items():
        inner = f"{place}.{name}"
        if name in theirs:
            other: Any = theirs[name][0]
        elif their_others is False:
            yield (
                f"the schema has a property `{inner}`, but the function accepts no such field; "
                "add the field, or remove the property"
            )
            continue
        else:
            other = their_others
        combined = schemas[0] if len(schemas) == 1 else {"allOf": schemas}
        yield from disagreements(inner, declared.at(combined), accepted.at(other), depth)
    yield from _other_fields(place, declared, accepted, depth)


def _other_fields(place: str, declared: Side, accepted: Side, depth: int) -> Iterator[str]:
    """Fields that neither side describes by name: only what the schema states is compared."""
    ours, theirs = _others(declared), _others(accepted)
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


def _listed(types: list[str]) -> str:
    return " or ".join(types)


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
            flat = _flattened(declared)
            _check_names(flat, arguments)
            for name, schema in flat.get("properties", {}).items():
                if schema != arguments.schema["properties"].get(name) or "$ref" in str(schema):
                    _check_property(name, schema, declared, arguments)
            _check_other_properties(flat, arguments)
        for name, schema in declared.get("properties", {}).items():
            _check_own_default(name, schema, declared)
        _check_annotated_defaults(arguments)
    except _Finding as finding:
        raise ConfigError(
            f"tool `{tool_name}`: {finding}",
            context={"tool_name": tool_name, "field": finding.parameter, "value": declared},
        ) from None


def _flattened(declared: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of the arguments with the fields of its `allOf` and `$ref`."""
    if "allOf" not in declared and "$ref" not in declared:
        return declared
    properties: dict[str, Any] = {}
    required: list[str] = []
    others: list[Any] = []
    for part in parts(declared, declared.get("$defs", {})):
        for name, schema in part.get("properties", {}).items():
            known = properties.get(name)
            properties[name] = schema if known is None else {"allOf": [known, schema]}
        required += [name for name in part.get("required", ()) if name not in required]
        if "additionalProperties" in part:
            others.append(part["additionalProperties"])
    flat: dict[str, Any] = {"properties": properties, "required": required}
    if others:
        flat["additionalProperties"] = False if False in others else others[0]
    return flat


def _check_names(declared: Mapping[str, Any], arguments: Arguments) -> None:
    properties = declared.get("properties", {})
    required = declared.get("required", ())
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


def _check_property(
    name: str, schema: Any, declared: Mapping[str, Any], arguments: Arguments
) -> None:
    derived = arguments.schema
    accepted = derived["properties"].get(name, derived["additionalProperties"])
    ours = Side(schema, declared.get("$defs", {}))
    theirs = Side(accepted, derived.get("$defs", {}))
    for problem in disagreements(name, ours, theirs):
        raise _Finding(name, problem)
    if isinstance(schema, dict) and isinstance(accepted, dict):
        _check_default(name, schema, accepted)


def _check_other_properties(declared: Mapping[str, Any], arguments: Arguments) -> None:
    """`additionalProperties` of the arguments, where the schema states it."""
    others = declared.get("additionalProperties")
    if others is None or others is False:
        return
    accepted = arguments.schema["additionalProperties"]
    if accepted is False:
        raise _Finding(
            "additionalProperties",
            "the schema permits further arguments by `additionalProperties`, but the function "
            "accepts none; set it to false, or add `**kwargs`",
        )
    ours = Side(others, declared.get("$defs", {}))
    theirs = Side(accepted, arguments.schema.get("$defs", {}))
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
