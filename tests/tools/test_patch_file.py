from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ethos_registry import ConfigError, ToolContext, ToolError, ToolOk
from ethos_registry.tools import patch_file_tool
from ethos_registry.tools._patch_file import nearest_line

pytestmark = pytest.mark.privileges

TOOL = patch_file_tool()


def patch(folder: Path, old: str, new: str, **args: Any) -> ToolOk:
    args = {"path": "a.txt", "old": old, "new": new} | args
    result = TOOL.execute(args, ToolContext(working_dir=folder))
    assert isinstance(result, ToolOk), result
    return result


def refused(folder: Path, old: Any, new: Any = "new", *, tool: Any = TOOL, **args: Any) -> str:
    args = {"path": "a.txt", "old": old, "new": new} | args
    result = tool.execute(args, ToolContext(working_dir=folder))
    assert isinstance(result, ToolError), result
    assert result.code == "input_invalid"
    return result.error


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("def one():\n    return 1\n\n\ndef two():\n    return 1\n")
    return tmp_path.resolve()


def test_the_tool_is_plain_and_untrusted() -> None:
    assert (TOOL.name, TOOL.toolset, TOOL.is_coroutine) == ("patch_file", "file", False)
    assert TOOL.output_is_untrusted, "a refusal shows lines of the file"
    with pytest.raises(ConfigError, match="max_bytes"):
        patch_file_tool(max_bytes=0)


