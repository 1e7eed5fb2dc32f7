"""A worker that does not keep to the protocol is ended; its pool goes on."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest

from ethos_registry import ToolContext, ToolRegistry
from ethos_registry.transports import ProcessTransport, ToolExecuteRequest
from ethos_registry.transports._protocol import checked_offer, read_line
from ethos_registry.types import AbortController
from transports import hostile_tools

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="workers need POSIX")
TOOLS = "transports.hostile_tools:registry"
DEEP = "[" * 100_000 + "]" * 100_000


async def call(transport, name, **args):
    registry = ToolRegistry(hostile_tools.registry.get_available(), transports={"*": transport})
    [result] = await registry.execute_parallel([{"id": "1", "name": name, "args": args}])
    return result


@pytest.mark.parametrize(
    "line",
    [
        '{"tools":5}',
        '{"tools":{"hello":5},"version":1}',
        '{"accepted":5}',
        '{"items":[["reply",1,5]],"abandoned":0}',
        '{"items":[["reply",1,{"result":5}]],"abandoned":0}',
        '{"items":[["event",1,{}]],"abandoned":0}',
        '{"items":5}',
        '{"items":[],"abandoned":"x"}',
        "5",
        "no JSON",
        '{"held":[1],"seconds":1' + "0" * 400 + "}",
        '{"items":[["lie",1,{"result":{"ok":true,"value":"x"}}]],"abandoned":0}',
        f'{{"items":{DEEP}}}',
        f'{{"items":{DEEP},"a":"\\ud800"}}',
    ],
    ids=lambda line: line[:30],
)
async def test_an_invalid_line_ends_its_worker_and_no_other(line):
    async with ProcessTransport(TOOLS, workers=1) as transport:
        start = time.monotonic()
        result = await call(transport, "disturb", line=line + "\n")
        assert not result.ok
        assert "may have run" in result.text
        assert time.monotonic() - start < 30
        assert (await call(transport, "hello")).text == "hello"


@pytest.mark.parametrize("way", ["only block", "take a part", "take all and wait for more", "shut"])
async def test_a_worker_that_misuses_its_queue_holds_up_no_other_call(way):
    async with ProcessTransport(TOOLS, workers=1, cancel_grace_seconds=0.1) as transport:
        await transport.start()
        tools = hostile_tools.registry.get_available()
        registry = ToolRegistry(tools, transports={"*": transport})
        pool = transport._pool
        for _ in range(3):
            control = AbortController()
            calls = [{"id": "0", "name": "misuse", "args": {"way": way}}]
            calls += [{"id": str(n), "name": "plain", "args": {}} for n in range(1, 20)]
            running = asyncio.create_task(
                registry.execute_parallel(calls, ToolContext(abort_signal=control.signal))
            )
            await asyncio.sleep(1)
            control.abort("enough")
            assert len(await asyncio.wait_for(running, 30)) == 20
            assert (await asyncio.wait_for(call(transport, "plain"), 30)).text == "plain"
            assert (await asyncio.wait_for(call(transport, "hello"), 30)).text == "hello"
    assert not pool._thread.is_alive()


@pytest.mark.parametrize("kind", ["held", "accepted"])
async def test_a_call_that_a_line_names_often_is_reported_once(kind):
    line = f'{{"{kind}":[{"1," * 100_000}1],"seconds":1}}\n'
    request = ToolExecuteRequest("1", "disturb", {"line": line}, ToolContext())
    async with ProcessTransport(TOOLS, workers=1, cancel_grace_seconds=0.1) as transport:
        control = AbortController()
        asyncio.get_running_loop().call_later(2, control.abort, "enough")
        items = [item async for item in transport.execute_many([request], control.signal)]
    assert len(items) < 10


async def test_a_line_without_end_is_not_collected():
    async with ProcessTransport(TOOLS, workers=1, max_result_bytes=100_000) as transport:
        result = await call(transport, "disturb", line="x" * 1_000_000, times=40)
        assert "a worker wrote a line of over 17,377,216 bytes" in result.text
        assert (await call(transport, "hello")).text == "hello"


@pytest.mark.parametrize("line", ['{"tools":5}', '{"tools":5,"version":1}', "[]"])
async def test_a_worker_that_starts_with_an_invalid_line_fails_to_start(line, monkeypatch):
    monkeypatch.setenv(hostile_tools.EARLY, line)
    tools = "transports.hostile_tools:early"
    async with ProcessTransport(tools, workers=1, start_seconds=20) as transport:
        result = await call(transport, "hello")
        assert result.result.code == "not_available"
        assert "invalid line" in result.text


def test_what_workers_offer_is_checked():
    assert checked_offer({"a": ["digest", True]}) == {"a": ["digest", True]}
    for bad in (5, [], {"a": 5}, {"a": []}, {"a": [1, True]}, {"a": ["x", 1]}):
        with pytest.raises(ValueError, match="tool"):
            checked_offer(bad)


def test_lines_with_lone_surrogates_are_read_and_deep_ones_are_not():
    assert read_line(b'{"a":"\\ud800"}') == {"a": "\ud800"}
    for deep in (DEEP, f'["\\ud800",{DEEP}]'):
        with pytest.raises((ValueError, RecursionError)):
            read_line(deep.encode())
