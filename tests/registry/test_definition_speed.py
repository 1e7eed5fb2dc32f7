"""Repeated answers cost little more than a copy of what is there: twice each limit fails."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest

from ethos_registry import Personality, ToolFilterOpts, ToolRegistry
from registry_tools import EVERYTHING, made

ROUNDS = 15
MARGIN = 2
"""Tests run on loaded machines: the limits are those of a quiet one."""


def seconds(run: Callable[[], object], times: int) -> float:
    start = perf_counter()
    for _ in range(times):
        run()
    return (perf_counter() - start) / times


def fastest(
    subject: Callable[[], object], baseline: Callable[[], object], times: int
) -> tuple[float, float]:
    """The fastest of interleaved rounds of both: other programs slow down some of them."""
    taken = [(seconds(baseline, times), seconds(subject, times)) for _ in range(ROUNDS)]
    return min(ours for _, ours in taken), min(theirs for theirs, _ in taken)


@pytest.fixture(scope="module")
def large() -> ToolRegistry:
    return ToolRegistry([made(f"tool_{number}") for number in range(10_000)])


def test_1_000_of_10_000_repeated_cost_three_copies_of_the_list(large: ToolRegistry) -> None:
    allowed = [f"tool_{number}" for number in range(0, 10_000, 10)]
    filters = ToolFilterOpts(exclude_tools=["x"])
    for policy in ((allowed, None), (tuple(allowed), filters)):
        existing = large.to_definitions(*policy)
        assert len(existing) == 1_000
        ours, copy = fastest(
            lambda policy=policy: large.to_definitions(*policy),
            lambda existing=existing: list(existing),
            200,
        )
        assert ours <= 3 * copy * MARGIN


def test_all_10_000_repeated_cost_three_copies_of_the_list(large: ToolRegistry) -> None:
    existing = large.to_definitions()
    ours, copy = fastest(large.to_definitions, lambda: list(existing), 30)
    assert ours <= 3 * copy * MARGIN


def test_a_frozen_registry_is_no_slower_by_an_order(large: ToolRegistry) -> None:
    frozen = large.freeze()
    existing = frozen.to_definitions()
    assert len(existing) == 10_000
    ours, copy = fastest(frozen.to_definitions, lambda: list(existing), 30)
    assert ours <= 3 * copy * MARGIN


def test_the_definitions_of_200_tools_repeated_cost_three_copies_of_the_list() -> None:
    view = ToolRegistry([made(f"tool_{number}") for number in range(200)]).view(EVERYTHING)
    existing = view.definitions("anthropic")
    ours, copy = fastest(lambda: view.definitions("anthropic"), lambda: list(existing), 2_000)
    assert ours <= 3 * copy * MARGIN


def test_the_bytes_of_1_000_tools_repeated_cost_no_more_than_a_few_microseconds() -> None:
    view = ToolRegistry([made(f"tool_{number}") for number in range(1_000)]).view(EVERYTHING)
    existing = view.definitions_bytes("anthropic")
    ours, copy = fastest(
        lambda: view.definitions_bytes("anthropic"), lambda: bytes(existing), 1_000
    )
    assert ours <= (2 * copy + 5e-6) * MARGIN


@pytest.mark.parametrize("look", ["to_definitions", "view"])
def test_1_000_probes_cost_twice_the_bare_probes(look: str) -> None:
    tools = [made(f"tool_{number}", is_available=lambda: True) for number in range(1_000)]
    registry = ToolRegistry(tools)
    view = registry.view(Personality("p"))
    probes: list[Any] = [tool.is_available for tool in tools]
    subject = registry.to_definitions if look == "to_definitions" else view.definitions
    ours, bare = fastest(subject, lambda: [probe() for probe in probes], 30)
    assert ours <= 2 * bare * MARGIN
