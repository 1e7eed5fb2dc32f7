"""The names of attributes and metrics: those of the semantic conventions, and our own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from ethos_registry import _core
from ethos_registry.execution._arguments import redacted_arguments
from ethos_registry.types._json_values import thaw
from ethos_registry.types._observer import FinishedCall, FinishedCalls, FinishedRow
from ethos_registry.types._tool import Tool

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import Meter

# Arguments and results as a span may hold them: without credentials, and bounded.

CAPTURE_VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
MAX_CONTENT_BYTES: Final = 8_192
"""Of the arguments, and of the result: backends cut or drop longer attributes."""

_ON_SPANS = frozenset({"span_only", "span_and_event", "true", "1"})


def captures_content() -> bool:
    """Whether the environment turns on content in spans."""
    return os.environ.get(CAPTURE_VARIABLE, "").strip().lower() in _ON_SPANS


def content_of_arguments(args: Any, redact: Callable[[str], str]) -> str:
    """The arguments as JSON; values under secret-looking keys are replaced."""
    return _cut(redact(redacted_arguments(args, redact, MAX_CONTENT_BYTES)))


def content_of_text(text: str, redact: Callable[[str], str]) -> str:
    """The text that the model reads."""
    return _cut(redact(text))


def _cut(text: str) -> str:
    """The beginning that fits."""
    text = _core.replace_surrogates(text[:MAX_CONTENT_BYTES])
    if text.isascii():
        return text
    return text.encode()[:MAX_CONTENT_BYTES].decode(errors="ignore")


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
REPAIRED: Final = "ethos.arguments.repaired"
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
    text = text[:max_chars]
    return text if text.isascii() else _core.replace_surrogates(text)


class Outcome(NamedTuple):
    """How one call ended, in the words of telemetry."""

    tool_name: str
    """The name of the tool that was called, `_unknown` if no tool has it."""
    is_started: bool
    reason: str | None = None
    """Why a tool did not run, or ended otherwise than with a result of its own."""
    error_type: str | None = None
    """The kind of a failure, one of few values: never its message, which may hold secrets."""


def outcome_of(
    calls: FinishedCalls, row: FinishedRow, exception_type: str | None = None
) -> Outcome:
    """The outcome of a call, or of an attempt that another one followed."""
    _, answer, tool, started = row
    result, is_started = answer.result, started is not None
    is_named = tool is not None or (not result.ok and result.reason in _NAMED_REFUSALS)
    name = answer.name if is_named else UNKNOWN_TOOL
    if answer.pending is not None:
        return Outcome(name, is_started, "pending")
    if result.ok:
        in_its_place = "dry_run" if calls.context.dry_run else "answered"
        return Outcome(name, is_started, None if is_started else in_its_place)
    if result.reason == "raised" and exception_type is not None:
        return Outcome(name, is_started, "raised", gist(exception_type))
    if result.reason is not None:
        return Outcome(name, is_started, result.reason, result.reason)
    if is_started:
        return Outcome(name, is_started, error_type="tool_error")
    return Outcome(name, is_started, "denied", "denied")  # by a filter, in place of the tool


# What a source of further attributes receives of a call.

AttributeValue: TypeAlias = str | bool | int | float


class TracedCall(NamedTuple):
    """A call that has its result, for functions that add attributes to its span."""

    call: FinishedCall
    tool: Tool | None
    """The tool; `None` for a name that is not registered."""
    tool_name: str
    """Its name; `_unknown` for a name that is not registered."""
    error_type: str | None
    """The kind of the failure; `None` for a success."""
    arguments: str | None
    """The arguments as JSON, without credentials; `None` unless content is captured."""
    result: str | None
    """The text that the model reads, without credentials; `None` unless content is captured."""


AttributeSource: TypeAlias = Callable[[TracedCall], Mapping[str, AttributeValue]]


# The metrics: how long tools run, and how often they are refused.


class Instruments:
    """The histogram and the counter of one meter provider."""

    __slots__ = ("_duration", "_refusals")

    def __init__(self, meter: Meter) -> None:
        self._duration = meter.create_histogram(
            DURATION,
            unit="s",
            description="Duration of tool executions.",
            explicit_bucket_boundaries_advisory=DURATION_BUCKETS,
        )
        self._refusals = meter.create_counter(
            REFUSALS,
            unit="{call}",
            description="Calls that were answered without starting their tool.",
        )

    def measure(
        self, outcome: Outcome, seconds: float, agent_name: str | None, context: Context | None
    ) -> None:
        """Count a call: how long its tool ran, or that it was refused."""
        attributes = {TOOL_NAME: outcome.tool_name}
        if outcome.is_started:
            attributes[TOOL_TYPE] = FUNCTION
            if agent_name is not None:
                attributes[AGENT_NAME] = agent_name
            if outcome.error_type is not None:
                attributes[ERROR_TYPE] = outcome.error_type
            self._duration.record(seconds, attributes, context)
        elif outcome.error_type is not None:
            attributes[REASON] = outcome.reason or outcome.error_type
            self._refusals.add(1, attributes, context)


# Attributes that backends read beside those of the semantic conventions.

_MAX_SCHEMA_CHARS = 8_192


@dataclass(frozen=True, slots=True)
class OpenInference:
    """The attributes of OpenInference, which Phoenix and Arize read.

    >>> from ethos_registry.telemetry import OpenTelemetry
    >>> OpenTelemetry(extra_attributes=OpenInference())
    OpenTelemetry(extra_attributes=[OpenInference()])
    """

    def __call__(self, traced: TracedCall) -> dict[str, AttributeValue]:
        """The attributes of one call; input and output only if content is captured."""
        attributes: dict[str, AttributeValue] = {
            "openinference.span.kind": "TOOL",
            "tool.name": traced.tool_name,
            "tool.id": gist(traced.call.tool_call_id),
        }
        if traced.tool is not None:
            description = gist(traced.tool.description, MAX_DESCRIPTION_CHARS)
            attributes["tool.description"] = description
            schema = json.dumps(thaw(traced.tool.schema), ensure_ascii=False)
            if len(schema) <= _MAX_SCHEMA_CHARS:  # a part of it would not be JSON
                attributes["tool.parameters"] = schema
        session_id = traced.call.context.session_id
        if session_id:
            attributes["session.id"] = gist(session_id)
        if traced.arguments is not None:
            attributes["input.value"] = traced.arguments
            attributes["input.mime_type"] = "application/json"
        if traced.result is not None:
            attributes["output.value"] = traced.result
            attributes["output.mime_type"] = "text/plain"
        return attributes


@dataclass(frozen=True, slots=True)
class Langfuse:
    """The attributes of Langfuse, which shows input and output of tools only from its own.

    >>> from ethos_registry.telemetry import OpenTelemetry
    >>> OpenTelemetry(capture_content=True, extra_attributes=[Langfuse()])
    OpenTelemetry(capture_content=True, extra_attributes=[Langfuse()])
    """

    def __call__(self, traced: TracedCall) -> dict[str, AttributeValue]:
        """The attributes of one call; input and output only if content is captured."""
        attributes: dict[str, AttributeValue] = {"langfuse.observation.type": "tool"}
        session_id = traced.call.context.session_id
        if session_id:
            attributes["langfuse.session.id"] = attributes["session.id"] = gist(session_id)
        if traced.error_type is not None:
            attributes["langfuse.observation.level"] = "ERROR"
            attributes["langfuse.observation.status_message"] = traced.error_type
        if traced.arguments is not None:
            attributes["langfuse.observation.input"] = traced.arguments
        if traced.result is not None:
            attributes["langfuse.observation.output"] = traced.result
        return attributes
