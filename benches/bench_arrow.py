"""A column of outputs reduced over Arrow, beside a list and beside a loop."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ethos_registry import reduce_arrow, reduce_many, reduce_text

OUTPUTS = 10_000
OUTPUT_BYTES = 2_000
GROUP = f"{OUTPUTS:,} outputs of {OUTPUT_BYTES:,} bytes"

LINES = [f"compiled unit {number} of the harbour\n" for number in range(OUTPUTS)]
TEXTS = ["".join(LINES[row % 100 :][:100])[:OUTPUT_BYTES] for row in range(OUTPUTS)]
COLUMN = pa.array(TEXTS)


def over_arrow() -> int:
    return len(reduce_arrow("terminal", COLUMN))


def from_a_list() -> int:
    return len(reduce_many(TEXTS))


def one_by_one() -> int:
    return len([reduce_text(text) for text in TEXTS])


def measure(benchmark: Any, way: Any) -> None:
    benchmark.group = GROUP
    assert benchmark.pedantic(way, rounds=5, warmup_rounds=1) == OUTPUTS


def test_reduce_arrow(benchmark: Any) -> None:
    assert pa.array(reduce_arrow("terminal", COLUMN)).to_pylist() == reduce_many(TEXTS)
    measure(benchmark, over_arrow)


def test_reduce_many(benchmark: Any) -> None:
    measure(benchmark, from_a_list)


def test_loop(benchmark: Any) -> None:
    measure(benchmark, one_by_one)
