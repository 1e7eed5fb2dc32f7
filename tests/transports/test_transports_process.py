"""The table of transports over `ProcessTransport`, and what only processes have."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import CallResult, EthosRegistryError, ToolRegistry
from ethos_registry.capabilities import CommandSandbox, SandboxPolicy, sandbox_support
from ethos_registry.transports import ProcessTransport, WorkerLimits
from long_counts import counts
from started import PATIENCE_SECONDS, started, wait_until
from transports import table, tools

pytestmark = pytest.mark.every_python


@asynccontextmanager
async def open_process(tools: str = table.TOOLS, **options: Any) -> AsyncIterator[ProcessTransport]:
    options = {"queue_seconds": 200.0, **options}
    async with ProcessTransport(tools, workers=2, **options) as transport:
        yield transport


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessTransport]:
    with ProcessTransport(table.TOOLS, workers=2, queue_seconds=200.0) as transport:
        yield transport


@pytest.mark.parametrize("row", table.ROWS, ids=lambda row: row.__name__)
async def test_process(row: table.Row, pool: ProcessTransport, tmp_path: Path) -> None:
    await row(table.Subject(pool, open_process, tmp_path))


@pytest.mark.parametrize("order", ["before", "behind", "both"])
async def test_a_tool_that_blocks_its_worker_uses_up_its_own_time_alone(order: str) -> None:
    registry = ToolRegistry(
        [
            tool.replace(timeout_seconds=5 if tool.name == "block" else 0.5)
            for tool in tools.registry.all()
        ]
    )
    waits = [table.call("wait", f"w{number}", number=number, seconds=0.1) for number in range(3)]
    blocks = [table.call("block", file="/dev/null", seconds=1.2)]
    calls = {"before": waits + blocks, "behind": blocks + waits, "both": waits[:1] + blocks + waits}
    with ProcessTransport(table.TOOLS, workers=1, queue_seconds=200.0) as transport:
        registry = ToolRegistry(registry.all(), transports={"*": transport})
        await table.Subject(transport, open_process, Path()).warm(registry)
        results = await registry.execute_parallel(calls[order])
        assert [result.text for result in results if not result.ok] == []


def workers_below(process_id: int) -> set[int]:
    """Every process below one, supervisors included."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            text = stat.read_text()
            state, parent = text.rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(stat.parent.name)] = int(parent)
    below: set[int] = set()
    found = {process_id}
    while found:
        found = {child for child, parent in parents.items() if parent in found} - below
        below |= found
    return below


def processes_of(folder: Path) -> set[int]:
    """The workers in a folder and their supervisors; the pool of the module has others."""
    found: set[int] = set()
    for process_id in workers_below(os.getpid()):
        with contextlib.suppress(OSError):
            if os.path.samefile(f"/proc/{process_id}/cwd", folder):
                status = Path(f"/proc/{process_id}/stat").read_text()
                found |= {process_id, int(status.rpartition(")")[2].split()[1])}
    return found - {os.getpid()}


def is_worker(process_id: int) -> bool:
    with contextlib.suppress(OSError):
        return b"transports._worker" in Path(f"/proc/{process_id}/cmdline").read_bytes()
    return False


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


async def test_a_function_that_holds_the_interpreter_is_ended(
    pool: ProcessTransport, tmp_path: Path
) -> None:
    subject = table.Subject(pool, open_process, tmp_path)
    await subject.warm()
    began = time.monotonic()
    spun, waited = await subject.run(
        [table.call("spin", file=str(subject.file)), table.call("wait", number=1, seconds=0)],
        deadline_seconds=4,
    )
    assert (spun.result.reason, waited.text) == ("timeout", "1 1")
    assert time.monotonic() - began < 200
    [after] = await subject.run([table.call("process_id")])
    assert after.ok


async def test_an_async_tool_that_ignores_being_cancelled_is_ended(
    pool: ProcessTransport, tmp_path: Path
) -> None:
    subject = table.Subject(pool, open_process, tmp_path)
    await subject.warm()
    [result] = await subject.run(
        [table.call("stubborn", file=str(subject.file))], deadline_seconds=3
    )
    assert result.result.reason == "timeout"
    await table.stops_growing(subject.file)


