"""A batch of eight results of 1,048,576 UTF-16 units each, cut to 80,000 characters in total.

The baselines are plain Python that keeps visible characters whole, and a bare slice, which can
split a flag, an accent or an emoji family and keeps lone surrogates. A single string is compared
with `tests/oracle.py`, which is written for clarity and takes seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import regex

import oracle
from beside import beside
from ethos_registry import Tool, ToolContext, ToolOk, ToolRegistry, ok

TOOLS = 8
BUDGET_CHARS = 80_000
SHARE_CHARS = BUDGET_CHARS // TOOLS
TEXTS = {"ascii": ("a", 1_048_576), "cyrillic": ("ж", 1_048_576), "emoji": ("😀", 524_288)}


async def hand_over(args: Any, context: ToolContext) -> ToolOk:
    return args["answer"]


def cut_by_clusters(text: str) -> str:
    end = 0
    for cluster in regex.finditer(r"\X", text):
        if cluster.end() > SHARE_CHARS:
            break
        end = cluster.end()
    return f"{text[:end]}\n[truncated — {len(text)} chars total]"


def cut_by_slice(text: str) -> str:
    return f"{text[:SHARE_CHARS]}\n[truncated — {len(text)} chars total]"


@pytest.mark.parametrize("alphabet", TEXTS)
def test_trim(benchmark: Any, alphabet: str) -> None:
    character, count = TEXTS[alphabet]
    tools = [Tool(f"tool_{n}", "", {"type": "object"}, hand_over) for n in range(TOOLS)]
    registry = ToolRegistry(tools)
    context = ToolContext(result_budget_chars=BUDGET_CHARS)
    loop = asyncio.new_event_loop()

    def batch() -> list[dict[str, Any]]:
        return [
            {"id": str(n), "name": tool.name, "args": {"answer": ok(character * count)}}
            for n, tool in enumerate(tools)
        ]

    def running(execute: Callable[[Any], Awaitable[list[str]]]) -> Callable[[], Any]:
        def prepare() -> Callable[[], list[str]]:
            fresh_batch = batch()
            return lambda: loop.run_until_complete(execute(fresh_batch))

        return prepare

    async def ours(calls: Any) -> list[str]:
        return [result.text for result in await registry.execute_parallel(calls, context)]

    def gathered(cut: Callable[[str], str]) -> Callable[[], Any]:
        async def execute(calls: Any) -> list[str]:
            answers = await asyncio.gather(*[hand_over(call["args"], context) for call in calls])
            return [cut(answer.value) for answer in answers]

        return running(execute)

    try:
        texts = running(ours)()()
        assert texts == gathered(cut_by_slice)()()  # whole characters here: nothing to split
        assert texts == gathered(cut_by_clusters)()()
        beside(
            benchmark,
            running(ours),
            {
                "gather + slice": gathered(cut_by_slice),
                "gather + whole characters": gathered(cut_by_clusters),
            },
            group="trim of 8 x 1 Mi units",
            rounds=60,
            unit="batch",
        )
    finally:
        loop.close()


def test_one_text(benchmark: Any) -> None:
    registry = ToolRegistry([Tool("tool", "", {"type": "object"}, hand_over)])
    context = ToolContext(result_budget_chars=SHARE_CHARS)
    loop = asyncio.new_event_loop()

    def ours() -> Callable[[], str]:
        call = {"id": "1", "name": "tool", "args": {"answer": ok("ж" * 1_048_576)}}
        return lambda: loop.run_until_complete(registry.execute_parallel([call], context))[0].text

    def theirs() -> Callable[[], str]:
        text = "ж" * 1_048_576
        return lambda: oracle.trim(text, SHARE_CHARS)[0]

    try:
        assert ours()() == theirs()()
        beside(
            benchmark,
            ours,
            {"the oracle alone": theirs},
            group="trim of 1 Mi units",
            rounds=3,
            unit="text",
        )
    finally:
        loop.close()
