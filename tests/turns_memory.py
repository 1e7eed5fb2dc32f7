"""A program: how many bytes a process grows by when 1,000 turns over 10,000 tools are alive."""

from __future__ import annotations

import gc

import psutil

from ethos_registry import Personality, Tool, ToolRegistry, ok

TOOLS, TURNS = 10_000, 1_000


def made(name: str, *, ephemeral: bool = False) -> Tool:
    return Tool(
        name, "A tool.", {"type": "object"}, lambda args, context: ok(""), ephemeral=ephemeral
    )


def main() -> None:
    base = ToolRegistry(made(f"t{number}") for number in range(TOOLS))
    base.for_turn()
    reader = Personality("reader", toolset=[f"t{number}" for number in range(20)])
    forged = [made(f"forged_{number}", ephemeral=True) for number in range(3)]
    process = psutil.Process()
    gc.collect()
    before = process.memory_info().rss
    turns = []
    for _ in range(TURNS):
        turn = base.for_turn()
        turn.register_all(forged)
        turn.hide("t5", "forged_1")
        turn.unregister("t6")
        assert len(turn.view(reader).definitions()) == 18
        turns.append(turn)
    print(process.memory_info().rss - before)
    assert all(len(turn) == TOOLS + 2 for turn in turns)
    assert len(base) == TOOLS


if __name__ == "__main__":
    main()