class TestReplacing:
    def test_one_place_is_replaced_and_named(self, folder: Path) -> None:
        result = patch(folder, "def two():\n    return 1", "def two():\n    return 2")
        text = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
        assert (folder / "a.txt").read_text() == text
        assert result.value == "Changed 1 place in `a.txt`, at line 5."
        assert result.structured == {
            "path": str(folder / "a.txt"),
            "bytes": len(text),
            "replacements": 1,
            "lines": [5],
        }

    def test_all_places_are_replaced_when_asked(self, folder: Path) -> None:
        result = patch(folder, "return 1", "return 2", replaceAll="true")
        assert result.value == "Changed 2 places in `a.txt`, at lines 2, 6."
        assert (folder / "a.txt").read_text().count("return 2") == 2

    def test_a_passage_may_be_removed(self, folder: Path) -> None:
        patch(folder, "\n\ndef two():\n    return 1\n", "")
        assert (folder / "a.txt").read_text() == "def one():\n    return 1\n"

    def test_bytes_that_are_no_utf_8_stay(self, folder: Path) -> None:
        (folder / "a.txt").write_bytes(b"caf\xe9 one \xff")
        patch(folder, "one", "zwö")
        assert (folder / "a.txt").read_bytes() == b"caf\xe9 zw\xc3\xb6 \xff"

    def test_a_byte_order_mark_stays_whether_it_is_quoted_or_not(self, folder: Path) -> None:
        for old, new in (
            ("\ufeffone", "two"),
            ("one", "two"),
            ("\ufeffone", "\ufefftwo"),
            ("one", "\ufefftwo"),
        ):
            (folder / "a.txt").write_text("\ufeffone\n")
            patch(folder, old, new)
            assert (folder / "a.txt").read_text() == "\ufefftwo\n"
        assert "does not occur" in refused(folder, "\ufeff", "x")

    def test_windows_line_ends_stay(self, folder: Path) -> None:
        (folder / "a.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
        patch(folder, "one\ntwo", "1\n2\n2b")
        patch(folder, "three", "3\n4")
        assert (folder / "a.txt").read_bytes() == b"1\r\n2\r\n2b\r\n3\r\n4\r\n"
        patch(folder, "1\r\n2\r\n", "x\r\n")
        assert (folder / "a.txt").read_bytes() == b"x\r\n2b\r\n3\r\n4\r\n"

    def test_in_mixed_line_ends_what_is_there_exactly_comes_first(self, folder: Path) -> None:
        (folder / "a.txt").write_bytes(b"a\nb\r\na\r\nb\n")
        patch(folder, "a\nb", "x\ny")
        assert (folder / "a.txt").read_bytes() == b"x\ny\r\na\r\nb\n"
        patch(folder, "a\nb", "x\ny")
        assert (folder / "a.txt").read_bytes() == b"x\ny\r\nx\r\ny\n"

    def test_the_mode_stays(self, folder: Path) -> None:
        (folder / "a.txt").chmod(0o755)
        patch(folder, "one", "eins")
        assert (folder / "a.txt").stat().st_mode & 0o777 == 0o755

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
    @given(
        before=st.text("ab\n", max_size=12),
        old=st.text("ab\n", min_size=1, max_size=4),
        new=st.text("abc\n", max_size=4),
    )
    def test_is_what_str_replace_does_or_a_refusal(
        self, folder: Path, before: str, old: str, new: str
    ) -> None:
        (folder / "a.txt").write_bytes(before.encode())
        places = sum(before.startswith(old, at) for at in range(len(before)))
        for replace_all in (False, True):
            args = {"path": "a.txt", "old": old, "new": new, "replaceAll": replace_all}
            result = TOOL.execute(args, ToolContext(working_dir=folder))
            fits = old != new and (places >= 1 if replace_all else places == 1)
            assert result.ok == fits  # type: ignore[union-attr]
            expected = before.replace(old, new) if fits else before
            assert (folder / "a.txt").read_bytes() == expected.encode()
            (folder / "a.txt").write_bytes(before.encode())


class TestRefusals:
    def test_several_places_are_counted_with_their_lines(self, folder: Path) -> None:
        assert refused(folder, "return 1") == (
            "`old` occurs 2 times in `a.txt`, at lines 2, 6; nothing was written. Include more of "
            "the text around it in `old`, or set replaceAll to true to change them all"
        )
        (folder / "a.txt").write_text("x\n" * 12)
        error = refused(folder, "x")
        assert "12 times in `a.txt`, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...;" in error

    def test_places_that_overlap_are_several(self, folder: Path) -> None:
        (folder / "a.txt").write_text("aaa")
        assert "2 times in `a.txt`, at lines 1, 1" in refused(folder, "aa")

    def test_a_passage_that_is_not_there_shows_the_nearest_line(self, folder: Path) -> None:
        assert refused(folder, "def tow():") == (
            "`old` does not occur in `a.txt`; nothing was written. The nearest is line 5, "
            "`def two():`, where `old` has `def tow():`. Read the lines around it and copy them "
            "exactly"
        )

    def test_the_first_line_that_differs_is_shown(self, folder: Path) -> None:
        error = refused(folder, "def two():\n    return 3\n")
        assert "line 6, `    return 1`, where `old` has `    return 3`" in error

    def test_white_space_that_differs_is_found(self, folder: Path) -> None:
        assert "line 2, `    return 1`, where `old` has " in refused(folder, "\treturn  1")

    def test_nothing_similar_and_an_empty_file_say_so(self, folder: Path) -> None:
        assert "No single line is near it" in refused(folder, "zzzzzzz")
        assert "No single line is near it" in refused(folder, "\n\n\n\n")
        (folder / "a.txt").write_text("")
        assert "The file is empty" in refused(folder, "x")

    def test_binary_and_large_files_are_refused(self, folder: Path) -> None:
        (folder / "a.txt").write_bytes(b"one\0two")
        assert refused(folder, "one") == "`a.txt` is a binary file; patch_file changes text only"
        error = refused(folder, "one", tool=patch_file_tool(max_bytes=6))
        assert error.startswith("`a.txt` has more than 6 bytes; change it with a command")

    def test_a_missing_file_names_what_is_near(self, folder: Path) -> None:
        assert refused(folder, "x", path="A.text") == ("no such file: `A.text`; similar: `a.txt`")
        assert "there is no folder `no`" in refused(folder, "x", path="no/a.txt")
        assert os.listdir(folder) == ["a.txt"]

    @pytest.mark.parametrize(
        ("args", "text"),
        [
            ({"old": ""}, "`old` is empty; give the text to replace, or use write_file"),
            ({"old": "x", "new": "x"}, "`old` and `new` are the same, so there is nothing"),
            ({"old": "x", "new": None}, "`new` is missing"),
            ({"old": "x", "replaceAll": 1}, "`replaceAll` must be true or false, got `1`"),
            ({"old": "x", "all": True}, "patch_file has no argument `all`; it takes path, old"),
        ],
    )
    def test_arguments_that_do_not_fit_are_named(
        self, folder: Path, args: dict[str, Any], text: str
    ) -> None:
        assert refused(folder, **args).startswith(text)


class TestNearest:
    def test_the_longest_equal_run_decides(self) -> None:
        text = "a\nb\nx\na\nb\nc\ny\n"
        assert nearest_line(text, "a\nb\nc\nd") == (7, "y", "d")

    def test_a_text_that_ends_too_early_has_no_line_to_show(self) -> None:
        assert nearest_line("a\nb", "a\nb\nc") is None

    def test_many_lines_are_answered_in_time(self) -> None:
        text = "".join(f"value_{number} = compute({number * 7919})\n" for number in range(50_000))
        started = time.perf_counter()
        assert nearest_line(text, "value_x = compute(some thing)") is not None
        assert time.perf_counter() - started < 100
