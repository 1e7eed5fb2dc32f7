"""The built-in reducers alone, beside their twins in plain Python.

Texts of 100 MB are measured when `ETHOS_REGISTRY_BENCH_LARGE` is set: a round holds several.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from typing import Any

import pytest

import inputs
import oracle
from beside import beside
from ethos_registry import ToolReducerContext, ToolResultReducer, default_reducers, ok

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
"""How the SHA-256 of each text begins, as UTF-8: figures elsewhere are of the same bytes."""

GIT_STATUS_PATHS = 100_000
GIT_STATUS_SHA256 = "19372e3c587b"
SIZES = [1, 16, *([100] if os.environ.get("ETHOS_REGISTRY_BENCH_LARGE") else [])]
LOOP_LIMIT_CHARS = 256 * 1024
"""The longest text that is finished on the event loop."""

REDUCERS = default_reducers()
ENTRY = re.compile(r"(?=.*\S)[ MADRCTU?!m]{2} .*\S.*")


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
    args: dict[str, Any],
    original: str,
    twin: Callable[[str], str],
    *,
    group: str,
    rounds: int,
    baseline: str = "plain Python",
) -> None:
    reducer: ToolResultReducer | None = REDUCERS.get(tool_name)
    assert reducer is not None
    context = ToolReducerContext(args, 1)

    def ours() -> Callable[[], str]:
        result = ok(inputs.fresh(original))
        return lambda: reducer.reduce(result, context).text

    def theirs() -> Callable[[], str]:
        fresh_text = inputs.fresh(original)
        return lambda: twin(fresh_text)

    assert ours()() == theirs()()
    beside(benchmark, ours, {baseline: theirs}, group=group, rounds=rounds, unit="text")


def rounds_of(mebibytes: int) -> int:
    return max(160 // mebibytes, 5) if mebibytes > 1 else 60


by_size = pytest.mark.parametrize("mebibytes", SIZES, ids="{} MiB".format)


@by_size
@pytest.mark.parametrize("alphabet", inputs.CHARACTERS)
def test_head_tail(benchmark: Any, alphabet: str, mebibytes: int) -> None:
    compare(
        benchmark,
        "terminal",
        {"command": "cat big.log"},
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
        {"path": "big.log"},
        text(alphabet, mebibytes),
        oracle.read_file,
        group="read_file",
        rounds=rounds_of(mebibytes),
    )


@pytest.mark.parametrize("alphabet", inputs.CHARACTERS)
def test_longest_text_that_stays_on_the_loop(benchmark: Any, alphabet: str) -> None:
    compare(
        benchmark,
        "terminal",
        {"command": "cat big.log"},
        text(alphabet, 1)[:LOOP_LIMIT_CHARS],
        oracle.head_tail,
        group="head_tail of 256 Ki characters",
        rounds=200,
    )


def test_git_status_short(benchmark: Any) -> None:
    original = inputs.git_status(GIT_STATUS_PATHS)
    assert sha256(original) == GIT_STATUS_SHA256
    compare(
        benchmark,
        "terminal",
        {"command": "git status -s"},
        original,
        checked_short_status,
        group="git status",
        rounds=20,
    )


def checked_short_status(status: str) -> str:
    """The short format holds nothing but facts: it stays when every line is an entry."""
    if all(ENTRY.fullmatch(line) for line in status.split("\n")):
        return status
    return oracle.head_tail(status)


def test_git_status_long(benchmark: Any) -> None:
    compare(
        benchmark,
        "terminal",
        {"command": "git status"},
        inputs.git_status_long(GIT_STATUS_PATHS),
        grouped_long_status,
        group="git status",
        rounds=20,
    )


def grouped_long_status(status: str) -> str:
    """The long format of modified paths: without hints, the label once above its paths."""
    reduced: list[str] = []
    label = ""
    for line in status.split("\n"):
        if line.startswith("\tmodified:   "):
            if label != "modified:":
                label = "modified:"
                reduced.append(label)
            reduced.append("\t" + line[13:])
        elif line.startswith("no changes added to commit"):
            reduced.append("no changes added to commit")
        elif line and not line.startswith('  (use "git '):
            reduced.append(line)
    return "\n".join(reduced) + "\n"
