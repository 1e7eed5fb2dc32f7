"""What a transport costs beside bare JSON lines or a pool, and `LocalTransport` beside none.

`--today FOLDER` compares a batch without transports with the package of another checkout, whose
`python` folder is given; both are asked in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from ethos_registry import ToolContext, ToolOk, ToolRegistry, ok
from ethos_registry.transports import LocalTransport, ProcessTransport, ToolExecuteRequest
from ethos_registry.types import AbortController

IN_FLIGHT = 64
EXECUTOR = "ProcessPoolExecutor"
TEXT = "x" * 80

registry = ToolRegistry()


@registry.tool
async def answer(number: int, text: str) -> ToolOk:
    """Return at once."""
    return ok(text)


def returned(number: int, text: str) -> str:
    """What the plain function does in both pools."""
    return text


@registry.tool
def answer_plain(number: int, text: str) -> str:
    """Return at once, on a thread."""
    return returned(number, text)


BARE_WORKER = """
import asyncio, json, sys

async def answer(args):
    return {"ok": True, "value": args["text"]}

async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 26)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async def run(line):
        request = json.loads(line)
        result = await answer(request["args"])
        sys.stdout.write(json.dumps({"id": request["id"], "result": result}) + "\\n")
        sys.stdout.flush()
    tasks = set()
    while line := await reader.readline():
        task = loop.create_task(run(line))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

asyncio.run(main())
"""


class BareLines:
    """One subprocess, one JSON line per call each way: the least that any such transport does."""

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            BARE_WORKER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            limit=1 << 26,
        )
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            reply = json.loads(line)
            self._waiting.pop(reply["id"]).set_result(reply["result"])

    async def call(self, number: int, text: str) -> Any:
        assert self._process.stdin is not None
        request = {
            "id": f"call_{number}",
            "name": "answer",
            "args": {"number": number, "text": text},
        }
        future = asyncio.get_running_loop().create_future()
        self._waiting[request["id"]] = future
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        return await future

    async def close(self) -> None:
        self._process.kill()
        await self._process.wait()
        await self._reader


class BarePool:
    """The executor of the standard library."""

    def __init__(self, workers: int = 1) -> None:
        self._executor = ProcessPoolExecutor(workers)

    async def start(self) -> None:
        await self.call(0, "")

    async def call(self, number: int, text: str) -> str:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, returned, number, text)

    async def close(self) -> None:
        self._executor.shutdown()


def calls(count: int, text: str = TEXT, name: str = "answer") -> list[dict[str, Any]]:
    return [
        {"id": f"call_{n}", "name": name, "args": {"number": n, "text": text}} for n in range(count)
    ]


async def compared(
    runs: dict[str, Callable[[], Awaitable[object]]], rounds: int, per_round: int
) -> dict[str, list[float]]:
    """Microseconds per call, each run once in every round, in changing order."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    names = list(runs)
    for number in range(rounds + 5):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            started = time.perf_counter()
            await runs[name]()
            if number >= 5:
                taken[name].append((time.perf_counter() - started) / per_round * 1e6)
    return taken


def show(title: str, taken: dict[str, list[float]], base: str) -> None:
    print(title)
    for name, values in taken.items():
        ratios = [value / other for value, other in zip(values, taken[base], strict=True)]
        print(
            f"  {name:28} median {statistics.median(values):9.1f} us, "
            f"least {min(values):9.1f} us, median ratio {statistics.median(ratios):.3f}, "
            f"ratio of the least {min(values) / min(taken[base]):.3f}"
        )


