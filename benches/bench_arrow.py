"""A column reduced over Arrow, compared with a list and with a loop."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from beside import beside
from ethos_registry import reduce_text
from ethos_registry.reduction import reduce_arrow, reduce_many

OUTPUTS = 10_000
OUTPUT_BYTES = 2_000

LINES = [f"compiled unit {number} of the harbour\n" for number in range(OUTPUTS)]
TEXTS = ["".join(LINES[row % 100 :][:100])[:OUTPUT_BYTES] for row in range(OUTPUTS)]
COLUMN = pa.array(TEXTS)


def over_arrow() -> int:
    return len(reduce_arrow("terminal", COLUMN))


def from_a_list() -> int:
    return len(reduce_many(TEXTS))


def one_by_one() -> int:
    return len([reduce_text(text) for text in TEXTS])


def test_a_column(benchmark: Any) -> None:
    assert pa.array(reduce_arrow("terminal", COLUMN)).to_pylist() == reduce_many(TEXTS)
    beside(
        benchmark,
        lambda: over_arrow,
        {"reduce_many": lambda: from_a_list, "reduce_text, one by one": lambda: one_by_one},
        group="reduce_arrow",
        rounds=5,
        per_round=OUTPUTS,
        unit="output",
    )