async def test_stopping_one_call_does_not_end_the_siblings_in_its_worker(tmp_path: Path) -> None:
    async with ProcessTransport(table.TOOLS, workers=1, cancel_grace_seconds=0.2) as transport:
        subject = table.Subject(transport, open_process, tmp_path)
        registry = subject.registry()
        stubborn = registry.get("stubborn")
        assert stubborn is not None
        registry.register(stubborn.replace(timeout_seconds=0.3), overwrite=True)
        stopped, waited = await registry.execute_parallel(
            [
                table.call("stubborn", file=str(subject.file)),
                table.call("wait", "w", number=1, seconds=2),
            ]
        )
        assert (stopped.result.reason, waited.text) == ("timeout", "1 w")
        await table.stops_growing(subject.file)  # its worker was ended after the sibling
        [after] = await registry.execute_parallel([table.call("wait", "w", number=2, seconds=0)])
        assert after.text == "2 w"


FREEZING = """
import asyncio, os, signal
from ethos_registry import ToolRegistry

registry = ToolRegistry()

@registry.tool(timeout_seconds=1)
async def freeze() -> str:
    "Stop the process."
    os.kill(os.getpid(), signal.SIGSTOP)
    return "woken"

@registry.tool(timeout_seconds=None)
async def wait(seconds: float) -> str:
    "Wait."
    await asyncio.sleep(seconds)
    return "waited"
"""


async def test_a_worker_that_does_not_respond_is_ended_and_its_calls_are_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "freezing_tools.py").write_text(FREEZING)
    monkeypatch.syspath_prepend(tmp_path)
    async with ProcessTransport("freezing_tools:registry", workers=1) as transport:
        import freezing_tools  # type: ignore[import-not-found]

        own = freezing_tools.registry
        registry = ToolRegistry(
            [own.get("freeze"), own.get("wait")],
            transports={"tool:freeze": transport, "tool:wait": transport},
        )
        calls = [table.call("wait", seconds=3600), table.call("freeze")]
        async with asyncio.timeout(PATIENCE_SECONDS):
            waited, frozen = await registry.execute_parallel(calls)
            assert frozen.result.reason == "timeout"
            assert waited.result.code == "execution_failed"
            assert "did not respond; it may have run" in waited.text
            [after] = await registry.execute_parallel([table.call("wait", seconds=0)])
            assert after.text == "waited"


PLAIN_LOOP = """
import asyncio, gc
from ethos_registry import ToolRegistry

registry = ToolRegistry()

@registry.tool
async def collect() -> str:
    "Never wait; report the tasks of earlier calls that failed."
    gc.collect()
    return type(asyncio.get_running_loop()).__module__

@registry.tool
def plain() -> str:
    "Run on a thread."
    return "plain"
"""

CHOSEN_LOOPS = {
    "eager": """
import asyncio

class EagerLoops(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self):
        loop = super().new_event_loop()
        loop.set_task_factory(asyncio.eager_task_factory)
        return loop

asyncio.set_event_loop_policy(EagerLoops())
""",
    "uvloop": """
import asyncio, uvloop

asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
""",
}


