"""Nothing that a command started outlives its end, and the handle of a supervised program."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ethos_registry import ToolContext, ToolRegistry
from ethos_registry._processes import supervisor
from ethos_registry._processes.process_group import GroupProcess
from ethos_registry.capabilities import CommandPolicy, SupervisedProcess, _run
from ethos_registry.capabilities import start_supervised as start
from ethos_registry.tools import run_tests_tool, terminal_tool
from ethos_registry.tools._command import described_end
from ethos_registry.types import AbortController
from session_tools import in_own_process
from started import PATIENCE_SECONDS, started, wait_for_file, wait_until

pytestmark = [
    pytest.mark.every_python,
    pytest.mark.privileges,
    pytest.mark.skipif(sys.platform != "linux", reason="a supervisor needs Linux"),
    pytest.mark.timeout(400),
]

DOUBLE_FORK = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        for number in range(3):
            os.close(number)
        os.execv("./sleeper" if os.path.exists("./sleeper") else sys.argv[1], ["sleeper", "999"])
    os._exit(0)
"""
HOPPER = """
import os, time
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
    open("hops", "a").write(".")
    time.sleep(0.002)
"""
BOMB = """
import os, time
for _ in range(6):
    os.fork()
end = time.monotonic() + 120
while time.monotonic() < end:
    try:
        if os.fork() == 0:
            os.setsid()
            time.sleep(0.05)
            os._exit(0)
        os.waitpid(-1, os.WNOHANG)
    except OSError:
        time.sleep(0.01)
    time.sleep(0.02)
"""
ESCAPES = {
    "a session of its own": "(setsid ./sleeper 999 &)",
    "setsid that forks": "setsid -f ./sleeper 999",
    "a double fork": "python3 double_fork.py $PWD/sleeper",
    "a TERM handler that spawns": (
        "trap '(setsid ./sleeper 999 &); exit 0' TERM; ./sleeper 998 & touch begun; wait"
    ),
    "nohup and disown": "nohup setsid ./sleeper 999 >/dev/null 2>&1 & disown",
    "an orphan that ignores TERM": "(trap '' TERM HUP INT; setsid ./sleeper 999 &)",
    "a loop that starts it again": "(setsid sh -c 'while :; do ./sleeper 999; done' &)",
    "an empty environment elsewhere": "(s=$PWD/sleeper; cd /; env -i setsid $s 999 &)",
    "a stopped orphan": (
        "(setsid ./sleeper 999 & until [ $(readlink /proc/$!/exe) = $PWD/sleeper ]; "
        "do sleep 0.02; done; kill -STOP $!)"
    ),
    "a process that forks away every 2 ms": "python3 hopper.py",
    "a bounded fork bomb": "python3 bomb.py &",
    "its supervisor killed": "(setsid ./sleeper 999 &) ; kill -9 $PPID",
    "its supervisor stopped": "(setsid ./sleeper 999 &) ; kill -STOP $PPID",
}


def left_in(folder: Path) -> list[str]:
    """Command lines of running processes that belong to the folder."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            line = process.cmdline()
            places = [process.cwd(), os.readlink(f"/proc/{process.pid}/exe"), *line]
            if any(place.startswith(str(folder)) for place in places):
                found.append(" ".join(line))
    return found


def supervisors() -> set[int]:
    """The supervisors of this process; those of earlier tests may be among them."""
    found = set()
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):  # it has just ended
            if "ethos-registry-supervisor" in " ".join(child.cmdline()):
                found.add(child.pid)
    return found


def eventually_nothing(folder: Path, seconds: float = 60.0) -> list[str]:
    """What is left after some time, less than what runs on would take to end by itself."""
    deadline = time.monotonic() + seconds
    while (left := left_in(folder)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    real = tmp_path.resolve()
    shutil.copy(shutil.which("sleep") or "/bin/sleep", real / "sleeper")
    for name, text in (("double_fork", DOUBLE_FORK), ("hopper", HOPPER), ("bomb", BOMB)):
        (real / f"{name}.py").write_text(text)
    yield real
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if os.readlink(f"/proc/{process.pid}/exe").startswith(str(real)):
                process.kill()


def command_of(escape: str) -> str:
    return f"{ESCAPES[escape]}\n sleep 0.2; touch begun; sleep 600"


async def begun(folder: Path) -> None:
    while not (folder / "begun").exists():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


GROUP_KILLER = """
import os, signal, subprocess, sys, time
process = subprocess.Popen(["sh", "-c", sys.argv[1]], start_new_session=True)
sleeper = os.path.realpath("sleeper")

