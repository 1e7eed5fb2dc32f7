"""The budget that small results leave is filled by the large ones (contract 3.8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry.execution.budget import even_share, fill_shares

bodies = st.lists(st.integers(0, 500), max_size=12)
budgets = st.integers(0, 3_000)


def one_character_at_a_time(budget: int, sizes: list[int]) -> list[int]:
    """The oracle: deal out the budget in rounds, one character to each body in need."""
    shares = [0] * len(sizes)
    while budget > 0:
        hungry = [index for index, size in enumerate(sizes) if shares[index] < size]
        if not hungry:
            break
        for index in hungry[:budget]:
            shares[index] += 1
        budget -= min(budget, len(hungry))
    return shares


@given(budgets, bodies)
def test_shares_are_those_of_dealing_out_one_character_at_a_time(budget, sizes):
    assert fill_shares(budget, sizes) == one_character_at_a_time(budget, sizes)


@given(budgets, bodies)
def test_bodies_stay_within_the_budget_and_waste_nothing_that_is_needed(budget, sizes):
    shares = fill_shares(budget, sizes)
    assert sum(shares) == min(budget, sum(sizes))
    assert all(0 <= share <= size for share, size in zip(shares, sizes, strict=True))


@given(budgets, bodies)
def test_no_body_keeps_less_than_its_even_share(budget, sizes):
    share = even_share(budget, len(sizes))
    for kept, size in zip(fill_shares(budget, sizes), sizes, strict=True):
        assert kept >= min(share, size)


@given(st.lists(st.integers(0, 500), min_size=1, max_size=12), budgets)
def test_all_bodies_that_fit_evenly_are_kept_whole(sizes, slack):
    budget = max(sizes) * len(sizes) + slack
    assert fill_shares(budget, sizes) == sizes


def test_an_unfair_share_is_seen_by_the_oracle():
    greedy = [100, 0, 0]
    assert one_character_at_a_time(100, [100, 80, 70]) != greedy


@pytest.mark.parametrize("budget", [0, 0.9])
def test_an_empty_budget_keeps_nothing(budget):
    assert fill_shares(budget, [5, 0, 7]) == [0, 0, 0]


def test_a_fraction_of_a_character_is_not_given_out():
    assert fill_shares(9.9, [5, 5]) == [5, 4]
