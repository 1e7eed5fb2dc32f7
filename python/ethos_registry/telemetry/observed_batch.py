"""The spans and metrics of one batch."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from ethos_registry.contract.observer import (
    FinishedCall,
    FinishedCalls,
    FinishedRow,
    StartedBatch,
    StartedCall,
)
from ethos_registry.telemetry import names
from ethos_registry.telemetry.content import content_of_arguments, content_of_text, redactor
from ethos_registry.telemetry.instruments import Instruments
from ethos_registry.telemetry.traced_call import AttributeSource, AttributeValue, TracedCall

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

__all__ = ["MeasuredBatch", "TracedBatch"]

_NANOSECONDS = 1_000_000_000
Guard = Callable[[str, Callable[..., None]], Callable[..., None]]


class _Outcome:
    """How one call ended, in the words of telemetry."""

    __slots__ = ("error_type", "is_started", "reason", "tool_name")

    def __init__(self, calls: FinishedCalls, row: FinishedRow, exception_type: str | None) -> None:
        _, answer, tool, started = row
        self.is_started = started is not None
        self.tool_name = names.tool_name_of(answer, is_registered=tool is not None)
        self.reason = names.reason_of(
            answer, is_started=self.is_started, is_dry_run=calls.context.dry_run
        )
        self.error_type = names.error_type_of(
            answer,
            is_started=self.is_started,
            exception_type=exception_type,
        )


def _position(row: FinishedRow) -> int:
    return row[0]


class MeasuredBatch:
    """Metrics without spans: there is no tracer."""

    __slots__ = ("_failed_attempts", "_guard", "_instruments")

    def __init__(self, instruments: Instruments | None, guard: Guard) -> None:
        self._instruments = instruments
        self._guard = guard

    def batch_finished(self, calls: Sequence[FinishedCall]) -> None:
        """Record every call of the batch."""
        rows = cast("FinishedCalls", calls)
        self._failed_attempts = Counter(map(_position, rows.attempts))
        finish = self._guard("telemetry", self._finish)
        for row in sorted(rows.rows, key=_position):
            finish(rows, row)
        for row in rows.attempts:
            self._guard("telemetry", self._measure_attempt)(rows, row)

    def _measure_attempt(self, calls: FinishedCalls, row: FinishedRow) -> None:
        outcome = _Outcome(calls, row, row[1].result.extra.get("exception_type"))
        self._measure(outcome, calls, row, None)

    def _finish(self, calls: FinishedCalls, row: FinishedRow) -> None:
        outcome = _Outcome(calls, row, calls.exception_types.get(row[0]))
        self._measure(outcome, calls, row, None)

    def _measure(
        self, outcome: _Outcome, calls: FinishedCalls, row: FinishedRow, context: Context | None
    ) -> None:
        instruments = self._instruments
        if instruments is None:
            return
        if outcome.is_started:
            instruments.executed(
                row[1].duration_seconds,
                outcome.tool_name,
                calls.context.agent_id,
                outcome.error_type,
                context,
            )
        elif outcome.error_type is not None:
            instruments.refused(outcome.tool_name, outcome.reason or outcome.error_type, context)


class TracedBatch(MeasuredBatch):
    """A span for each call. Its parent is the span that was current when the batch began.

    If each call has a caller of its own, it is the span that is current in the caller's context.
    """

    __slots__ = (
        "_args",
        "_batch_id",
        "_captures_content",
        "_extra_attributes",
        "_parent",
        "_redact",
        "_refused_at",
        "_spans",
        "_trace",
        "_tracer",
    )

    def __init__(
        self,
        tracer: Tracer,
        instruments: Instruments | None,
        batch: StartedBatch,
        guard: Guard,
        *,
        captures_content: bool,
        extra_attributes: tuple[AttributeSource, ...],
    ) -> None:
        from opentelemetry import context, trace

        super().__init__(instruments, guard)
        self._tracer = tracer
        self._trace = trace
        current = context.get_current()
        has_span = trace.get_current_span(current).get_span_context().is_valid
        # A stream may be fed inside a span that was started after its dispatcher.
        self._parent: Context | None = current if has_span and not batch.has_callers else None
        self._batch_id = secrets.token_hex(8)
        self._redact = redactor(batch.redact)
        self._captures_content = captures_content
        self._extra_attributes = extra_attributes
        self._spans: dict[int, Span] = {}
        self._args: dict[int, Any] = {}
        self._refused_at: dict[int, tuple[int, Context | None]] = {}

    def call_started(self, call: StartedCall) -> None:
        """Start the span of a call, current in the call's own task: spans of the tool nest."""
        from opentelemetry import context

        moment = int(call.started_at_seconds * _NANOSECONDS)
        span = self._start(call.tool_name, moment, self._parent)
        self._spans[call.position] = span
        if self._captures_content and span.is_recording():
            self._args[call.position] = call.args
        # Not detached: the task of the call ends with its own copy of the context variables.
        context.attach(self._trace.set_span_in_context(span))

    def call_refused(self, call: FinishedCall) -> None:
        """Remember the moment and the parent, which no result has."""
        from opentelemetry import context

        self._refused_at[call.position] = time.time_ns(), self._parent or context.get_current()

    def _start(self, tool_name: str, nanoseconds: int, parent: Context | None) -> Span:
        return self._tracer.start_span(
            f"{names.EXECUTE_TOOL} {tool_name}",
            context=parent,
            attributes={
                names.OPERATION_NAME: names.EXECUTE_TOOL,
                names.TOOL_NAME: tool_name,
                names.TOOL_TYPE: names.FUNCTION,
            },
            start_time=nanoseconds,
        )

    def _finish(self, calls: FinishedCalls, row: FinishedRow) -> None:
        position, answer, _, started = row
        outcome = _Outcome(calls, row, calls.exception_types.get(position))
        end, parent = self._refused_at.get(position) or (time.time_ns(), self._parent)
        if started is not None:
            seconds = started + calls.clock_offset_seconds + answer.duration_seconds
            end = int(seconds * _NANOSECONDS)
        span = self._spans.pop(position, None)
        try:
            if span is None:
                span = self._start(outcome.tool_name, end, parent)
            try:
                if span.is_recording():
                    self._describe(span, outcome, calls, row)
            finally:
                span.end(end_time=end)
        finally:  # what a sampler or a processor raises costs no metric
            context = None if span is None else self._trace.set_span_in_context(span)
            self._measure(outcome, calls, row, context)

    def _describe(
        self, span: Span, outcome: _Outcome, calls: FinishedCalls, row: FinishedRow
    ) -> None:
        position, answer, tool, _ = row
        if outcome.error_type is not None:
            span.set_attribute(names.ERROR_TYPE, outcome.error_type)
            span.set_status(self._trace.StatusCode.ERROR, outcome.error_type)
        span.set_attributes(self._facts(outcome, calls, row))
        arguments = text = None
        if self._captures_content:
            if position in self._args:
                arguments = content_of_arguments(self._args.pop(position), self._redact)
                span.set_attribute(names.TOOL_CALL_ARGUMENTS, arguments)
            text = content_of_text(answer.text, self._redact)
            span.set_attribute(names.TOOL_CALL_RESULT, text)
            if outcome.tool_name == names.UNKNOWN_TOOL:
                span.set_attribute(names.CALLED_NAME, names.gist(answer.name))
        if not self._extra_attributes:
            return
        traced = TracedCall(
            calls.call(row),
            None if tool is None else tool.tool,
            outcome.tool_name,
            outcome.error_type,
            arguments,
            text,
        )
        for source in self._extra_attributes:
            self._guard("`extra_attributes`", self._add)(span, source, traced)

    @staticmethod
    def _add(span: Span, source: AttributeSource, traced: TracedCall) -> None:
        span.set_attributes(source(traced))

    def _facts(
        self, outcome: _Outcome, calls: FinishedCalls, row: FinishedRow
    ) -> dict[str, AttributeValue]:
        _, answer, tool, _ = row
        context, result = calls.context, answer.result
        facts: dict[str, AttributeValue] = {
            names.TOOL_CALL_ID: names.gist(answer.tool_call_id),
            names.BATCH_ID: self._batch_id,
            names.RAW_CHARS: answer.raw_chars,
            names.REDUCED_CHARS: answer.reduced_chars,
            names.SENT_CHARS: answer.sent_chars,
        }
        failed = self._failed_attempts[row[0]]
        if failed:
            facts[names.ATTEMPTS] = failed + 1
        optional = {
            names.AGENT_NAME: context.agent_id,
            names.CONVERSATION_ID: context.session_id or None,
            names.PERSONALITY: calls.personality_id,
            names.REASON: outcome.reason,
            names.RESULT_CODE: None if result.ok else result.code,
            names.TRUNCATED_FROM: answer.truncated_from,
            names.COST_USD: None if result.cost_usd is None else float(result.cost_usd),
        }
        if tool is not None:
            description = names.gist(tool.tool.description, names.MAX_DESCRIPTION_CHARS)
            facts[names.TOOL_DESCRIPTION] = description
            optional[names.OWNER] = tool.owner
            if tool.mcp_server is not None:
                optional[names.MCP_SERVER] = tool.mcp_server
                optional[names.MCP_METHOD_NAME] = "tools/call"
                # The function of a bridged tool knows its connection; others have no such facts.
                function = tool.tool.execute
                optional[names.MCP_PROTOCOL_VERSION] = getattr(function, "protocol_version", None)
                optional[names.NETWORK_TRANSPORT] = getattr(function, "network_transport", None)
        for name, value in optional.items():
            if value is not None:
                facts[name] = names.gist(value) if isinstance(value, str) else value
        return facts
