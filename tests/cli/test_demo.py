"""`ethos-registry demo`: one recorded turn, the same everywhere, and its output can be read."""

import json
import re
import runpy
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from cli_program import run
from ethos_registry._cli import demo

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def turn():
    return demo.run_turn()


def test_the_facts_of_a_failing_run_are_read(turn):
    tests, *_ = turn
    assert len(tests["before"].splitlines()) == 1_983
    assert len(tests["after"]) < 1_000
    for fact in (
        "test_half_a_cent_is_rounded_up",
        "assert Decimal('0.12') == Decimal('0.13')",
        "tests/test_till.py:14",
        "test_too_little_money_is_refused",
        "Expected regex: '0.50 EUR is missing'",
        "Actual message: '0.50 is missing'",
        "tests/test_till.py:18",
        "2 failed, 1950 passed",
    ):
        assert fact in tests["after"]


def test_every_other_call_is_answered_by_what_happened(turn):
    _, refused, wrong, hanging, good, found = turn
    assert refused["before"] == "Deleted branch release."
    assert refused["after"] == "Tool delete_branch is not permitted for this personality"
    assert wrong["before"].startswith("TypeError: read_file() got an unexpected keyword argument")
    assert wrong["after"] == (
        "path: is required, but missing; file: unknown argument; the arguments are path"
    )
    assert "still waits" in hanging["before"]
    assert hanging["after"] == "Tool fetch_rates timed out after 0.5 s; it may have run"
    assert good["ok"]
    assert good["after"] == good["before"] == demo.TILL
    assert json.loads(found["after"])[-1] == "shop/till.py:8"
    assert [call["ok"] for call in turn] == [False, False, False, False, True, True]


@pytest.mark.parametrize("width", [40, 76, 77, 200])
def test_any_folder_and_width_shows_the_same_turn(width, tmp_path):
    done = run("demo", cwd=tmp_path, COLUMNS=str(width))
    assert done.returncode == 0
    assert not any(tmp_path.iterdir())
    assert max(map(len, done.stdout.splitlines())) <= width
    words = re.sub(r"\s", "", done.stdout)
    assert "2failed,1950passed" in words
    assert "158,162characterswithoutaregistry,1,496withone" in words


def test_json_has_both_answers_whole(tmp_path, turn):
    done = run("demo", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout) == {"budget_chars": 6_000, "calls": turn}


@pytest.mark.skipif(sys.platform == "win32", reason="the encoding of a POSIX terminal")
def test_a_terminal_without_unicode_gets_ascii(tmp_path):
    done = run("demo", cwd=tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    assert done.stdout.isascii()


def picture_of_now():
    return runpy.run_path(str(DOCS / "make_demo_picture.py"))["picture"]()


@pytest.mark.parametrize("read", [DOCS.joinpath("demo.svg").read_text, picture_of_now])
def test_the_picture_is_that_of_this_turn_and_loads_nothing(read):
    text = read()
    assert len(text.encode()) < 60_000
    assert ET.fromstring(text).tag.endswith("svg")
    assert "@font-face" not in text
    assert "url(http" not in text
    shown = re.sub(r"\s", "", "".join(ET.fromstring(text).itertext()).replace("\xa0", " "))
    assert "Toolfetch_ratestimedoutafter0.5s" in shown
    assert "2failed,1950passed" in shown
