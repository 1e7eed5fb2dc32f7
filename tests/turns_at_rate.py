"""A program: run turns at the rate of a million a day, and report what they cost and leave.

    python tests/turns_at_rate.py 60

A turn is a view of a registry of its own, a streamed reply with ten calls that start while it
arrives, and a ledger in a file. Of 100 calls 95 wait for two seconds and five compute. The program
fails if a call fails or is not counted, turns end late, memory grows, or something is left.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import hashlib
import json
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from ethos_registry import Personality, Tool, ToolContext, ToolOk, ToolRegistry, ok
from ethos_registry.usage import UsageLedger

TURNS_PER_SECOND = 1_000_000 / 86_400
CALLS = 10
TOOLS = 1_000
EVENTS_PER_WAIT = 100
"""An event every 20 ms when a tool waits two seconds, as a model of 150 tokens a second sends."""
DELTA_CHARS = 12
ARGUMENTS = {"path": "src/shop/cart.py", "pattern": "def total", "reason": "the sum is wrong"}
RESULT = "a line of the result\n" * 100
MOST_BYTES_MORE = 8 << 20
"""Between a sixth of the run and its end: 240 bytes for each turn of 50 minutes."""


def reply(names: list[str]) -> list[bytes]:
    """A reply in Anthropic's format as server-sent events: some text, then the calls."""
    text = "The total ignores the discount, so I read where it is computed and who calls it. " * 5
    blocks: list[tuple[dict[str, Any], str, str]] = [({"type": "text", "text": ""}, "text", text)]
    for number, name in enumerate(names):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        blocks.append((block, "input_json", json.dumps(ARGUMENTS)))
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"id": "msg"}}]
    for index, (block, kind, whole) in enumerate(blocks):
        key = "text" if kind == "text" else "partial_json"
        at = {"index": index}
        events.append({"type": "content_block_start", "content_block": block} | at)
        for start in range(0, len(whole), DELTA_CHARS):
            delta = {"type": f"{kind}_delta", key: whole[start : start + DELTA_CHARS]}
            events.append({"type": "content_block_delta", "delta": delta} | at)
        events.append({"type": "content_block_stop"} | at)
    events.append({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})
    events.append({"type": "message_stop"})
    return [f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in events]


# The last call of a turn always waits, so that it is known when a turn should end.
REPLIES = (reply(["wait"] * CALLS), reply(["compute"] + ["wait"] * (CALLS - 1)))


def tools(wait_seconds: float) -> Iterator[Tool]:
    """A tool that waits, one that computes, and the others that are never called."""
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in ARGUMENTS}}

    async def wait(args: Any, context: ToolContext) -> ToolOk:
        await asyncio.sleep(wait_seconds)
        return ok(RESULT)

    def compute(args: Any, context: ToolContext) -> ToolOk:
        return ok(hashlib.sha256(bytes(1 << 20)).hexdigest())

    yield Tool("wait", "Wait.", schema, wait)
    yield Tool("compute", "Compute.", schema, compute)
    yield from (Tool(f"other_{number}", "Other.", schema, wait) for number in range(TOOLS - 2))


@dataclass(frozen=True)
class Report:
    """What a run did and left."""

    turns: int
    failed: int
    counted_calls: int
    seconds_late: float
    """By which 99 of 100 turns had ended, beyond the waiting of the reply and its tools."""
    cpu_seconds: float
    resident_bytes: list[int]
    """At the beginning, after each sixth of the run, and when its last turn begins."""
    descriptors_left: int
    tasks_left: int

    def __str__(self) -> str:
        return (
            f"{self.turns:,} turns of {CALLS} calls, {self.failed} failed, 99 of 100 ended at most "
            f"{self.seconds_late * 1e3:.0f} ms late, {self.cpu_seconds / self.turns * 1e3:.1f} ms "
            "of CPU a turn, MB of memory after each sixth: "
            f"{', '.join(f'{each / 1e6:.1f}' for each in self.resident_bytes[1:])}; "
            f"{self.descriptors_left} descriptors and {self.tasks_left} tasks left"
        )

    def problems(self, most_seconds_late: float) -> Iterator[str]:
        """What is not as it should be."""
        if self.failed:
            yield f"{self.failed} turns failed"
        if self.counted_calls != self.turns * CALLS:
            yield f"the ledger has {self.counted_calls} successful calls"
        if self.seconds_late > most_seconds_late:
            yield f"more than one turn in 100 ended over {most_seconds_late} s late"
        grown = self.resident_bytes[-1] - self.resident_bytes[1]
        if grown > MOST_BYTES_MORE:
            yield f"memory grew by {grown:,} bytes"
        if self.descriptors_left or self.tasks_left:
            yield f"{self.descriptors_left} descriptors and {self.tasks_left} tasks are left"


