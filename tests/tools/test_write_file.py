from __future__ import annotations

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import ToolContext, ToolError, ToolOk
from ethos_registry.tools import (
    _folder,
    list_files_tool,
    patch_file_tool,
    read_file_tool,
    search_files_tool,
    write_file_tool,
)
from ethos_registry.types import AbortController, ReadMtime
from long_counts import counts
from memory_folder import memory_folder
from started import ended_with_test, no_descriptor_left

pytestmark = pytest.mark.privileges

READ, WRITE, PATCH = read_file_tool(), write_file_tool(), patch_file_tool()
RACER = Path(__file__).parents[1] / "file_racer.py"


def write(context: ToolContext, path: Any, content: Any) -> ToolOk:
    result = WRITE.execute({"path": path, "content": content}, context)
    assert isinstance(result, ToolOk), result
    return result


def refused(context: ToolContext, args: Any, tool: Any = WRITE) -> ToolError:
    result = tool.execute(args, context)
    assert isinstance(result, ToolError), result
    return result


def stale(context: ToolContext, path: str = "a.txt") -> str:
    """The refusal of both writers; neither has written."""
    texts = set()
    for tool, args in (
        (WRITE, {"path": path, "content": "mine"}),
        (PATCH, {"path": path, "old": "o", "new": "mine"}),
    ):
        error = refused(context, args, tool)
        assert error.code == "STALE_WRITE"
        texts.add(error.error)
    assert len(texts) == 1
    return texts.pop()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path.resolve() / "inside"
    inside.mkdir()
    (inside / "a.txt").write_text("one\ntwo\n")
    return inside


@pytest.fixture
def context(folder: Path) -> ToolContext:
    return ToolContext(working_dir=folder, read_mtimes={}, current_turn=3)


@pytest.fixture
def seen(context: ToolContext) -> ToolContext:
    """A context whose model has read a.txt."""
    assert READ.execute({"path": "a.txt"}, context).ok
    return context


def test_the_tool_is_plain_and_in_the_toolset_file() -> None:
    assert (WRITE.name, WRITE.toolset, WRITE.is_coroutine) == ("write_file", "file", False)
    assert not WRITE.idempotent


class TestContent:
    @pytest.mark.parametrize(
        ("content", "lines"),
        [("", 0), ("\n", 1), ("a", 1), ("a\r\nb", 2), ("\ufeffé\u2028x\n", 1), ("\0", 1)],
    )
    def test_is_written_as_it_is_and_counted(
        self, folder: Path, context: ToolContext, content: str, lines: int
    ) -> None:
        result = write(context, "new.txt", content)
        assert (folder / "new.txt").read_bytes() == content.encode()
        assert result.structured == {
            "path": str(folder / "new.txt"),
            "bytes": len(content.encode()),
            "created": True,
            "lines": lines,
        }

    def test_a_replaced_file_says_so_and_keeps_its_mode(
        self, folder: Path, context: ToolContext
    ) -> None:
        (folder / "a.txt").chmod(0o750)
        result = write(context, "a.txt", "x")
        assert result.value == "Replaced `a.txt`: 1 bytes, 1 lines."
        assert result.structured is not None
        assert result.structured["created"] is False
        assert stat.S_IMODE((folder / "a.txt").stat().st_mode) == 0o750

    def test_a_new_file_has_the_mode_that_the_umask_gives(
        self, folder: Path, context: ToolContext
    ) -> None:
        before = os.umask(0o027)
        try:
            write(context, "new.txt", "x")
        finally:
            os.umask(before)
        assert stat.S_IMODE((folder / "new.txt").stat().st_mode) == 0o640

    def test_missing_folders_are_made(self, folder: Path, context: ToolContext) -> None:
        result = write(context, "x/y/../z/new.txt", "deep")
        assert (folder / "x" / "z" / "new.txt").read_text() == "deep"
        assert result.value.startswith("Created `x/y/../z/new.txt`")

    def test_nothing_else_stays_in_the_folder(self, folder: Path, context: ToolContext) -> None:
        write(context, "a.txt", "x")
        refused(context, {"path": "a.txt", "old": "no", "new": "x"}, PATCH)
        assert os.listdir(folder) == ["a.txt"]

    @pytest.mark.parametrize(
        ("content", "text"),
        [
            (None, '`content` is missing; give the text, `""` for none'),
            (5, "`content` must be a string, got int"),
            ("ab\ud800", "`content` contains a lone surrogate at character 2"),
        ],
    )
    def test_what_is_no_text_is_refused(
        self, folder: Path, context: ToolContext, content: Any, text: str
    ) -> None:
        error = refused(context, {"path": "a.txt", "content": content})
        assert error.code == "input_invalid"
        assert error.error.startswith(text)
        assert (folder / "a.txt").read_text() == "one\ntwo\n"


