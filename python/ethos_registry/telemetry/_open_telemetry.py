"""The observer that reports calls to OpenTelemetry."""

from __future__ import annotations

import functools
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ethos_registry import _core
from ethos_registry._core import __version__
from ethos_registry.execution._refusals import log_exception
from ethos_registry.telemetry import _conventions
from ethos_registry.telemetry._conventions import (
    AttributeSource,
    AttributeValue,
    Instruments,
    Outcome,
    TracedCall,
    captures_content,
    content_of_arguments,
    content_of_text,
    outcome_of,
)
from ethos_registry.types import _checks
from ethos_registry.types._checks import check_callback, guarded
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._extras import missing_extra
from ethos_registry.types._observer import (
    FinishedCall,
    FinishedCalls,
    FinishedRow,
    Observer,
    StartedBatch,
    StartedCall,
    TaggedTool,
)

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, Tracer, TracerProvider

# The spans and metrics of one batch.

_NANOSECONDS = 1_000_000_000
Guard = Callable[..., None]
Facts: TypeAlias = dict[str, AttributeValue]


class MeasuredBatch(Observer):
    """Metrics without spans: there is no tracer."""

    def __init__(self, instruments: Instruments | None, guard: Guard) -> None:
        self._instruments = instruments
        self._guard = guard
        self._failed_attempts: Counter[int] = Counter()

    def batch_finished(self, calls: Sequence[FinishedCall]) -> None:
        """Record every call of the batch."""
        rows = cast("FinishedCalls", calls)
        self._failed_attempts.update(map(itemgetter(0), rows.attempts))
        for row in sorted(rows.rows, key=itemgetter(0)):
            self._guard("telemetry", self._finish, rows, row)
        for row in rows.attempts:
            self._guard("telemetry", self._finish_attempt, rows, row)

    def _finish_attempt(self, calls: FinishedCalls, row: FinishedRow) -> None:
        exception_type = row[1].result.extra.get("exception_type")
        self._measure(outcome_of(calls, row, exception_type), calls, row, None)

    def _finish(self, calls: FinishedCalls, row: FinishedRow) -> None:
        exception_type = calls.exception_types.get(row[0])
        self._measure(outcome_of(calls, row, exception_type), calls, row, None)

    def _measure(
        self, outcome: Outcome, calls: FinishedCalls, row: FinishedRow, context: Context | None
    ) -> None:
        if self._instruments is not None:
            seconds, agent_name = row[1].duration_seconds, calls.context.agent_id
            self._instruments.measure(outcome, seconds, agent_name, context)


