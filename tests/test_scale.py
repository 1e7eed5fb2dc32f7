"""`benches/scale.py`: what a turn does takes no longer in a larger registry."""

import asyncio
import gc
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benches"))

import record
import scale

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
MOST_TIMES = 3
"""As long, with a hundred times the tools."""
ATTEMPTS = 5
"""What other programs do to the caches differs in each; what grows, grows in all."""


@pytest.fixture(autouse=True)
def tools(monkeypatch):
    monkeypatch.setattr(scale, "SECONDS_A_COST", 0.02)
    tools = scale.tools_of(10_000)
    gc.freeze()  # each round collects, and need not walk all that is there
    yield tools
    gc.unfreeze()


def test_steps_of_a_turn_do_not_grow_with_the_tools(tools):
    grown = {}
    for _ in range(ATTEMPTS):
        few, many = scale.of_a_turn(tools[:100]), scale.of_a_turn(tools)
        times = {name: many[name]["us"] / few[name]["us"] for name in few if name != "a search"}
        grown = {
            name: each
            for name, each in times.items()
            if each > MOST_TIMES and (not grown or name in grown)
        }
        if not grown:
            return
    pytest.fail(f"as many times as long with 10,000 tools: {grown}")


def test_the_record_has_every_step(tools):
    recorded = record.load("scale")["figures"]
    steps = scale.of_a_turn(tools[:1]) | scale.of_a_registry(tools[:1])
    turns = asyncio.run(scale.of_turns(10))
    assert {*recorded["tools"]} == {f"{count:,}" for count in scale.SIZES}
    assert [{*costs} for costs in recorded["tools"].values()] == [{*steps}] * len(scale.SIZES)
    assert [{*costs} for costs in recorded["turns"].values()] == [{*turns}] * len(scale.TURNS)
