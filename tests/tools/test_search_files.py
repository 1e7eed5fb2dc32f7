from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import ToolContext, ToolError, ToolOk
from ethos_registry.tools import search_files_tool
from ethos_registry.tools._search_files import matching_lines
from ethos_registry.types import AbortController

TOOL = search_files_tool()


def search(folder: Path, pattern: str, *, tool: Any = TOOL, **args: Any) -> ToolOk:
    result = tool.execute({"pattern": pattern} | args, ToolContext(working_dir=folder))
    assert isinstance(result, ToolOk), result
    return result


def found(folder: Path, pattern: str, **args: Any) -> list[str]:
    return search(folder, pattern, **args).value.split("\n")[1:]


def refused(folder: Path, **args: Any) -> str:
    result = TOOL.execute(args, ToolContext(working_dir=folder))
    assert isinstance(result, ToolError), result
    return result.error


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path.resolve() / "inside"
    (inside / "src").mkdir(parents=True)
    (inside / ".git").mkdir()
    (inside / "a.txt").write_text("one needle\nnothing\ntwo needle needle\n")
    (inside / "src" / "b.py").write_text("needle = 1\n")
    (inside / ".git" / "HEAD").write_text("needle")
    (tmp_path / "secret.txt").write_text("needle in a secret")
    return inside


def test_the_tool_is_plain_idempotent_and_untrusted() -> None:
    assert (TOOL.name, TOOL.toolset, TOOL.is_coroutine) == ("search_files", "file", False)
    assert TOOL.idempotent
    assert TOOL.output_is_untrusted
    assert TOOL.schema["required"] == ["pattern"]


class TestMatches:
    def test_stand_with_path_and_line_under_a_line_of_counts(self, folder: Path) -> None:
        result = search(folder, "needle")
        assert result.value == (
            "3 matches in 2 files; 2 files searched.\n"
            "a.txt:1: one needle\n"
            "a.txt:3: two needle needle\n"
            "src/b.py:1: needle = 1"
        )
        assert result.structured == {"matches": 3, "files": 2, "searched": 2, "truncated": False}

    def test_the_pattern_is_plain_text(self, folder: Path) -> None:
        (folder / "c.txt").write_text("a.b\naxb\nÄ\n")
        assert found(folder, "a.b") == ["c.txt:1: a.b"]
        assert found(folder, "Ä") == ["c.txt:3: Ä"]
        assert search(folder, "ä|NEEDLE").value == (
            "No line contains `ä|NEEDLE` (plain text, case-sensitive) in `.`; 3 files searched."
        )

    def test_with_regex_the_pattern_is_a_regular_expression(self, folder: Path) -> None:
        (folder / "c.txt").write_bytes(b"a.b\r\naxb\n\xc3\x84\n")
        assert found(folder, "^a.b$", regex=True) == ["c.txt:1: a.b", "c.txt:2: axb"]
        assert found(folder, "(?i)ä|NEEDLE =", regex=True) == [
            "c.txt:3: Ä",
            "src/b.py:1: needle = 1",
        ]
        assert found(folder, r"a\.b", regex="false") == []
        assert search(folder, r"nothing\stwo", regex=True).value == (
            r"No line matches `nothing\stwo` (a regular expression) in `.`; 3 files searched."
        )

    def test_a_regular_expression_stops_at_the_limit_too(self, folder: Path) -> None:
        (folder / "many.txt").write_text("needle\n" * 3_000)
        result = search(folder, "need.e", regex=True, maxMatches=5_000, glob="many.txt")
        assert result.structured["matches"] == 1_000
        assert result.value.startswith("The first 1,000 matches, in 1 file; there are more")
        shown = found(folder, "needle", regex=True, glob="a.txt", maxMatches=1)
        assert shown == ["a.txt:1: one needle"]

    def test_a_folder_a_file_and_a_glob_narrow_the_search(self, folder: Path) -> None:
        assert found(folder, "needle", path="src") == ["src/b.py:1: needle = 1"]
        assert found(folder, "two", path="a.txt") == ["a.txt:3: two needle needle"]
        assert found(folder, "needle", glob="*.py") == ["src/b.py:1: needle = 1"]
        assert found(folder, "needle", glob="src/**") == ["src/b.py:1: needle = 1"]
        assert found(folder, "needle", path=".git") == [".git/HEAD:1: needle"]

    def test_stop_at_the_limit_and_say_so(self, folder: Path) -> None:
        result = search(folder, "needle", maxMatches=2)
        assert result.value.split("\n")[0] == (
            "The first 2 matches, in 1 file; there are more: narrow the path, the glob or the "
            "pattern."
        )
        assert result.structured is not None
        assert result.structured["truncated"] is True
        assert search(folder, "needle", maxMatches=3).structured["truncated"] is False  # type: ignore[index]
        (folder / "many.txt").write_text("needle\n" * 3_000)
        assert len(found(folder, "needle")) == 100
        assert len(found(folder, "needle", maxMatches=9_999)) == 1_000

    def test_long_lines_show_the_part_around_the_match(self, folder: Path) -> None:
        (folder / "long.js").write_text("é" * 5_000 + "needle" + "x" * 9_000 + "\nneedle")
        line, last = found(folder, "needle", path="long.js")
        assert line.startswith("long.js:1: [... 9,868 bytes ...]é")
        assert line.endswith("x[... 8,739 bytes ...]")
        assert "needle" in line
        assert "\ufffd" not in line
        assert len(line) < 500
        assert last == "long.js:2: needle"

    def test_a_pattern_over_several_lines_is_found_where_it_starts(self, folder: Path) -> None:
        assert found(folder, "nothing\ntwo") == ["a.txt:2: nothing"]

    @given(
        st.lists(st.sampled_from([b"ab", b"b", b"\n", b"\r\n", b"c"])).map(b"".join),
        st.sampled_from([b"a", b"ab", b"ba", b"bb"]),
    )
    def test_are_the_lines_that_hold_the_pattern(self, content: bytes, pattern: bytes) -> None:
        expected = [
            (number, line.removesuffix(b"\r").decode())
            for number, line in enumerate(content.split(b"\n"), 1)
            if pattern in line
        ]
        assert list(matching_lines(content, pattern)) == expected

    @given(st.text("aé\U0001f600", max_size=800), st.text("aé\U0001f600", max_size=800))
    def test_of_a_long_line_hold_whole_characters_and_the_match(
        self, before: str, after: str
    ) -> None:
        content = f"first\n{before}needle{after}".encode()
        ((number, text),) = matching_lines(content, b"needle")
        assert number == 2
        assert "needle" in text
        assert "\ufffd" not in text
        assert len(text.encode()) < 500


