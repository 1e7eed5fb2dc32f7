"""Requests that travel: every field arrives, and what cannot travel is refused by name."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, get_type_hints

import pytest

from ethos_registry import (
    NO_TOOLS,
    ConfigError,
    DefaultToolResultReducerRegistry,
    Personality,
    Tool,
    ToolContext,
    ToolError,
    ToolFilterOpts,
    ToolOk,
    ToolRegistry,
    err,
    ok,
)
from ethos_registry.artifacts import MemoryArtifactStore
from ethos_registry.capabilities import CommandPolicy, FsReach, NetworkPolicy
from ethos_registry.transports import (
    FinishFacts,
    FinishOrder,
    LiveContext,
    LocalTransport,
    SharedFolder,
    ToolExecuteRequest,
    ToolTransport,
    TransportItem,
    TransportProgress,
    TransportReply,
    TransportStarted,
    TransportTraits,
)
from ethos_registry.types import (
    AbortController,
    AbortSignal,
    Attachment,
    ReadMtime,
    ToolProgressEvent,
)
from ethos_registry.types._context import CONTEXT_FIELDS, LIVE_FIELDS, WIRE_FIELDS, ContextFields
from ethos_registry.types._transport import REMOTE_LIVE_FIELDS, batch_from_wire, batch_to_wire

CONTEXT: dict[str, Any] = {
    "session_id": "s-1",
    "session_key": "cli:repo",
    "platform": "slack",
    "working_dir": "/srv/repo",
    "agent_id": "agent-7",
    "personality_id": "reader",
    "memory_scope": "per-personality",
    "memory_scope_id": "scope-1",
    "team_id": "team-1",
    "tenant_id": "tenant-1",
    "run_id": "run-1",
    "current_turn": 3,
    "message_count": 12,
    "result_budget_chars": 20_000,
    "read_mtimes": {"/srv/a.txt": ReadMtime(1.5, 2, "1:2:3:digest")},
    "network_policy": NetworkPolicy(["api.example.com"], ["*.internal"], False),
    "dry_run": True,
    "tool_call_id": "call-1",
}
REQUEST: dict[str, Any] = {
    "tool_call_id": "call-1",
    "name": "read_file",
    "args": {"path": "a.txt", "deep": [1, {"x": None}], "lone": "\ud800"},
    "context": ToolContext(**CONTEXT),
    "attachments": (Attachment("a0", "image", "file:///a0.png", {"name": "a0.png"}),),
    "personality": Personality(
        "reader",
        ["read_file"],
        ["linear"],
        ["p1"],
        ["terminal"],
        FsReach(["/srv"], ["/srv/out"]),
        NetworkPolicy(["api.example.com"], [], True),
        CommandPolicy("landlock", 50, 2**30, 2**20),
    ),
    "allowed_tools": ("read_file",),
    "filter_opts": ToolFilterOpts(["linear"], [], {"linear": ["list"]}, ["terminal"]),
    "idempotent": True,
    "tool_digest": "ab" * 32,
    "finish": FinishOrder(
        8_000, False, "terminal/1", True, True, SharedFolder("/srv/artifacts", "q3v8")
    ),
    "protocol_version": 2,
}


def over_json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


def test_the_tables_hold_every_field_of_a_request_and_of_a_context() -> None:
    fields = {field.name for field in dataclasses.fields(ToolExecuteRequest)}
    assert fields == REQUEST.keys()
    assert set(WIRE_FIELDS) == CONTEXT.keys()
    assert set(CONTEXT_FIELDS) == CONTEXT.keys() | REMOTE_LIVE_FIELDS.keys()
    assert set(LIVE_FIELDS) == REMOTE_LIVE_FIELDS.keys()
    assert set(REMOTE_LIVE_FIELDS.values()) == {"bridged", "rebuilt", "stays", "refused"}
    defaults = ToolExecuteRequest("", "", None, ToolContext(working_dir="/"))
    for name, value in REQUEST.items():
        assert getattr(defaults, name) != value, f"{name} has its default: it proves nothing"
    for name, value in CONTEXT.items():
        assert getattr(defaults.context, name) != value, f"{name} has its default"


def test_a_new_field_of_a_context_is_in_one_of_the_tables() -> None:
    parameters = set(inspect.signature(ToolContext.__init__).parameters) - {"self"}
    assert parameters == {*WIRE_FIELDS, *LIVE_FIELDS}
    changes = set(inspect.signature(ToolContext).parameters)
    assert changes == set(get_type_hints(ContextFields))
    assert vars(ToolContext()._facts).keys() <= parameters


def every_part(value: Any) -> Any:
    """A value down to its last field, those included that its `==` ignores."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value)]
        parts = {name: every_part(getattr(value, name)) for name in fields}
        return type(value).__name__, parts
    if isinstance(value, ToolContext):
        return {name: every_part(getattr(value, name)) for name in WIRE_FIELDS}
    if isinstance(value, Mapping):
        return {key: every_part(item) for key, item in value.items()}
    if isinstance(value, list | tuple | frozenset):
        return [every_part(item) for item in value]
    assert value is None or isinstance(value, str | int | float | bool), type(value)
    return value