class TracedBatch(MeasuredBatch):
    """A span for each call. Its parent is the span that was current when the batch began.

    If each call has a caller of its own, it is the span that is current in the caller's context.
    """

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
        self._contexts = context
        current = context.get_current()
        has_span = trace.get_current_span(current).get_span_context().is_valid
        # A stream may be fed inside a span that was started after its dispatcher.
        self._parent: Context | None = current if has_span and not batch.has_callers else None
        self._batch_facts: Facts = {}
        """What the spans of all calls say, made when the first one is described."""
        self._tool_facts: dict[str, Facts] = {}
        self._redact = _core.redact if batch.redact is None else batch.redact
        self._captures_content = captures_content
        self._extra_attributes = extra_attributes
        self._spans: dict[int, tuple[Span, Context]] = {}
        """By position; with the context in which the span is current."""
        self._args: dict[int, Any] = {}
        self._refused_at: dict[int, tuple[int, Context | None]] = {}

    def call_started(self, call: StartedCall) -> None:
        """Start the span of a call, current in the call's own task: spans of the tool nest."""
        moment = int(call.started_at_seconds * _NANOSECONDS)
        span = self._start(call.tool_name, moment, self._parent)
        context = self._trace.set_span_in_context(span)
        self._spans[call.position] = span, context
        if self._captures_content and span.is_recording():
            self._args[call.position] = call.args
        # Not detached: the task of the call ends with its own copy of the context variables.
        self._contexts.attach(context)

    def call_refused(self, call: FinishedCall) -> None:
        """Remember the moment and the parent, which no result has."""
        parent = self._parent or self._contexts.get_current()
        self._refused_at[call.position] = time.time_ns(), parent

    def _start(self, tool_name: str, nanoseconds: int, parent: Context | None) -> Span:
        return self._tracer.start_span(
            f"{_conventions.EXECUTE_TOOL} {tool_name}",
            context=parent,
            attributes={
                _conventions.OPERATION_NAME: _conventions.EXECUTE_TOOL,
                _conventions.TOOL_NAME: tool_name,
                _conventions.TOOL_TYPE: _conventions.FUNCTION,
            },
            start_time=nanoseconds,
        )

    def _finish(self, calls: FinishedCalls, row: FinishedRow) -> None:
        position, answer, _, started = row
        span, context = self._spans.pop(position, (None, None))
        if self._instruments is None and span is not None and not span.is_recording():
            span.end()
            return
        outcome = outcome_of(calls, row, calls.exception_types.get(position))
        end, parent = self._refused_at.get(position) or (time.time_ns(), self._parent)
        if started is not None:
            seconds = started + calls.clock_offset_seconds + answer.duration_seconds
            end = int(seconds * _NANOSECONDS)
        try:
            if span is None:
                span = self._start(outcome.tool_name, end, parent)
                context = self._trace.set_span_in_context(span)
            try:
                if span.is_recording():
                    self._describe(span, outcome, calls, row)
            finally:
                span.end(end_time=end)
        finally:  # what a sampler or a processor raises costs no metric
            self._measure(outcome, calls, row, context)

    def _describe(
        self, span: Span, outcome: Outcome, calls: FinishedCalls, row: FinishedRow
    ) -> None:
        position, answer, tool, _ = row
        if outcome.error_type is not None:
            span.set_attribute(_conventions.ERROR_TYPE, outcome.error_type)
            span.set_status(self._trace.StatusCode.ERROR, outcome.error_type)
        span.set_attributes(self._facts(outcome, calls, row))
        arguments = text = None
        if self._captures_content:
            if position in self._args:
                arguments = content_of_arguments(self._args.pop(position), self._redact)
                span.set_attribute(_conventions.TOOL_CALL_ARGUMENTS, arguments)
            text = content_of_text(answer.text, self._redact)
            span.set_attribute(_conventions.TOOL_CALL_RESULT, text)
            if outcome.tool_name == _conventions.UNKNOWN_TOOL:
                called = _conventions.gist(self._redact(answer.name))
                span.set_attribute(_conventions.CALLED_NAME, called)
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
            self._guard("`extra_attributes`", self._add, span, source, traced)

    @staticmethod
    def _add(span: Span, source: AttributeSource, traced: TracedCall) -> None:
        span.set_attributes(source(traced))

    def _facts(self, outcome: Outcome, calls: FinishedCalls, row: FinishedRow) -> Facts:
        position, answer, tool, _ = row
        result = answer.result
        if not self._batch_facts:
            self._batch_facts = _facts_of_batch(calls)
        facts = self._batch_facts | {
            _conventions.TOOL_CALL_ID: _conventions.gist(answer.tool_call_id),
            _conventions.RAW_CHARS: answer.raw_chars,
            _conventions.REDUCED_CHARS: answer.reduced_chars,
            _conventions.SENT_CHARS: answer.sent_chars,
        }
        if tool is not None:
            if tool.name not in self._tool_facts:
                self._tool_facts[tool.name] = _facts_of_tool(tool)
            facts |= self._tool_facts[tool.name]
        if failed := self._failed_attempts[position]:
            facts[_conventions.ATTEMPTS] = failed + 1
        if answer.repairs:
            facts[_conventions.REPAIRED] = len(answer.repairs)
        if outcome.reason is not None:
            facts[_conventions.REASON] = _conventions.gist(outcome.reason)
        if not result.ok:
            facts[_conventions.RESULT_CODE] = _conventions.gist(result.code)
        if answer.truncated_from is not None:
            facts[_conventions.TRUNCATED_FROM] = answer.truncated_from
        if result.cost_usd is not None:
            facts[_conventions.COST_USD] = float(result.cost_usd)
        return facts


def _facts_of_batch(calls: FinishedCalls) -> Facts:
    context = calls.context
    return _known_facts(
        {
            _conventions.BATCH_ID: secrets.token_hex(8),
            _conventions.AGENT_NAME: context.agent_id,
            _conventions.CONVERSATION_ID: context.session_id or None,
            _conventions.PERSONALITY: calls.personality_id,
        }
    )


def _facts_of_tool(tool: TaggedTool) -> Facts:
    facts = {_conventions.OWNER: tool.owner}
    if tool.mcp_server is not None:
        # The function of a bridged tool knows its connection; others have no such facts.
        function = tool.tool.execute
        facts |= {
            _conventions.MCP_SERVER: tool.mcp_server,
            _conventions.MCP_METHOD_NAME: "tools/call",
            _conventions.MCP_PROTOCOL_VERSION: getattr(function, "protocol_version", None),
            _conventions.NETWORK_TRANSPORT: getattr(function, "network_transport", None),
        }
    limit = _conventions.MAX_DESCRIPTION_CHARS
    description = _conventions.gist(tool.tool.description, limit)
    return _known_facts(facts) | {_conventions.TOOL_DESCRIPTION: description}


def _known_facts(facts: dict[str, str | None]) -> Facts:
    return {name: _conventions.gist(fact) for name, fact in facts.items() if fact is not None}


_API_MODULES = ("opentelemetry.trace", "opentelemetry.metrics")
"""Providers of the API itself do nothing; those of an SDK are in other modules."""