class TestLeftOut:
    def test_binary_large_and_unreadable_files_are_counted(self, folder: Path) -> None:
        (folder / "a.bin").write_bytes(b"needle\0")
        (folder / "big.txt").write_text("needle" * 20)
        tool = search_files_tool(max_file_bytes=100)
        assert search(folder, "needle", tool=tool).value.split("\n")[0] == (
            "3 matches in 2 files; 2 files searched. Left out: 1 binary, 1 over 100 bytes."
        )

    def test_links_pipes_and_sockets_are_passed_by(self, folder: Path) -> None:
        os.symlink("../secret.txt", folder / "link")
        os.symlink("..", folder / "out")
        os.symlink("a.txt", folder / "inner")
        os.mkfifo(folder / "pipe")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(folder / "socket"))
            result = search(folder, "needle")
        assert result.value.startswith("3 matches in 2 files; 2 files searched.\n")
        assert "secret" not in result.value

    def test_a_way_out_and_a_missing_path_are_refused(self, folder: Path) -> None:
        os.symlink("../secret.txt", folder / "link")
        for path in ("..", "../secret.txt", "link"):
            assert "is not below the working directory" in refused(
                folder, pattern="needle", path=path
            )
        assert refused(folder, pattern="x", path="a.tx") == (
            "no such file: `a.tx`; similar: `a.txt`"
        )

    def test_arguments_that_do_not_fit_are_named(self, folder: Path) -> None:
        assert refused(folder) == "`pattern` is missing; give one, such as `def main`"
        assert "search_files has no argument `rex`" in refused(folder, pattern="x", rex=True)
        assert "lone surrogate" in refused(folder, pattern="\ud800")
        assert refused(folder, pattern="a(", regex=True) == (
            "`pattern` is not a valid regular expression: at character 1: unclosed group"
        )
        assert refused(folder, pattern="(?!a)", regex=True) == (
            "`pattern` is not a valid regular expression: at character 0: look-around, including "
            "look-ahead and look-behind, is not supported"
        )
        assert "`regex` must be true or false" in refused(folder, pattern="a", regex=1)

    def test_an_aborted_turn_ends_the_search(self, folder: Path) -> None:
        controller = AbortController()
        controller.abort()
        context = ToolContext(working_dir=folder, abort_signal=controller.signal)
        result = TOOL.execute({"pattern": "needle"}, context)
        assert isinstance(result, ToolError)
        assert result.error == "stopped: the turn was aborted"


def test_time_grows_with_the_content_only(folder: Path) -> None:
    (folder / "a.txt").write_text("a" * 9_000_000)
    started = time.perf_counter()
    search(folder, "a" * 5_000 + "b")
    search(folder, "a" * 100, maxMatches=1)
    assert time.perf_counter() - started < 50
