"""A function against the schema that models are shown of it (seed 002; contract 5, "Validation").

What holds of both for every call is looked at, and nothing is tried out: constraints between fields
and validators with code of their own stay the author's affair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.checks import brief
from ethos_registry.contract.errors import ConfigError
from ethos_registry.schema.arguments import Arguments
from ethos_registry.schema.permitted import permitted_types, permitted_values
from ethos_registry.schema.shown import shown

__all__ = ["check_agreement"]

_MAX_ITEMS_DEEP = 8
_MAX_VALUES_SHOWN = 5
_PLAIN_KEYS = frozenset({"type", "enum", "anyOf", "default", "description", "title"})
_PLAIN_TYPES = {str: "string", int: "integer", bool: "boolean", float: "number", type(None): "null"}


class _Finding(Exception):  # noqa: N818 - it never leaves this module
    """What does not agree, and the parameter it is about."""

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(problem)
        self.parameter = parameter


def check_agreement(tool_name: str, declared: Mapping[str, Any], arguments: Arguments) -> None:
    """Nothing, or `ConfigError` with the tool, the parameter and the way out.

    A call that is valid in the `declared` schema must not be refused by the function's signature,
    and what the schema says of defaults must be so. A schema that was derived from the signature
    can be wrong about its defaults only.

    >>> def search(query: str, limit: int = 5): ...
    >>> schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    >>> check_agreement("search", schema, Arguments(search))
    Traceback (most recent call last):
    ethos_registry.contract.errors.ConfigError: tool `search`: parameter `query` has no default, \
and the schema does not require it; add it to `required`, or give the parameter a default
    """
    try:
        if declared != arguments.schema:
            _check_names(declared, arguments)
            for name, schema in declared.get("properties", {}).items():
                if schema != arguments.schema["properties"].get(name):
                    _check_property(name, schema, declared, arguments)
        for name, schema in declared.get("properties", {}).items():
            _check_own_default(name, schema, declared)
    except _Finding as finding:
        raise ConfigError(
            f"tool `{tool_name}`: {finding}",
            context={"tool_name": tool_name, "field": finding.parameter, "value": declared},
        ) from None


def _check_names(declared: Mapping[str, Any], arguments: Arguments) -> None:
    properties = declared.get("properties", {})
    required = declared.get("required", ())
    derived = arguments.schema
    for name in required:
        if name not in properties:
            raise _Finding(
                name,
                f"the schema requires `{name}`, which is none of its properties; describe it in "
                "`properties`, or take it out of `required`",
            )
    for name in properties:
        if name == arguments.parameters.context_name:
            raise _Finding(
                name,
                f"the schema has a property `{name}`, but the registry fills that parameter with "
                "the call's context; take it out of `properties`",
            )
        if name not in derived["properties"] and arguments.parameters.keywords is None:
            raise _Finding(
                name,
                f"the schema has a property `{name}`, but the function has no such parameter; add "
                "the parameter or `**kwargs`, or take it out of `properties`",
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
    ours, theirs = declared.get("$defs", {}), derived.get("$defs", {})
    for place, one, other in _levels(name, schema, ours, accepted, theirs):
        permitted, taken = permitted_types(one, ours), permitted_types(other, theirs)
        if permitted is not None and taken is not None and (wrong := _beyond(permitted, taken)):
            raise _Finding(
                name,
                f"the schema lets `{place}` be of type {_listed(wrong)}, but the function takes "
                f"{_listed(sorted(taken))}; change the schema's `type` or the annotation",
            )
        values = permitted_values(other, theirs)
        if values is not None:
            _check_values(name, place, permitted_values(one, ours), values)
    if isinstance(schema, dict) and isinstance(accepted, dict):
        _check_default(name, schema, accepted)


def _levels(
    name: str, schema: Any, ours: Mapping[str, Any], accepted: Any, theirs: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """The schemas of a property, of its items, of their items, on both sides."""
    for _ in range(_MAX_ITEMS_DEEP):
        yield name, schema, accepted
        if not (isinstance(schema, dict) and isinstance(accepted, dict)):
            return
        schema, accepted = schema.get("items"), accepted.get("items")
        if schema is None or accepted is None:
            return
        name += "[]"


def _beyond(permitted: frozenset[str], taken: frozenset[str]) -> list[str]:
    """The types that are permitted and not taken; a number takes whole numbers."""
    whole = {"integer"} if "number" in taken else set()
    return sorted(permitted - taken - whole)


def _check_values(
    name: str, place: str, permitted: Mapping[str, Any] | None, taken: Mapping[str, Any]
) -> None:
    if permitted is None:
        raise _Finding(
            name,
            f"the function takes only {_some(taken)} for `{place}`, and the schema permits others; "
            "list them under `enum`, or widen the annotation",
        )
    beyond = {text: value for text, value in permitted.items() if text not in taken}
    if beyond:
        raise _Finding(
            name,
            f"the schema permits {_some(beyond)} for `{place}`, but the function takes only "
            f"{_some(taken)}; shorten `enum`, or widen the annotation",
        )


def _check_default(name: str, schema: Mapping[str, Any], accepted: Mapping[str, Any]) -> None:
    if "default" not in schema or "default" not in accepted:
        return
    said, true = schema["default"], accepted["default"]
    if said != true or isinstance(said, bool) != isinstance(true, bool):
        raise _Finding(
            name,
            f"the schema says that the default of `{name}` is {brief(said)}, but the function's is "
            f"{brief(true)}; make them equal, or leave `default` out of the schema",
        )


def _check_own_default(name: str, schema: Any, declared: Mapping[str, Any]) -> None:
    """The default that a property tells must be valid in that property."""
    if not isinstance(schema, dict) or "default" not in schema:
        return
    default = schema["default"]
    if _is_plainly_valid(default, schema):
        return
    definitions = {"$defs": declared["$defs"]} if "$defs" in declared else {}
    try:
        validator = _core.SchemaValidator(definitions | {"allOf": [dict(schema)]})
    except ValueError:  # a pattern that only other engines run, or a reference out of the schema
        return
    if not validator.is_valid(default):
        raise _Finding(
            name,
            f"the default of `{name}`, {brief(default)}, is not valid in its own schema; correct "
            "the default, or permit it in the schema or the annotation",
        )


def _is_plainly_valid(value: object, schema: Any) -> bool:
    """Whether that is seen at once: compiling a schema costs more than all the rest."""
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


def _listed(types: list[str]) -> str:
    return " or ".join(types)


def _some(values: Mapping[str, Any]) -> str:
    first = [shown(value) for value in list(values.values())[:_MAX_VALUES_SHOWN]]
    more = f" and {len(values) - len(first)} more" if len(values) > len(first) else ""
    return f"{', '.join(first)}{more}"
