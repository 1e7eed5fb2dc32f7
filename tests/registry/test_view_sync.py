"""The synchronous forms of a view: the same gates and the same session, with a loop or without."""

import asyncio
import contextvars
import threading
import time

import pytest

from ethos_registry import (
    ConfigError,
    EthosRegistryError,
    InvocationFilter,
    Pending,
    Personality,
    Tool,
    ToolContext,
    ToolRegistry,
    err,
    ok,
)
from ethos_registry.agents import AgentCatalog
from ethos_registry.execution import Approvals
from ethos_registry.registry import DispatchContext, ToolSearch

SCHEMA = {"type": "object"}
P = Personality("p", exclude=["wipe"])
CALLS = [{"id": "1", "name": "read", "args": {}}, {"id": "2", "name": "wipe", "args": {}}]
user = contextvars.ContextVar("user", default="nobody")


def registry(ran=None, **settings) -> ToolRegistry:
    async def read(args, context):
        await asyncio.sleep(0)
        return ok(f"read for {user.get()}")

    def wipe(args, context):
        ran.append("wipe")
        return ok("wiped")

    return ToolRegistry(
        [
            Tool("read", "Read.", SCHEMA, read, always_include=True),
            Tool("wipe", "Wipe.", SCHEMA, wipe, always_include=True),
        ],
        **settings,
    )


class Owner:
    id = "owner"

    def __init__(self, ran):
        self._ran = ran

    def register_tools(self, catalog):
        for each in registry(self._ran):
            catalog.register(each)


def views(ran):
    made = registry(ran)
    yield made.view(P)
    yield made.freeze().view(P)
    yield made.view(P, search=True)
    yield made.view(P, search=ToolSearch(by="provider"))
    catalog = AgentCatalog([Owner(ran)])
    catalog.start()
    yield catalog.view("owner", P)
    yield made.turn(DispatchContext()).registry.view(P)


def with_loop(function):
    async def run():
        return function()

    return asyncio.run(run())


@pytest.mark.parametrize("run", [lambda function: function(), with_loop])
def test_every_view_gates_its_synchronous_calls(run):
    ran = []
    token = user.set("ada")
    try:
        for view in views(ran):
            read, wiped = run(lambda view=view: view.execute_sync(CALLS))
            assert read.text == "read for ada"
            assert wiped.result.code == "not_available"
    finally:
        user.reset(token)
    assert ran == []


def chunks():
    yield {
        "choices": [
            {
                "index": 0,
                "delta": {
                    "role": "assistant",
                    "tool_calls": [
                        {"index": 0, "id": "c1", "function": {"name": "first", "arguments": "{}"}}
                    ],
                },
            }
        ]
    }
    yield {
        "choices": [
            {
                "index": 0,
                "delta": {
                    "tool_calls": [
                        {"index": 1, "id": "c2", "function": {"name": "wipe", "arguments": "{}"}}
                    ]
                },
            }
        ]
    }
    yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


@pytest.mark.parametrize("run", [lambda function: function(), with_loop])
@pytest.mark.parametrize("is_async", [True, False])
def test_a_synchronous_stream_starts_its_tools_while_it_is_read(run, is_async):
    started = threading.Event()
    threads = []

    def plain(args, context):
        threads.append(threading.get_ident())
        started.set()
        return ok(f"first for {user.get()}")

    async def in_loop(args, context):
        return plain(args, context)

    ran = []
    made = registry(ran)
    made.register(Tool("first", "First.", SCHEMA, in_loop if is_async else plain))

    def turn():
        stream = chunks()
        with made.view(P).dispatch_sync(provider="openai") as dispatcher:
            dispatcher.feed(next(stream))
            dispatcher.feed(next(stream))
            assert started.wait(5), "the tool did not start while the stream was read"
            for chunk in stream:
                dispatcher.feed(chunk)
        return dispatcher

    token = user.set("ada")
    try:
        dispatcher = run(turn)
    finally:
        user.reset(token)
    assert [each.text for each in dispatcher.results()] == [
        "first for ada",
        "Tool wipe is not available on this surface",
    ]
    assert dispatcher.is_complete
    assert dispatcher.late_arguments == {}
    assert [each["role"] for each in dispatcher.messages()] == ["assistant", "tool", "tool"]
    assert threading.get_ident() not in threads
    assert ran == []


def test_every_view_dispatches_synchronously():
    ran = []
    for view in views(ran):
        with view.dispatch_sync(provider="openai") as turn:
            for chunk in chunks():
                turn.feed(chunk)
        assert [each.ok for each in turn.results()] == [False, False]
    assert ran == []


def test_a_dispatcher_is_used_inside_its_block():
    turn = registry([]).view(P).dispatch_sync(provider="openai")
    with pytest.raises(EthosRegistryError, match="inside its block"):
        turn.feed({})
    with turn:
        with pytest.raises(ConfigError, match="an event is"):
            turn.feed(5)
        assert list(turn.results()) == []
    with pytest.raises(EthosRegistryError):
        turn.feed({})
    with pytest.raises(EthosRegistryError, match="one reply"), turn:
        pass


def test_a_failing_stream_leaves_with_its_exception_and_its_results():
    turn = registry([]).view(P).dispatch_sync(provider="openai")
    with pytest.raises(OSError, match="lost"), turn:  # noqa: PT012 - the stream fails in the block
        turn.feed(next(chunks()))
        raise OSError("lost")
    assert [each.result.code for each in turn.results()] == ["input_invalid"]


def test_no_thread_is_left():
    before = {each for each in threading.enumerate() if each.name == "ethos-registry-sync"}
    for _ in range(3):
        with registry([]).view(P).dispatch_sync(provider="anthropic"):
            pass
        with_loop(lambda: registry([]).view(P).execute_sync(CALLS[:1]))
    after = {each for each in threading.enumerate() if each.name == "ethos-registry-sync"}
    assert after == before


def test_a_tool_bound_to_the_blocked_loop_is_answered_at_its_clock_with_the_reason():
    async def main():
        loop = asyncio.get_running_loop()

        async def bound(args, context):
            outside = asyncio.run_coroutine_threadsafe(asyncio.sleep(0, "never"), loop)
            return ok(await asyncio.wrap_future(outside))

        made = ToolRegistry([Tool("bound", "", SCHEMA, bound, timeout_seconds=0.2)])
        return made.view(Personality("p")).execute_sync([{"id": "1", "name": "bound", "args": {}}])

    started = time.monotonic()
    [result] = asyncio.run(main())
    assert time.monotonic() - started < 5
    assert result.result.reason == "timeout"
    assert "event loop of its caller" in result.text


def test_an_approval_is_resumed_without_await():
    ask = InvocationFilter(lambda invocation: Pending("may I?"), tool_names=["read"])
    made = registry([], filters=[ask], approvals=Approvals(b"k" * 32))
    view = made.view(P)
    [waiting] = view.execute_sync(CALLS[:1])
    result = view.resume_sync(waiting.pending.token, approved=True)
    assert result.text == "read for nobody"


def test_arguments_are_checked_equally():
    view = registry([]).view(P)
    with pytest.raises(ConfigError):
        view.execute_sync(5)
    with pytest.raises(TypeError, match="unknown option"):
        view.execute_sync(CALLS, nonsense=1)
    with pytest.raises(ConfigError):
        view.execute_sync(CALLS, 5)
    filters = [InvocationFilter(lambda invocation: err("no"), tool_names="read")]
    [result] = view.execute_sync(CALLS[:1], ToolContext(), filters=filters)
    assert result.text == "no"
