from __future__ import annotations

import fnmatch
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import ToolContext, ToolError, ToolOk
from ethos_registry.tools import list_files_tool
from ethos_registry.tools._arguments import RefusalError
from ethos_registry.tools._folder import WorkingFiles
from ethos_registry.tools._list_files import Glob, Walk
from ethos_registry.types import AbortController
from started import no_descriptor_left

TOOL = list_files_tool()


def listed(folder: Path, *, tool: Any = TOOL, **args: Any) -> ToolOk:
    result = tool.execute(args, ToolContext(working_dir=folder))
    assert isinstance(result, ToolOk), result
    return result


def lines(folder: Path, **args: Any) -> list[str]:
    return listed(folder, **args).value.splitlines()


def refused(folder: Path, **args: Any) -> str:
    result = TOOL.execute(args, ToolContext(working_dir=folder))
    assert isinstance(result, ToolError), result
    return result.error


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path.resolve() / "inside"
    for name in ("src/app/deep/deeper", ".git/objects", "empty"):
        (inside / name).mkdir(parents=True)
    for name in ("b.py", "Z.txt", "src/a.py", "src/app/x.ts", "src/app/deep/y.py", ".git/HEAD"):
        (inside / name).touch()
    return inside


def test_the_tool_is_plain_idempotent_and_untrusted() -> None:
    assert (TOOL.name, TOOL.toolset, TOOL.is_coroutine) == ("list_files", "file", False)
    assert TOOL.idempotent
    assert TOOL.output_is_untrusted


class TestListing:
    def test_two_levels_are_listed_in_code_point_order(self, folder: Path) -> None:
        result = listed(folder)
        assert result.value.splitlines() == [
            ".git/ (not entered)",
            "Z.txt",
            "b.py",
            "empty/",
            "src/",
            "src/a.py",
            "src/app/",
        ]
        assert result.structured == {
            "path": str(folder),
            "files": 3,
            "folders": 4,
            "truncated": False,
        }

    def test_a_folder_and_a_depth_may_be_given(self, folder: Path) -> None:
        assert lines(folder, path="src", depth=1) == ["src/a.py", "src/app/"]
        assert lines(folder, path="src/../src", depth="9")[-1] == "src/app/x.ts"
        assert lines(folder, path=".git", depth=1) == [".git/HEAD", ".git/objects/"]

    def test_a_pattern_goes_all_the_way_down(self, folder: Path) -> None:
        assert lines(folder, pattern="*.py") == ["b.py", "src/a.py", "src/app/deep/y.py"]
        assert lines(folder, pattern="src/**/*.{ts,py}") == [
            "src/a.py",
            "src/app/deep/y.py",
            "src/app/x.ts",
        ]
        assert lines(folder, path="src", pattern="app/*") == ["src/app/deep/", "src/app/x.ts"]
        assert lines(folder, path="src", pattern="src/app/*.ts") == ["src/app/x.ts"]
        assert lines(folder, pattern="*.py", depth=1) == ["b.py"]

    def test_nothing_says_so(self, folder: Path) -> None:
        assert lines(folder, path="empty") == ["No entries in `empty`."]
        assert lines(folder, pattern="*.rs") == ["Nothing matches in `.`."]

    def test_more_than_the_limit_says_so(self, folder: Path) -> None:
        result = listed(folder, tool=list_files_tool(max_entries=2))
        assert result.value.splitlines() == [
            ".git/ (not entered)",
            "Z.txt",
            "[... there is more than these 2 entries: give a deeper path or a pattern ...]",
        ]
        assert result.structured is not None
        assert result.structured["truncated"] is True
        assert "there is more" not in listed(folder, tool=list_files_tool(max_entries=7)).value

    def test_names_of_others_cannot_add_lines(self, folder: Path) -> None:
        (folder / "empty" / "a\nb").touch()
        os.close(os.open(os.fsencode(folder / "empty") + b"/\xff", os.O_CREAT))
        assert lines(folder, path="empty") == [r"empty/a\nb", r"empty/\udcff"]

    def test_the_time_is_bounded(self, folder: Path) -> None:
        files = WorkingFiles(ToolContext(working_dir=folder))
        walk = Walk(files, ToolContext().abort_signal, max_seconds=0)
        assert list(walk.below(*files.names("."))) == []
        assert walk.is_cut

    def test_an_aborted_turn_ends_the_walk(self, folder: Path) -> None:
        controller = AbortController()
        controller.abort()
        context = ToolContext(working_dir=folder, abort_signal=controller.signal)
        assert TOOL.execute({}, context).text == "stopped: the turn was aborted"

    def test_deep_trees_leave_no_descriptor_open(self, folder: Path) -> None:
        (folder / "/".join("x" * 100)).mkdir(parents=True)
        with no_descriptor_left():
            assert len(lines(folder, pattern="x")) == 64
            listed(folder, tool=list_files_tool(max_entries=1), depth=80)