@pytest.mark.parametrize(
    ("chosen", "module"),
    [
        pytest.param(
            "eager",
            "asyncio.unix_events",
            marks=pytest.mark.skipif(
                sys.version_info < (3, 12), reason="eager tasks need Python 3.12"
            ),
        ),
        ("uvloop", "uvloop"),
    ],
)
async def test_the_module_of_the_tools_may_choose_the_loop_of_a_worker(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    chosen: str,
    module: str,
) -> None:
    if chosen == "uvloop":
        pytest.importorskip("uvloop")
    names = (f"plain_loop_{chosen}", f"chosen_loop_{chosen}")
    (tmp_path / f"{names[0]}.py").write_text(PLAIN_LOOP)
    (tmp_path / f"{names[1]}.py").write_text(
        f"{CHOSEN_LOOPS[chosen]}\nfrom {names[0]} import registry\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    own = importlib.import_module(names[0]).registry
    async with ProcessTransport(f"{names[1]}:registry", workers=1) as transport:
        registry = ToolRegistry(own.all(), transports={"*": transport})
        for _ in range(3):
            results = await registry.execute_parallel(
                [
                    table.call("collect", "c0"),
                    table.call("plain", "c1"),
                    table.call("collect", "c2"),
                ]
            )
            assert [result.text for result in results] == [module, "plain", module]
            [result] = await registry.execute_parallel([table.call("collect")])
            assert result.text == module
    assert "exception was never retrieved" not in capfd.readouterr().err


async def test_plain_functions_run_in_parallel_in_processes_of_their_own(
    pool: ProcessTransport,
) -> None:
    await pool.start()
    subject = table.Subject(pool, open_process, Path())
    results = await subject.run([table.call("process_id", str(n)) for n in range(6)])
    processes = {int(result.text) for result in results}
    assert os.getpid() not in processes
    assert 1 <= len(processes) <= 2


async def test_what_waits_too_long_or_finds_no_room_is_not_available(tmp_path: Path) -> None:
    async with ProcessTransport(
        table.TOOLS, workers=1, max_pending=3, queue_seconds=1.0
    ) as transport:
        await transport.start()
        subject = table.Subject(transport, open_process, tmp_path)
        file = str(subject.file)
        results = await subject.run(
            [table.call("count_plain", str(n), file=file, number=n, seconds=3) for n in range(6)]
        )
        texts = [result.text for result in results]
        assert texts[0] == "0"
        assert [text for text in texts if text.endswith("no worker was free for 1 s")]
        assert texts[-1] == ("Tool count_plain was not started: 3 calls wait for a worker already")
        assert {result.result.code for result in results[1:]} == {"not_available"}
        assert tools.noted(subject.file) == ["start 0", "end 0"]


@pytest.mark.slow
async def test_ten_thousand_calls_at_once_wait_for_a_worker(pool: ProcessTransport) -> None:
    await pool.start()
    subject = table.Subject(pool, open_process, Path())
    calls = [table.call("wait", str(n), number=n, seconds=0) for n in range(10_000)]
    results = await subject.run(calls)
    assert all(result.ok for result in results)
    assert [result.text for result in results[:1_000]] == [f"{n} {n}" for n in range(1_000)]


async def test_time_in_the_queue_is_not_the_tools_time(tmp_path: Path) -> None:
    async with ProcessTransport(table.TOOLS, workers=1) as transport:
        await transport.start()
        registry = table.Subject(transport, open_process, tmp_path).registry()
        count = registry.get("count_plain")
        assert count is not None
        registry.register(count.replace(timeout_seconds=5), overwrite=True)
        file = str(tmp_path / "counted.txt")
        results = await registry.execute_parallel(
            [table.call("count_plain", str(n), file=file, number=n, seconds=1.2) for n in range(6)]
        )
        assert [result.text for result in results] == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("limits", "name", "args", "sign"),
    [
        ({"memory_bytes": 1 << 30}, "fill_memory", {"megabytes": 2_000}, ""),
        ({"cpu_seconds": 1}, "burn", {}, "SIGXCPU"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the limits of Linux")
async def test_a_worker_keeps_its_limits(
    limits: dict[str, int], name: str, args: dict[str, Any], sign: str
) -> None:
    async with ProcessTransport(table.TOOLS, workers=1, limits=WorkerLimits(**limits)) as transport:
        subject = table.Subject(transport, open_process, Path())
        [result] = await subject.run([table.call(name, **args)])
        assert result.result.code == "execution_failed"
        assert sign in result.text
        [after] = await subject.run([table.call("wait", number=1, seconds=0)])
        assert after.text == "1 1"


async def test_a_confined_worker_writes_only_where_it_may(tmp_path: Path) -> None:
    if sandbox_support().level == "none":
        pytest.skip("this machine cannot confine commands")
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    here = str(Path(__file__).parents[1])
    policy = SandboxPolicy(read=[here], write=[str(inside)])
    async with ProcessTransport(
        table.TOOLS, workers=1, sandbox=policy, directory=inside
    ) as transport:
        subject = table.Subject(transport, open_process, tmp_path)
        permitted, refused = await subject.run(
            [
                table.call("write_file", "1", path=str(inside / "a")),
                table.call("write_file", "2", path=str(outside / "a")),
            ]
        )
    assert permitted.text == "written", permitted.text
    assert not refused.ok
    assert (inside / "a").read_text() == "written"
    assert not (outside / "a").exists()


async def test_where_nothing_confines_no_worker_starts() -> None:
    async with ProcessTransport(
        table.TOOLS,
        workers=1,
        sandbox=SandboxPolicy(),
        command_sandbox=CommandSandbox(levels=()),
    ) as transport:
        subject = table.Subject(transport, open_process, Path())
        [result] = await subject.run([table.call("wait", number=1, seconds=0)])
        assert result.result.code == "not_available"
        assert "cannot be confined" in result.text
        with pytest.raises(EthosRegistryError, match="cannot be confined"):
            await transport.start()


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_when_the_host_is_killed(tmp_path: Path, number: int) -> None:
    files = [tmp_path / "plain.txt", tmp_path / "async.txt"]
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    with started(
        [sys.executable, "-m", "transports.kill_host", *map(str, files)],
        env=os.environ | {"PYTHONPATH": path},
        cwd=tmp_path,
    ) as host:
        wait_until(lambda: host.poll() is not None or all(map(tools.noted, files)))
        below = workers_below(host.pid)
        assert len(below) >= 4
        host.send_signal(number)
        host.wait(PATIENCE_SECONDS)
    wait_until(lambda: not any(map(table.is_alive, below)))


@needs_proc
async def test_no_process_is_left_after_close(tmp_path: Path) -> None:
    async with ProcessTransport(table.TOOLS, workers=2, directory=tmp_path) as transport:
        await transport.start()
        below = processes_of(tmp_path)
        assert len(below) == 4
    assert not any(table.is_alive(process) for process in below)


@needs_proc
@counts("kills", 30, 200)
async def test_workers_killed_at_random_moments_lose_no_answer_and_run_nothing_twice(
    kills: int, tmp_path: Path
) -> None:
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    once, again = tmp_path / "once.txt", tmp_path / "again.txt"
    killed = number = lost = 0
    async with ProcessTransport(
        table.TOOLS, workers=2, queue_seconds=300.0, directory=tmp_path
    ) as transport:
        await transport.start()
        registry = table.Subject(transport, open_process, tmp_path).registry()

        async def kill_soon() -> None:
            nonlocal killed
            await asyncio.sleep(chance.uniform(0, 0.06))
            workers = [process for process in processes_of(tmp_path) if is_worker(process)]
            if workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(chance.choice(workers), signal.SIGKILL)
                    killed += 1

        answered: dict[str, CallResult] = {}
        while killed < kills:
            calls = []
            for _ in range(chance.randint(1, 12)):
                number += 1
                name = chance.choice(["count", "count", "count_plain", "count_again"])
                file = again if name == "count_again" else once
                calls.append(
                    table.call(
                        name,
                        str(number),
                        file=str(file),
                        number=number,
                        seconds=chance.uniform(0, 0.05),
                    )
                )
            async with asyncio.timeout(300):
                results, _ = await asyncio.gather(registry.execute_parallel(calls), kill_soon())
            assert [result.tool_call_id for result in results] == [each["id"] for each in calls]
            answered |= {result.tool_call_id: result for result in results}
        created = processes_of(tmp_path)
    assert len(answered) == number
    starts = Counter(line for line in tools.noted(once) if line.startswith("start"))
    ends = Counter(line for line in tools.noted(once) if line.startswith("end"))
    assert not starts or max(starts.values()) == 1, f"ran twice, seed {seed}"
    again_starts = Counter(line for line in tools.noted(again) if line.startswith("start"))
    assert not again_starts or max(again_starts.values()) <= 2, f"ran thrice, seed {seed}"
    for tool_call_id, result in answered.items():
        has_started = starts[f"start {tool_call_id}"] + again_starts[f"start {tool_call_id}"]
        if result.ok:
            assert result.text == tool_call_id, f"seed {seed}"
            assert has_started
        elif result.result.code == "not_available":
            assert not starts[f"start {tool_call_id}"], f"it did start, seed {seed}"
        else:
            assert result.text.endswith("it may have run"), f"seed {seed}: {result.text}"
            lost += 1
    assert sum(ends.values()) >= sum(
        result.ok for result in answered.values() if result.name != "count_again"
    )
    assert not any(table.is_alive(process) for process in created)
    print(f"{killed} kills, {number} calls, {lost} may have run, seed {seed}")
