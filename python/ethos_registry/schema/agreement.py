"""Checks that a function accepts what the schema of its tool permits.

What is true for every call is compared, at every depth; nothing is called. Constraints between
fields and validators with code of their own are up to the author.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.checks import brief
from ethos_registry.contract.errors import ConfigError
from ethos_registry.schema.arguments import Arguments
from ethos_registry.schema.deep_agreement import Side, disagreements
from ethos_registry.schema.permitted import parts

__all__ = ["check_agreement"]

_PLAIN_KEYS = frozenset({"type", "enum", "anyOf", "default", "description", "title"})
_PLAIN_TYPES = {str: "string", int: "integer", bool: "boolean", float: "number", type(None): "null"}


class _Finding(Exception):  # noqa: N818 - it never leaves this module
    """A disagreement and the parameter that it is about."""

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(problem)
        self.parameter = parameter


def check_agreement(tool_name: str, declared: Mapping[str, Any], arguments: Arguments) -> None:
    """Raise `ConfigError` with the tool, the parameter and the way out if the two disagree.

    The function's signature must accept every call that is valid in the `declared` schema, and the
    schema's defaults must be those of the function. A schema that was derived from the signature
    can only have wrong defaults.

    >>> def search(query: str, limit: int = 5): ...
    >>> schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    >>> check_agreement("search", schema, Arguments(search))
    Traceback (most recent call last):
    ethos_registry.contract.errors.ConfigError: tool `search`: parameter `query` has no default, \
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
        raise _Finding(
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
