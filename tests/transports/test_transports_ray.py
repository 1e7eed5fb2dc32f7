"""The table of transports over `RayTransport`, on a cluster of this machine."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import ConfigError, ToolContext
from ethos_registry.transports import ToolExecuteRequest, TransportReply
from ethos_registry.transports.ray import RayTransport
from ethos_registry.transports.ray._members import OwnMembers
from ethos_registry.types import AbortController
from long_counts import counts
from transports import table, tools
from usage_tools import missing

try:
    import ray
except ImportError:
    ray = None

POOL_WORKERS = 2
DO_NOT_APPLY = {
    "a_tool_that_forks_does_not_leak_the_channel": "a fork of a Ray worker holds Ray's own sockets",
}
"""Rows of the table with the reason why they are not run."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    if ray is None:
        missing("ray", "ray is not installed")
    home = os.environ.get("HOME")
    os.environ["HOME"] = str(tmp_path_factory.mktemp("home"))
    os.environ["RAY_AUTH_MODE"] = "disabled"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=200 << 20,
            log_to_driver=False,
            configure_logging=False,
        )
        yield
    finally:
        ray.shutdown()
        if home is not None:
            os.environ["HOME"] = home


def actor_processes() -> set[int]:
    """The processes of actors of ours that this process started, by way of Ray."""
    parents: dict[int, int] = {}
    actors = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            process_id = int(folder.name)
            parents[process_id] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if (folder / "cmdline").read_bytes().startswith(b"ray::RayWorker"):
                actors.add(process_id)

    def is_below(process_id: int) -> bool:
        while process_id not in (0, os.getpid()):
            process_id = parents.get(process_id, 0)
        return process_id != 0

    return {process_id for process_id in actors if is_below(process_id)}


@asynccontextmanager
async def open_ray(tools: str = table.TOOLS, **options: Any) -> AsyncIterator[RayTransport]:
    options = {"ready_timeout_seconds": 200, **options}
    async with RayTransport(tools, **options) as transport:
        yield transport


@pytest.fixture(scope="module")
def pool(cluster: None) -> Iterator[RayTransport]:
    transport = RayTransport(table.TOOLS, workers=POOL_WORKERS, ready_timeout_seconds=200)
    yield transport
    transport.close()


def test_the_list_of_rows_that_do_not_apply_names_rows_of_the_table() -> None:
    assert DO_NOT_APPLY.keys() <= {row.__name__ for row in table.ROWS}


@pytest.mark.parametrize("row", table.ROWS, ids=lambda row: row.__name__)
async def test_ray(row: table.Row, pool: RayTransport, tmp_path: Path) -> None:
    if row.__name__ in DO_NOT_APPLY:
        pytest.skip(DO_NOT_APPLY[row.__name__])
    await row(table.Subject(pool, open_ray, tmp_path))


async def test_resources_that_no_node_has_are_not_available_within_the_limit(
    cluster: None, tmp_path: Path
) -> None:
    async with open_ray(resources={"toolset:render": 1}, ready_timeout_seconds=2) as transport:
        subject = table.Subject(transport, open_ray, tmp_path)
        async with asyncio.timeout(200):
            [result] = await subject.run([table.call("wait", number=1, seconds=0)])
    assert result.result.code == "not_available"
    assert "no node offers toolset:render=1 within 2 s" in result.text


async def test_an_abort_while_no_actor_is_ready_answers_at_once(
    cluster: None, tmp_path: Path
) -> None:
    controller = AbortController()
    async with open_ray(resources={"toolset:render": 1}, ready_timeout_seconds=600) as transport:
        request = ToolExecuteRequest("1", "wait", {"number": 1, "seconds": 0}, ToolContext())
        asyncio.get_running_loop().call_later(0.5, controller.abort)
        async with asyncio.timeout(200):
            result = await transport.execute(request, controller.signal)
    assert getattr(result, "code", None) == "not_available"


async def test_an_idempotent_tool_is_sent_once_more(pool: RayTransport, tmp_path: Path) -> None:
    subject = table.Subject(pool, open_ray, tmp_path)
    [result] = await subject.run([table.call("crash_once", file=str(subject.file))])
    assert result.text == "survived"
    assert tools.noted(subject.file) == ["run", "run"]


