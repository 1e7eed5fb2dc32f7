"""Streamed replies: arguments in small deltas, cost per event, and the time of a whole turn."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import turns_at_rate
from beside import beside
from ethos_registry import Personality, Tool, ToolRegistry, ok
from ethos_registry.providers._anthropic import AnthropicStream
from ethos_registry.providers._stream_parser import StreamedArguments

DELTA_CHARS = 12
ARGUMENTS = json.dumps(
    {
        "path": "src/shop/module.py",
        "edits": [
            {"line": number, "text": f"    value_{number} = compute({number}, 'left', flag=True)\n"}
            for number in range(1_310)
        ],
    }
)
DELTAS = [ARGUMENTS[at : at + DELTA_CHARS] for at in range(0, len(ARGUMENTS), DELTA_CHARS)]
TEXT_EVENTS = 5_000


def test_the_arguments_have_a_hundred_thousand_characters() -> None:
    assert 95_000 < len(ARGUMENTS) < 105_000


def collected() -> Any:
    arguments = StreamedArguments()
    for delta in DELTAS:
        arguments.add(delta)
    return arguments.for_call()


def loaded_at_the_end() -> Any:
    pieces: list[str] = []
    for delta in DELTAS:
        pieces.append(delta)  # noqa: PERF402 - they come one by one
    return json.loads("".join(pieces))


def loaded_at_once() -> Any:
    return json.loads(ARGUMENTS)


def loaded_at_every_delta() -> Any:
    text, value = "", None
    for delta in DELTAS:
        text += delta
        with contextlib.suppress(ValueError):
            value = json.loads(text)
    return value


def shown_at_every_delta() -> Any:
    arguments = StreamedArguments()
    for delta in DELTAS:
        arguments.add(delta)
        arguments.partial()
    return arguments.for_call()


def same(run: Callable[[], Any]) -> Callable[[], Callable[[], Any]]:
    return lambda: run


def test_arguments_in_small_deltas(benchmark: Any) -> None:
    expected = json.loads(ARGUMENTS)
    assert collected() == loaded_at_the_end() == expected
    beside(
        benchmark,
        same(collected),
        {
            "json.loads at the end, of the joined deltas": same(loaded_at_the_end),
            "json.loads of the whole text": same(loaded_at_once),
        },
        group="100 kB of arguments in deltas of 12 characters",
        rounds=40,
        unit="call",
    )


def test_arguments_in_small_deltas_beside_a_parser_at_every_delta(benchmark: Any) -> None:
    assert shown_at_every_delta() == json.loads(ARGUMENTS)
    beside(
        benchmark,
        same(collected),
        {
            "json.loads at every delta": same(loaded_at_every_delta),
            "partial values for a user interface": same(shown_at_every_delta),
        },
        group="100 kB of arguments, read while they arrive",
        rounds=3,
        unit="call",
    )


def text_events() -> list[dict[str, Any]]:
    return [
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": f"word{number} "},
        }
        for number in range(TEXT_EVENTS)
    ]


def as_bytes(events: list[dict[str, Any]]) -> list[bytes]:
    raw = b"".join(
        b"event: content_block_delta\ndata: " + json.dumps(event).encode() + b"\n\n"
        for event in events
    )
    return [raw[at : at + 4_096] for at in range(0, len(raw), 4_096)]


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.mark.parametrize("form", ["dicts", "bytes"])
def test_text_deltas(benchmark: Any, loop: asyncio.AbstractEventLoop, form: str) -> None:
    view = ToolRegistry().view(Personality("all"))
    events = text_events()
    fed: list[Any] = events if form == "dicts" else list(as_bytes(events))
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}

    def prepare() -> Callable[[], Any]:
        turn = view.dispatch(provider="anthropic")
        loop.run_until_complete(turn.__aenter__())
        turn.feed(start)

        def run() -> None:
            feed = turn.feed
            for event in fed:
                feed(event)

        return run

    def joined() -> Callable[[], Any]:
        def run() -> str:
            pieces = []
            if form == "dicts":
                for event in events:  # as a reader does, one by one
                    if event["type"] == "content_block_delta":
                        pieces.append(event["delta"]["text"])  # noqa: PERF401
            else:
                for line in b"".join(fed).split(b"\n"):
                    if line.startswith(b"data: "):
                        pieces.append(json.loads(line[6:])["delta"]["text"])  # noqa: PERF401
            return "".join(pieces)

        return run

    beside(
        benchmark,
        prepare,
        {"a loop that joins the text": joined},
        group=f"text deltas as {form}",
        rounds=20,
        per_round=TEXT_EVENTS,
        unit="event",
    )


def test_argument_deltas_through_the_parser(benchmark: Any) -> None:
    events = [
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": delta},
        }
        for delta in DELTAS
    ]
    block = {"type": "tool_use", "id": "t", "name": "edit", "input": {}}
    start = {"type": "content_block_start", "index": 0, "content_block": block}

    def parsed() -> Any:
        parser = AnthropicStream()
        parser.feed(start)
        for event in events:
            parser.feed(event)
        return parser.calls[0].arguments.for_call()

    def by_hand() -> Any:
        pieces: list[str] = []
        for event in events:
            if event["type"] == "content_block_delta":
                delta: Any = event["delta"]
                if delta["type"] == "input_json_delta":
                    pieces.append(delta["partial_json"])
        return json.loads("".join(pieces))

    assert parsed() == by_hand()
    beside(
        benchmark,
        same(parsed),
        {"a loop that joins and parses": same(by_hand)},
        group="argument deltas through a parser",
        rounds=20,
        per_round=len(events),
        unit="event",
    )


def test_a_reply_with_ten_calls(benchmark: Any, loop: asyncio.AbstractEventLoop) -> None:
    """Parsed and dispatched while it is streamed, beside its calls alone."""

    async def answer(args: Any, context: Any) -> Any:
        return ok("done")

    schema = {"type": "object"}
    view = ToolRegistry([Tool("wait", "", schema, answer)]).view(Personality("all"))
    reply = turns_at_rate.reply(["wait"] * turns_at_rate.CALLS)

    async def dispatched() -> Any:
        async with view.dispatch(provider="anthropic") as turn:
            for event in reply:
                turn.feed(event)
        return await turn.results()

    streamed = loop.run_until_complete(dispatched())
    calls = [
        {"id": result.tool_call_id, "name": "wait", "args": turns_at_rate.ARGUMENTS}
        for result in streamed
    ]
    assert [result.text for result in streamed] == ["done"] * turns_at_rate.CALLS
    beside(
        benchmark,
        lambda: lambda: loop.run_until_complete(dispatched()),
        {"its calls in one batch": lambda: lambda: loop.run_until_complete(view.execute(calls))},
        group=f"a reply of {len(reply)} events with ten calls",
        rounds=200,
        unit="reply",
    )


# A whole turn: a reply of 0.1 s with three calls, whose tools take 0.05, 0.03 and 0.04 s.

STREAM_SECONDS = 0.1
TOOL_SECONDS = {"t0": 0.05, "t1": 0.03, "t2": 0.04}


async def wait(args: Any, context: Any) -> Any:
    await asyncio.sleep(TOOL_SECONDS[context.tool_call_id])
    return ok("done")


def reply_events() -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    for index in range(3):
        block = {"type": "tool_use", "id": f"t{index}", "name": "wait", "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        delta = {"type": "input_json_delta", "partial_json": "{}"}
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})
    return events


async def slowly(events: list[dict[str, Any]]) -> Any:
    for event in events:
        await asyncio.sleep(STREAM_SECONDS / len(events))
        yield event


def test_a_turn_with_three_tools(benchmark: Any, loop: asyncio.AbstractEventLoop) -> None:
    view = ToolRegistry([Tool("wait", "", {"type": "object"}, wait)]).view(Personality("all"))
    calls = [{"id": f"t{index}", "name": "wait", "args": {}} for index in range(3)]

    async def dispatched() -> int:
        turn = view.dispatching(slowly(reply_events()), provider="anthropic")
        async for _ in turn:
            pass
        return len(await turn.results())

    async def gathered() -> int:
        async for _ in slowly(reply_events()):
            pass
        return len(await view.execute(calls))

    async def one_at_a_time() -> int:
        async for _ in slowly(reply_events()):
            pass
        return sum([len(await view.execute([call])) for call in calls])

    def running(turn: Callable[[], Any]) -> Callable[[], Callable[[], Any]]:
        return lambda: lambda: loop.run_until_complete(turn())

    assert [loop.run_until_complete(turn()) for turn in (dispatched, gathered, one_at_a_time)] == [
        3,
        3,
        3,
    ]
    beside(
        benchmark,
        running(dispatched),
        {
            "gathered at the end": running(gathered),
            "one at a time at the end": running(one_at_a_time),
        },
        group="a turn with three tools, streamed",
        rounds=8,
        unit="turn",
    )