def has_escaped():
    for name in os.listdir("/proc"):
        try:
            is_sleeper = os.readlink(f"/proc/{name}/exe") == sleeper
            if is_sleeper and os.getpgid(int(name)) != process.pid:
                return True
        except (OSError, ValueError):
            pass
    return os.path.exists("hops")

def wait_for(condition):
    deadline = time.monotonic() + 100
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)

def kill(number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass

wait_for(lambda: os.path.exists("begun"))
if "TERM" not in sys.argv[2]:
    wait_for(has_escaped)
kill(signal.SIGTERM)
wait_for(has_escaped)
kill(signal.SIGKILL)
process.wait()
"""


OUTLIVE = [name for name in ESCAPES if name != "a bounded fork bomb"]
"""The bomb is hard to end in time; what it forks ends by itself soon."""


@pytest.mark.parametrize("escape", OUTLIVE)
def test_each_escape_outlives_the_end_of_its_process_group(folder: Path, escape: str) -> None:
    """What the supervisor is for; here one of the test's own cleans up."""
    argv = [sys.executable, "-I", "-c", GROUP_KILLER, command_of(escape), escape]
    process = start(argv, directory=str(folder), when_ended="keep")
    if escape == "its supervisor stopped":  # it would never end the group
        wait_until((folder / "begun").exists)
    else:
        process.wait(300)
    hops = folder / "hops"  # of a process that lives too short to be seen
    size = hops.stat().st_size if hops.exists() else 0
    try:
        wait_until(
            lambda: (
                [line for line in left_in(folder) if "start_new_session" not in line]
                or (hops.exists() and hops.stat().st_size > size)
            )
        )
    finally:
        process.kill()
    assert process.wait_ended(100) == 0


class TestNothingOutlives:
    @pytest.mark.parametrize("escape", ESCAPES)
    async def test_the_timeout(self, folder: Path, escape: str) -> None:
        context = ToolContext(working_dir=folder)
        args = {"command": command_of(escape), "timeout_seconds": 1.5}
        result = await terminal_tool().execute(args, context)
        assert not result.ok
        assert eventually_nothing(folder) == []

    @pytest.mark.parametrize("escape", ESCAPES)
    async def test_an_abort_of_the_turn(self, folder: Path, escape: str) -> None:
        controller = AbortController()
        context = ToolContext(working_dir=folder, abort_signal=controller.signal)
        registry = ToolRegistry([terminal_tool()])
        call = {"id": "1", "name": "terminal", "input": {"command": command_of(escape)}}
        batch = asyncio.ensure_future(registry.execute_parallel([call], context))
        waits = [asyncio.ensure_future(begun(folder)), batch]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        controller.abort()
        [result] = await batch
        assert not result.ok
        assert eventually_nothing(folder) == []
        waits[0].cancel()

    @pytest.mark.parametrize("escape", ESCAPES)
    async def test_a_cancellation(self, folder: Path, escape: str) -> None:
        execution = terminal_tool().execute(
            {"command": command_of(escape)}, ToolContext(working_dir=folder)
        )
        task = asyncio.ensure_future(execution)
        waits = [asyncio.ensure_future(begun(folder)), task]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert eventually_nothing(folder) == []
        waits[0].cancel()

    @pytest.mark.parametrize("escape", ESCAPES)
    def test_a_host_that_is_killed(self, folder: Path, escape: str) -> None:
        program = (
            "import asyncio, sys\n"
            "from ethos_registry import ToolContext\n"
            "from ethos_registry.tools import terminal_tool\n"
            "asyncio.run(terminal_tool().execute({'command': sys.argv[1]},\n"
            "    ToolContext(working_dir=sys.argv[2])))\n"
        )
        argv = [sys.executable, "-c", program, command_of(escape), str(folder)]
        with started(argv) as host:
            wait_until(lambda: (folder / "begun").exists() or host.poll() is not None)
        host_line = str(folder)
        assert [line for line in eventually_nothing(folder) if host_line in line] == []

    @pytest.mark.parametrize("way", ["timeout", "cancellation"])
    async def test_a_test_run(self, folder: Path, way: str) -> None:
        python = folder / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)
        (folder / "test_it.py").write_text(
            "import subprocess, time\n"
            "def test_it():\n"
            "    subprocess.Popen(['setsid', '-f', './sleeper', '999'])\n"
            "    open('begun', 'w').close()\n"
            "    time.sleep(600)\n"
        )
        for seconds in [600.0] if way == "cancellation" else [5.0, 20.0, 80.0]:
            execution = run_tests_tool().execute(
                {"timeout_seconds": seconds}, ToolContext(working_dir=folder)
            )
            task = asyncio.ensure_future(execution)
            waiting = asyncio.ensure_future(begun(folder))
            await asyncio.wait([waiting, task], return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            if way == "cancellation":
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                assert "Command was killed" in (await task).text
            if (folder / "begun").exists():
                break
        assert (folder / "begun").exists()
        assert eventually_nothing(folder) == []

    def test_a_host_that_is_killed_while_a_fork_of_it_lives_on(self, folder: Path) -> None:
        """The fork holds the host's end of the pipe open, so its end is no sign."""
        program = (
            "import os, sys, time\n"
            "from ethos_registry.capabilities import start_supervised\n"
            "process = start_supervised(['./sleeper', '999'], directory=sys.argv[1])\n"
            "process.wait_started()\n"
            "if os.fork() == 0:\n"
            "    time.sleep(300)\n"
            "    os._exit(0)\n"
            "open(sys.argv[1] + '/begun', 'w').close()\n"
            "time.sleep(600)\n"
        )
        with started([sys.executable, "-c", program, str(folder)]) as host:
            wait_for_file(folder / "begun", host)
            children = psutil.Process(host.pid).children()
            [fork] = [each for each in children if "start_supervised" in " ".join(each.cmdline())]
        try:
            wait_until(
                lambda: not any(line.startswith("./sleeper") for line in left_in(folder)),
                seconds=100,  # the fork lives longer
            )
            assert fork.is_running()
        finally:
            fork.kill()


class TestWhatACommandLeaves:
    def test_runs_on_until_the_host_ends(self, folder: Path) -> None:
        program = (
            "import asyncio, sys\n"
            "from ethos_registry import ToolContext\n"
            "from ethos_registry.tools import terminal_tool\n"
            "result = asyncio.run(terminal_tool().execute(\n"
            "    {'command': './sleeper 999 & echo started'},\n"
            "    ToolContext(working_dir=sys.argv[1])))\n"
            "print(result.value, flush=True)\n"
            "sys.stdin.read()\n"
        )
        argv = [sys.executable, "-c", program, str(folder)]
        with started(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as host:
            assert host.stdout is not None
            assert host.stdout.readline() == "started\n"
            wait_until(lambda: any(line.startswith("./sleeper") for line in left_in(folder)))
            host.communicate("", timeout=PATIENCE_SECONDS)
        assert not [line for line in eventually_nothing(folder) if "sleeper" in line]

    async def test_that_ends_by_itself_takes_its_supervisor_with_it(self, folder: Path) -> None:
        before = supervisors()
        await terminal_tool().execute(
            {"command": "./sleeper 0.5 & echo a"}, ToolContext(working_dir=folder)
        )
        assert eventually_nothing(folder) == []
        wait_until(lambda: not supervisors() - before)


class TestTheHandle:
    def test_gives_pipes_status_and_the_process_id(self) -> None:
        process = start(
            ["sh", "-c", "echo $$; read line; echo $line >&2; exit 7"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert isinstance(process, SupervisedProcess)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        with process.stdin, process.stdout, process.stderr:
            assert int(process.stdout.readline()) == process.wait_started(100)
            process.stdin.write(b"leaf\n")
            assert process.stderr.read() == b"leaf\n"
            assert process.wait(100) == 7
            assert process.stdout.read() == b""
        assert process.wait_ended(100) == 0

    def test_a_program_that_cannot_be_started_is_an_oserror_with_its_name(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "plain").write_text("no program")
        for argv, kind in (
            (["no-such-program"], FileNotFoundError),
            ([str(tmp_path / "plain")], PermissionError),
        ):
            process = start(argv)
            with pytest.raises(kind) as raised:
                process.wait_started(100)
            assert raised.value.filename == argv[0]
            assert process.wait_ended(100) == 0
        missing = start(["true"], directory=str(tmp_path / "none"))
        with pytest.raises(FileNotFoundError, match="none"):
            missing.wait(100)
        with pytest.raises(ValueError, match="null byte"):
            start(["echo", "a\0b"])

    def test_the_program_gets_its_environment_and_default_signals(self) -> None:
        code = (
            "import os, signal\n"
            "print(sorted(os.environ.items()))\n"
            "print(signal.pthread_sigmask(signal.SIG_BLOCK, ()))\n"
            "print([n for n in os.listdir('/proc/self/fd')])\n"
        )
        argv = [sys.executable, "-I", "-S", "-c", code]
        plain = {"LC_ALL": "C.UTF-8", "LEAF": "é"}
        process = start(argv, environment=plain, stdout=subprocess.PIPE, new_session=False)
        assert process.stdout is not None
        with process.stdout as pipe:
            supervised = pipe.read()
        direct = subprocess.run(argv, env=plain, capture_output=True, stdin=subprocess.DEVNULL)
        assert supervised == direct.stdout
        status = start(
            ["grep", "-E", "Sig(Ign|Blk|Cgt)", "/proc/self/status"], stdout=subprocess.PIPE
        )
        assert status.stdout is not None
        with status.stdout as pipe:
            lines = pipe.read()
        plain_status = subprocess.run(
            ["grep", "-E", "Sig(Ign|Blk|Cgt)", "/proc/self/status"], capture_output=True
        )
        assert lines == plain_status.stdout

    def test_terminate_gives_time_and_kill_gives_none(self, folder: Path) -> None:
        line = "trap 'echo tidy; exit 4' TERM; echo on; while :; do sleep 0.02; done"
        gentle = start(["sh", "-c", line], stdout=subprocess.PIPE)
        assert gentle.stdout is not None
        with gentle.stdout as pipe:
            assert pipe.readline() == b"on\n"
            gentle.terminate(100)
            assert pipe.read() == b"tidy\n"
        assert (gentle.wait(100), gentle.wait_ended(100)) == (4, 0)
        hard = start(["sh", "-c", line], stdout=subprocess.PIPE)
        assert hard.stdout is not None
        with hard.stdout as pipe:
            assert pipe.readline() == b"on\n"
            hard.kill()
            assert pipe.read() == b""
        assert (hard.wait(100), hard.wait_ended(100)) == (-signal.SIGKILL, 0)

    @pytest.mark.parametrize("when_ended", ["end", "keep", "leave"])
    def test_what_is_left_is_ended_kept_or_left(self, folder: Path, when_ended: str) -> None:
        process = start(
            ["sh", "-c", "(setsid ./sleeper 999 &) ; sleep 0.1"],
            directory=str(folder),
            when_ended=when_ended,  # type: ignore[arg-type]
        )
        assert process.wait(100) == 0
        if when_ended == "end":
            assert process.wait_ended(100) == 0
            assert left_in(folder) == []
            return
        if when_ended == "leave":
            assert process.wait_ended(100) == 0
        assert [line for line in left_in(folder) if "sleeper" in line]
        process.kill()
        left = eventually_nothing(folder, 60 if when_ended == "keep" else 0.3)
        assert bool(left) == (when_ended == "leave")

    def test_a_program_cancelled_before_it_started_never_runs(self, folder: Path) -> None:
        process = start(["touch", "ran"], directory=str(folder))
        process.kill()
        process.wait_ended(100)
        assert process.wait(0) in (-signal.SIGKILL, 0, 255)
        if process.wait(0) == 255:
            assert not (folder / "ran").exists()

    def test_a_supervisor_that_is_killed_before_it_is_ready_may_be_used_again(self) -> None:
        process = start(["sleep", "600"])
        process.destroy()
        process.wait_ended(100)
        assert process.wait(100) != 0
        assert supervisor.containment() == "tree"

    def test_no_descriptor_and_no_zombie_is_left(self) -> None:
        """In a process of its own: other tests have descriptors and children too."""
        done = in_own_process("""
            import os, time
            from ethos_registry.capabilities import start_supervised
            start_supervised(["true"]).wait_ended(100)
            before = len(os.listdir("/proc/self/fd"))
            for _ in range(5):
                process = start_supervised(["true"])
                process.wait_ended(100)
                process.detach()
            tasks = f"/proc/self/task/{os.getpid()}/children"
            deadline = time.monotonic() + 100
            while open(tasks).read() and time.monotonic() < deadline:
                time.sleep(0.01)
            print(repr(open(tasks).read()), len(os.listdir("/proc/self/fd")) <= before)
        """)
        assert done.stdout == "'' True\n"

    def test_the_host_itself_never_becomes_a_subreaper(self) -> None:
        start(["true"]).wait_ended(100)
        code = (
            "import ctypes\n"
            "from ethos_registry.capabilities import start_supervised\n"
            "start_supervised(['true']).wait_ended(100)\n"
            "value = ctypes.c_int(5)\n"
            "ctypes.CDLL(None).prctl(37, ctypes.byref(value), 0, 0, 0)\n"
            "print(value.value)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout == "0\n"


class TestWithoutASupervisor:
    @pytest.fixture
    def unsupervised(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(supervisor, "_is_unavailable", True)

    async def test_the_schema_the_result_and_the_level_say_so(
        self, folder: Path, unsupervised: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert supervisor.containment() == "group"
        for tool in (terminal_tool(), run_tests_tool()):
            described = tool.schema["properties"]["timeout_seconds"]["description"]
            assert "a process that left the group runs on" in described
        result = await terminal_tool().execute(
            {"command": "sleep 600", "timeout_seconds": 0.2}, ToolContext(working_dir=folder)
        )
        assert "Processes that left its process group may still be running." in result.error
        assert result.extra["may_still_run"] is True
        monkeypatch.setattr(supervisor, "_is_unavailable", False)
        described = terminal_tool().schema["properties"]["timeout_seconds"]["description"]
        assert "everything that it started is ended" in described
        ended = _run.ProcessEnd(None, timed_out=True)
        assert "may still" not in described_end(ended, 1.0, CommandPolicy())[0]

    def test_the_process_group_is_ended(self, folder: Path, unsupervised: None) -> None:
        process = start(["sh", "-c", "./sleeper 999 & wait"], directory=str(folder))
        assert isinstance(process, GroupProcess)
        process.wait_started()
        process.terminate(0.2)
        assert process.wait(100) == -signal.SIGTERM
        process.wait_ended(100)
        assert left_in(folder) == []

    async def test_a_supervisor_that_does_not_start_is_replaced_once_and_for_all(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(supervisor, "_START", "raise SystemExit(1)")
        monkeypatch.setattr(supervisor, "_is_unavailable", False)
        result = await terminal_tool().execute(
            {"command": "echo a"}, ToolContext(working_dir=folder)
        )
        assert result.value == "a\n"
        assert supervisor.containment() == "group"

    async def test_a_supervisor_that_hangs_is_killed_with_its_tree(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_run, "_TERMINATE_GRACE_SECONDS", 0.1)
        monkeypatch.setattr(_run, "_KILL_GRACE_SECONDS", 0.1)
        result = await terminal_tool().execute(
            {"command": "kill -STOP $PPID; sleep 600", "timeout_seconds": 0.5},
            ToolContext(working_dir=folder),
        )
        assert not result.ok
        assert eventually_nothing(folder) == []