def unset_fields(value: Any) -> Iterator[str]:
    """The optional fields of the data classes inside a value that have their default."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            found = getattr(value, field.name)
            default = field.default
            if field.default_factory is not dataclasses.MISSING:
                default = field.default_factory()
            if default is not dataclasses.MISSING and found == default:
                yield f"{type(value).__name__}.{field.name}"
            yield from unset_fields(found)
    elif isinstance(value, ToolContext):
        for name in WIRE_FIELDS:
            yield from unset_fields(getattr(value, name))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from unset_fields(item)
    elif isinstance(value, list | tuple | frozenset):
        for item in value:
            yield from unset_fields(item)


def test_every_field_of_every_value_inside_a_request_arrives() -> None:
    sent = ToolExecuteRequest(**REQUEST)
    assert list(unset_fields(sent)) == [], "a field that has its default proves nothing"
    arrived = ToolExecuteRequest.from_wire(over_json(sent.to_wire()))
    assert every_part(arrived) == every_part(sent)
    batch = batch_to_wire([sent, dataclasses.replace(sent, tool_call_id="x")])
    for each in batch_from_wire(over_json(batch.shared), over_json(batch.requests)):
        found = every_part(dataclasses.replace(each, tool_call_id="call-1"))
        assert found == every_part(sent)


def test_a_live_field_that_cannot_be_sent_is_refused_by_its_name_and_no_other_is_dropped() -> None:
    data = {name for name, way in REMOTE_LIVE_FIELDS.items() if way == "refused"}
    assert data == {"storage"}
    for name in data:
        request = ToolExecuteRequest("1", "t", {}, ToolContext(**{name: object()}))
        assert request.obstacle == name


def test_a_request_with_every_field_set_arrives_equal() -> None:
    sent = ToolExecuteRequest(**REQUEST)
    arrived = ToolExecuteRequest.from_wire(over_json(sent.to_wire()))
    for name in REQUEST:
        assert getattr(arrived, name) == getattr(sent, name), name
    for name in WIRE_FIELDS:
        assert getattr(arrived.context, name) == CONTEXT[name], name
    assert arrived == sent


def test_a_batch_with_every_field_set_arrives_equal_and_shares_what_is_equal() -> None:
    first = ToolExecuteRequest(**REQUEST)
    plain = ToolExecuteRequest("call-2", "now", {}, ToolContext(working_dir="/"))
    shared = dataclasses.replace(first, tool_call_id="call-1", args={"path": "b.txt"})
    sent = [first, plain, shared]
    batch = batch_to_wire(sent)
    assert len(batch.shared) == 2
    assert batch_from_wire(over_json(batch.shared), over_json(batch.requests)) == sent


@pytest.mark.parametrize("name", [name for name in REQUEST if name != "protocol_version"])
def test_a_batch_keeps_each_field_that_differs_between_requests(name: str) -> None:
    first = ToolExecuteRequest(**REQUEST)
    other: Any = {
        "tool_call_id": "x",
        "name": "x",
        "args": [],
        "context": first.context.replace(current_turn=9, tool_call_id="x"),
        "attachments": (),
        "personality": None,
        "allowed_tools": NO_TOOLS,
        "filter_opts": None,
        "idempotent": False,
        "tool_digest": "",
        "finish": FinishOrder(1),
    }[name]
    sent = [first, dataclasses.replace(first, **{name: other})]
    batch = batch_to_wire(sent)
    arrived = batch_from_wire(over_json(batch.shared), over_json(batch.requests))
    assert arrived == sent
    assert arrived[0] != arrived[1]


def test_an_allow_list_that_denies_everything_arrives_as_such() -> None:
    sent = ToolExecuteRequest("1", "t", {}, ToolContext(), allowed_tools=NO_TOOLS)
    assert ToolExecuteRequest.from_wire(over_json(sent.to_wire())).allowed_tools is NO_TOOLS


def test_unknown_fields_are_refused_by_name_unless_the_sender_is_later() -> None:
    wire = ToolExecuteRequest("1", "t", {}, ToolContext()).to_wire() | {"sudo": True}
    with pytest.raises(ConfigError, match="has no field 'sudo'"):
        ToolExecuteRequest.from_wire(wire)
    later = ToolExecuteRequest.from_wire(wire | {"protocolVersion": 7})
    assert (later.name, later.protocol_version) == ("t", 7)


def test_only_a_live_object_that_changes_the_tool_keeps_a_request_here() -> None:
    live: dict[str, Any] = {name: object() for name in LIVE_FIELDS}
    live |= {
        "abort_signal": AbortController().signal,
        "emit": print,
        "artifact_store": MemoryArtifactStore(),
    }
    refused = {name for name, way in REMOTE_LIVE_FIELDS.items() if way == "refused"}
    for name, value in live.items():
        request = ToolExecuteRequest("1", "t", {}, ToolContext(**{name: value}))
        assert request.obstacle == (name if name in refused else None)


@pytest.mark.parametrize(
    "reply",
    [
        TransportReply(3, ok("x" * 9, structured={"a": [1]}, cost_usd=0.5, exit_code=0)),
        TransportReply(0, err("no", "input_invalid", field="a")),
        TransportReply(1, ToolError("no", "not_available", "denied"), was_started=False),
        TransportReply(2, ok(""), raw_chars=10, read_mtimes={"/a": ReadMtime(1.0, 2, "s")}),
        TransportReply(2, ok("cut"), finish=FinishFacts(90, 50, 50, "ethos-artifact-a-b.txt")),
    ],
)
def test_a_reply_with_every_field_set_arrives_equal(reply: TransportReply) -> None:
    arrived = TransportReply.from_wire(over_json(reply.to_wire()))
    assert arrived == reply
    assert every_part(arrived.read_mtimes) == every_part(reply.read_mtimes)


class Fake(ToolTransport):
    """Answers by a script; the traits are as given."""

    def __init__(self, items: Any, **traits: Any) -> None:
        self._traits = TransportTraits("fake", **traits)
        self._items = items
        self.batches: list[Sequence[ToolExecuteRequest]] = []

    @property
    def traits(self) -> TransportTraits:
        return self._traits

    async def execute_many(
        self,
        requests: Sequence[ToolExecuteRequest],
        signal: AbortSignal,
        *,
        live: LiveContext | None = None,
    ) -> AsyncIterator[TransportItem]:
        self.batches.append(requests)
        for item in self._items(requests):
            yield item
            await asyncio.sleep(0)


def echo(requests: Sequence[ToolExecuteRequest]) -> list[TransportItem]:
    backwards = reversed(list(enumerate(requests)))
    return [TransportReply(index, ok(f"{request.args}")) for index, request in backwards]


def never(args: Any, context: ToolContext) -> ToolOk:
    raise AssertionError("the tool's own function must not run")


def registry_over(transport: Any, key: str = "*", **options: Any) -> ToolRegistry:
    registry = ToolRegistry(transports={key: transport}, **options)
    registry.register(Tool("work", "", {"type": "object"}, never, toolset="render"))
    return registry


def call(number: int, **args: Any) -> dict[str, Any]:
    return {"id": str(number), "name": "work", "args": {"n": number, **args}}


@pytest.mark.parametrize("key", ["*", "tool:work", "toolset:render"])
async def test_the_calls_of_a_batch_travel_together_and_come_back_in_order(key: str) -> None:
    transport = Fake(echo)
    results = await registry_over(transport, key).execute_parallel([call(n) for n in range(8)])
    assert [result.text for result in results] == [f"{{'n': {n}}}" for n in range(8)]
    assert [len(batch) for batch in transport.batches] == [8]


async def test_the_most_specific_key_counts() -> None:
    everything, group, one = Fake(echo), Fake(echo), Fake(echo)
    registry = registry_over(everything)
    registry = ToolRegistry(
        registry.all(), transports={"*": everything, "toolset:render": group, "tool:work": one}
    )
    await registry.execute_parallel([call(1)])
    assert [len(each.batches) for each in (everything, group, one)] == [0, 0, 1]


@pytest.mark.parametrize("key", ["work", "tool:", "toolset:", "group:render", "", 5])
def test_a_wrong_key_is_refused_with_the_known_ones(key: Any) -> None:
    with pytest.raises(ConfigError, match="use `tool:NAME`, `toolset:NAME` or `\\*`"):
        ToolRegistry(transports={key: Fake(echo)})


@pytest.mark.parametrize("value", [None, 5, object(), Fake])
def test_what_is_no_transport_is_refused(value: Any) -> None:
    with pytest.raises(ConfigError, match="must be a ToolTransport, got"):
        ToolRegistry(transports={"*": value})


async def test_a_key_that_matches_no_tool_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    registry = registry_over(Fake(echo), "toolset:rendr")
    registry.register(registry.all()[0].replace(name="other", execute=lambda args, context: ok("")))
    await registry.execute_parallel([{"id": "1", "name": "other", "args": {}}])
    assert "'toolset:rendr', which no registered tool has" in caplog.text


async def test_a_transport_that_answers_nothing_or_raises_loses_no_call() -> None:
    def broken(requests: Any) -> list[TransportItem]:
        raise RuntimeError("no such cluster")

    for transport, problem in ((Fake(lambda _: []), "sent no result"), (Fake(broken), "cluster")):
        first, second = await registry_over(transport).execute_parallel([call(1), call(2)])
        assert not first.ok
        assert problem in first.text
        assert first.text.endswith("it may have run")
        assert (second.result.code, second.result.reason) == ("execution_failed", "worker_lost")


async def test_a_context_that_cannot_travel_is_refused_by_name() -> None:
    transport = Fake(echo)
    context = ToolContext(storage=object())  # type: ignore[arg-type]
    [result] = await registry_over(transport).execute_parallel([call(1)], context)
    assert result.text == (
        "Tool work was not started: the context has `storage`, an object of this process that "
        "cannot be sent"
    )
    assert result.result.code == "not_available"
    assert not transport.batches


async def test_events_arrive_under_the_tools_name_and_not_after_the_result() -> None:
    def chatty(requests: Any) -> list[TransportItem]:
        event = ToolProgressEvent("half", tool_name="other", percent=50)
        return [
            TransportStarted(0),
            TransportProgress(0, event),
            TransportReply(0, ok("done")),
            TransportProgress(0, event),
            TransportReply(0, ok("again")),
        ]

    events: list[ToolProgressEvent] = []
    [result] = await registry_over(Fake(chatty)).execute_parallel(
        [call(1)], ToolContext(emit=events.append)
    )
    assert result.text == "done"
    assert events == [ToolProgressEvent("half", tool_name="work", percent=50)]


async def test_results_from_other_processes_are_trimmed_redacted_and_marked_here() -> None:
    secret = "ghp_" + "a1B2" * 9
    transport = Fake(lambda requests: [TransportReply(0, ok(f"{secret} " + "x" * 500))])
    registry = registry_over(transport)
    tool = registry.all()[0].replace(output_is_untrusted=True)
    registry.register(tool, overwrite=True)
    [result] = await registry.execute_parallel([call(1)], ToolContext(result_budget_chars=100))
    assert secret not in result.text
    assert result.truncated_from is not None
    assert result.untrusted


async def test_what_was_reduced_remotely_is_not_reduced_again() -> None:
    class Shorten:
        tool_name = "work"

        def reduce(self, result: Any, context: Any) -> Any:
            return ok(f"<{result.text}>")

    reducers = DefaultToolResultReducerRegistry()
    reducers.register(Shorten())
    reduced = Fake(lambda _: [TransportReply(0, ok("short"), raw_chars=900)], reduces_results=True)
    [result] = await registry_over(reduced, reducer_registry=reducers).execute_parallel([call(1)])
    assert (result.text, result.raw_chars) == ("short", 900)
    raw = Fake(lambda _: [TransportReply(0, ok("long enough to gain"))], reduces_results=True)
    [result] = await registry_over(raw, reducer_registry=reducers).execute_parallel([call(1)])
    assert result.text.startswith("<") or result.text == "long enough to gain"


async def test_entries_of_read_mtimes_come_back() -> None:
    entry = ReadMtime(5.0, 1)
    transport = Fake(lambda _: [TransportReply(0, ok(""), read_mtimes={"/a": entry})])
    mtimes: dict[str, ReadMtime] = {}
    await registry_over(transport).execute_parallel([call(1)], ToolContext(read_mtimes=mtimes))
    assert mtimes == {"/a": entry}


async def test_gates_are_checked_before_and_again_where_the_tool_runs() -> None:
    workers = ToolRegistry()

    @workers.tool
    async def peek() -> str:
        """Look."""
        return "seen"

    allowed = Personality("p", toolset=["peek"])
    denied = Personality("p", toolset=[])
    request = ToolExecuteRequest("1", "peek", {}, ToolContext(), personality=denied)
    signal = AbortController().signal
    local = LocalTransport(workers)
    answer = await local.execute(request, signal)
    assert answer.text == "Tool peek is not permitted for this personality"
    answer = await local.execute(dataclasses.replace(request, personality=allowed), signal)
    assert answer.text == "seen"
    for refusing in (
        {"allowed_tools": NO_TOOLS},
        {"allowed_tools": ("other",)},
        {"filter_opts": ToolFilterOpts(exclude_tools=["peek"])},
    ):
        answer = await local.execute(
            dataclasses.replace(request, personality=None, **refusing), signal
        )
        assert isinstance(answer, ToolError)
        assert answer.code == "not_available"


async def test_a_local_transport_without_a_registry_changes_nothing() -> None:
    registry = ToolRegistry(transports={"*": LocalTransport()})

    @registry.tool
    async def peek() -> str:
        """Look."""
        return "seen"

    [result] = await registry.execute_parallel([{"id": "1", "name": "peek", "args": {}}])
    assert result.text == "seen"
    answer = await LocalTransport().execute(
        ToolExecuteRequest("1", "peek", {}, ToolContext()), AbortController().signal
    )
    assert answer.text == "Tool peek was not started: this transport has no registry"
