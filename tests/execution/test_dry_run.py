"""A dry run tells what would be called: as JSON, short, without the secrets (contract 3.12)."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from ethos_registry import ToolContext, ToolRegistry
from ethos_registry import tool as make_tool
from session_tools import quick, registry_of

BEGINNING = "[dry-run] quick would be called with: "


def reported(args: Any) -> str:
    """The answer to a dry run of one call."""
    calls = [{"id": "1", "name": "quick", "args": args}]
    [result] = asyncio.run(registry_of(quick).execute_parallel(calls, ToolContext(dry_run=True)))
    assert result.text.startswith(BEGINNING)
    return result.text


@pytest.mark.parametrize("count", [7_953, 7_954, 7_960, 7_962, 7_963, 8_000, 1_000_000])
def test_an_answer_has_at_most_8000_characters_marker_included(count: int) -> None:
    text = reported({"n": [7] * (count // 2)})
    assert len(text) <= 8_000
    assert len(text) > 7_900


def test_numbers_that_json_does_not_know_stand_as_words() -> None:
    text = reported({"a": math.nan, "b": [math.inf, -math.inf], "c": 1.5})
    assert json.loads(text.removeprefix(BEGINNING)) == {"a": "nan", "b": ["inf", "-inf"], "c": 1.5}


def test_a_value_that_appears_at_many_places_costs_no_more_than_the_answer_shows() -> None:
    shared: Any = "x"
    for _ in range(100):
        shared = [shared, shared]
    assert len(reported({"tree": shared})) <= 8_000


@pytest.mark.parametrize(
    "key",
    ["passwords", "db_password_prod", "password_confirmation", "jwt", "ssh_key", "signingKey"],
)
def test_secret_looking_keys_need_not_end_with_the_word(key: str) -> None:
    assert reported({key: "hunter2"}) == f'{BEGINNING}{{"{key}":"[redacted]"}}'


@pytest.mark.parametrize("key", ["passport", "pass_rate", "monkey", "author", "key"])
def test_words_that_only_resemble_a_secret_are_shown(key: str) -> None:
    assert reported({key: "plain"}) == f'{BEGINNING}{{"{key}":"plain"}}'


def test_keys_that_are_no_text_are_shown_as_text() -> None:
    args: dict[Any, Any] = {1: 2, None: 3, 10**5_000: 4}
    assert reported(args) == BEGINNING + '{"1":2,"None":3,"[int]":4}'


def test_arguments_that_a_function_would_refuse_are_refused() -> None:
    def even(number: int) -> int:
        if number % 2:
            raise KeyError(number)
        return number

    @make_tool
    def halve(number: Annotated[int, AfterValidator(even)], of: list[int] | None = None) -> int:
        raise AssertionError("a dry run")

    calls = [
        {"id": "fits", "name": "halve", "args": {"number": "8"}},
        {"id": "misses", "name": "halve", "args": {"numbers": 8}},
        {"id": "raises", "name": "halve", "args": {"number": 7}},
    ]
    results = ToolRegistry([halve]).execute_parallel_sync(calls, ToolContext(dry_run=True))
    assert [result.text for result in results] == [
        '[dry-run] halve would be called with: {"number":"8"}',
        "number: is required, but missing; numbers: unknown argument; the arguments are number, of",
        "KeyError: 7",
    ]
