"""The registry's own answers: why a call did not run, or did not end (contract 3.2-3.6).

They are short by construction, so they are never trimmed: a model whose share is small can still
read why it was refused.
"""

from __future__ import annotations

import logging
from typing import Literal, TypeAlias

from ethos_registry import _core
from ethos_registry.contract.result import ErrorReason, ToolError

__all__ = [
    "MAX_NAME_CHARS",
    "StopReason",
    "aborted_before_start",
    "bad_arguments",
    "cancelled",
    "log_raised",
    "missing_backend",
    "no_backends",
    "raised",
    "returned_no_result",
    "shown_name",
    "stopped",
    "timed_out",
    "unavailable",
    "verdict_refusal",
]

_logger = logging.getLogger("ethos_registry")

StopReason: TypeAlias = Literal["timeout", "deadline", "cancelled"]
"""The tool's own clock, the batch's, or the turn."""

MAX_NAME_CHARS = 100
"""A name that a model made up may be of any length; this much of it is repeated."""


def shown_name(name: str) -> str:
    """The name as it may stand in a text: bounded, without lone surrogates."""
    if len(name) > MAX_NAME_CHARS:
        name = f"{name[:MAX_NAME_CHARS]}..."
    return _core.replace_surrogates(name)


def _not_available(error: str, reason: ErrorReason) -> ToolError:
    return ToolError(error, "not_available", reason)


def verdict_refusal(name: str, verdict: int) -> ToolError:
    """The refusal of a native verdict: unknown, excluded, or not permitted."""
    name = shown_name(name)
    if verdict == _core.VERDICT_UNKNOWN:
        return _not_available(f"Unknown tool: {name}", "unknown")
    if verdict == _core.VERDICT_EXCLUDED:
        return _not_available(f"Tool {name} is not available on this surface", "excluded")
    return _not_available(f"Tool {name} is not permitted for this personality", "denied")


def unavailable(name: str) -> ToolError:
    """The tool's own probe says no."""
    return _not_available(f"Tool {name} is not currently available", "unavailable")


def no_backends(name: str) -> ToolError:
    """The tool declares capabilities, and the registry was made without backends."""
    return _not_available(
        f"Tool {name} declares capabilities but no capability backends are configured",
        "no_backends",
    )


def missing_backend(name: str, capability: str) -> ToolError:
    """The tool declares a capability that none of the backends serves."""
    return _not_available(
        f"Tool {name} declares the capability {capability} but no backend for it is configured",
        "no_backends",
    )


def bad_arguments(problem: str) -> ToolError:
    """The model's arguments or call cannot be read."""
    return ToolError(_core.replace_surrogates(problem[:400]), "input_invalid", "invalid_args")


def aborted_before_start(name: str) -> ToolError:
    """The turn was aborted before the tool started: it certainly did not run."""
    return _not_available(f"Tool {name} was not started: the turn was aborted", "cancelled")


def deadline_before_start(name: str) -> ToolError:
    """The batch's time was up before the tool started: it certainly did not run."""
    return _not_available(f"Tool {name} was not started: the turn's time was up", "timeout")


def timed_out(name: str, seconds: float) -> ToolError:
    """The tool's clock, or the batch's, ran out while it was running."""
    return ToolError(
        f"Tool {name} timed out after {seconds:g} s; it may have run", "execution_failed", "timeout"
    )


def cancelled(name: str) -> ToolError:
    """The turn was aborted while the tool was running."""
    return ToolError(
        f"Tool {name} was cancelled: the turn was aborted; it may have run",
        "execution_failed",
        "cancelled",
    )


def stopped(
    name: str, reason: StopReason | None, ran_seconds: float | None, timeout_seconds: float | None
) -> ToolError:
    """The answer to a call that was stopped, or cancelled by somebody else (no reason).

    `ran_seconds` is `None` for one that had not started.
    """
    if ran_seconds is None:
        return deadline_before_start(name) if reason == "deadline" else aborted_before_start(name)
    if reason == "timeout" and timeout_seconds is not None:
        return timed_out(name, timeout_seconds)
    if reason is None or reason == "cancelled":
        return cancelled(name)
    return timed_out(name, round(ran_seconds, 1))


def raised(error: BaseException) -> str:
    """The message of what a tool raised; its class name if that is blank or cannot be had."""
    try:
        message = str.__str__(str(error))  # a plain one: `__str__` may give one of its own class
    except KeyboardInterrupt:
        raise
    except BaseException:  # `__str__` is the tool's code as well
        message = ""
    return type(error).__name__ if not message or message.isspace() else message


def log_raised(name: str, error: BaseException) -> None:
    """The traceback for whoever wrote the tool, at level DEBUG; the model gets its message."""
    if not _logger.isEnabledFor(logging.DEBUG):
        return
    try:
        _logger.debug("a call of tool `%s` raised", name, exc_info=error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a handler asks the exception for its text, which is the tool's code
        _logger.debug("a call of tool `%s` raised %s", name, type(error).__name__)


def returned_no_result(name: str, problem: str) -> str:
    """What a tool returned is no result."""
    return f"Tool {name} returned no result: {problem}"


def backend_failed(name: str, problem: str) -> ToolError:
    """A backend could not make what the tool declared: it must not run without it."""
    return _not_available(
        _core.replace_surrogates(f"Tool {name} could not get its capabilities: {problem}"[:400]),
        "no_backends",
    )
