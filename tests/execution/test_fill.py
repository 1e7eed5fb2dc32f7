"""The budget that small results leave is filled by the large ones (contract 3.8)."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import Tool, ToolContext, ToolRegistry, ok
from ethos_registry.execution._results import even_share, fill_shares

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
    for remaining, size in zip(fill_shares(budget, sizes), sizes, strict=True):
        assert remaining >= min(share, size)


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


def texts_tool(name: str, size: int, **fields) -> Tool:
    async def execute(args, context):
        return ok("x" * size, structured={"budget": context.result_budget_chars})

    return Tool(name, "Returns that many characters.", {"type": "object"}, execute, **fields)


async def run_filled(tools, names, budget, **options):
    registry = ToolRegistry(tools)
    calls = [{"id": str(index), "name": name} for index, name in enumerate(names)]
    context = ToolContext(result_budget_chars=budget)
    return await registry.execute_parallel(calls, context, budget_policy="fill", **options)


async def test_a_large_result_takes_what_small_ones_and_refused_calls_leave():
    tools = [texts_tool("small", 10), texts_tool("large", 500)]
    results = await run_filled(tools, ["small", "large", "nobody"], 200)
    assert [result.truncated_from for result in results] == [None, 500, None]
    assert results[1].text.startswith("x" * 190 + "\n[truncated")
    assert (results[1].raw_chars, results[1].reduced_chars) == (500, 500)
    assert results[1].sent_chars == len(results[1].text)
    assert results[2].text == "Unknown tool: nobody"


async def test_tools_may_use_the_whole_budget_or_their_own_limit():
    tools = [texts_tool("a", 1), texts_tool("b", 300, max_result_chars=50)]
    first, second = await run_filled(tools, ["a", "b"], 200)
    assert first.result.structured == {"budget": 200}
    assert second.result.structured == {"budget": 50}
    assert second.text.startswith("x" * 50 + "\n[truncated — 300")


@given(st.lists(st.integers(0, 60), min_size=1, max_size=6), st.integers(0, 200))
def test_bodies_of_a_batch_are_those_of_the_shares(sizes, budget):
    tools = [texts_tool(f"t{index}", size) for index, size in enumerate(sizes)]
    results = asyncio.run(run_filled(tools, [tool.name for tool in tools], budget))
    remaining = [result.text.split("\n[truncated")[0] for result in results]
    assert [len(body) for body in remaining] == fill_shares(budget, sizes)


async def test_results_are_reported_when_their_text_is_final():
    reported = []
    tools = [texts_tool("a", 100), texts_tool("b", 100)]
    results = await run_filled(tools, ["a", "b", "c"], 100, on_result=reported.append)
    assert sorted(reported, key=lambda each: each.tool_call_id) == results
    assert [each.name for each in reported] == ["c", "a", "b"]


async def test_filled_and_even_agree_when_all_fit():
    tools = [texts_tool("a", 50), texts_tool("b", 40)]
    registry = ToolRegistry(tools)
    calls = [{"id": "1", "name": "a"}, {"id": "2", "name": "b"}]
    context = ToolContext(result_budget_chars=100)
    even = await registry.execute_parallel(calls, context)
    fill = await registry.execute_parallel(calls, context, budget_policy="fill")
    assert [each.text for each in even] == [each.text for each in fill]