async def processes(rounds: int) -> None:
    bare = BareLines()
    await bare.start()
    async with ProcessTransport("bench_transports:registry", workers=1) as pool:
        await pool.start()
        away = ToolRegistry(registry.all(), transports={"*": pool})
        signal = AbortController().signal

        def requests(count: int) -> list[ToolExecuteRequest]:
            context = ToolContext()
            return [
                ToolExecuteRequest(one["id"], one["name"], one["args"], context)
                for one in calls(count)
            ]

        async def many(count: int) -> None:
            async for _ in pool.execute_many(requests(count), signal):
                pass

        for count in (1, IN_FLIGHT, 1000):
            taken = await compared(
                {
                    "bare JSON lines": lambda: asyncio.gather(
                        *(bare.call(n, TEXT) for n in range(count))  # noqa: B023
                    ),
                    "ProcessTransport": lambda: many(count),  # noqa: B023
                    "execute_parallel over it": lambda: away.execute_parallel(
                        calls(count),  # noqa: B023
                        ToolContext(result_budget_chars=1e9),
                    ),
                },
                rounds if count < 1000 else rounds // 5,
                count,
            )
            show(f"{count} in flight, per call", taken, "bare JSON lines")
        large = "y" * 10_000_000
        taken = await compared(
            {
                "bare JSON lines": lambda: bare.call(1, large),
                "execute_parallel over it": lambda: away.execute_parallel(
                    calls(1, large), ToolContext(result_budget_chars=1e9)
                ),
            },
            5,
            1,
        )
        show("10 MB there and back, per call", taken, "bare JSON lines")
    await bare.close()


async def plain_functions(rounds: int, workers: int) -> None:
    bare = BarePool(workers)
    await bare.start()
    async with ProcessTransport("bench_transports:registry", workers=workers) as pool:
        await pool.start()
        away = ToolRegistry(registry.all(), transports={"*": pool})
        context = ToolContext(result_budget_chars=1e9)
        for count in (1, 8, IN_FLIGHT, 1000):
            taken = await compared(
                {
                    EXECUTOR: lambda: asyncio.gather(
                        *(bare.call(n, TEXT) for n in range(count))  # noqa: B023
                    ),
                    "execute_parallel over it": lambda: away.execute_parallel(
                        calls(count, name="answer_plain"),  # noqa: B023
                        context,
                    ),
                },
                rounds if count < 1000 else rounds // 5,
                count,
            )
            show(
                f"plain functions, {workers} workers, {count} in flight, per call", taken, EXECUTOR
            )
    await bare.close()


async def local(rounds: int) -> None:
    plain = ToolRegistry(registry.all())
    placed = ToolRegistry(registry.all(), transports={"*": LocalTransport()})
    for count in (8, IN_FLIGHT, 512):
        repeats = 512 // count

        async def run(one: ToolRegistry, count: int = count, repeats: int = repeats) -> None:
            for _ in range(repeats):
                await one.execute_parallel(calls(count))

        taken = await compared(
            {"no transport": lambda: run(plain), "LocalTransport": lambda: run(placed)},
            rounds,
            512,
        )
        show(f"in this process, batches of {count}, per call", taken, "no transport")


SERVER = """
import asyncio, sys, time
sys.path.insert(0, sys.argv[1])
from ethos_registry import ToolRegistry, ok
registry = ToolRegistry()

@registry.tool
async def answer(number: int, text: str):
    "Return at once."
    return ok(text)

async def run(count):
    batches = [[{"id": f"call_{n}", "name": "answer", "args": {"number": n, "text": "x" * 80}}
                for n in range(count)] for _ in range(512 // count)]
    started = time.perf_counter()
    for batch in batches:
        await registry.execute_parallel(batch)
    return time.perf_counter() - started

async def main():
    for line in sys.stdin:
        print(await run(int(line)), flush=True)

asyncio.run(main())
"""


class Checkout:
    """A process with the package of one checkout."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-c", SERVER, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
        )

    def run(self, count: int) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(count, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline()) / 512 * 1e6

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def beside_today(folder: Path, rounds: int) -> None:
    here = Path(__file__).parent.parent / "python"
    checkouts = {"today": Checkout(folder), "here": Checkout(here)}
    names = list(checkouts)
    for count in (1, 8, IN_FLIGHT, 512):
        taken: dict[str, list[float]] = {name: [] for name in names}
        for number in range(rounds + 20):
            for name in names if number % 2 else names[::-1]:
                value = checkouts[name].run(count)
                if number >= 20:
                    taken[name].append(value)
        show(f"two checkouts, batches of {count}, per call", taken, "today")
    for checkout in checkouts.values():
        checkout.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--today", type=Path)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--only", choices=["local", "process", "today"])
    options = parser.parse_args()
    if options.only in (None, "local"):
        asyncio.run(local(options.rounds))
    if options.only in (None, "process"):
        asyncio.run(processes(options.rounds))
        for workers in (1, 2):
            asyncio.run(plain_functions(options.rounds, workers))
    if options.today is not None:
        beside_today(options.today.resolve(), options.rounds)


if __name__ == "__main__":
    main()
