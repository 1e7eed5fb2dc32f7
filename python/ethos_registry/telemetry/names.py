"""The names of attributes and metrics: those of the semantic conventions, and our own."""

from __future__ import annotations

from typing import Final

from ethos_registry import _core
from ethos_registry.contract.call import CallResult

__all__ = [
    "DURATION_BUCKETS",
    "UNKNOWN_TOOL",
    "error_type_of",
    "gist",
    "reason_of",
]

# `opentelemetry.semconv` moves these between releases, so they are written here; a test compares.
OPERATION_NAME: Final = "gen_ai.operation.name"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOOL_DESCRIPTION: Final = "gen_ai.tool.description"
TOOL_CALL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_CALL_RESULT: Final = "gen_ai.tool.call.result"
AGENT_NAME: Final = "gen_ai.agent.name"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
ERROR_TYPE: Final = "error.type"
MCP_METHOD_NAME: Final = "mcp.method.name"
MCP_PROTOCOL_VERSION: Final = "mcp.protocol.version"
NETWORK_TRANSPORT: Final = "network.transport"

ATTEMPTS: Final = "ethos.tool.attempts"
BATCH_ID: Final = "ethos.batch.id"
CALLED_NAME: Final = "ethos.tool.called_name"
COST_USD: Final = "ethos.cost_usd"
MCP_SERVER: Final = "ethos.mcp.server"
OWNER: Final = "ethos.tool.owner"
PERSONALITY: Final = "ethos.personality"
RAW_CHARS: Final = "ethos.result.raw_chars"
REASON: Final = "ethos.result.reason"
REDUCED_CHARS: Final = "ethos.result.reduced_chars"
RESULT_CODE: Final = "ethos.result.code"
SENT_CHARS: Final = "ethos.result.sent_chars"
TRUNCATED_FROM: Final = "ethos.result.truncated_from"

EXECUTE_TOOL: Final = "execute_tool"
FUNCTION: Final = "function"
DURATION: Final = "gen_ai.execute_tool.duration"
REFUSALS: Final = "ethos.tool.refusals"
DURATION_BUCKETS: Final = tuple(0.01 * 2**exponent for exponent in range(14))

UNKNOWN_TOOL: Final = "_unknown"
"""In place of a name that a model made up: such names are unbounded."""
MAX_CHARS: Final = 256
"""Of an attribute that comes from outside, as the id of a call."""
MAX_DESCRIPTION_CHARS: Final = 1_024

_NAMED_REFUSALS = frozenset({"denied", "excluded"})


def gist(text: str, max_chars: int = MAX_CHARS) -> str:
    r"""The text as an attribute may hold it: bounded, without lone surrogates.

    >>> gist("a\ud800" * 200) == "a\ufffd" * 128
    True
    """
    return _core.replace_surrogates(text[:max_chars])


def tool_name_of(answer: CallResult, *, is_registered: bool) -> str:
    """The name of the tool that was called, `_unknown` if no tool has it."""
    result = answer.result
    if is_registered or (not result.ok and result.reason in _NAMED_REFUSALS):
        return answer.name
    return UNKNOWN_TOOL


def reason_of(answer: CallResult, *, is_started: bool, is_dry_run: bool) -> str | None:
    """Why a tool did not run, or ended otherwise than with a result of its own."""
    result = answer.result
    if answer.pending is not None:
        return "pending"
    if not result.ok and result.reason is not None:
        return result.reason
    if is_started:
        return None
    if result.ok:
        return "dry_run" if is_dry_run else "answered"
    return "denied"  # by a filter, in place of the tool


def error_type_of(
    answer: CallResult, *, is_started: bool, exception_type: str | None
) -> str | None:
    """The kind of a failure, one of few values: never its message, which may hold secrets."""
    result = answer.result
    if result.ok or answer.pending is not None:
        return None
    if result.reason == "raised" and exception_type is not None:
        return gist(exception_type)
    if result.reason is not None:
        return result.reason
    return "tool_error" if is_started else "denied"
