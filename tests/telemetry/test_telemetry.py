"""OpenTelemetry: one span per call, metrics, no content unless it is asked for."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import pickle
import sys
import threading
import time
from typing import Any

import pytest

from ethos_registry import (
    ConfigError,
    InvocationFilter,
    Pending,
    Personality,
    Tool,
    ToolCall,
    ToolContext,
    ToolRegistry,
    err,
    ok,
)
from ethos_registry.execution import Approvals
from ethos_registry.registry import DispatchContext
from ethos_registry.telemetry import Langfuse, OpenInference, OpenTelemetry
from ethos_registry.types import MalformedCall, Retry
from session_tools import calls_of, hang, in_own_process, quick, registry_of, tool, until
from usage_tools import missing

try:
    from opentelemetry import context as otel_context
    from opentelemetry import trace
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, Sampler
    from opentelemetry.trace import StatusCode
except ImportError:
    missing("otel", "opentelemetry-sdk is not installed")

SECRET = "sk-ant-api03-" + "Zx9" * 30
SPAN_NAMES = "opentelemetry.semconv._incubating.attributes.gen_ai_attributes"


class Backend:
    """Providers with in-memory exporters, and what they got."""

    def __init__(self, **options: Any) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracers = TracerProvider(**options)
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider(metric_readers=[self.reader])

    def observer(self, **options: Any) -> OpenTelemetry:
        return OpenTelemetry(tracer_provider=self.tracers, meter_provider=self.meters, **options)

    def spans(self) -> dict[str, Any]:
        """By id of their call; spans of tools by their name."""
        spans = self.exporter.get_finished_spans()
        return {span.attributes.get("gen_ai.tool.call.id", span.name): span for span in spans}

    def points(self, metric: str) -> list[Any]:
        data = self.reader.get_metrics_data()
        if data is None:
            return []
        found = [
            one
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for one in scope.metrics
            if one.name == metric
        ]
        return [point for one in found for point in one.data.data_points]


@pytest.fixture
def backend() -> Backend:
    return Backend()


async def failing(args: Any, context: Any) -> Any:
    return err("no such thing")


async def raising(args: Any, context: Any) -> Any:
    raise LookupError(f"a message with {SECRET}")


async def nesting(args: Any, context: Any) -> Any:
    with trace.get_tracer("tool", tracer_provider=PROVIDER[0]).start_as_current_span("inner"):
        return ok("nested")


def nesting_on_thread(args: Any, context: Any) -> Any:
    with trace.get_tracer("tool", tracer_provider=PROVIDER[0]).start_as_current_span("inner"):
        return ok("nested")


PROVIDER: list[Any] = [None]


async def stubborn(args: Any, context: Any) -> Any:
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        await asyncio.sleep(0.4)
    return ok("late")


async def test_every_call_has_one_span_however_it_ends(backend: Backend, task_start: str) -> None:
    registry = registry_of(
        quick,
        failing,
        raising,
        tool(hang, timeout_seconds=0.03),
        tool(stubborn, timeout_seconds=0.03),
        observers=[backend.observer()],
        abandon_after_seconds=0.05,
    )
    registry.register(tool(quick, name="hidden_tool"), plugin_id="pay")
    calls = [
        *calls_of("quick", "failing", "raising", "hang", "stubborn", "ghost"),
        MalformedCall("c6", "quick", "cut off"),
        ToolCall("c7", "hidden_tool", {}),
        ToolCall("same", "quick", {}),
        ToolCall("same", "quick", {}),
    ]
    view = registry.view(Personality("clerk", toolset=None))
    context = ToolContext(agent_id="agent", session_id="session")
    began = time.monotonic()
    results = await view.execute(calls, context)
    took = time.monotonic() - began
    spans = backend.exporter.get_finished_spans()
    assert len(spans) == len(calls)
    by_id = backend.spans()
    errors = {key: span.attributes.get("error.type") for key, span in by_id.items()}
    assert errors == {
        "c0": None,
        "c1": "tool_error",
        "c2": "LookupError",
        "c3": "timeout",
        "c4": "timeout",
        "c5": "unknown",
        "c6": "invalid_args",
        "c7": "denied",
        "same": None,
    }
    names = {key: span.attributes["gen_ai.tool.name"] for key, span in by_id.items()}
    assert names["c5"] == names["c6"] == "_unknown"
    assert names["c7"] == "hidden_tool"
    for key, span in by_id.items():
        assert span.name == f"execute_tool {names[key]}"
        assert span.kind is trace.SpanKind.INTERNAL
        failed = errors[key] is not None
        assert span.status.status_code is (StatusCode.ERROR if failed else StatusCode.UNSET)
        assert span.status.description == errors[key]
        assert span.attributes["gen_ai.operation.name"] == "execute_tool"
        assert span.attributes["gen_ai.tool.type"] == "function"
        assert span.attributes["gen_ai.agent.name"] == "agent"
        assert span.attributes["gen_ai.conversation.id"] == "session"
        assert span.attributes["ethos.personality"] == "clerk"
        assert not span.events
    assert len({span.attributes["ethos.batch.id"] for span in spans}) == 1
    for key in ("c5", "c6", "c7"):
        assert by_id[key].start_time == by_id[key].end_time
    abandoned = by_id["c4"]
    assert (abandoned.end_time - abandoned.start_time) / 1e9 <= took + 0.01
    assert by_id["c0"].attributes["ethos.result.raw_chars"] == 4
    assert by_id["c1"].attributes["ethos.result.code"] == "execution_failed"
    assert by_id["c5"].attributes["ethos.result.reason"] == "unknown"
    assert [result.ok for result in results].count(True) == 3


async def test_sizes_truncation_owner_and_cost_are_attributes(backend: Backend) -> None:
    async def long(args: Any, context: Any) -> Any:
        return ok("x" * 5_000, cost_usd=0.25)

    registry = ToolRegistry(observers=[backend.observer()])
    registry.register(tool(long), owner="billing", mcp_server="files")
    for policy in ("even", "fill"):
        await registry.execute_parallel(
            calls_of("long"), ToolContext(result_budget_chars=1_000), budget_policy=policy
        )
    for span in backend.exporter.get_finished_spans():
        attributes = span.attributes
        assert attributes["ethos.result.raw_chars"] == 5_000
        assert attributes["ethos.result.truncated_from"] == 5_000
        assert 1_000 <= attributes["ethos.result.sent_chars"] <= 1_400
        assert attributes["ethos.cost_usd"] == 0.25
        assert attributes["ethos.tool.owner"] == "billing"
        assert attributes["ethos.mcp.server"] == "files"
        assert attributes["mcp.method.name"] == "tools/call"
        assert attributes["gen_ai.tool.description"] == "A tool."


async def test_the_parent_is_the_callers_span_and_spans_of_tools_nest(
    backend: Backend, task_start: str
) -> None:
    PROVIDER[0] = backend.tracers
    registry = registry_of(nesting, nesting_on_thread, observers=[backend.observer()])
    tracer = backend.tracers.get_tracer("caller")
    for options in ({}, {"max_concurrency": 1}):
        backend.exporter.clear()
        with tracer.start_as_current_span("invoke_agent") as parent:
            await registry.execute_parallel(
                calls_of("nesting", "nesting_on_thread", "nesting", "ghost"), **options
            )
            assert trace.get_current_span() is parent
        spans = backend.exporter.get_finished_spans()
        tools = [span for span in spans if span.name.startswith("execute_tool")]
        inner = [span for span in spans if span.name == "inner"]
        assert len(tools) == 4
        assert {span.parent.span_id for span in tools} == {parent.context.span_id}
        started = {span.context.span_id for span in tools if "_unknown" not in span.name}
        assert len(inner) == 3
        assert {span.parent.span_id for span in inner} == started


async def test_calls_of_a_stream_and_of_a_turn_have_spans(backend: Backend) -> None:
    registry = registry_of(quick, observers=[backend.observer()])
    tracer = backend.tracers.get_tracer("caller")
    turn = registry.turn(DispatchContext()).registry
    view = turn.view(Personality("clerk", toolset=None))
    with tracer.start_as_current_span("invoke_agent") as parent:
        async with view.dispatch(provider="openai") as reply:
            call = {"index": 0, "id": "s1", "function": {"name": "quick", "arguments": "{}"}}
            reply.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
            reply.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    span = backend.spans()["s1"]
    assert span.parent.span_id == parent.context.span_id
    assert span.attributes["ethos.result.sent_chars"] == 4


async def test_metrics_count_executions_and_refusals_apart(backend: Backend) -> None:
    registry = registry_of(quick, failing, observers=[backend.observer()])
    await registry.execute_parallel(
        calls_of("quick", "quick", "failing", "ghost"), ToolContext(agent_id="agent")
    )
    points = backend.points("gen_ai.execute_tool.duration")
    counts = {
        (point.attributes["gen_ai.tool.name"], point.attributes.get("error.type")): point.count
        for point in points
    }
    assert counts == {("quick", None): 2, ("failing", "tool_error"): 1}
    assert points[0].explicit_bounds == tuple(0.01 * 2**step for step in range(14))
    assert points[0].explicit_bounds[-1] == 81.92
    assert dict(points[0].attributes)["gen_ai.agent.name"] == "agent"
    [refused] = backend.points("ethos.tool.refusals")
    assert dict(refused.attributes) == {
        "gen_ai.tool.name": "_unknown",
        "ethos.result.reason": "unknown",
    }


async def test_metrics_work_without_a_tracer(backend: Backend) -> None:
    observer = OpenTelemetry(
        tracer_provider=trace.NoOpTracerProvider(), meter_provider=backend.meters
    )
    registry = registry_of(quick, observers=[observer])
    await registry.execute_parallel(calls_of("quick", "ghost"))
    assert [point.count for point in backend.points("gen_ai.execute_tool.duration")] == [1]
    assert [point.value for point in backend.points("ethos.tool.refusals")] == [1]
    assert not backend.exporter.get_finished_spans()


def everything(backend: Backend) -> str:
    """Every text that left the process."""
    spans = [span.to_json() for span in backend.exporter.get_finished_spans()]
    return "\n".join([*spans, str(backend.reader.get_metrics_data())])


async def test_no_content_by_default_whatever_holds_a_secret(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", raising=False)

    async def echo(args: Any, context: Any) -> Any:
        return ok("hunter2 " + args["text"], structured={"text": "hunter2"}, extra="hunter2")

    registry = registry_of(echo, raising, observers=[backend.observer()], redact=False)
    calls = [
        ToolCall("c0", "echo", {"text": f"hunter2 {SECRET}", "password": "hunter2"}),
        ToolCall("c1", "raising", {"password": "hunter2"}),
        ToolCall("c2", "hunter2", {"password": "hunter2"}),
        ToolCall("c3", "echo", '{"hunter2": '),
    ]
    results = await registry.execute_parallel(calls)
    assert SECRET in results[0].text
    seen = everything(backend)
    assert "hunter2" not in seen
    assert SECRET not in seen
    assert "gen_ai.tool.call.arguments" not in seen


@pytest.mark.parametrize(
    ("value", "is_on"),
    [
        ("SPAN_ONLY", True),
        ("SPAN_AND_EVENT", True),
        ("true", True),
        ("EVENT_ONLY", False),
        ("NO_CONTENT", False),
        ("false", False),
        ("", False),
    ],
)
async def test_the_environment_turns_content_on_and_the_argument_wins(
    value: str, is_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value)
    for given, expected in ((None, is_on), (True, True), (False, False)):
        backend = Backend()
        registry = registry_of(quick, observers=[backend.observer(capture_content=given)])
        await registry.execute_parallel(calls_of("quick"))
        attributes = backend.spans()["c0"].attributes
        assert ("gen_ai.tool.call.result" in attributes) is expected
        assert ("gen_ai.tool.call.arguments" in attributes) is expected


async def test_content_is_redacted_bounded_and_what_the_model_saw(backend: Backend) -> None:
    async def echo(args: Any, context: Any) -> Any:
        return ok(args["text"])

    observer = backend.observer(capture_content=True)
    registry = registry_of(echo, observers=[observer], redact=False)
    calls = [
        ToolCall("c0", "echo", {"text": f"key {SECRET}", "password": "hunter2"}),
        ToolCall("c1", "echo", {"text": "ä" * 20_000}),
        ToolCall("c2", "echo", {"text": "\ud800 x"}),
        ToolCall("c3", "no_such_tool\ud800" * 100, {}),
        ToolCall("c4", SECRET, {}),
    ]
    results = await registry.execute_parallel(calls, ToolContext(result_budget_chars=400_000))
    spans = backend.spans()
    seen = everything(backend)
    assert SECRET not in seen
    assert "hunter2" not in seen
    first = spans["c0"].attributes
    assert first["gen_ai.tool.call.result"].startswith("key ")
    assert json.loads(first["gen_ai.tool.call.arguments"])["password"] == "[redacted]"
    for name in ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result"):
        assert 8_000 < len(spans["c1"].attributes[name].encode()) <= 8_192
        spans["c2"].attributes[name].encode()
    assert results[1].text.startswith(spans["c1"].attributes["gen_ai.tool.call.result"])
    assert spans["c3"].attributes["gen_ai.tool.name"] == "_unknown"
    assert spans["c3"].attributes["ethos.tool.called_name"].startswith("no_such_tool")
    assert len(spans["c3"].attributes["ethos.tool.called_name"]) <= 256


async def test_content_of_a_batch_that_is_trimmed_at_its_end_is_the_trimmed_text(
    backend: Backend,
) -> None:
    async def long(args: Any, context: Any) -> Any:
        return ok("y" * 4_000)

    registry = registry_of(long, observers=[backend.observer(capture_content=True)])
    [result] = await registry.execute_parallel(
        calls_of("long"), ToolContext(result_budget_chars=50), budget_policy="fill"
    )
    assert backend.spans()["c0"].attributes["gen_ai.tool.call.result"] == result.text


async def test_presets_add_what_their_backends_read(backend: Backend) -> None:
    observer = backend.observer(
        capture_content=True, extra_attributes=[OpenInference(), Langfuse()]
    )
    registry = registry_of(quick, failing, observers=[observer])
    calls = [ToolCall("c0", "quick", {"city": "Oslo"}), ToolCall("c1", "failing", {})]
    await registry.execute_parallel(calls, ToolContext(session_id="s"))
    spans = backend.spans()
    attributes = dict(spans["c0"].attributes)
    assert attributes["openinference.span.kind"] == "TOOL"
    assert attributes["tool.name"] == "quick"
    assert attributes["tool.id"] == "c0"
    assert json.loads(attributes["tool.parameters"]) == {"type": "object"}
    assert attributes["input.value"] == attributes["langfuse.observation.input"]
    assert json.loads(attributes["input.value"]) == {"city": "Oslo"}
    assert attributes["output.value"] == attributes["langfuse.observation.output"] == "done"
    assert attributes["langfuse.observation.type"] == "tool"
    assert attributes["session.id"] == "s"
    assert spans["c1"].attributes["langfuse.observation.level"] == "ERROR"


async def test_a_long_description_is_cut_in_presets_as_in_the_registrys_attributes(
    backend: Backend,
) -> None:
    wordy = Tool("wordy", "d" * 50_000, {"type": "object"}, quick)
    registry = registry_of(wordy, observers=[backend.observer(extra_attributes=OpenInference())])
    await registry.execute_parallel(calls_of("wordy"))
    attributes = backend.spans()["c0"].attributes
    assert attributes["tool.description"] == attributes["gen_ai.tool.description"]


async def test_presets_add_no_content_unless_it_is_captured(backend: Backend) -> None:
    observer = backend.observer(
        capture_content=False, extra_attributes=[OpenInference(), Langfuse()]
    )
    registry = registry_of(quick, observers=[observer])
    await registry.execute_parallel([ToolCall("c0", "quick", {"city": "Oslo"})])
    assert "Oslo" not in everything(backend)
    assert "done" not in everything(backend)


async def test_a_dry_run_and_the_answer_of_a_filter_are_no_errors(backend: Backend) -> None:
    registry = registry_of(quick, observers=[backend.observer()])
    await registry.execute_parallel(calls_of("quick"), ToolContext(dry_run=True))
    answering = InvocationFilter(before=lambda invocation: ok("from a cache"))
    await registry.execute_parallel([ToolCall("f0", "quick", {})], filters=[answering])
    declining = InvocationFilter(before=lambda invocation: err("no", "not_available"))
    await registry.execute_parallel([ToolCall("f1", "quick", {})], filters=[declining])
    spans = backend.spans()
    reasons = {key: span.attributes["ethos.result.reason"] for key, span in spans.items()}
    assert reasons == {"c0": "dry_run", "f0": "answered", "f1": "denied"}
    kinds = {key: span.status.status_code for key, span in spans.items()}
    unset = StatusCode.UNSET
    assert kinds == {"c0": unset, "f0": unset, "f1": StatusCode.ERROR}
    assert backend.points("gen_ai.execute_tool.duration") == []


async def test_a_call_that_waits_for_approval_is_no_error(backend: Backend) -> None:
    registry = registry_of(
        quick,
        observers=[backend.observer()],
        approvals=Approvals(b"k" * 32),
        filters=[InvocationFilter(before=lambda invocation: Pending("why"))],
    )
    [result] = await registry.execute_parallel(calls_of("quick"))
    assert result.pending is not None
    span = backend.spans()["c0"]
    assert span.status.status_code is StatusCode.UNSET
    assert span.attributes["ethos.result.reason"] == "pending"
    assert result.pending.token not in everything(backend)
    assert backend.points("ethos.tool.refusals") == []


async def test_attempts_are_counted_in_metrics_and_on_the_span(backend: Backend) -> None:
    failures = [1, 2]

    async def flaky(args: Any, context: Any) -> Any:
        if failures:
            raise LookupError(failures.pop())
        return ok("done")

    registry = registry_of(
        tool(flaky, idempotent=True, retry=Retry(3, 0)), observers=[backend.observer()]
    )
    await registry.execute_parallel(calls_of("flaky"))
    [span] = backend.exporter.get_finished_spans()
    assert span.attributes["ethos.tool.attempts"] == 3
    points = backend.points("gen_ai.execute_tool.duration")
    counts = {point.attributes.get("error.type"): point.count for point in points}
    assert counts == {"LookupError": 2, None: 1}


class Raising:
    """A processor whose every method raises."""

    def __getattr__(self, name: str) -> Any:
        def fail(*arguments: Any, **options: Any) -> None:
            raise SystemExit(f"{name} with {SECRET}")

        return fail

    def shutdown(self) -> None: ...


@pytest.mark.parametrize("method", ["on_start", "on_end"])
async def test_what_a_processor_raises_is_logged_once_and_changes_nothing(
    method: str, backend: Backend, caplog: pytest.LogCaptureFixture, task_start: str
) -> None:
    class Processor(Raising):
        pass

    processor: Any = Processor()
    for quiet in {"on_start", "on_end", "_on_ending"} - {method}:
        setattr(processor, quiet, lambda *arguments, **options: None)
    backend.tracers.add_span_processor(processor)
    observed = registry_of(quick, failing, observers=[backend.observer()])
    plain = registry_of(quick, failing)
    for _ in range(3):
        calls = calls_of("quick", "failing", "ghost", "quick")
        found = await observed.execute_parallel(calls)
        assert found.to_wire() == (await plain.execute_parallel(calls)).to_wire()
    warnings = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert 1 <= len(warnings) <= 2
    assert len({one.getMessage() for one in warnings}) == len(warnings)
    assert SECRET not in caplog.text
    assert sum(point.count for point in backend.points("gen_ai.execute_tool.duration")) == 9
    assert sum(point.value for point in backend.points("ethos.tool.refusals")) == 3


async def test_a_sampler_that_raises_costs_no_metric(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Sampler):
        def should_sample(self, *arguments: Any, **options: Any) -> Any:
            raise LookupError("no rule")

        def get_description(self) -> str:
            return "broken"

    backend = Backend(sampler=Broken())
    registry = registry_of(quick, observers=[backend.observer()])
    results = await registry.execute_parallel(calls_of("quick", "ghost"))
    assert [result.ok for result in results] == [True, False]
    [executed] = backend.points("gen_ai.execute_tool.duration")
    [refused] = backend.points("ethos.tool.refusals")
    assert (executed.count, refused.value) == (1, 1)
    assert "no rule" in caplog.text


async def test_extra_attributes_that_raise_cost_only_themselves(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(traced: Any) -> Any:
        raise ValueError("mine")

    def own(traced: Any) -> Any:
        return {"app.tool": traced.tool_name}

    registry = registry_of(quick, observers=[backend.observer(extra_attributes=[broken, own])])
    await registry.execute_parallel(calls_of("quick", "quick"))
    spans = backend.exporter.get_finished_spans()
    assert [span.attributes["app.tool"] for span in spans] == ["quick", "quick"]
    assert len([one for one in caplog.records if one.levelno >= logging.WARNING]) == 1


async def test_a_span_that_is_not_sampled_gets_no_attributes_and_is_still_the_parent() -> None:
    backend = Backend(sampler=ALWAYS_OFF)
    seen: list[Any] = []

    async def look(args: Any, context: Any) -> Any:
        seen.append(trace.get_current_span(otel_context.get_current()).get_span_context())
        return ok("")

    def never(traced: Any) -> Any:
        raise AssertionError("asked for attributes")

    observer = backend.observer(capture_content=True, extra_attributes=never)
    registry = registry_of(look, observers=[observer])
    await registry.execute_parallel(calls_of("look"))
    assert seen[0].is_valid
    assert not seen[0].trace_flags.sampled
    assert not backend.exporter.get_finished_spans()


async def test_a_caller_that_is_cancelled_leaves_no_open_span(backend: Backend) -> None:
    seen: list[Any] = []
    hanging = asyncio.Event()

    async def hang(args: Any, context: Any) -> Any:
        hanging.set()
        await asyncio.Event().wait()

    registry = registry_of(hang, quick, observers=[backend.observer()])
    calls = calls_of("quick", "hang")
    batch = asyncio.ensure_future(registry.execute_parallel(calls, on_result=seen.append))
    await until(lambda: seen and hanging.is_set())
    batch.cancel()
    await asyncio.wait([batch])
    spans = backend.spans()
    assert spans["c0"].attributes.get("error.type") is None
    assert spans["c1"].attributes["error.type"] == "cancelled"


async def test_a_function_that_gets_no_thread_ends_its_span_when_it_is_refused(
    backend: Backend,
) -> None:
    refused = threading.Event()

    def slow(args: Any, context: Any) -> Any:
        assert refused.wait(100)
        return ok("")

    registry = registry_of(
        slow, observers=[backend.observer()], max_threads=1, thread_wait_seconds=0.05
    )
    results = await registry.execute_parallel(
        calls_of("slow", "slow"), on_result=lambda result: refused.set()
    )
    assert [result.ok for result in results] == [True, False]
    spans = backend.spans()
    late = spans["c1"]
    assert late.attributes["error.type"] == "timeout"
    assert late.end_time < spans["c0"].end_time
    assert [point.count for point in backend.points("gen_ai.execute_tool.duration")] == [1]


async def test_with_the_api_alone_a_batch_runs_as_without_observers() -> None:
    observer = OpenTelemetry(tracer_provider=trace.NoOpTracerProvider(), meter_provider=None)
    registry = registry_of(quick, observers=[observer])
    [result] = await registry.execute_parallel(calls_of("quick"))
    assert result.ok


def test_names_are_those_of_the_semantic_conventions() -> None:
    from ethos_registry.telemetry import _conventions

    theirs = importlib.import_module(SPAN_NAMES)
    pairs = {
        "OPERATION_NAME": "GEN_AI_OPERATION_NAME",
        "TOOL_NAME": "GEN_AI_TOOL_NAME",
        "TOOL_TYPE": "GEN_AI_TOOL_TYPE",
        "TOOL_CALL_ID": "GEN_AI_TOOL_CALL_ID",
        "TOOL_DESCRIPTION": "GEN_AI_TOOL_DESCRIPTION",
        "TOOL_CALL_ARGUMENTS": "GEN_AI_TOOL_CALL_ARGUMENTS",
        "TOOL_CALL_RESULT": "GEN_AI_TOOL_CALL_RESULT",
        "AGENT_NAME": "GEN_AI_AGENT_NAME",
        "CONVERSATION_ID": "GEN_AI_CONVERSATION_ID",
    }
    for ours, constant in pairs.items():
        assert getattr(_conventions, ours) == getattr(theirs, constant)
    assert theirs.GenAiOperationNameValues.EXECUTE_TOOL.value == _conventions.EXECUTE_TOOL
    errors = importlib.import_module("opentelemetry.semconv.attributes.error_attributes")
    assert errors.ERROR_TYPE == _conventions.ERROR_TYPE


def test_nothing_of_opentelemetry_is_imported_until_it_is_turned_on() -> None:
    done = in_own_process("""
        import sys
        import ethos_registry
        from ethos_registry import ToolRegistry
        from ethos_registry.telemetry import Langfuse, OpenInference, OpenTelemetry
        registry = ToolRegistry()
        registry.execute_parallel_sync([{"id": "1", "name": "ghost", "args": {}}])
        print([name for name in sys.modules if name.startswith("opentelemetry")])
        OpenTelemetry()
        print("opentelemetry.trace" in sys.modules, "opentelemetry.sdk" in sys.modules)
    """)
    assert done.stdout.splitlines() == ["[]", "True False"]


def test_global_providers_may_be_set_after_the_registry_ran() -> None:
    done = in_own_process("""
        from opentelemetry import metrics, trace
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        from ethos_registry import ToolRegistry
        from ethos_registry.telemetry import OpenTelemetry

        registry = ToolRegistry(observers=[OpenTelemetry()])
        def run():
            registry.execute_parallel_sync([{"id": "1", "name": "ghost", "args": {}}])
        run()
        reader, exporter = InMemoryMetricReader(), InMemorySpanExporter()
        metrics.set_meter_provider(MeterProvider(metric_readers=[reader]))
        run()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        trace.set_tracer_provider(provider)
        run()
        print([span.name for span in exporter.get_finished_spans()])
        [resource] = reader.get_metrics_data().resource_metrics
        [metric] = resource.scope_metrics[0].metrics
        print(metric.name, [point.value for point in metric.data.data_points])
    """)
    assert done.stdout.splitlines() == [
        "['execute_tool _unknown']",
        "ethos.tool.refusals [2]",
    ]


def test_without_the_package_the_message_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(ConfigError, match=r"ethos-registry\[otel\]"):
        OpenTelemetry()


@pytest.mark.parametrize(
    "options",
    [
        {"tracer_provider": 5},
        {"meter_provider": "text"},
        {"capture_content": "yes"},
        {"extra_attributes": [5]},
    ],
)
def test_arguments_of_the_wrong_kind_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        OpenTelemetry(**options)


def test_the_observer_travels_with_a_frozen_registry_unless_it_has_own_providers(
    backend: Backend,
) -> None:
    copied = pickle.loads(pickle.dumps(OpenTelemetry(capture_content=False)))
    assert repr(copied) == "OpenTelemetry(capture_content=False)"
    with pytest.raises(TypeError, match="belongs to its process"):
        pickle.dumps(backend.observer())


async def test_an_observer_may_decide_for_each_batch() -> None:
    class Sampling:
        def __init__(self) -> None:
            self.batches = 0
            self.seen: list[str] = []

        def batch_started(self, batch: Any) -> Any:
            self.batches += 1
            return self if batch.context.agent_id == "watched" else None

        def batch_finished(self, calls: Any) -> None:
            self.seen += [call.tool_call_id for call in calls]

    class Once:
        def __init__(self, inner: Sampling) -> None:
            self.batch_started = inner.batch_started

    sampling = Sampling()
    registry = registry_of(quick, observers=[Once(sampling)])
    await registry.execute_parallel(calls_of("quick"))
    await registry.execute_parallel(calls_of("quick"), ToolContext(agent_id="watched"))
    assert (sampling.batches, sampling.seen) == (2, ["c0"])


async def test_an_observer_that_is_idle_is_not_asked_for_the_batch() -> None:
    class Sleeping:
        def __init__(self) -> None:
            self.asked = 0
            self.idle: bool | Exception = True

        def is_idle(self) -> bool:
            if isinstance(self.idle, Exception):
                raise self.idle
            return self.idle

        def batch_started(self, batch: Any) -> Any:
            self.asked += 1

    one, other = Sleeping(), Sleeping()
    registry = registry_of(quick, observers=[one, other])
    await registry.execute_parallel(calls_of("quick"))
    assert (one.asked, other.asked) == (0, 0)
    other.idle = False
    await registry.execute_parallel(calls_of("quick"))
    assert (one.asked, other.asked) == (1, 1)
    other.idle = LookupError("not known")
    [result] = await registry.execute_parallel(calls_of("quick"))
    assert (one.asked, other.asked, result.ok) == (2, 2, True)


async def test_an_idle_observer_hides_no_batch_from_another() -> None:
    class Counting:
        batches = 0

        def is_idle(self) -> bool:
            return True

        def batch_finished(self, calls: Any) -> None:
            self.batches += 1

    counting = Counting()
    registry = registry_of(quick, observers=[OpenTelemetry(), counting])
    await registry.execute_parallel(calls_of("quick"))
    assert counting.batches == 1


async def test_tools_of_a_limited_batch_do_not_see_each_others_context_variables(
    task_start: str,
) -> None:
    import contextvars

    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    seen: list[str] = []

    async def leaves(args: Any, context: Any) -> Any:
        seen.append(variable.get())
        variable.set("left behind")
        await asyncio.sleep(0)
        return ok("")

    registry = registry_of(leaves)
    await registry.execute_parallel(calls_of(*["leaves"] * 5), max_concurrency=2)
    assert seen == ["unset"] * 5