class TestConfinement:
    def test_no_way_out_is_written_to_or_made(self, folder: Path, context: ToolContext) -> None:
        os.symlink("../secret.txt", folder / "file-link")
        os.symlink("../new.txt", folder / "dangling")
        os.symlink("..", folder / "folder-link")
        (folder.parent / "secret.txt").write_text("secret")
        before = sorted(os.listdir(folder.parent))
        for path in (
            "../secret.txt",
            "../other/new.txt",
            str(folder.parent / "new.txt"),
            "file-link",
            "dangling",
            "folder-link/new.txt",
        ):
            error = refused(context, {"path": path, "content": "x"})
            assert "is not below the working directory" in error.error, path
        assert sorted(os.listdir(folder.parent)) == before
        assert (folder.parent / "secret.txt").read_text() == "secret"

    def test_a_link_inside_leads_to_its_file_and_stays_a_link(
        self, folder: Path, context: ToolContext
    ) -> None:
        os.symlink("a.txt", folder / "link")
        write(context, "link", "x")
        assert (folder / "link").is_symlink()
        assert (folder / "a.txt").read_text() == "x"

    def test_a_folder_swapped_for_a_link_never_leads_outside(
        self, folder: Path, context: ToolContext
    ) -> None:
        outside = folder.parent / "outside"
        for place in (folder / "sub", outside):
            place.mkdir()
            (place / "a.txt").write_text("v")
        os.symlink(outside, folder / "trap")
        done = threading.Event()

        def swap() -> None:
            while not done.is_set():
                os.rename(folder / "sub", folder / "kept")
                os.rename(folder / "trap", folder / "sub")
                os.rename(folder / "sub", folder / "trap")
                os.rename(folder / "kept", folder / "sub")

        swapper = threading.Thread(target=swap)
        swapper.start()
        try:
            there = {"path": "sub/a.txt", "old": "v", "new": "w"}
            back = {"path": "sub/a.txt", "old": "w", "new": "v"}
            written, tried, end = 0, 0, time.monotonic() + 60
            # On a busy machine the folder may be gone at every try of the first hundreds.
            while tried < 600 or (written == 0 and time.monotonic() < end):
                written += PATCH.execute(there if tried % 2 == 0 else back, context).ok
                tried += 1
        finally:
            done.set()
            swapper.join()
        assert written
        assert os.listdir(outside) == ["a.txt"]
        assert (outside / "a.txt").read_text() == "v"

    def test_what_is_no_file_is_refused(self, folder: Path, context: ToolContext) -> None:
        (folder / "sub").mkdir()
        os.mkfifo(folder / "pipe")
        os.symlink("loop", folder / "loop")
        for path, text in (
            (".", "is a directory"),
            ("sub", "is a directory"),
            ("pipe", "is a pipe, socket or device"),
            ("a.txt/b", "a part of that path is a file"),
            ("x" * 300, "File name too long"),
        ):
            assert text in refused(context, {"path": path, "content": "x"}).error
        assert "link" in refused(context, {"path": "loop", "content": "x"}).error
        assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)

    def test_a_write_protected_file_is_not_replaced(
        self, folder: Path, context: ToolContext
    ) -> None:
        (folder / "a.txt").chmod(0o444)
        error = refused(context, {"path": "a.txt", "content": "x"})
        assert "is write-protected, so nothing was written; ask the user" in error.error
        assert (folder / "a.txt").read_text() == "one\ntwo\n"


