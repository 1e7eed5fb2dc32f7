"""Repeated answers cost little more than a copy of what is there: twice each limit fails."""

from __future__ import annotations

from time import monotonic
from typing import Any

import pytest

from ethos_registry import Personality, ToolFilterOpts, ToolRegistry
from registry_tools import EVERYTHING, made
from stopwatch import assert_ratio_below

MARGIN = 2
"""Tests run on loaded machines: the limits are those of a quiet one."""


@pytest.fixture(scope="module")
def large() -> ToolRegistry:
    return ToolRegistry([made(f"tool_{number}") for number in range(10_000)])


def test_1_000_of_10_000_repeated_cost_three_copies_of_the_list(large: ToolRegistry) -> None:
    allowed = [f"tool_{number}" for number in range(0, 10_000, 10)]
    filters = ToolFilterOpts(exclude_tools=["x"])
    for policy in ((allowed, None), (tuple(allowed), filters)):
        existing = large.to_definitions(*policy)
        assert len(existing) == 1_000
        assert_ratio_below(
            3 * MARGIN,
            lambda policy=policy: large.to_definitions(*policy),
            lambda existing=existing: list(existing),
            200,
        )


def test_all_10_000_repeated_cost_three_copies_of_the_list(large: ToolRegistry) -> None:
    existing = large.to_definitions()
    assert_ratio_below(3 * MARGIN, large.to_definitions, lambda: list(existing), 30)


def test_a_frozen_registry_is_no_slower_by_an_order(large: ToolRegistry) -> None:
    frozen = large.freeze()
    existing = frozen.to_definitions()
    assert len(existing) == 10_000
    assert_ratio_below(3 * MARGIN, frozen.to_definitions, lambda: list(existing), 30)


def test_the_definitions_of_200_tools_repeated_cost_three_copies_of_the_list() -> None:
    view = ToolRegistry([made(f"tool_{number}") for number in range(200)]).view(EVERYTHING)
    existing = view.definitions("anthropic")
    assert_ratio_below(
        3 * MARGIN, lambda: view.definitions("anthropic"), lambda: list(existing), 2_000
    )


def test_the_bytes_of_1_000_tools_repeated_cost_two_copies() -> None:
    view = ToolRegistry([made(f"tool_{number}") for number in range(1_000)]).view(EVERYTHING)
    existing = view.definitions_bytes("anthropic")
    assert_ratio_below(
        2 * MARGIN, lambda: view.definitions_bytes("anthropic"), lambda: bytearray(existing), 1_000
    )


@pytest.mark.parametrize("look", ["to_definitions", "view"])
def test_1_000_probes_cost_little_more_than_themselves_and_a_clock_each(look: str) -> None:
    tools = [made(f"tool_{number}", is_available=lambda: True) for number in range(1_000)]
    registry = ToolRegistry(tools)
    view = registry.view(Personality("p"))
    probes: list[Any] = [tool.is_available for tool in tools]
    subject = registry.to_definitions if look == "to_definitions" else view.definitions

    def timed() -> list[Any]:
        return [(probe(), monotonic()) for probe in probes]

    assert_ratio_below(1.25 * MARGIN, subject, timed, 30)
