"""How many Python frames of the package one call passes, and a further call of its batch."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from types import FrameType
from typing import TYPE_CHECKING, Any

import pytest

import ethos_registry
from ethos_registry import Personality, ToolContext, ToolRegistry

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

PACKAGE = os.path.dirname(ethos_registry.__file__)

registry = ToolRegistry()


@registry.tool
async def greet(name: str) -> str:
    """Greet a person."""
    return f"hello {name}"


VIEW = registry.view(Personality("clerk"))
CONTEXT = ToolContext()

RUNS: dict[str, Callable[[Any], Coroutine[Any, Any, Any]]] = {
    "view.execute": lambda calls: VIEW.execute(calls, CONTEXT),
    "registry.execute_parallel": lambda calls: registry.execute_parallel(calls, CONTEXT),
}


def frames_of(run: Callable[[Any], Coroutine[Any, Any, Any]], count: int) -> Counter[str]:
    """By function, the frames that a batch of `count` calls enters or resumes.

    The third batch is counted: what the first one makes once is made by then.
    """
    entered: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            entered[f"{os.path.basename(code.co_filename)}:{code.co_qualname}"] += 1

    async def third() -> None:
        for number in range(3):
            calls = [{"id": str(n), "name": "greet", "args": {"name": "Ada"}} for n in range(count)]
            if number == 2:
                sys.setprofile(note)
            try:
                results = await run(calls)
            finally:
                sys.setprofile(None)
            assert [result.text for result in results] == ["hello Ada"] * count

    asyncio.run(third())
    return entered


@pytest.mark.parametrize("name", RUNS)
def test_a_call_passes_few_frames(name: str) -> None:
    frames = frames_of(RUNS[name], 1)
    assert frames.total() <= 45, frames


@pytest.mark.parametrize("name", RUNS)
def test_a_further_call_passes_few_frames(name: str) -> None:
    more = frames_of(RUNS[name], 5) - frames_of(RUNS[name], 4)
    assert more.total() <= 7, more
