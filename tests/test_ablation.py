"""Families of reducers can be left out for a measurement, and every family is measured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from corpora import PARTS, recorded
from ethos_registry import _core, reduce_text

sys.path.insert(0, str(Path(__file__).parent.parent / "benches"))
from ablation import REASONS, STRUCTURE, Earned, check, chosen_names, files, lines, measure, reduce


def test_every_family_has_files_with_product_lines() -> None:
    own = files()
    assert set(_core.reducer_families()) - STRUCTURE == set(own)
    assert all(lines(paths)[0] > 0 for paths in own.values())


def test_without_a_family_left_out_the_result_is_that_of_reduce_text() -> None:
    for output in recorded(PARTS[0]):
        own = reduce_text(output.text, command=output.command, exit_code=output.exit_code)
        assert reduce(output).text == own


def test_a_family_that_is_left_out_decides_nothing() -> None:
    output = next(output for output in recorded("own") if output.family == "pytest")
    own = reduce(output)
    assert own.family == "pytest"
    other = reduce(output, ["pytest"])
    assert other.family != "pytest"
    assert "pytest" not in other.depends_on
    assert reduce(output) == own


def test_outputs_that_do_not_depend_on_a_family_are_the_same_without_it() -> None:
    for output in recorded("own")[::9]:
        own = reduce(output)
        for name in {"pytest", "log", "diagnostics"} - own.depends_on:
            assert reduce(output, [name]).text == own.text


def test_a_family_that_earns_nothing_is_reported() -> None:
    earned = Earned("idle", facts=9, facts_with=9, facts_without=9, saved=1_500, saved_without=501)
    assert check([earned]) == ["idle: 0 facts and 999 characters: retire it, or state why it stays"]
    earned.saved += 1
    assert check([earned]) == []
    earned.saved, earned.facts_without = 0, 8
    assert check([earned]) == []


def test_a_measurement_counts_what_changes() -> None:
    (earned,) = measure(["git blame"])
    assert earned.outputs >= earned.decided > 0
    assert earned.facts_with > earned.facts_without


def test_families_are_named_with_blanks_or_underscores() -> None:
    assert chosen_names(["go_test", "log"], None) == ["go test", "log"]
    with pytest.raises(SystemExit, match="unknown families"):
        chosen_names(["oak"], None)


def test_reasons_are_for_families_that_exist() -> None:
    assert REASONS.keys() <= files().keys()
