from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import ConfigError, ToolContext, ToolError, ToolOk, ToolResult
from ethos_registry.capabilities import _run
from ethos_registry.tools import terminal_tool
from ethos_registry.tools._command import BoundedOutput, OutputProgress
from ethos_registry.types import ToolProgressEvent
from session_tools import until
from started import no_descriptor_left

pytestmark = pytest.mark.privileges

TOOL = terminal_tool()


async def run(folder: Path, command: Any, *, tool: Any = TOOL, **args: Any) -> ToolResult:
    return await tool.execute({"command": command} | args, ToolContext(working_dir=folder))


async def succeeded(folder: Path, command: str, **args: Any) -> ToolOk:
    result = await run(folder, command, **args)
    assert isinstance(result, ToolOk), result
    return result


async def failed(folder: Path, command: Any, **args: Any) -> ToolError:
    result = await run(folder, command, **args)
    assert isinstance(result, ToolError), result
    return result


def running_in(folder: Path) -> list[psutil.Process]:
    """Processes whose working directory is the folder: what a command has left behind."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.cwd() == str(folder):
                found.append(process)
        except psutil.Error:
            continue
    return found


def exists(path: Path) -> bool:
    return path.exists()


async def wait_for(path: Path) -> None:
    await until(lambda: exists(path))


async def gone(folder: Path) -> None:
    """Wait until nothing runs there: a process that was killed needs a processor to end."""
    await until(lambda: not running_in(folder))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    # On a busy machine a process may need long to end: here it is awaited as long as that takes.
    monkeypatch.setattr(_run, "_KILL_GRACE_SECONDS", 100.0)
    real = tmp_path.resolve()
    yield real
    for process in running_in(real):
        process.kill()


def test_the_tool_is_a_coroutine_and_untrusted() -> None:
    assert (TOOL.name, TOOL.toolset) == ("terminal", "terminal")
    assert TOOL.output_is_untrusted
    assert TOOL.is_coroutine
    assert not TOOL.idempotent


def test_the_registrys_clock_comes_after_the_longest_timeout() -> None:
    assert TOOL.timeout_seconds is not None
    assert TOOL.timeout_seconds > TOOL.schema["properties"]["timeout_seconds"]["maximum"]


def test_settings_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(ConfigError, match="max_output_bytes"):
        terminal_tool(max_output_bytes=0)
    with pytest.raises(ConfigError, match="default_timeout_seconds"):
        terminal_tool(default_timeout_seconds=float("inf"))
    for wrong in (["sh"], "", "sh\0"):
        with pytest.raises(ConfigError, match="`shell` must be a path: "):
            terminal_tool(shell=wrong)


class TestEndings:
    async def test_success_has_the_output_as_it_is(self, folder: Path) -> None:
        result = await succeeded(folder, r"printf ' M a.ts\r\n\n  x  \n\n'")
        assert result.value == " M a.ts\r\n\n  x  \n\n"
        assert result.structured == {"exit_code": 0}

    async def test_a_silent_command_gives_an_empty_text(self, folder: Path) -> None:
        assert (await succeeded(folder, "true")).value == ""

    async def test_a_status_other_than_zero_is_an_error_with_the_output(self, folder: Path) -> None:
        result = await failed(folder, "echo out; exit 3")
        assert result.error == "Command exited with code 3.\nout\n"
        assert result.code == "execution_failed"
        assert result.extra == {"exit_code": 3}

    async def test_exit_300_is_44(self, folder: Path) -> None:
        assert (await failed(folder, "exit 300")).extra == {"exit_code": 44}

    async def test_death_by_signal_is_named(self, folder: Path) -> None:
        result = await failed(folder, "echo out; kill -KILL $$")
        assert result.error == "Command was killed by signal SIGKILL (9).\nout\n"
        assert result.extra == {"exit_code": -9}

    async def test_a_real_time_signal_without_a_name_is_numbered(self, folder: Path) -> None:
        result = await failed(folder, "kill -40 $$")
        assert result.error == "Command was killed by signal number (40).\n"

    async def test_output_and_errors_are_one_text_in_order(self, folder: Path) -> None:
        result = await succeeded(folder, "echo 1; echo 2 >&2; echo 3; echo 4 >&2")
        assert result.value == "1\n2\n3\n4\n"

    async def test_output_without_a_line_end_is_whole(self, folder: Path) -> None:
        assert (await succeeded(folder, "printf abc")).value == "abc"

    async def test_binary_output_becomes_replacements(self, folder: Path) -> None:
        result = await succeeded(folder, r"printf 'a\377\000\303\251\303'")
        assert result.value == "a\ufffd\0é\ufffd"

    async def test_a_character_in_two_writes_stays_whole(self, folder: Path) -> None:
        result = await succeeded(folder, r"printf '\303'; sleep 0.05; printf '\251'")
        assert result.value == "é"

    async def test_a_command_that_closes_its_output_is_still_awaited(self, folder: Path) -> None:
        result = await failed(folder, "exec >&- 2>&-; sleep 0.3; touch done; exit 3")
        assert result.extra == {"exit_code": 3}
        assert (folder / "done").exists()

    async def test_there_is_no_input(self, folder: Path) -> None:
        assert (await succeeded(folder, "cat; echo end")).value == "end\n"


class TestEnvironment:
    async def test_has_no_pager_prompt_or_colour(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("OUR_OWN", "kept")
        names = (
            "$GIT_PAGER $PAGER $TERM $GIT_TERMINAL_PROMPT $NO_COLOR ${FORCE_COLOR-unset} $OUR_OWN"
        )
        assert (await succeeded(folder, f"echo {names}")).value == "cat cat dumb 0 1 unset kept\n"

    async def test_a_shell_of_ones_own_runs_the_command(self, folder: Path) -> None:
        tool = terminal_tool(shell=sys.executable)
        assert (await succeeded(folder, "print(6 * 7)", tool=tool)).value == "42\n"

    async def test_a_shell_that_is_not_there_is_named(self, folder: Path) -> None:
        result = await failed(folder, "ls", tool=terminal_tool(shell="/no/shell"))
        assert result.error == "`/no/shell` could not be started: No such file or directory"
        assert result.code == "execution_failed"


class TestFolder:
    async def test_is_the_working_directory_or_one_below(self, folder: Path) -> None:
        (folder / "sub").mkdir()
        assert (await succeeded(folder, "pwd")).value == f"{folder}\n"
        assert (await succeeded(folder, "pwd", cwd="sub")).value == f"{folder}/sub\n"

    async def test_outside_is_refused(self, folder: Path) -> None:
        os.symlink("..", folder / "link")
        for cwd in ("..", "/", "link", "a\0b"):
            result = await failed(folder, "touch ran", cwd=cwd)
            assert result.code == "input_invalid"
            assert "is not below the working directory" in result.error
        assert not (folder / "ran").exists()

    async def test_one_that_is_missing_or_a_file_is_refused(self, folder: Path) -> None:
        (folder / "file").touch()
        for cwd in ("missing", "file"):
            result = await failed(folder, "ls", cwd=cwd)
            assert result.error == f"`cwd` `{cwd}` is not a folder in the working directory"

    async def test_a_working_directory_that_is_gone_says_so(self, folder: Path) -> None:
        result = await failed(folder / "gone", "ls")
        assert result.error == f"the working directory does not exist: `{folder}/gone`"
        assert result.code == "execution_failed"


class TestArguments:
    @pytest.mark.parametrize("command", ["", "  \n", None, 5, ["ls"], "a\0b", "echo \ud800"])
    async def test_a_command_that_is_none_is_invalid(self, folder: Path, command: Any) -> None:
        assert (await failed(folder, command)).code == "input_invalid"

    @pytest.mark.parametrize("wrong", [0, -1, 3_601, True, "soon", float("nan"), float("inf")])
    async def test_a_timeout_out_of_range_is_invalid(self, folder: Path, wrong: Any) -> None:
        result = await failed(folder, "touch ran", timeout_seconds=wrong)
        assert result.code == "input_invalid"
        assert "must be a number over 0 and up to 3600" in result.error
        assert not (folder / "ran").exists()

    async def test_a_timeout_may_be_a_string_of_digits(self, folder: Path) -> None:
        assert (await succeeded(folder, "echo a", timeout_seconds="2.5")).value == "a\n"

    async def test_an_unknown_argument_is_refused(self, folder: Path) -> None:
        result = await failed(folder, "ls", timeout=5)
        assert result.error == (
            "terminal has no argument `timeout`; it takes command, timeout_seconds, cwd"
        )

    async def test_a_command_longer_than_the_system_takes_says_what_to_do(
        self, folder: Path
    ) -> None:
        result = await failed(folder, "echo " + "a" * 200_000)
        assert result.error == "`command` is too long; write it to a file and run that"


class TestBackground:
    async def test_a_process_that_holds_the_pipe_does_not_delay_the_end(self, folder: Path) -> None:
        result = await succeeded(folder, "sleep 600 & echo started")
        assert result.value == "started\n"
        assert running_in(folder)

    async def test_what_is_written_shortly_after_the_end_is_there(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_run, "_PIPE_GRACE_SECONDS", 100.0)
        result = await succeeded(folder, "(sleep 0.1; echo late) & echo early")
        assert result.value == "early\nlate\n"

    async def test_an_endless_writer_in_the_background_is_let_go(self, folder: Path) -> None:
        writer = "(echo y; touch written; exec yes) &"
        result = await succeeded(folder, f"{writer} until [ -e written ]; do sleep 0.01; done")
        assert result.value.startswith("y\n")
        await gone(folder)  # its pipe is closed


class TestTimeout:
    async def out_of_time(self, folder: Path, command: str) -> tuple[float, ToolError]:
        """Seconds that the command had, enough to write the file `begun`, and its error."""
        for seconds in (0.3, 3.0, 30.0):
            result = await failed(folder, command, timeout_seconds=seconds)
            if exists(folder / "begun"):
                break
        return seconds, result

    async def test_gives_the_output_so_far(self, folder: Path) -> None:
        started = time.perf_counter()
        seconds, result = await self.out_of_time(folder, "echo so far; touch begun; sleep 600")
        assert result.error == f"Command was killed after {seconds:g} s: time was up.\nso far\n"
        assert result.code == "execution_failed"
        assert result.extra == {"exit_code": None, "timed_out": True}
        assert time.perf_counter() - started >= seconds
        assert running_in(folder) == []

    async def test_a_process_may_clean_up_at_sigterm(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_run, "_TERMINATE_GRACE_SECONDS", 100.0)
        trap = "trap 'echo tidy; touch tidied; exit 0' TERM"
        command = f"{trap}; echo on; touch begun; sleep 600 & wait"
        _, result = await self.out_of_time(folder, command)
        assert result.extra["timed_out"] is True
        assert (folder / "tidied").exists()
        assert result.error.endswith(".\non\ntidy\n"), "the trap must run once"

    async def test_a_process_that_ignores_sigterm_is_killed(self, folder: Path) -> None:
        command = "trap '' TERM; touch begun; while :; do sleep 0.05; done"
        _, result = await self.out_of_time(folder, command)
        assert result.extra["timed_out"] is True
        assert running_in(folder) == []

    async def test_the_default_is_the_tools(self, folder: Path) -> None:
        result = await failed(folder, "sleep 600", tool=terminal_tool(default_timeout_seconds=0.1))
        assert result.error.startswith("Command was killed after 0.1 s")

    async def test_ends_endless_output(self, folder: Path) -> None:
        result = await failed(folder, "yes", timeout_seconds=0.1)
        assert result.extra["timed_out"] is True
        assert running_in(folder) == []


TREES = {
    "a child": "sleep 600; true",
    "a background process": "sleep 600 & wait",
    "a process group of its own": "timeout 600 sleep 600; true",
    "job control": "set -m; sleep 600 & wait",
    "a session of its own": "setsid --wait sleep 600; true",
    "one that ignores SIGTERM": "trap '' TERM; (while :; do sleep 0.05; done) & wait",
    "a pipeline": "yes | cat >/dev/null; true",
    "a stopped process": "sleep 600 & kill -STOP $!; wait",
    "no output": "exec >&- 2>&-; sleep 600; true",
}


LATE = "until [ -e cancelled ]; do sleep 0.05; done; touch late"


class TestCancellation:
    @pytest.mark.parametrize("tree", TREES)
    async def test_leaves_nothing_running(self, folder: Path, tree: str) -> None:
        command = f"touch started; {TREES[tree]}"
        task = asyncio.ensure_future(run(folder, command))
        await wait_for(folder / "started")
        await asyncio.sleep(0.05)
        assert running_in(folder)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert running_in(folder) == []

    async def test_a_grandchild_never_gets_to_write_its_file(self, folder: Path) -> None:
        task = asyncio.ensure_future(run(folder, f"touch started; ({LATE}) & wait"))
        await wait_for(folder / "started")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (folder / "cancelled").touch()
        await asyncio.sleep(0.3)
        assert not (folder / "late").exists()

    @pytest.mark.parametrize("steps", range(5))
    async def test_in_the_middle_of_the_start_leaves_nothing(
        self, folder: Path, steps: int
    ) -> None:
        task = asyncio.ensure_future(run(folder, f"({LATE}) & sleep 600"))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert running_in(folder) == []
        (folder / "cancelled").touch()
        await asyncio.sleep(0.3)
        assert not (folder / "late").exists()

    async def test_twice_kills_at_once(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_run, "_TERMINATE_GRACE_SECONDS", 600.0)
        command = "trap '' TERM; touch started; while :; do sleep 0.05; done"
        task = asyncio.ensure_future(run(folder, command))
        await wait_for(folder / "started")
        task.cancel()
        await asyncio.sleep(0.1)
        assert running_in(folder)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await gone(folder)

    async def test_while_the_pipe_is_drained_ends_the_background_too(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_run, "_PIPE_GRACE_SECONDS", 600.0)
        task = asyncio.ensure_future(run(folder, "sleep 600 & touch started"))
        await wait_for(folder / "started")
        await asyncio.sleep(0.08)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert running_in(folder) == []

    async def test_of_one_call_leaves_the_others_alone(self, folder: Path) -> None:
        others = [asyncio.ensure_future(run(folder, f"sleep 0.2; echo {i}")) for i in range(3)]
        task = asyncio.ensure_future(run(folder, "touch started; sleep 600"))
        await wait_for(folder / "started")
        task.cancel()
        results = await asyncio.gather(*others, task, return_exceptions=True)
        assert [getattr(result, "text", None) for result in results] == ["0\n", "1\n", "2\n", None]

    @pytest.mark.parametrize("steps", [1, 2, 3, 4, None])
    def test_a_coroutine_that_is_thrown_away_leaves_nothing(
        self, folder: Path, steps: int | None
    ) -> None:
        loop = asyncio.new_event_loop()

        async def steps_over() -> None:
            for _ in range(steps or 0):
                await asyncio.sleep(0)
            if steps is None:
                await wait_for(folder / "started")
                await asyncio.sleep(0.05)

        try:
            execution: Any = run(folder, "touch started; sleep 600 & wait")
            task = loop.create_task(execution)
            loop.run_until_complete(steps_over())
            execution.close()
            loop.run_until_complete(asyncio.sleep(0.05))
            loop.run_until_complete(gone(folder))
            task.cancel()
            with pytest.raises(RuntimeError, match="cannot reuse"):
                loop.run_until_complete(task)
        finally:
            loop.close()


class TestLoops:
    def test_a_loop_in_another_thread_runs_commands(self, folder: Path) -> None:
        texts: list[str] = []

        def other_thread() -> None:
            texts.append(asyncio.run(run(folder, "echo there")).text)

        thread = threading.Thread(target=other_thread)
        thread.start()
        thread.join()
        assert texts == ["there\n"]

    def test_a_loop_that_ends_right_after_leaves_no_warning_and_no_descriptor(
        self, folder: Path
    ) -> None:
        asyncio.run(run(folder, "true"))
        with no_descriptor_left():
            for command in ("echo a", "sleep 600 & true", "exit 1"):
                asyncio.run(run(folder, command))
            asyncio.run(run(folder, "sleep 600", timeout_seconds=0.05))

    def test_the_interpreter_ends_clean_in_development_mode(self, folder: Path) -> None:
        script = (
            "import asyncio, os\n"
            "from ethos_registry import ToolContext\n"
            "from ethos_registry.capabilities import _run as process\n"
            "from ethos_registry.tools import terminal_tool\n"
            "process._KILL_GRACE_SECONDS = 100\n"
            "async def main():\n"
            "    asyncio.get_running_loop().slow_callback_duration = 600\n"
            "    task = asyncio.ensure_future(terminal_tool().execute(\n"
            "        {'command': 'touch started; sleep 600'}, ToolContext()))\n"
            "    while not os.path.exists('started'):\n"
            "        await asyncio.sleep(0.01)\n"
            "asyncio.run(main(), debug=True)\n"
        )
        ended = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "error", "-c", script],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
        assert running_in(folder) == []

    def test_a_loop_that_ends_while_a_program_starts_ends_at_once(self, folder: Path) -> None:
        script = (
            "import asyncio\n"
            "from ethos_registry import ToolContext\n"
            "from ethos_registry.tools import terminal_tool\n"
            "async def main(steps):\n"
            # A busy machine is no fault: what takes a tenth of a second is told as slow.
            "    asyncio.get_running_loop().slow_callback_duration = 60\n"
            "    asyncio.ensure_future(\n"
            "        terminal_tool().execute({'command': 'sleep 600'}, ToolContext()))\n"
            "    for _ in range(steps):\n"
            "        await asyncio.sleep(0)\n"
            "for steps in range(8):\n"
            "    asyncio.run(main(steps))\n"
        )
        ended = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "error", "-c", script],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
        assert running_in(folder) == []

    def test_where_nobody_may_wait_for_children_no_command_is_a_success(self, folder: Path) -> None:
        script = (
            "import asyncio, signal\n"
            "from ethos_registry import ToolContext\n"
            "from ethos_registry.tools import terminal_tool\n"
            "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
            "async def main():\n"
            "    asyncio.get_running_loop().slow_callback_duration = 600\n"
            "    tool = terminal_tool(shell='/bin/sh')\n"
            "    return await tool.execute({'command': 'echo a; exit 3'}, ToolContext())\n"
            "result = asyncio.run(main())\n"
            "print(result.ok, result.text)\n"
        )
        ended = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "error", "-c", script],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout == "False Command exited with code 3.\na\n\n"

    def test_a_loop_that_cannot_watch_pipes_hears_all(self, folder: Path) -> None:
        class Unwatching(asyncio.SelectorEventLoop):
            def add_reader(self, fd: Any, *rest: Any) -> None:
                if fd != self._ssock.fileno():  # its own, by which threads wake it
                    raise NotImplementedError
                super().add_reader(fd, *rest)

        with asyncio.Runner(loop_factory=Unwatching) as runner:
            text = runner.run(run(folder, "seq 100000; exit 0")).text
            assert len(text) == sum(len(str(number)) + 1 for number in range(1, 100_001))
            runner.run(run(folder, "yes", timeout_seconds=0.2))
            assert runner.run(run(folder, "sleep 600 & echo a")).text == "a\n"

    async def test_many_commands_run_at_once(self, folder: Path) -> None:
        wait_for_all = "while set -- begun*; [ $# -lt 20 ]; do sleep 0.05; done"
        commands = (f"touch begun{i}; {wait_for_all}; echo {i}" for i in range(20))
        results = await asyncio.gather(*(run(folder, command) for command in commands))
        assert [result.text for result in results] == [f"{i}\n" for i in range(20)]


class TestBounds:
    async def test_100_mb_keep_head_and_tail_in_bounded_memory(self, folder: Path) -> None:
        command = "echo first; head -c 100M /dev/zero | tr '\\0' x | fold -w 99; echo; echo last"
        await succeeded(folder, "true")
        tracemalloc.start()
        try:
            result = await succeeded(folder, command)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 10_000_000, f"{peak:,} bytes at the peak"
        assert result.value.startswith("first\nxxx")
        assert result.value.endswith("x\nlast\n")
        assert len(result.value) < 1024 * 1024 + 100
        assert result.structured is not None
        note = f"\n[... {result.structured['dropped_bytes']:,} bytes ("
        assert result.value.count(note) == 1

    async def test_what_fits_exactly_is_whole(self, folder: Path) -> None:
        tool = terminal_tool(max_output_bytes=10)
        assert (await succeeded(folder, "printf 0123456789", tool=tool)).value == "0123456789"
        result = await succeeded(folder, "printf '01\\n3456789\\nb\\n'", tool=tool)
        assert result.value == "01\n[... 8 bytes (1 line ends) of output are left out ...]\nb\n"

    @given(
        pieces=st.lists(st.text(st.sampled_from("aé😀\n\r"), max_size=9).map(str.encode)),
        max_bytes=st.integers(1, 40),
    )
    def test_head_and_tail_are_ends_of_the_output_and_the_note_is_true(
        self, pieces: list[bytes], max_bytes: int
    ) -> None:
        output = BoundedOutput(max_bytes)
        for piece in pieces:
            output.add(piece)
        whole = b"".join(pieces).decode()
        text, dropped = output.text()
        if len(whole.encode()) <= max_bytes:
            assert (text, dropped) == (whole, 0)
            return
        head, _, rest = text.partition("[... ")
        note, _, tail = rest.partition(" ...]\n")
        assert "\ufffd" not in text
        assert whole.endswith(tail)
        kept_bytes = len(whole.encode()) - dropped
        assert kept_bytes <= max_bytes
        if len((head + tail).encode()) != kept_bytes:  # the note was put on a line of its own
            assert head.endswith("\n")
            head = head[:-1]
        assert whole.startswith(head)
        assert len((head + tail).encode()) == kept_bytes
        lines = whole.count("\n") - head.count("\n") - tail.count("\n")
        assert note == f"{dropped:,} bytes ({lines:,} line ends) of output are left out"


UNTIL_SEEN = "until [ -e seen ]; do sleep 0.02; done"


class TestProgress:
    async def events(self, folder: Path, command: str) -> list[tuple[float, ToolProgressEvent]]:
        """What a command reports, and when; the file `seen` is there after the first event."""
        seen: list[tuple[float, ToolProgressEvent]] = []
        started = time.perf_counter()

        def emit(event: ToolProgressEvent) -> None:
            seen.append((time.perf_counter() - started, event))
            (folder / "seen").touch()

        await TOOL.execute({"command": command}, ToolContext(working_dir=folder, emit=emit))
        return seen

    async def test_lines_reach_the_user_while_the_command_runs(self, folder: Path) -> None:
        seen = await self.events(folder, rf"printf 'one\ntwo\n'; {UNTIL_SEEN}; echo three")
        assert [event.message for _, event in seen] == ["one\ntwo", "three"]
        assert {event.audience for _, event in seen} == {"user"}

    async def test_an_unfinished_line_is_held_a_while_then_shown(self, folder: Path) -> None:
        seen = await self.events(folder, rf"printf 'Password: '; {UNTIL_SEEN}; printf '\nnext\n'")
        assert [event.message for _, event in seen] == ["Password: ", "\nnext"]
        assert seen[0][0] > 0.4

    async def test_a_flood_is_at_most_ten_events_a_second_of_2000_characters(
        self, folder: Path
    ) -> None:
        seen = await self.events(folder, "timeout 1 yes 'a line of some length'; true")
        assert 2 <= len(seen) <= seen[-1][0] / 0.1 + 2
        assert all(len(event.message) <= 2_000 for _, event in seen)
        assert seen[0][1].message.endswith("\na line of some length")

    async def test_nothing_is_reported_after_the_end_or_after_cancellation(
        self, folder: Path
    ) -> None:
        seen: list[ToolProgressEvent] = []
        context = ToolContext(working_dir=folder, emit=seen.append)
        ticks = "(while :; do echo tick; touch ticked; sleep 0.02; done) &"
        command = f"{ticks} until [ -e ticked ]; do sleep 0.02; done"
        await TOOL.execute({"command": command}, context)
        count = len(seen)
        task = asyncio.ensure_future(TOOL.execute({"command": "yes"}, context))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert count >= 1
        after = len(seen)
        await asyncio.sleep(0.3)
        assert len(seen) == after

    async def test_a_character_in_two_pieces_stays_whole_in_a_report(self) -> None:
        seen: list[str] = []
        progress = OutputProgress(seen.append)
        progress.add(b"caf\xc3")
        await until(lambda: seen)
        progress.add(b"\xa9")
        progress.finish()
        assert seen == ["caf", "é"]
