"""Runs a reducer written in Python; whatever it does, the original result is safe."""

from __future__ import annotations

import inspect
import logging
import weakref
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

from ethos_registry import _core
from ethos_registry._suggest import did_you_mean
from ethos_registry.reduction._reducers import rebuilt
from ethos_registry.types._checks import guarded
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._reducer import ReductionPolicy, ToolReducerContext, ToolResultReducer
from ethos_registry.types._result import (
    ERROR_CODES,
    ToolError,
    ToolOk,
    ToolResult,
    result_from_wire,
)

# The JSON parts of a result: bounded, and safe to send.

LARGE_JSON_BYTES = 64 * 1024
"""A larger value is converted on a thread: up to this size it takes about a tenth of a second."""

_SCALARS = frozenset({int, bool, type(None)})
_MAX_SCALAR = 1 << 62


def is_plain(value: Mapping[str, Any]) -> bool:
    """Whether a small object holds short integers, booleans and ASCII keys only.

    The quick answer for the usual case, as `{"exit_code": 0}`.
    """
    if len(value) > 4 or type(value) is not dict:
        return False
    for key, item in value.items():
        if type(item) not in _SCALARS or type(key) is not str or not key.isascii():
            return False
        if item is not None and not -_MAX_SCALAR < item < _MAX_SCALAR:
            return False
    return True


def is_large(value: Mapping[str, Any] | None) -> bool:
    """Whether a value takes so long to convert that the event loop would notice.

    It is measured natively, and only up to the size that decides.
    """
    if not value or is_plain(value):
        return False
    size, _ = _core.json_size(value, LARGE_JSON_BYTES)
    return size > LARGE_JSON_BYTES


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

    `structured` and the extra fields are plain JSON. The reducer works on a copy, so its changes
    to them before an exception have no effect. An exception, an awaitable and any other return
    value that is not a result count as failures, which are logged once per reducer. `structured`,
    `cost_usd` and extra fields that it omits are kept.
    """
    structured = None if result.structured is None else deepcopy(dict(result.structured))
    extra = deepcopy(dict(result.extra))
    given = rebuilt(result, result.text, structured, result.cost_usd, extra)

    def reduced() -> ToolResult:
        answer: object = reducer.reduce(given, ToolReducerContext(args, turn_count, policy))
        if answer is given and given == result:
            return result
        return _kept(_checked(answer), result)

    # SystemExit and foreign panics must not lose the result.
    return guarded(partial(report_failed, reducer), reduced) or result


def report_failed(reducer: object, error: BaseException) -> None:
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
            f"{did_you_mean(answer.code, ERROR_CODES)}"
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
