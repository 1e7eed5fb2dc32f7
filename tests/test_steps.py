"""The steps of a call that read its arguments (contract 3.3)."""

from __future__ import annotations

from typing import Any

import pytest

from ethos_registry import ok
from session_tools import quick, registry_of


@pytest.mark.parametrize(
    ("inner", "read"),
    [
        (r"\ud83d", "\ufffd"),
        (r"\uDE00 \uD83D", "\ufffd \ufffd"),
        (r"\ud83d\ude00\ud83d", "\U0001f600\ufffd"),
        (r"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (r"\ud83dA", "\ufffdA"),
        (r"\\ud83d \udc00", "\\ud83d \ufffd"),
        ("\ud83d", "\ufffd"),
    ],
)
async def test_a_lone_surrogate_in_arguments_becomes_one_replacement_character_escaped_or_not(
    inner: str, read: str
) -> None:
    async def echo(args: Any, context: Any) -> Any:
        return ok(args["text"])

    call = {"id": "1", "name": "echo", "args": f'{{"text": "{inner}"}}'}
    [result] = await registry_of(echo).execute_parallel([call])
    assert result.text == read


async def test_a_place_in_text_that_is_no_json_is_that_of_the_text_as_it_came() -> None:
    call = {"id": "1", "name": "quick", "args": r'{"text": "\ud83d" oops}'}
    [result] = await registry_of(quick).execute_parallel([call])
    assert result.text.endswith("at line 1 column 19")
