"""The names of fields in JSON objects.

Names are camelCase there, except for a few that are written in snake_case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ethos_registry.contract.checks import brief
from ethos_registry.contract.errors import ConfigError

__all__ = ["python_names", "wire_name"]

_SNAKE_CASE_ON_THE_WIRE = frozenset(
    {"cost_usd", "fs_reach", "allow_private_urls", "mcp_servers", "plugins", "read", "write"}
)


def wire_name(field: str) -> str:
    """The name of `field` in JSON: `tool_call_id` -> `toolCallId`, `cost_usd` -> `cost_usd`."""
    if field in _SNAKE_CASE_ON_THE_WIRE:
        return field
    first, *rest = field.split("_")
    return first + "".join(part.capitalize() for part in rest)


def python_names(
    payload: object, fields: tuple[str, ...], kind: str, aliases: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The fields of a JSON object under their Python names.

    Both spellings are accepted, so a policy file may use either, and so are `aliases`. Raises
    `ConfigError` for unknown fields.
    """
    if not isinstance(payload, Mapping):
        raise ConfigError(f"a {kind} is a JSON object, got {type(payload).__name__}")
    known = {wire_name(field): field for field in fields} | {field: field for field in fields}
    known.update(aliases or {})
    values: dict[str, Any] = {}
    for name, value in payload.items():
        field = known.get(name)
        if field is None:
            raise ConfigError(
                f"{kind} has no field {brief(name)}; it has {', '.join(map(wire_name, fields))}",
                context={"field": name, "value": value},
            )
        if field in values:
            raise ConfigError(f"{kind} names the field `{field}` twice, in both spellings")
        values[field] = value
    return values
