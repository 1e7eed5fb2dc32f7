"""Runs a reducer written in Python; whatever it does, the original result is safe."""

from __future__ import annotations

import inspect
import logging
import weakref
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.reducer import ToolReducerContext, ToolResultReducer
from ethos_registry.contract.reduction_policy import ReductionPolicy
from ethos_registry.contract.result import (
    ERROR_CODES,
    ToolError,
    ToolOk,
    ToolResult,
    result_from_wire,
)
from ethos_registry.reduction.parts import rebuilt
from ethos_registry.reduction.structured import isolated

__all__ = ["reduce_safely"]

_log = logging.getLogger("ethos_registry")
_reported: dict[int, weakref.ref[Any] | None] = {}


def reduce_safely(
    reducer: ToolResultReducer,
    result: ToolResult,
    args: Any,
    turn_count: int,
    policy: ReductionPolicy | None = None,
) -> ToolResult:
    """The reduced result, or the same object if the reducer fails.

    The reducer works on a copy, so its changes to `structured` before an exception have no effect.
    An exception, an awaitable and any other return value that is not a result count as failures,
    which are logged once per reducer. `structured`, `cost_usd` and extra fields that it omits are
    kept.
    """
    given = rebuilt(
        result,
        result.text,
        isolated(result.structured),
        result.cost_usd,
        isolated(result.extra),
    )
    try:
        answer: object = reducer.reduce(given, ToolReducerContext(args, turn_count, policy))
        if answer is given and given == result:
            return result
        return _kept(_checked(answer), result)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit and foreign panics must not lose the result
        _report_once(reducer, error)
        return result


def _report_once(reducer: object, error: BaseException) -> None:
    """Log one warning per reducer, with its traceback."""
    identity = id(reducer)
    if identity in _reported:
        return
    try:
        _reported[identity] = weakref.ref(reducer, lambda _: _reported.pop(identity, None))
    except TypeError:
        _reported[identity] = None
    _log.warning(
        "reducer %s of tool %r failed, its results are not reduced: %s",
        type(reducer).__name__,
        getattr(reducer, "tool_name", ""),
        error,
        exc_info=error,
    )


def _checked(answer: object) -> ToolResult:
    """`answer` as a result; raises `ConfigError` if it is not one."""
    if isinstance(answer, Mapping):
        return result_from_wire(answer)
    if inspect.iscoroutine(answer):
        answer.close()
    if not isinstance(answer, ToolOk | ToolError):
        raise ConfigError(f"a reducer must return a result, got {type(answer).__name__}")
    if not isinstance(answer.text, str):
        raise ConfigError(
            f"the text of a result must be a string, got {type(answer.text).__name__}"
        )
    if not isinstance(answer.extra, Mapping) or not (
        answer.structured is None or isinstance(answer.structured, Mapping)
    ):
        raise ConfigError("`structured` and `extra` of a result must be mappings")
    if isinstance(answer, ToolError) and answer.code not in ERROR_CODES:
        raise ConfigError(
            f"`code` must be one of {', '.join(sorted(ERROR_CODES))}: {answer.code!r}"
        )
    return answer


def _kept(reduced: ToolResult, original: ToolResult) -> ToolResult:
    """The reduced result with the parts that the reducer omitted."""
    if isinstance(reduced, ToolError) and reduced.reason is None:
        reason = original.reason if isinstance(original, ToolError) else None
        reduced = replace(reduced, reason=reason)
    if original.content and not reduced.content:
        reduced = replace(reduced, content=original.content)
    return rebuilt(
        reduced,
        reduced.text,
        original.structured if reduced.structured is None else reduced.structured,
        original.cost_usd if reduced.cost_usd is None else reduced.cost_usd,
        {**original.extra, **reduced.extra},
    )