class TestStale:
    CHANGED = (
        "`a.txt` was changed by someone else after it was read, so nothing was written; "
        "read it again with read_file, then redo the change on its new text"
    )

    def test_an_unchanged_file_is_written_again_and_again(
        self, folder: Path, seen: ToolContext
    ) -> None:
        for content in ("x", "y", "z"):
            write(seen, "a.txt", content)
        assert (folder / "a.txt").read_text() == "z"

    def test_a_changed_file_is_refused_until_it_is_read(
        self, folder: Path, seen: ToolContext
    ) -> None:
        (folder / "a.txt").write_text("two changed")
        assert stale(seen) == self.CHANGED
        assert (folder / "a.txt").read_text() == "two changed"
        assert READ.execute({"path": "a.txt"}, seen).ok
        write(seen, "a.txt", "mine")

    def test_a_change_that_keeps_size_inode_and_time_is_seen(
        self, folder: Path, seen: ToolContext
    ) -> None:
        before = (folder / "a.txt").stat()
        with open(folder / "a.txt", "r+") as file:
            file.write("ONE")
        os.utime(folder / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
        assert (folder / "a.txt").stat().st_ino == before.st_ino
        assert stale(seen) == self.CHANGED

    def test_a_file_replaced_by_its_equal_is_seen(self, folder: Path, seen: ToolContext) -> None:
        before = (folder / "a.txt").stat()
        (folder / "b.txt").write_text("one\ntwo\n")
        os.utime(folder / "b.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
        os.replace(folder / "b.txt", folder / "a.txt")
        assert stale(seen) == self.CHANGED

    def test_a_touched_file_is_refused_as_the_seed_says(
        self, folder: Path, seen: ToolContext
    ) -> None:
        os.utime(folder / "a.txt", ns=(0, 1))
        assert stale(seen) == self.CHANGED

    def test_a_deleted_file_is_refused_until_the_model_has_looked(
        self, folder: Path, seen: ToolContext
    ) -> None:
        (folder / "a.txt").unlink()
        assert "was deleted after it was read, so nothing was written; call read_file" in stale(
            seen
        )
        assert "no such file" in refused(seen, {"path": "a.txt"}, READ).error
        assert write(seen, "a.txt", "anew").structured["created"] is True  # type: ignore[index]

    def test_a_file_deleted_with_its_folder_does_not_bring_the_folder_back(
        self, folder: Path, context: ToolContext
    ) -> None:
        write(context, "sub/a.txt", "one")
        (folder / "sub" / "a.txt").unlink()
        (folder / "sub").rmdir()
        assert "was deleted" in stale(context, "sub/a.txt")
        assert not (folder / "sub").exists()

    def test_the_entry_is_renewed_and_carries_the_turn(
        self, folder: Path, seen: ToolContext
    ) -> None:
        later = seen.replace(current_turn=9)
        write(later, "a.txt", "x")
        mtime_ms = (folder / "a.txt").stat().st_mtime_ns / 1_000_000
        assert later.read_mtimes == {str(folder / "a.txt"): ReadMtime(mtime_ms, 9)}
        (folder / "a.txt").write_text("y")
        assert stale(later) == self.CHANGED

    def test_a_written_file_is_watched_though_it_was_never_read(
        self, folder: Path, context: ToolContext
    ) -> None:
        write(context, "new.txt", "x")
        (folder / "new.txt").write_text("y")
        assert stale(context, "new.txt")

    def test_without_a_map_or_an_entry_nothing_is_checked(
        self, folder: Path, context: ToolContext
    ) -> None:
        write(context, "a.txt", "x")
        unwatched = ToolContext(working_dir=folder)
        assert READ.execute({"path": "a.txt"}, unwatched).ok
        (folder / "a.txt").write_text("y")
        write(unwatched, "a.txt", "z")
        assert unwatched.read_mtimes is None

    def test_an_entry_from_the_wire_is_checked_by_its_time(
        self, folder: Path, seen: ToolContext
    ) -> None:
        travelled = ToolContext.from_wire(seen.to_wire())
        write(travelled, "a.txt", "x")
        travelled = ToolContext.from_wire(seen.to_wire())
        os.utime(folder / "a.txt", ns=(0, 5_000_000))
        assert stale(travelled) == self.CHANGED

    def test_a_file_over_10_mb_is_checked_without_its_content(
        self, folder: Path, context: ToolContext
    ) -> None:
        (folder / "big.txt").write_bytes(b"x" * 10_000_001)
        assert READ.execute({"path": "big.txt", "lineStart": 1}, context).ok is False
        (folder / "big.txt").write_bytes(b"x\n" * 5_000_001)
        assert READ.execute({"path": "big.txt", "lineEnd": 1}, context).ok
        write(context, "big.txt", "small")


class TestLock:
    def test_a_writer_waits_for_the_lock_of_another(
        self, folder: Path, context: ToolContext
    ) -> None:
        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        writer = threading.Thread(target=write, args=(context, "a.txt", "x"))
        try:
            writer.start()
            time.sleep(0.1)
            assert (folder / "a.txt").read_text() == "one\ntwo\n"
        finally:
            os.close(descriptor)
        writer.join(100)
        assert (folder / "a.txt").read_text() == "x"

    def test_an_abort_ends_the_wait_and_nothing_is_written(self, folder: Path) -> None:
        controller = AbortController()
        context = ToolContext(working_dir=folder, abort_signal=controller.signal)
        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        timer = threading.Timer(0.1, controller.abort)
        timer.start()
        try:
            error = refused(context, {"path": "a.txt", "content": "x"})
        finally:
            os.close(descriptor)
            timer.join()
        assert error.error == "nothing was written: the turn was aborted"
        assert refused(context, {"path": "a.txt", "content": "x"}).error == error.error
        assert (folder / "a.txt").read_text() == "one\ntwo\n"

    @pytest.mark.parametrize("has_lock", [True, False], ids=["flock", "no-flock"])
    def test_threads_do_not_lose_each_others_changes(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, has_lock: bool
    ) -> None:
        if not has_lock:  # as some network drives answer
            find = _folder.WorkingFiles.target
            monkeypatch.setattr(
                _folder.WorkingFiles,
                "target",
                lambda files, path, **options: _WithoutLock(find(files, path, **options)),
            )

        def count_up() -> None:
            context = ToolContext(working_dir=folder, read_mtimes={})
            for _ in range(50):
                while True:
                    text = READ.execute({"path": "n.txt"}, context)
                    assert isinstance(text, ToolOk)
                    args = {"path": "n.txt", "content": f"{int(text.value) + 1:04}"}
                    if WRITE.execute(args, context).ok:
                        break

        (folder / "n.txt").write_text("0000")
        threads = [threading.Thread(target=count_up) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (folder / "n.txt").read_text() == "0200"

    @counts("rounds", 250, 25_000)
    def test_processes_that_race_lose_nothing_and_tear_nothing(self, rounds: int) -> None:
        names = "abcd"
        with memory_folder() as folder:
            (folder / "counters.txt").write_text("".join(f"{name} 000000\n" for name in names))
            (folder / "lines.txt").write_text("end\n")
            command = [sys.executable, str(RACER), str(folder)]
            racers = [
                subprocess.Popen([*command, name, str(rounds)], stdout=subprocess.PIPE, text=True)
                for name in names
            ]
            with ended_with_test(*racers):
                while any(racer.poll() is None for racer in racers):
                    assert (folder / "lines.txt").read_text().endswith("end\n")
                    assert len((folder / "counters.txt").read_bytes()) == 9 * len(names)
                    time.sleep(0.01)
                refusals = sum(int(racer.communicate()[0] or 0) for racer in racers)
            counters = (folder / "counters.txt").read_text()
            lines = (folder / "lines.txt").read_text().splitlines()
            left = sorted(os.listdir(folder))
        assert [racer.returncode for racer in racers] == [0] * len(names)
        assert refusals > 0, "nobody was ever in another's way"
        assert left == ["counters.txt", "lines.txt"]
        assert counters == "".join(f"{name} {rounds // 2:06}\n" for name in names)
        assert lines.pop() == "end"
        wanted = [f"{name}-{number}" for name in names for number in range(1, rounds, 2)]
        assert sorted(lines) == sorted(wanted)


def test_no_descriptor_stays_open(folder: Path, context: ToolContext) -> None:
    with no_descriptor_left():
        for path in ("a.txt", "x/y/new.txt", "a.txt/b", ".", "../no"):
            WRITE.execute({"path": path, "content": "x"}, context)
            PATCH.execute({"path": path, "old": "x", "new": "y"}, context)


class _WithoutLock:
    """A target in a folder that has no lock."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def lock(self) -> bool:
        raise OSError(errno.ENOLCK, "No locks available")


KILLED_WRITER = """
import resource, signal
from pathlib import Path
from ethos_registry import ToolContext
from ethos_registry.tools import write_file_tool

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # the system kills a process that writes more
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
write_file_tool().execute(
    {"path": "secret", "content": "new secret and more"}, ToolContext(working_dir=Path.cwd())
)
"""


class TestAWriterThatWasKilled:
    @pytest.fixture
    def killed(self, folder: Path) -> Path:
        (folder / "secret").write_text("old secret")
        (folder / "secret").chmod(0o640)
        done = subprocess.run([sys.executable, "-c", KILLED_WRITER], cwd=folder, check=False)
        assert done.returncode == -signal.SIGXFSZ
        [left] = [path for path in folder.iterdir() if path.name.endswith(".tmp")]
        return left

    def test_leaves_a_temporary_that_only_the_owner_may_read(self, killed: Path) -> None:
        assert killed.read_text() == "new secret"[:10]
        assert stat.S_IMODE(killed.stat().st_mode) == 0o600

    def test_leaves_nothing_that_tools_show(
        self, folder: Path, killed: Path, context: ToolContext
    ) -> None:
        assert ".tmp" not in list_files_tool().execute({}, context).value
        found = search_files_tool().execute({"pattern": "new secret"}, context)
        assert found.structured["matches"] == 0

    def test_leaves_nothing_after_the_next_write_in_the_folder(
        self, folder: Path, killed: Path, context: ToolContext
    ) -> None:
        assert write_file_tool().execute({"path": "other", "content": "x"}, context).ok
        assert {path.name for path in folder.iterdir()} == {"a.txt", "secret", "other"}


@pytest.mark.parametrize(
    "path", ["~/.bashrc", "~", "~root/x", "$HOME/.bashrc", "${HOME}/x", "%TEMP%/x"]
)
def test_a_name_that_a_shell_would_expand_is_refused_and_not_created(
    folder: Path, context: ToolContext, path: str
) -> None:
    result = write_file_tool().execute({"path": path, "content": "x"}, context)
    assert result.code == "input_invalid"
    assert "is not expanded" in result.error
    assert [path.name for path in folder.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("path", ["./~/notes", "~$draft.docx", "a~", "$price.txt", "~old"])
def test_a_name_with_a_tilde_or_a_dollar_can_be_written(
    folder: Path, context: ToolContext, path: str
) -> None:
    assert write_file_tool().execute({"path": path, "content": "x"}, context).ok
    assert (folder / path).read_text() == "x"