@counts("kills", 6, 20)
async def test_kills_of_workers_keep_what_finished_and_run_nothing_twice(
    kills: int, pool: RayTransport, tmp_path: Path
) -> None:
    await pool.start()
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    once, again = tmp_path / "once.txt", tmp_path / "again.txt"
    number = killed = 0
    processes: set[int] = set()
    results: dict[str, Any] = {}
    arrived: dict[str, str] = {}
    most = 0

    def on_result(result: Any) -> None:
        arrived[result.tool_call_id] = result.text

    async with open_ray(workers=2, ready_timeout_seconds=60) as transport:
        subject = table.Subject(transport, open_ray, tmp_path)
        while killed < kills:
            [where] = await subject.run([table.call("process_id")])
            calls = []
            for _ in range(chance.randint(4, 12)):
                number += 1
                name = chance.choice(["count", "count", "count_plain", "count_again"])
                file = again if name == "count_again" else once
                seconds = chance.uniform(0, 0.05)
                calls.append(
                    table.call(name, str(number), file=str(file), number=number, seconds=seconds)
                )

            async def kill_soon(process: str) -> None:
                nonlocal killed
                await asyncio.sleep(chance.uniform(0, 0.06))
                with suppress(ProcessLookupError, ValueError):
                    os.kill(int(process), signal.SIGKILL)
                    killed += 1
                    processes.add(int(process))

            most = max(most, len(actor_processes()))
            answered, _ = await asyncio.gather(
                subject.run(calls, on_result=on_result), kill_soon(where.text)
            )
            assert [result.tool_call_id for result in answered] == [call["id"] for call in calls]
            results |= {result.tool_call_id: result for result in answered}
        for _ in range(2):
            [last] = await subject.run([table.call("process_id")])
            processes |= {int(last.text)} if last.ok else set()
    assert most > POOL_WORKERS
    await table.until(lambda: not any(map(table.is_alive, processes)))
    await table.until(lambda: len(actor_processes()) <= POOL_WORKERS)
    ends = {
        line.split()[1] for file in (once, again) for line in tools.noted(file) if line[0] == "e"
    }
    starts = Counter(line for line in tools.noted(once) if line.startswith("start"))
    assert starts
    assert max(starts.values()) == 1, f"ran twice, seed {seed}"
    restarts = Counter(line for line in tools.noted(again) if line.startswith("start"))
    assert not restarts or max(restarts.values()) <= 2, f"ran thrice, seed {seed}"
    for tool_call_id, result in results.items():
        assert result.text == arrived[tool_call_id], f"a result changed, seed {seed}"
        if result.ok:
            assert result.text == tool_call_id, f"seed {seed}"
            assert tool_call_id in ends, f"answered before its end, seed {seed}"
        elif result.result.code == "not_available":
            assert not starts[f"start {tool_call_id}"], f"it did start, seed {seed}"
        else:
            assert result.text.endswith("it may have run"), f"seed {seed}: {result.text}"
    assert len(results) == number


async def test_closing_answers_what_runs_and_sends_nothing_again(
    cluster: None, tmp_path: Path
) -> None:
    async with open_ray() as transport:
        subject = table.Subject(transport, open_ray, tmp_path)
        file = str(subject.file)
        batch = asyncio.create_task(
            subject.run([table.call("count_again", file=file, number=1, seconds=60)])
        )
        await table.until(lambda: bool(tools.noted(subject.file)))
        await transport.aclose()
        [result] = await batch
    assert result.text.endswith("it may have run")
    assert tools.noted(subject.file) == ["start 1"]


async def test_a_large_batch_is_one_message_for_each_actor(
    pool: RayTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    assert isinstance(pool._members, OwnMembers)
    for actor in pool._members._actors:
        await actor.ready(30)
        real = actor.run

        def counted(batch: str, payload: bytes, real: Any = real) -> Any:
            sent.append(len(payload))
            return real(batch, payload)

        monkeypatch.setattr(actor, "run", counted)
    requests = [
        ToolExecuteRequest(str(n), "wait", {"number": n, "seconds": 0}, ToolContext())
        for n in range(64)
    ]
    replies = [
        item
        async for item in pool.execute_many(requests, AbortController().signal)
        if isinstance(item, TransportReply)
    ]
    assert sorted(reply.index for reply in replies) == list(range(64))
    assert len(sent) == 2


def test_settings_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(ConfigError, match="`resources` must be a mapping, got list"):
        RayTransport(table.TOOLS, resources=["gpu"])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="main program"):
        RayTransport("__main__:registry")
