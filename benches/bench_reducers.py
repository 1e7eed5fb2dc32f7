"""The two strategies that ignore content, compared with the same in plain Python.

Inputs of 100 MB are measured if `ETHOS_REGISTRY_BENCH_LARGE` is set: a round holds several.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import Any

import pytest

import inputs
import oracle
from beside import beside
from ethos_registry import reduce_text

SHA256 = {
    ("ascii", 1): "727f1a18a564",
    ("ascii", 16): "e281c84ac946",
    ("ascii", 100): "24d4b365be3e",
    ("latin", 16): "23fe285e1f35",
    ("latin", 100): "4209fc3b2cd3",
    ("cyrillic", 1): "8556d9b5738d",
    ("cyrillic", 16): "af383c875d7c",
    ("cyrillic", 100): "a2825379808d",
    ("emoji", 1): "b54cb3da042b",
    ("emoji", 16): "d68392a8153b",
    ("emoji", 100): "be1cc2d2286a",
}
"""First digits of the SHA-256 of each input, as UTF-8: all figures are for the same bytes."""

SIZES = [1, 16, *([100] if os.environ.get("ETHOS_REGISTRY_BENCH_LARGE") else [])]
LOOP_LIMIT_CHARS = 256 * 1024
"""Length of the longest result that is finished on the event loop."""


def text(alphabet: str, mebibytes: int) -> str:
    made = inputs.text(mebibytes, inputs.CHARACTERS[alphabet])
    expected = SHA256.get((alphabet, mebibytes))
    assert expected is None or sha256(made) == expected
    return made


def sha256(made: str) -> str:
    return hashlib.sha256(made.encode()).hexdigest()[:12]


def compare(
    benchmark: Any,
    tool_name: str,
    original: str,
    twin: Callable[[str], str],
    *,
    group: str,
    rounds: int,
) -> None:
    encoded = original.encode()

    def ours() -> Callable[[], str]:
        text = inputs.fresh(original)
        return lambda: reduce_text(text, tool_name=tool_name)

    def theirs() -> Callable[[], str]:
        text = inputs.fresh(original)
        return lambda: twin(text)

    def counted() -> Callable[[], int]:
        return lambda: encoded.count(b"\n")

    assert ours()() == theirs()()
    beside(
        benchmark,
        ours,
        {"plain Python": theirs, 'bytes.count(b"\\n")': counted},
        group=group,
        rounds=rounds,
        unit="text",
    )


def rounds_of(mebibytes: int) -> int:
    return max(160 // mebibytes, 5) if mebibytes > 1 else 60


by_size = pytest.mark.parametrize("mebibytes", SIZES, ids="{} MiB".format)


@by_size
@pytest.mark.parametrize("alphabet", inputs.CHARACTERS)
def test_head_tail(benchmark: Any, alphabet: str, mebibytes: int) -> None:
    compare(
        benchmark,
        "head_tail",
        text(alphabet, mebibytes),
        oracle.head_tail,
        group="head_tail",
        rounds=rounds_of(mebibytes),
    )


@by_size
@pytest.mark.parametrize("alphabet", ["ascii", "cyrillic"])
def test_read_file(benchmark: Any, alphabet: str, mebibytes: int) -> None:
    compare(
        benchmark,
        "read_file",
        text(alphabet, mebibytes),
        oracle.read_file,
        group="read_file",
        rounds=rounds_of(mebibytes),
    )


@pytest.mark.parametrize("alphabet", inputs.CHARACTERS)
def test_longest_text_that_stays_on_the_loop(benchmark: Any, alphabet: str) -> None:
    compare(
        benchmark,
        "head_tail",
        text(alphabet, 1)[:LOOP_LIMIT_CHARS],
        oracle.head_tail,
        group="head_tail of 256 Ki characters",
        rounds=200,
    )