class TestConfinement:
    def test_links_are_named_and_never_followed(self, folder: Path) -> None:
        (folder.parent / "secret.txt").touch()
        os.symlink("..", folder / "empty" / "out")
        os.symlink("../src", folder / "empty" / "in")
        assert lines(folder, path="empty", depth=5) == ["empty/in (link)", "empty/out (link)"]

    def test_a_way_out_is_refused(self, folder: Path) -> None:
        os.symlink("..", folder / "out")
        for path in ("..", "out", "/", "src/../.."):
            assert "is not below the working directory" in refused(folder, path=path)

    def test_what_is_no_folder_says_so(self, folder: Path) -> None:
        assert refused(folder, path="b.py") == "`b.py` is a file, not a folder; read_file reads it"
        assert refused(folder, path="srcc") == "no such file: `srcc`; similar: `src`"

    def test_arguments_that_do_not_fit_are_named(self, folder: Path) -> None:
        assert "`depth` must be a whole number >= 1" in refused(folder, depth=0)
        assert "has no argument `recursive`" in refused(folder, recursive=True)


class TestGlob:
    @pytest.mark.parametrize(
        ("glob", "path", "fits"),
        [
            ("*.py", "a/b/c.py", True),
            ("./*.py", "c.py", True),
            ("a/*.py", "a/b/c.py", False),
            ("**", "a/b", True),
            ("**/c.py", "c.py", True),
            ("a/**/c.py", "a/c.py", True),
            ("a/**/b/**/c", "a/x/b/y/z/c", True),
            ("a/**/b/**/c", "a/x/y/c", False),
            ("a/**", "b/a/x", False),
            ("{a,b}/*.{x,y}", "b/1.y", True),
            ("{a,b{c,d}}.x", "bd.x", True),
            ("{a", "{a", True),
            ("a}", "a}", True),
            ("[!a].py", "b.py", True),
            ("A.py", "a.py", False),
        ],
    )
    def test_means_what_shells_mean(self, glob: str, path: str, fits: bool) -> None:
        assert Glob(glob).matches(path) is fits

    @given(st.text("ab*?/", min_size=1, max_size=8), st.text("ab/", min_size=1, max_size=8))
    def test_is_fnmatch_name_by_name(self, glob: str, path: str) -> None:
        patterns = [name for name in glob.split("/") if name]
        names = [name for name in path.split("/") if name]
        if "**" in patterns or not names or "/" not in glob.rstrip("/"):
            return
        expected = len(patterns) == len(names) and all(map(fnmatch.fnmatchcase, names, patterns))
        assert Glob(glob).matches("/".join(names)) is expected

    def test_no_pattern_takes_long(self) -> None:
        started = time.perf_counter()
        assert not Glob("*a" * 200 + "b").matches("a" * 250)
        assert not Glob("**/a/" * 80 + "b").matches("a/" * 80 + "c")
        assert time.perf_counter() - started < 50

    def test_too_much_is_refused(self) -> None:
        with pytest.raises(RefusalError, match="longer than 500"):
            Glob("x" * 501)
        with pytest.raises(RefusalError, match="more than 100 patterns"):
            Glob("{a,b}" * 20)
