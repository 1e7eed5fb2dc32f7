"""`RayTransport` over two nodes on one machine: placement, loss, drain, named pools, sessions."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import CallResult, ConfigError, EthosRegistryError, ToolContext, ToolRegistry
from ethos_registry.transports.ray import RaySessions, RayTransport, RayWorkers
from transports import table, tools
from transports.table import call, is_alive, until
from usage_tools import missing

try:
    import ray
    from ray.cluster_utils import Cluster
except ImportError:
    ray = None

TESTS = Path(__file__).parents[1]
TOOLS = "transports.ray_tools:registry"


class TwoNodes:
    """A cluster whose second node comes and goes."""

    def __init__(self) -> None:
        self.cluster = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 2,
                "resources": {"slot": 1, "host:a": 4},
                "include_dashboard": False,
                "object_store_memory": 100 << 20,
            },
        )
        self.address: str = self.cluster.address
        self.first: str = self.cluster.head_node.node_id
        self.node: Any = None

    @property
    def second(self) -> str:
        """The id of the second node, which is added if it is gone."""
        if self.node is None:
            self.node = self.cluster.add_node(
                num_cpus=1,
                resources={"slot": 1, "host:b": 4},
                labels={"zone": "b"},
                object_store_memory=100 << 20,
            )
        node_id: str = self.node.node_id
        return node_id

    def kill_second(self) -> None:
        """As if its machine lost power."""
        self.cluster.remove_node(self.node, allow_graceful=False)
        self.node = None

    def drain_second(self) -> None:
        """As an autoscaler or `ray drain-node` does before it takes the machine away."""
        from ray._raylet import GcsClient
        from ray.core.generated import autoscaler_pb2

        reason = autoscaler_pb2.DrainNodeReason.Value("DRAIN_NODE_REASON_PREEMPTION")
        deadline = int((time.time() + 600) * 1000)
        accepted, problem = GcsClient(address=self.address).drain_node(
            self.second, reason, "a test", deadline
        )
        assert accepted, problem


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoNodes]:
    if ray is None:
        missing("ray", "ray is not installed")
    patch = pytest.MonkeyPatch()
    patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    patch.setenv("RAY_AUTH_MODE", "disabled")
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]))
    two = TwoNodes()
    ray.init(address=two.address, log_to_driver=False, configure_logging=False)
    yield two
    ray.shutdown()
    two.cluster.shutdown()
    patch.undo()


def registry(transport: RayTransport) -> ToolRegistry:
    from transports import ray_tools

    return ToolRegistry(ray_tools.registry.all(), transports={"*": transport})


async def run(
    transport: RayTransport, calls: list[dict[str, Any]], session_id: str = "", **options: Any
) -> list[CallResult]:
    async with asyncio.timeout(300):
        context = ToolContext(session_id=session_id)
        return await registry(transport).execute_parallel(calls, context, **options)


async def where(transport: RayTransport, count: int = 1, seconds: float = 0.0) -> set[str]:
    """The nodes on which calls run."""
    results = await run(transport, [call("where", str(n), seconds=seconds) for n in range(count)])
    assert all(result.ok for result in results), results
    return {result.text.split()[0] for result in results}


# Placement


async def test_actors_are_on_the_nodes_that_have_the_resources_or_labels(nodes: TwoNodes) -> None:
    first, second = nodes.first, nodes.second
    for options, node in (
        ({"resources": {"host:a": 1}}, first),
        ({"resources": {"host:b": 1}}, second),
        ({"label_selector": {"zone": "b"}}, second),
    ):
        async with RayTransport(TOOLS, workers=2, **options) as transport:
            assert await where(transport, 4) == {node}
    async with RayTransport(TOOLS, workers=2, resources={"slot": 1}) as transport:
        await both_are_ready(transport)
        assert await where(transport, 4) == {first, second}


async def test_a_label_that_no_node_has_is_not_available_within_the_limit(nodes: TwoNodes) -> None:
    options = {"label_selector": {"zone": "nowhere"}, "ready_timeout_seconds": 1}
    async with RayTransport(TOOLS, **options) as transport:
        [result] = await run(transport, [call("where")])
    assert result.result.code == "not_available"
    assert "no node offers zone=nowhere within 1 s" in result.text


async def test_what_can_be_placed_takes_the_calls_of_what_cannot(nodes: TwoNodes) -> None:
    async with RayTransport(TOOLS, workers=3, resources={"slot": 1}) as transport:
        assert await where(transport, 6) <= {nodes.first, nodes.second}
        started = time.monotonic()
        await where(transport, 6)
        assert time.monotonic() - started < 25  # not `ready_timeout_seconds`


async def both_are_ready(transport: RayTransport) -> None:
    await transport.start()
    for actor in transport._members._actors:  # type: ignore[union-attr]
        await actor.ready(300)


# Loss of a node


async def test_a_lost_node_loses_its_calls_only_and_the_next_batch_goes_on(
    nodes: TwoNodes, tmp_path: Path
) -> None:
    first, _ = nodes.first, nodes.second
    file = str(tmp_path / "counted.txt")
    async with RayTransport(TOOLS, workers=2, resources={"slot": 1}) as transport:
        await both_are_ready(transport)
        calls = [
            call("count", str(n), file=file, number=n, seconds=0 if n < 4 else 10) for n in range(8)
        ]
        finished: list[str] = []
        batch = asyncio.create_task(
            run(transport, calls, on_result=lambda result: finished.append(result.tool_call_id))
        )
        noted = Path(file)
        await until(lambda: len(finished) == 4 and len(tools.noted(noted)) == 12)
        await asyncio.to_thread(nodes.kill_second)
        results = await batch
        assert [result.tool_call_id for result in results] == [each["id"] for each in calls]
        assert [result.text for result in results[:4]] == ["0", "1", "2", "3"]
        remaining = [result for result in results[4:] if result.ok]
        lost = [result for result in results[4:] if not result.ok]
        assert (len(remaining), len(lost)) == (2, 2)
        assert {result.result.reason for result in lost} == {"worker_lost"}
        assert all(result.text.endswith("it may have run") for result in lost)
        started = time.monotonic()
        assert await where(transport, 4) == {first}
        assert time.monotonic() - started < 25  # it does not wait for the node that is gone
    starts = [line for line in tools.noted(noted) if line.startswith("start")]
    assert sorted(starts) == [f"start {n}" for n in range(8)]


async def test_an_idempotent_call_on_a_lost_node_is_sent_to_another(
    nodes: TwoNodes, tmp_path: Path
) -> None:
    assert nodes.second
    file = tmp_path / "counted.txt"
    async with RayTransport(TOOLS, workers=2, resources={"slot": 1}) as transport:
        await both_are_ready(transport)
        calls = [call("count_again", str(n), file=str(file), number=n, seconds=6) for n in range(2)]
        batch = asyncio.create_task(run(transport, calls))
        await until(lambda: len(tools.noted(file)) == 2)
        await asyncio.to_thread(nodes.kill_second)
        assert [result.text for result in await batch] == ["0", "1"]
    assert sum(line.startswith("start") for line in tools.noted(file)) == 3


# Drain


async def test_a_node_that_is_drained_gets_no_new_batch_and_what_runs_finishes(
    nodes: TwoNodes, tmp_path: Path
) -> None:
    first, second = nodes.first, nodes.second
    file = tmp_path / "counted.txt"
    async with RayTransport(TOOLS, workers=2, resources={"slot": 1}) as transport:
        await both_are_ready(transport)
        calls = [call("count", str(n), file=str(file), number=n, seconds=15) for n in range(2)]
        batch = asyncio.create_task(run(transport, calls))
        await until(lambda: len(tools.noted(file)) == 2)
        await asyncio.to_thread(nodes.drain_second)
        await asyncio.sleep(1.5)  # how long the state of nodes is remembered, and some
        for _ in range(3):
            assert await where(transport, 4) == {first}
        assert not batch.done()
        assert [result.text for result in await batch] == ["0", "1"]
    assert first != second
    await asyncio.to_thread(nodes.kill_second)


# Pools that a command serves


@asynccontextmanager
async def worker_command(
    nodes: TwoNodes, *options: str, tools: str = TOOLS, pool: str = "render"
) -> AsyncIterator[tuple[subprocess.Popen[str], str]]:
    """The command, and the line with what it serves."""
    arguments = ["worker", "--ray", nodes.address, "--tools", tools, "--pool", pool, *options]
    process = await asyncio.to_thread(
        lambda: subprocess.Popen(
            [sys.executable, "-m", "ethos_registry", *arguments],
            cwd=TESTS,
            stderr=subprocess.PIPE,
            text=True,
        )
    )
    assert process.stderr is not None
    try:
        yield process, await asyncio.to_thread(process.stderr.readline)
    finally:
        if process.poll() is None:
            process.terminate()
            await asyncio.to_thread(process.wait, 120)
        process.stderr.close()


async def test_callers_find_the_workers_of_a_command_by_the_name_of_the_pool(
    nodes: TwoNodes, tmp_path: Path
) -> None:
    file = tmp_path / "counted.txt"
    assert nodes.second
    async with worker_command(nodes, "--workers", "2", "--resources", "host:b=1") as (
        process,
        line,
    ):
        assert re.fullmatch(
            r"serving 5 tools as pool `render` with 2 workers, registry [0-9a-f]{12} "
            r"until Ctrl-C: add, count, count_again, wait, where\n",
            line,
        )
        async with RayTransport(pool="render") as transport:
            assert await where(transport, 8, 0.1) == {nodes.second}
            [here] = await run(transport, [call("where")])
        async with RayTransport(TOOLS, pool="render") as transport:
            await transport.start()
            assert await where(transport) == {nodes.second}
            running = asyncio.create_task(
                run(transport, [call("count", file=str(file), number=1, seconds=5)])
            )
            await until(lambda: bool(tools.noted(file)))
            process.send_signal(signal.SIGTERM)
            [result] = await running
            assert result.text == "1"  # what runs may finish
            assert await asyncio.to_thread(process.wait, 120) == 128 + signal.SIGTERM
            await asyncio.sleep(1.1)
            [after] = await run(transport, [call("where")])
        assert after.result.code == "not_available"
        assert "no worker serves the pool `render`" in after.text
        assert "ethos-registry worker" not in after.text
        await until(lambda: not is_alive(int(here.text.split()[1])))


async def test_workers_that_are_served_move_away_from_a_node_that_is_drained(
    nodes: TwoNodes,
) -> None:
    first, second = nodes.first, nodes.second
    slot = {"resources": {"slot": 1}}
    workers = RayWorkers(TOOLS, pool="moving", **slot)  # type: ignore[arg-type]
    async with RayTransport(TOOLS, resources={"slot": 1, "host:a": 1}) as transport:
        assert await where(transport) == {first}  # its slot is taken
        await asyncio.to_thread(workers.start)
    async with RayTransport(pool="moving") as transport:
        assert await where(transport) == {second}
        await asyncio.to_thread(nodes.drain_second)
        found = {second}
        async with asyncio.timeout(60):
            while found != {first}:
                await asyncio.to_thread(workers.tend)
                await asyncio.sleep(0.2)
                [result] = await run(transport, [call("where")])
                assert result.ok or result.result.code == "not_available"
                found = {result.text.split()[0]}
    await asyncio.to_thread(workers.stop)
    await asyncio.to_thread(nodes.kill_second)


async def test_another_registry_than_that_of_the_workers_is_refused_with_both_digests(
    nodes: TwoNodes,
) -> None:
    async with worker_command(nodes) as (_, line):
        found = re.search(r"registry ([0-9a-f]{12})", line)
        assert found, line
        async with RayTransport(table.TOOLS, pool="render") as transport:
            with pytest.raises(
                EthosRegistryError,
                match=f"the workers serve registry {found[1]}, this process has [0-9a-f]{{12}}",
            ):
                await transport.start()
            [result] = await run(transport, [call("where")])
            assert result.result.code == "not_available"
            assert f"the workers serve registry {found[1]}" in result.text
        async with worker_command(nodes, tools=table.TOOLS) as (second, line):
            assert "error: the pool `render` serves registry" in line
            assert await asyncio.to_thread(second.wait, 120) == 2


async def test_workers_end_with_a_command_that_is_killed_and_detached_ones_with_stop(
    nodes: TwoNodes,
) -> None:
    async with worker_command(nodes) as (process, _):
        async with RayTransport(pool="render") as transport:
            [here] = await run(transport, [call("where")])
        process.kill()
        assert here.ok, here.text
        await until(lambda: not is_alive(int(here.text.split()[1])))
    async with worker_command(nodes, "--detach", pool="remaining") as (process, line):
        assert "until Ctrl-C" not in line
        assert await asyncio.to_thread(process.wait, 120) == 0
        async with RayTransport(pool="remaining") as transport:
            [here] = await run(transport, [call("where")])
        assert here.ok
    assert await asyncio.to_thread(lambda: RayWorkers.end_pool("remaining", grace_seconds=5)) == 1
    await until(lambda: not is_alive(int(here.text.split()[1])))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--ray", "127.0.0.1:9"], "no Ray cluster at '127.0.0.1:9': Connection refused"),
        (["--ray", "ray://127.0.0.1:9"], "'ray://127.0.0.1:9' is for Ray Client"),
        (["--resources", "slot=9", "--timeout", "3"], "no node offers slot=9 within"),
        (["--tools", "nowhere_at_all"], "could not be loaded: ModuleNotFoundError"),
        (["--tools", "nowhere_at_all:x"], "cannot be loaded: ModuleNotFoundError"),
        (["--tools", "transports.table"], "the module has no registry"),
        (["--resources", "slot"], "`--resources` takes NAME=VALUE: 'slot'"),
        (["--label", "zone"], "`--label` takes NAME=VALUE: 'zone'"),
    ],
)
def test_what_is_wrong_is_one_line(nodes: TwoNodes, options: list[str], problem: str) -> None:
    given = [*options]
    for name, value in (("--ray", nodes.address), ("--tools", TOOLS)):
        if name not in given:
            given += [name, value]
    done = subprocess.run(
        [sys.executable, "-m", "ethos_registry", "worker", "--pool", "wrong", *given],
        cwd=TESTS,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert problem in done.stderr


def test_without_ray_the_command_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['ray'] = None; from ethos_registry._cli.entry import main; "
        f"sys.argv[1:] = ['worker', '--tools', {TOOLS!r}]; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: Ray needs an extra: pip install 'ethos-registry[ray]'\n"


# Sessions


def sessions(**options: Any) -> RayTransport:
    return RayTransport(TOOLS, sessions=RaySessions(**options))


async def add(
    transport: RayTransport, session_id: str, count: int = 1, seconds: float = 0.0
) -> list[tuple[int, int, int]]:
    """Of each call its process, its number in the session, and how many ran at once at most."""
    calls = [call("add", str(n), seconds=seconds) for n in range(count)]
    results = await run(transport, calls, session_id)
    assert all(result.ok for result in results), results
    parts = [result.text.split() for result in results]
    return [(int(process), int(number), int(most)) for process, number, most in parts]


async def test_the_calls_of_a_session_share_state_and_those_of_two_do_not(nodes: TwoNodes) -> None:
    async with sessions() as transport:
        [(first, *_)], [(second, *_)] = await asyncio.gather(
            add(transport, "one"), add(transport, "two")
        )
        assert first != second
        counted = await add(transport, "one", 3)
        assert {process for process, *_ in counted} == {first}
        assert [number for _, number, _ in counted] == [2, 3, 4]
        assert await add(transport, "two") == [(second, 2, 1)]
    await until(lambda: not is_alive(first) and not is_alive(second))


async def test_calls_of_a_session_run_in_order_or_at_once_as_the_setting_says(
    nodes: TwoNodes,
) -> None:
    async with sessions() as transport:
        both = await asyncio.gather(add(transport, "one", 3, 0.05), add(transport, "one", 3, 0.05))
        assert sorted(number for each in both for _, number, _ in each) == list(range(1, 7))
        assert {most for each in both for _, _, most in each} == {1}
    async with sessions(is_serial=False) as transport:
        assert {most for _, _, most in await add(transport, "one", 3, 0.5)} == {3}


async def test_lost_state_is_reported_once_and_not_replaced_silently(nodes: TwoNodes) -> None:
    async with sessions() as transport:
        [(process, *_)] = await add(transport, "one")
        os.kill(process, signal.SIGKILL)
        await until(lambda: not is_alive(process))
        [lost] = await run(transport, [call("add")], "one")
        assert not lost.ok
        assert "session state was lost" in lost.text
        [(other, number, _)] = await add(transport, "one")
        assert (number, other != process) == (1, True)
        running = asyncio.create_task(run(transport, [call("add", seconds=30)], "one"))
        await asyncio.sleep(3)  # until it runs, on a busy machine too
        os.kill(other, signal.SIGKILL)
        [lost] = await running
        assert lost.result.code == "execution_failed"
        assert lost.text.endswith("the session state was lost; it may have run")
        assert [number for _, number, _ in await add(transport, "one")] == [1]


async def test_a_session_ends_when_it_is_idle_or_ended(nodes: TwoNodes) -> None:
    async with sessions(idle_seconds=1.0) as transport:
        [(process, *_)] = await add(transport, "one", seconds=1.5)  # a call is not idle
        await until(lambda: not is_alive(process))
        [lost] = await run(transport, [call("add")], "one")
        assert "session state was lost" in lost.text
        assert lost.result.code == "not_available"
    async with sessions() as transport:
        [(process, *_)] = await add(transport, "one")
        transport.end_session("one")
        await until(lambda: not is_alive(process))
        [(other, number, _)] = await add(transport, "one")  # it was ended, not lost
        assert (number, other != process) == (1, True)


async def test_a_call_that_waits_for_its_turn_can_be_stopped(nodes: TwoNodes) -> None:
    async with sessions() as transport:
        await add(transport, "one")
        slow = asyncio.create_task(run(transport, [call("add", seconds=4)], "one"))
        await asyncio.sleep(0.3)
        [second] = await run(transport, [call("add")], "one", deadline_seconds=0.3)
        assert not second.ok
        [first] = await slow
        assert first.ok
        [(_, number, _)] = await add(transport, "one")
        assert number == 3  # the one that was stopped did not run


async def test_a_call_needs_a_session_and_sessions_have_a_limit(nodes: TwoNodes) -> None:
    async with sessions(max_open=1) as transport:
        [none] = await run(transport, [call("add")])
        assert none.result.code == "not_available"
        assert "needs `session_id` in its context" in none.text
        await add(transport, "one")
        [second] = await run(transport, [call("add")], "two")
        assert "too many sessions are open" in second.text
        transport.end_session("one")
        await add(transport, "two")


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ConfigError, match="`pool` uses workers that run already"):
        RayTransport(pool="render", resources={"slot": 1})
    with pytest.raises(ConfigError, match="`sessions` must be RaySessions, got bool"):
        RayTransport(TOOLS, sessions=True)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="`idle_seconds`"):
        RaySessions(idle_seconds=-1)
    with pytest.raises(ConfigError, match="`tools` is empty"):
        RayTransport()
