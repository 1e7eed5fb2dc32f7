"""The registry's own answers: why a call did not run, or did not end.

They are short by construction and therefore never trimmed: a model whose share is small can still
read why it was refused.
"""

from __future__ import annotations

import logging
import os
import re
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import CoroutineType, MappingProxyType
from typing import Any, Literal, TypeAlias

from ethos_registry import _core
from ethos_registry._suggest import did_you_mean, nearest
from ethos_registry.providers._wire_format import EchoingId
from ethos_registry.reduction._redaction import Redact
from ethos_registry.types._call import (
    MalformedCall,
    PendingApproval,
    ToolCall,
    call_identity,
    call_parts,
)
from ethos_registry.types._checks import guarded
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._result import (
    ERROR_CODES,
    ERROR_REASONS,
    ErrorReason,
    ToolError,
    ToolOk,
    ToolResult,
    check_cost,
    plain_result,
    result_from_wire,
)

# Log records of exceptions, without the credentials in them.

_logger = logging.getLogger("ethos_registry")


def log_line(level: int, message: str) -> None:
    """Log a message; a handler of the host that raises changes nothing."""
    guarded(lambda _: None, _logger.log, level, "%s", message)


def log_exception(
    message: str, error: BaseException, redact: Redact | None, without_text: str | None = None
) -> None:
    """Log a warning with a traceback; as redacted text if that holds a credential.

    The text of an exception is foreign code. If it raises, `without_text` is logged, by default
    the message alone.
    """

    def log() -> None:
        if redact is not None and _logger.isEnabledFor(logging.WARNING):
            whole = "".join(traceback.format_exception(error))
            shown = redact(whole)
            if shown is not whole:
                _logger.warning("%s\n%s", message, shown.rstrip("\n"))
                return
        _logger.warning("%s", message, exc_info=error)

    guarded(lambda _: log_line(logging.WARNING, without_text or message), log)


# Checking what a tool or a filter returned.


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
            raise ConfigError(
                f"`code` must be one of {', '.join(sorted(ERROR_CODES))}: {code!r}"
                f"{did_you_mean(code, ERROR_CODES)}"
            )
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


StopReason: TypeAlias = Literal["timeout", "deadline", "no_thread", "cancelled"]
"""The tool's own timeout, the batch's deadline, no free thread, or the turn."""

MAX_NAME_CHARS = 100
"""A model may call a name of any length; this much of it is repeated."""
_MAX_PROBLEM_CHARS = 400


def bounded_name(name: str) -> str:
    """The name as it may appear in an answer: bounded, without lone surrogates."""
    if len(name) > MAX_NAME_CHARS:
        name = f"{name[:MAX_NAME_CHARS]}..."
    return _core.replace_surrogates(name)


def _not_available(error: str, reason: ErrorReason) -> ToolError:
    return ToolError(error, "not_available", reason)


_COMPARED_CHARS = 64


def unknown_tool(name: str, permitted: Sequence[str] = ()) -> ToolError:
    """No tool has this name; the nearest of those that are permitted is named.

    A call is never redirected to it, since what is in front of a name or behind it opens no gate.
    """
    bare = _DECORATION.sub("", name[:_COMPARED_CHARS])
    near = bare if bare in permitted else nearest(bare, permitted)
    meant = "" if near is None else f" (did you mean {near}?)"
    return _not_available(f"Unknown tool: {bounded_name(name)}{meant}", "unknown")


_DECORATION = re.compile(r"^(?:functions|default_api|tools?)[.:/]|<\|.*", re.DOTALL)
"""What some models write around the name of a tool."""


def not_permitted(name: str, verdict: int) -> ToolError:
    """The refusal of a native verdict: the tool is excluded, or its gate does not permit it."""
    name = bounded_name(name)
    if verdict == _core.VERDICT_EXCLUDED:
        return _not_available(f"Tool {name} is not available on this surface", "excluded")
    return _not_available(f"Tool {name} is not permitted for this personality", "denied")


def unavailable(name: str, reason: str = "") -> ToolError:
    """The tool's `is_available` returned false, or the machine cannot enforce the policy."""
    text = f"Tool {name} is not currently available"
    return _not_available(f"{text}: {reason}" if reason else text, "unavailable")


def no_backend(name: str, capability: str | None = None) -> ToolError:
    """The tool declares a capability without a backend, or the registry has no backends at all."""
    problem = "capabilities but no capability backends are configured"
    if capability is not None:
        problem = f"the capability {capability} but no backend for it is configured"
    return _not_available(f"Tool {name} declares {problem}", "no_backends")


def backend_failed(name: str, error: BaseException) -> ToolError:
    """A backend raised: the tool must not run without what it declared."""
    text = f"Tool {name} could not get its capabilities: {exception_text(error)}"
    return _not_available(_bounded(text), "no_backends")


def bad_arguments(problem: str) -> ToolError:
    """The call or its arguments cannot be read."""
    return ToolError(_bounded(problem), "input_invalid", "invalid_args")


def _bounded(text: str) -> str:
    return _core.replace_surrogates(text[:_MAX_PROBLEM_CHARS])


