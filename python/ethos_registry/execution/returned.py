"""Checking what a tool or a filter returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import CoroutineType, MappingProxyType
from typing import Any

from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import (
    ERROR_CODES,
    ERROR_REASONS,
    ToolError,
    ToolOk,
    ToolResult,
    check_cost,
    plain_result,
    result_from_wire,
)

__all__ = ["BadResultError", "checked_result"]


class BadResultError(Exception):
    """What a tool or a filter returned is not a result; the message gives the reason."""


def checked_result(value: Any) -> ToolResult:
    """What a tool returned, as a result. Raises `ConfigError` if it is not one."""
    kind = type(value)
    if kind is ToolOk:
        if type(value.value) is not str:
            value = replace(value, value=_exact_text(value.value, "value"))
    elif kind is ToolError:
        if type(value.error) is not str:
            value = replace(value, error=_exact_text(value.error, "error"))
        code: object = value.code
        if type(code) is not str and isinstance(code, str):  # as a member of an enum is
            code = str.__str__(code)
            value = replace(value, code=code)
        if type(code) is not str or code not in ERROR_CODES:
            raise ConfigError(f"`code` must be one of {', '.join(sorted(ERROR_CODES))}: {code!r}")
        reason = value.reason
        if reason is not None and (type(reason) is not str or reason not in ERROR_REASONS):
            raise ConfigError(f"`reason` must be None, or a reason of the registry: {reason!r}")
    elif isinstance(value, ToolOk | ToolError):  # of a class of the author's own
        return checked_result(plain_result(value))
    elif isinstance(value, Mapping):
        return checked_result(result_from_wire(value))
    else:
        if kind is CoroutineType:  # it will not be awaited
            value.close()
        raise ConfigError(f"got {kind.__name__}, expected ok(...), err(...) or a mapping with `ok`")
    if value.structured is not None and not isinstance(value.structured, Mapping):
        raise ConfigError(f"`structured` must be a mapping, got {type(value.structured).__name__}")
    if value.cost_usd is not None:
        check_cost(value.cost_usd)
    if type(value.extra) is not MappingProxyType and not isinstance(value.extra, Mapping):
        raise ConfigError(f"`extra` must be a mapping, got {type(value.extra).__name__}")
    result: ToolResult = value
    return result


def _exact_text(text: object, what: str) -> str:
    """A plain string: one of a class of its own may misreport its length."""
    if not isinstance(text, str):
        raise ConfigError(f"`{what}` must be a string, got {type(text).__name__}")
    return str.__str__(text)