@_checks.checked_class
class OpenTelemetry(Observer):
    """Reports each call as a span `execute_tool {tool}` and as metrics (extra `otel`).

    Give it to registries as an observer: `ToolRegistry(observers=[OpenTelemetry()])`. Without an
    OpenTelemetry SDK a batch costs one check. The parent of the spans is the caller's current span,
    and spans that a tool starts are their children, also on threads. Spans are ended when the batch
    has ended, with the time at which their call ended.

    Args:
        tracer_provider: Default: the global one.
        meter_provider: Default: the global one.
        capture_content: Whether spans hold the arguments and the text that the model reads, each
            without credentials and at most 8 KiB. Default: the environment variable
            `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` (`SPAN_ONLY`, `SPAN_AND_EVENT` or
            `true` turn it on), else no content.
        extra_attributes: Functions that take a `TracedCall` and return further attributes, such as
            the presets `OpenInference()` and `Langfuse()`.

    Raises:
        ConfigError: The package `opentelemetry-api` is not installed, or an argument is of the
            wrong kind.

    >>> OpenTelemetry()
    OpenTelemetry()

    """

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        capture_content: bool | None = None,
        extra_attributes: AttributeSource | Iterable[AttributeSource] = (),
    ) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError:
            raise missing_extra("OpenTelemetry", "otel") from None
        _check_provider(tracer_provider, "tracer_provider", "get_tracer")
        _check_provider(meter_provider, "meter_provider", "get_meter")
        if capture_content is not None:
            _checks.boolean(capture_content, "capture_content")
        self._trace, self._metrics = trace, metrics
        self._metrics_state = getattr(metrics, "_internal", None)
        self._tracer_provider = tracer_provider
        self._meter_provider = meter_provider
        self._capture_content = capture_content
        self._extra_attributes = _sources(extra_attributes)
        self._tracers: tuple[object, Tracer | None] = (None, None)
        self._instruments: tuple[object, Instruments | None] = (None, None)
        self._logged: set[str] = set()
        if tracer_provider is None:  # loads one that an environment variable names
            trace.get_tracer_provider()
        if meter_provider is None:
            metrics.get_meter_provider()

    def __repr__(self) -> str:
        given = {
            "tracer_provider": self._tracer_provider,
            "meter_provider": self._meter_provider,
            "capture_content": self._capture_content,
            "extra_attributes": list(self._extra_attributes) or None,
        }
        shown = (f"{name}={value!r}" for name, value in given.items() if value is not None)
        return f"OpenTelemetry({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._tracer_provider is not None or self._meter_provider is not None:
            raise TypeError(
                "OpenTelemetry with providers of its own belongs to its process; set the global "
                "providers in the other process and use `OpenTelemetry()`"
            )
        make = functools.partial(
            OpenTelemetry,
            capture_content=self._capture_content,
            extra_attributes=self._extra_attributes,
        )
        return make, ()

    def batch_started(self, batch: StartedBatch) -> TracedBatch | MeasuredBatch | None:
        """What observes this batch; `None` if neither spans nor metrics go anywhere."""
        tracer, instruments = self._tracer(), self._meters()
        if tracer is None:
            return None if instruments is None else MeasuredBatch(instruments, self._guarded)
        captures = self._capture_content
        return TracedBatch(
            tracer,
            instruments,
            batch,
            self._guarded,
            captures_content=captures_content() if captures is None else captures,
            extra_attributes=self._extra_attributes,
        )

    def is_idle(self) -> bool:
        """Whether surely nothing is reported: no global provider is set, and none was given.

        The API's own variables answer in a tenth of the time; `False` where they do not exist.
        """
        return (
            self._tracer_provider is None
            and self._meter_provider is None
            and getattr(self._trace, "_TRACER_PROVIDER", self) is None
            and getattr(self._metrics_state, "_METER_PROVIDER", self) is None
        )

    def _tracer(self) -> Tracer | None:
        provider = self._tracer_provider or self._trace.get_tracer_provider()
        if provider is not self._tracers[0]:
            self._tracers = provider, _made(provider, "get_tracer", self._trace.NoOpTracer)
        return self._tracers[1]

    def _meters(self) -> Instruments | None:
        provider = self._meter_provider or self._metrics.get_meter_provider()
        if provider is not self._instruments[0]:
            meter = _made(provider, "get_meter", self._metrics.NoOpMeter)
            self._instruments = provider, None if meter is None else Instruments(meter)
        return self._instruments[1]

    def _guarded(self, what: str, function: Callable[..., None], *arguments: Any) -> None:
        """Call a function; what it raises, as a processor or an exporter may, is logged once."""
        guarded(functools.partial(self._log_once, what), function, *arguments)

    def _log_once(self, what: str, error: BaseException) -> None:
        if what not in self._logged:
            self._logged.add(what)
            message = f"{what} raised; later exceptions are not logged"
            log_exception(message, error, _core.redact)


def _made(provider: Any, method: str, idle: type) -> Any:
    """The tracer or the meter of a provider; `None` if what it receives goes nowhere."""
    if type(provider).__module__.startswith(_API_MODULES):
        return None
    made = getattr(provider, method)("ethos_registry", __version__)
    return None if isinstance(made, idle) else made


def _check_provider(provider: object, name: str, method: str) -> None:
    if provider is not None and not callable(getattr(provider, method, None)):
        raise ConfigError(f"`{name}` must have `{method}`, got {type(provider).__name__}")


def _sources(given: AttributeSource | Iterable[AttributeSource]) -> tuple[AttributeSource, ...]:
    sources = (given,) if callable(given) else tuple(given)
    for source in sources:
        check_callback(source, "extra_attributes", "traced")
    return sources