def not_started(name: str, problem: str, reason: ErrorReason) -> ToolError:
    """Something kept the tool from being started: it certainly did not run."""
    return _not_available(_bounded(f"Tool {name} was not started: {problem}"), reason)


def aborted_before_start(name: str) -> ToolError:
    """The turn was aborted before the tool started."""
    return not_started(name, "the turn was aborted", "cancelled")


def pending(name: str, reason: str, waiting: PendingApproval) -> ToolError:
    """A filter wants the call to be approved first; it may run later."""
    text = _bounded(f"Tool {name} has not run yet: it waits for approval: {reason}")
    return ToolError(text, "not_available", extra={"pending": waiting})


def not_approved(name: str, problem: str) -> ToolError:
    """The approval that the call waited for was refused, or was used before."""
    return _not_available(_bounded(f"Tool {name} was not run: {problem}"), "denied")


def stopped(
    name: str,
    reason: StopReason | None,
    *,
    was_started: bool,
    limit_seconds: float | None,
    max_threads: int,
    note: str = "",
) -> ToolError:
    """The answer to a call that was stopped, or cancelled by other code (no reason).

    `limit_seconds` is the limit that ended it, `note` what may have kept it from ending.
    """
    kind: ErrorReason = "timeout"
    if reason is None or reason == "cancelled":
        kind, problem = "cancelled", "the turn was aborted"
        end = f"was cancelled: {problem}; it may have run"
    elif reason == "no_thread":
        problem = f"no thread was free for {limit_seconds:g} s (max_threads={max_threads})"
        end = f"was not started again: {problem}; it ran before"
    else:
        problem = f"its filters took longer than its timeout of {limit_seconds:g} s"
        if reason == "deadline":
            problem = "the turn's time was up"
        end = f"timed out after {limit_seconds:g} s{note}; it may have run"
    if was_started:
        return ToolError(f"Tool {name} {end}", "execution_failed", kind)
    return not_started(name, problem, kind)


_type_name: Any = type.__dict__["__name__"].__get__


def class_name(value: object) -> str:
    """The name of a value's class, whatever its metaclass does."""
    return str(_type_name(type(value)))


def exception_text(error: BaseException) -> str:
    """The message of an exception that a tool raised, whatever code its class has.

    The class name if the message is blank or cannot be read. The message of a `KeyError` is only
    the key, so it gets the class name in front.

    >>> exception_text(KeyError("Oslo")), exception_text(ValueError("no such city"))
    ("KeyError: 'Oslo'", 'no such city')
    """
    name = class_name(error)

    def text() -> str:
        message = str.__str__(str(error))  # `__str__` may return a string of a class of its own
        if not message or str.isspace(message):
            return name
        return f"{name}: {message}" if type(error).__str__ is KeyError.__str__ else message

    return guarded(lambda _: name, text)  # `__str__` is the tool's code


def log_raised(name: str, error: BaseException, redact: Redact | None) -> None:
    """Log the traceback for the tool's author; the model gets the message.

    A traceback that holds a credential is logged as text without it. `KeyboardInterrupt` is not a
    failure of the tool: it leaves the batch as it is.
    """
    if issubclass(type(error), KeyboardInterrupt):  # `isinstance` asks the tool's `__class__`
        return
    message = f"a call of tool `{name}` raised"
    log_exception(message, error, redact, f"{message} {class_name(error)}")


_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_TOOLS = os.path.join(_PACKAGE, "tools", "")


def without_own_frames(error: BaseException) -> BaseException:
    """The exception with a traceback that begins in the tool's code.

    The frames of the registry hold the results of the batch, and so the exception itself.
    """
    found = error.__traceback__
    while found is not None and _is_ours(found.tb_frame.f_code.co_filename):
        found = found.tb_next
    if found is not None:
        error.__traceback__ = found
    return error


def _is_ours(file: str) -> bool:
    return file.startswith(_PACKAGE) and not file.startswith(_TOOLS)


# Reading one call, in whatever shape it comes: it is answered even if it cannot be read.

ReadCall: TypeAlias = tuple[str, str, Any, str | None]
"""Id, name, arguments, and what is wrong with the call, if anything."""


def read_call(call: Any, index: int) -> ReadCall:
    """The call, or why it cannot be read, under its id or its position."""

    def parts() -> ReadCall:
        if isinstance(call, MalformedCall):
            return call.tool_call_id, call.name, None, call.problem
        if not isinstance(call, ToolCall):
            return *call_parts(call, index), None
        if not isinstance(call.tool_call_id, str) or not isinstance(call.name, str):
            raise ConfigError("its id and its name must be strings")
        return call.tool_call_id, call.name, call.args, None

    def identity() -> tuple[str, str]:
        tool_call_id, name = call_identity(call)
        return tool_call_id or str(index), name

    def unreadable(error: BaseException) -> ReadCall:
        named = guarded(lambda _: (str(index), ""), identity)
        return *named, None, f"malformed call: {exception_text(error)}"

    # A call may be an object with code of its own, and its id a string of such a class.
    tool_call_id, name, args, problem = guarded(unreadable, parts)
    if type(tool_call_id) is not str and type(tool_call_id) is not EchoingId:
        tool_call_id = str.__str__(tool_call_id)
    return tool_call_id, name, args, problem