async def turn(base: ToolRegistry, number: int, due: float, wait_seconds: float) -> bool:
    """One turn; whether its calls succeeded."""
    registry = base.for_turn()
    registry.register(Tool("forged", "", {"type": "object"}, lambda args, context: ok("")))
    others = [f"other_{other}" for other in range(18)]
    view = registry.view(Personality("clerk", toolset=["wait", "compute", *others]))
    assert len(view.definitions("anthropic")) == 20
    async with view.dispatch(ToolContext(session_id=str(number)), provider="anthropic") as stream:
        for at, event in enumerate(REPLIES[number % 2], 1):
            due_event = due + at * wait_seconds / EVENTS_PER_WAIT
            await asyncio.sleep(due_event - time.monotonic())
            stream.feed(event)
    results = await stream.results()
    return (
        len(results) == CALLS
        and len(stream.messages()) == 2
        and all(result.ok for result in results)
    )


async def run(seconds: float, wait_seconds: float, ledger: UsageLedger) -> dict[str, Any]:
    """All turns, each at its time."""
    base = ToolRegistry(tools(wait_seconds), observers=[ledger])
    count = 6 * max(1, round(seconds * TURNS_PER_SECOND / 6))
    lateness = array("d", bytes(8 * count))  # takes no more memory while the run goes on
    running: set[asyncio.Task[None]] = set()
    resident: list[int] = []
    failed = 0

    async def one(number: int, due: float) -> None:
        nonlocal failed
        try:
            has_succeeded = await turn(base, number, due, wait_seconds)
            failed += not has_succeeded
        except Exception as error:
            failed += 1
            print(f"turn {number}: {error!r}", file=sys.stderr)
        # The last call starts with the event before the last.
        waits = 1 + (len(REPLIES[number % 2]) - 1) / EVENTS_PER_WAIT
        lateness[number] = time.monotonic() - due - wait_seconds * waits

    begin, cpu = time.monotonic(), time.process_time()
    for number in range(count):
        due = begin + number / TURNS_PER_SECOND
        await asyncio.sleep(due - time.monotonic())
        task = asyncio.create_task(one(number, due))
        running.add(task)
        task.add_done_callback(running.discard)
        if number % (count // 6) == 0:
            gc.collect()
            resident.append(psutil.Process().memory_info().rss)
    resident.append(psutil.Process().memory_info().rss)
    await asyncio.gather(*running)
    ordered = sorted(lateness)
    return {
        "turns": count,
        "failed": failed,
        "seconds_late": ordered[count * 99 // 100],
        "cpu_seconds": time.process_time() - cpu,
        "resident_bytes": resident,
        "tasks_left": len(asyncio.all_tasks()) - 1,
    }


def measured(seconds: float, wait_seconds: float) -> Report:
    """Run for so long, and see what is left."""
    process = psutil.Process()
    descriptors = process.num_fds()
    with tempfile.TemporaryDirectory() as folder:
        ledger = UsageLedger(Path(folder) / "usage.sqlite3")
        found = asyncio.run(run(seconds, wait_seconds, ledger))
        counted = sum(tool.outcomes.get("ok", 0) for tool in ledger.report().tools)
        ledger.close()
    return Report(
        **found,
        counted_calls=counted,
        descriptors_left=process.num_fds() - descriptors,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("minutes", type=float)
    parser.add_argument("--wait-seconds", type=float, default=2.0, help="of a call (default 2)")
    parser.add_argument("--late-seconds", type=float, default=1.0, help="allowed (default 1)")
    chosen = parser.parse_args()
    report = measured(chosen.minutes * 60, chosen.wait_seconds)
    problems = [*report.problems(chosen.late_seconds)]
    print(*problems, report, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
