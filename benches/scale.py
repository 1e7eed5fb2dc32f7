"""What grows with the number of tools and of turns at once: time of the processor and memory.

python benches/scale.py            # prints the figures as JSON
python benches/scale.py --record   # the same, for docs/performance.md

Each size runs in a process of its own. A time is the shortest of several rounds; memory is what
the process has more when the first round is over and its result is held.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import record
from bench_tool_search import NOUNS, VERBS
from ethos_registry import Personality, Tool, ToolContext, ToolOk, ToolRegistry, ok

SIZES = (1, 100, 10_000, 100_000)
SHOWN = 20
"""Tools that the personality sees, as far as the registry has them."""
TURNS = (10, 100, 1_000, 10_000)
TOOLS_OF_TURNS = 1_000
REPEATED = 50
"""Runs in a round of what takes microseconds."""
SECONDS_A_COST = 0.3
LEAST_ROUNDS = 3

EVERYTHING = Personality("everything")

Cost = dict[str, float]


def resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


async def answer(args: Any, context: ToolContext) -> ToolOk:
    return ok("done")


def tool_named(name: str, execute: Any = answer) -> Tool:
    noun = name.rpartition("_")[2]
    properties = {
        f"{noun}_id": {"type": "string", "description": f"Which {noun}."},
        "limit": {"type": "integer", "description": "The most that is returned."},
    }
    schema = {"type": "object", "properties": properties}
    return Tool(name, f"{name.replace('_', ' ').title()}.", schema, execute)


def tools_of(count: int) -> list[Tool]:
    """Tools with a schema each, a hundred of every service."""
    return [
        tool_named(f"service{number // 100}_{VERBS[number % 10]}_{NOUNS[number // 10 % 10]}")
        for number in range(count)
    ]


def cost(prepare: Callable[[], Callable[[], object]], repeated: int = REPEATED) -> Cost:
    """Microseconds and bytes of one run of what `prepare` returns."""
    shortest, size, rounds = float("inf"), 0, 0
    end = time.process_time() + SECONDS_A_COST
    while rounds < LEAST_ROUNDS or time.process_time() < end:
        runs = [prepare() for _ in range(repeated)]
        gc.collect()
        before, start = resident_bytes(), time.process_time()
        held = [run() for run in runs]
        shortest = min(shortest, time.process_time() - start)
        size = size if rounds else resident_bytes() - before
        rounds += 1
        del held
    return {"us": shortest / repeated * 1e6, "bytes": max(0, size // repeated)}


def of_a_turn(tools: list[Tool]) -> dict[str, Cost]:
    """What each step of a turn costs with these tools in the registry."""
    registry = ToolRegistry(tools)
    names = [tool.name for tool in tools]
    shown = names[:: max(1, len(names) // SHOWN)][:SHOWN]
    clerk = Personality("clerk", toolset=shown)
    own, wanted = tool_named("own_tool"), names[len(names) // 2]
    call = {"id": "1", "name": shown[-1], "args": {"limit": 1}}
    loop = asyncio.new_event_loop()

    def turn() -> ToolRegistry:
        made = registry.for_turn()
        made.register(own)
        return made

    def viewing() -> Callable[[], object]:
        made = turn()
        return lambda: made.view(clerk)

    async def calls() -> None:
        for _ in range(REPEATED):
            [result] = await view.execute([call])
            assert result.ok

    view, search = turn().view(clerk), registry.view(EVERYTHING, search=True).search
    assert search is not None
    assert [definition["name"] for definition in view.definitions()] == shown
    [[loaded], _] = search.search(names[-1], 1)
    assert loaded.name == names[-1]
    called = cost(lambda: lambda: loop.run_until_complete(calls()), 1)
    loop.close()
    return {
        "get": cost(lambda: lambda: registry.get(wanted)),
        "a turn, with a tool of its own": cost(lambda: turn),
        "view of 20 tools": cost(viewing),
        "its definitions, first": cost(lambda: turn().view(clerk).definitions),
        "its definitions, again": cost(lambda: view.definitions),
        "a call": {"us": called["us"] / REPEATED},
        "view with a search": cost(lambda: lambda: registry.view(EVERYTHING, search=True)),
        "a search": cost(lambda: lambda: search.search("create a ticket", 5)),
    }


def of_a_registry(tools: list[Tool]) -> dict[str, Cost]:
    """What each step costs that concerns all tools."""
    repeated = REPEATED if len(tools) <= 100 else 1
    registry = ToolRegistry(tools)
    whole = registry.view(EVERYTHING)
    assert len(whole.definitions()) == len(tools)

    def indexing() -> Callable[[], object]:
        found = ToolRegistry(tools).view(EVERYTHING, search=True).search
        assert found is not None
        return lambda: found.search("create a ticket", 5)

    def changing() -> Callable[[], object]:
        alive = registry.for_turn()
        added = tool_named("added_tool")

        def change() -> tuple[ToolRegistry, ToolRegistry]:
            registry.register(added, overwrite=True)
            return alive, registry.for_turn()

        return change

    return {
        "register all": cost(lambda: lambda: ToolRegistry(tools), repeated),
        "definitions of all, first": cost(
            lambda: ToolRegistry(tools).view(EVERYTHING).definitions, repeated
        ),
        "definitions of all, again": cost(lambda: whole.definitions),
        "the first search": cost(indexing, repeated),
        "a change while a turn runs": cost(changing, repeated),
    }


async def of_turns(count: int) -> dict[str, Cost]:
    """What each of this number of turns costs that have a call each at the same time."""
    end = asyncio.Event()

    async def wait(args: Any, context: ToolContext) -> ToolOk:
        await end.wait()
        return ok("done")

    tools = tools_of(TOOLS_OF_TURNS - 1)
    registry = ToolRegistry([tool_named("wait", wait), *tools])
    clerk = Personality("clerk", toolset=["wait", *(tool.name for tool in tools[: SHOWN - 1])])
    own = tool_named("own_tool")

    async def turn(number: int) -> None:
        made = registry.for_turn()
        made.register(own)
        view = made.view(clerk)
        assert len(view.definitions()) == SHOWN
        context = ToolContext(session_id=str(number))
        [result] = await view.execute([{"id": "1", "name": "wait", "args": {}}], context)
        assert result.ok

    async def turns(number: int) -> tuple[Cost, Cost]:
        end.clear()
        gc.collect()
        before, start = resident_bytes(), time.process_time()
        tasks = [asyncio.create_task(turn(each)) for each in range(number)]
        for _ in range(5):  # until all tools wait
            await asyncio.sleep(0)
        middle, size = time.process_time(), resident_bytes() - before
        end.set()
        await asyncio.gather(*tasks)
        ended = time.process_time() - middle
        begun = (middle - start) / number * 1e6
        return {"us": begun, "bytes": size / number}, {"us": ended / number * 1e6}

    await turns(1)
    rounds = [await turns(count) for _ in range(max(LEAST_ROUNDS, 300 // count))]
    begun, ended = (min(each, key=itemgetter("us")) for each in zip(*rounds, strict=True))
    return {
        "a turn, until its call waits": begun | {"bytes": rounds[0][0]["bytes"]},
        "a turn, from there to its end": ended,
    }


def main() -> None:
    if sys.argv[1:2] == ["tools"]:
        tools = tools_of(int(sys.argv[2]))
        print(json.dumps(of_a_turn(tools) | of_a_registry(tools)))
        return
    if sys.argv[1:2] == ["turns"]:
        print(json.dumps(asyncio.run(of_turns(int(sys.argv[2])))))
        return
    figures: dict[str, dict[str, dict[str, Cost]]] = {}
    for kind, counts in (("tools", SIZES), ("turns", TURNS)):
        for count in counts:
            command = [sys.executable, __file__, kind, str(count)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            figures.setdefault(kind, {})[f"{count:,}"] = json.loads(done.stdout)
    print(json.dumps(figures, indent=1))
    if "--record" in sys.argv:
        record.save("scale", figures)


if __name__ == "__main__":
    main()
