"""A reduction policy: how it is given, and what it keeps."""

import asyncio
import dataclasses
import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora import lost, recorded
from ethos_registry import (
    ConfigError,
    FrozenToolRegistry,
    Personality,
    Tool,
    ToolContext,
    ToolRegistry,
    default_reducers,
    ok,
    reduce_text,
)
from ethos_registry.reduction import ReductionPolicy, reduce_many

TARGETS = (1_024, 2_000, 4_000, 8_000, 16_000, 64_000)
MARK = re.compile(r"\[\d+ (of \d+ )?lines? left out\]|\.\.\.\[\d+ chars\]\.\.\.")
SMALL = [
    output
    for part in ("given", "own", "fresh")
    for output in recorded(part)
    if 1_100 < len(output.text) < 20_000
]


def reduced(output, target, level="facts"):
    return reduce_text(
        output.text,
        command=output.command,
        exit_code=output.exit_code,
        policy=ReductionPolicy(target, level),
    )


@given(st.sampled_from(SMALL), st.integers(1_024, 20_000), st.integers(1, 8_000))
@settings(max_examples=60, deadline=None)
def test_a_fact_that_is_shown_at_a_target_is_shown_at_each_larger_one(output, target, more):
    less, all_of_it = reduced(output, target), reduced(output, target + more)
    assert len(less) <= target
    assert len(all_of_it) <= target + more
    # A number may occur in a mark by chance.
    shown = set(output.facts) - set(lost(output, MARK.sub("", less)))
    assert not shown & set(lost(output, MARK.sub("", all_of_it)))


@given(st.sampled_from(SMALL), st.sampled_from(TARGETS), st.sampled_from(["facts", "verdict"]))
@settings(max_examples=60, deadline=None)
def test_a_text_is_no_longer_than_the_target_or_the_text_and_reducing_it_again_changes_nothing(
    output, target, level
):
    text = reduced(output, target, level)
    assert len(text) <= min(target, len(output.text))
    again = reduce_text(
        text,
        command=output.command,
        exit_code=output.exit_code,
        policy=ReductionPolicy(target, level),
    )
    assert again == text


def test_what_fits_after_the_lossless_step_is_whole():
    lines = [f"leaf {number} of oak {number % 7} grows" for number in range(200)]
    text = "\n".join([*lines, *["the same line of text"] * 400])
    target = len("\n".join(lines)) + 100
    policy = ReductionPolicy(target)
    text_then = reduce_text(text, policy=policy)
    assert text_then == "\n".join([*lines, "the same line of text ×400"])
    assert reduce_text(text_then, policy=policy) == text_then


def test_the_lossless_level_loses_no_line_whatever_the_target_is():
    text = "\n".join(f"\x1b[32mleaf {number}\x1b[0m grows" for number in range(500))
    policy = ReductionPolicy(100, "lossless")
    assert reduce_text(text, policy=policy) == "\n".join(
        f"leaf {number} grows" for number in range(500)
    )


def test_the_verdict_level_keeps_how_it_ended_and_what_failed():
    [output] = [each for each in recorded("given") if each.file == "pytest/shop_default.txt"]
    facts, verdict = reduced(output, 64_000), reduced(output, 64_000, "verdict")
    assert len(verdict) * 2 < len(facts)
    assert " failed" in verdict


CLIFFS = {
    "commits of git log -p": (
        "git log -p",
        lambda count: "".join(
            f"commit {number:040x}\nAuthor: A B <a@b>\nDate:   Mon Jan 5 10:00:{number:02} 2026\n\n"
            f"    Change {number}\n\ndiff --git a/f{number}.py b/f{number}.py\n"
            f"index 1..2 100644\n--- a/f{number}.py\n+++ b/f{number}.py\n@@ -1,9 +1,9 @@\n"
            + "".join(f"-old {number} {line}\n+new {number} {line}\n" for line in range(15))
            + "\n"
            for number in range(count)
        ),
        lambda count: [f"+new {number} {line}" for number in range(count) for line in range(15)],
        range(1, 12),
    ),
    "lines of head": (
        "cat notes.txt | head -n 110",
        lambda count: "".join(
            f"note {number}: what leaf {number * 7919} said\n" for number in range(count)
        ),
        lambda count: [f"note {number}: what leaf {number * 7919} said" for number in range(count)],
        range(95, 115),
    ),
    "hits of rg": (
        "rg leaf",
        lambda count: "".join(
            f"src/oak{number % 9}.py:{number}:    leaf = {number * 7919}\n"
            for number in range(count)
        ),
        lambda count: [f"leaf = {number * 7919}" for number in range(count)],
        range(40, 60),
    ),
    "rows of sqlite": (
        "sqlite3 oak.db 'select * from leaf'",
        lambda count: "".join(
            f"{number}|leaf-{number * 7919}|green|2026-01-{number % 28 + 1:02}\n"
            for number in range(count)
        ),
        lambda count: [f"leaf-{number * 7919}|green" for number in range(count)],
        range(85, 105),
    ),
    "resources of terraform": (
        "terraform plan",
        lambda count: (
            "Terraform will perform the following actions:\n\n"
            + "".join(
                f'  # oak_leaf.l{number} will be created\n  + resource "oak_leaf" "l{number}" {{\n'
                f'      + colour = "green-{number * 7919}"\n      + id     = (known after apply)\n'
                "    }\n\n"
                for number in range(count)
            )
            + f"Plan: {count} to add, 0 to change, 0 to destroy.\n"
        ),
        lambda count: [f'"green-{number * 7919}"' for number in range(count)],
        range(8, 60, 3),
    ),
    "dates of git log": (
        "git log",
        lambda count: "".join(
            f"commit {number:040x}\nAuthor: A B <a@b>\nDate:   Mon Jan 5 10:00:{number:02} 2026\n\n"
            f"    Change {number}\n\n"
            for number in range(count)
        ),
        lambda count: [f"10:00:{number:02} 2026" for number in range(count)],
        range(5, 50, 3),
    ),
}


@pytest.mark.parametrize("target", [2_000, 4_000, 8_000])
@pytest.mark.parametrize("name", CLIFFS)
def test_one_record_more_costs_no_fact_while_the_text_is_below_its_target(name, target):
    command, make, facts, counts = CLIFFS[name]
    longest = max(len(line) for line in make(3).splitlines())
    for count in counts:
        text = make(count)
        shown = reduce_text(
            text, command=command, exit_code=0, policy=ReductionPolicy(target, "facts")
        )
        missing = [fact for fact in facts(count) if fact not in shown]
        if len(text) <= target:
            assert not missing, count
        # What is lost is lost because the text is full.
        assert not missing or len(shown) > target - 2 * longest - 60, (count, len(shown))


def test_an_error_in_a_log_erases_no_other_line_that_fits():
    lines = [
        f"2026-01-05 10:{number // 60:02}:{number % 60:02} INFO leaf{number} of {word} grew"
        for number in range(90)
        for word in [("oak", "elm", "ash", "fir", "yew")[number % 5]]
    ]
    with_error = [*lines[:40], "2026-01-05 10:00:40 ERROR no water for oak", *lines[40:]]
    policy = ReductionPolicy(4_000)
    before, after = (
        reduce_text("\n".join(each) + "\n", command="cat app.log", exit_code=0, policy=policy)
        for each in (lines, with_error)
    )
    assert "ERROR no water for oak" in after
    shown = [sum(line in text for line in lines) for text in (before, after)]
    assert shown[1] >= shown[0] - 3


def test_the_profile_keeps_its_header_and_its_built_ins():
    rows = "".join(
        f"      {number + 1}    0.{number:03}    0.000    0.{number:03}    0.000 "
        f"oak.py:{number}(leaf{number})\n"
        for number in range(40)
    )
    built_in = "        9    0.004    0.000    0.004    0.000 {built-in method builtins.exec}\n"
    text = (
        "         812 function calls in 0.412 seconds\n\n   Ordered by: cumulative time\n\n"
        "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n"
        + built_in
        + rows
    )
    shown = reduce_text(
        text, command="python -m cProfile oak.py", exit_code=0, policy=ReductionPolicy(8_000)
    )
    assert shown == text


LONG = "\n".join(f"leaf {number} of the oak number {number * 7919}" for number in range(900))


def tool(**fields):
    return Tool("terminal", "Run.", {"type": "object"}, lambda args, context: ok(LONG), **fields)


def sent_chars(registry, **options):
    [result] = registry.execute_parallel_sync(
        [{"id": "1", "name": "terminal", "args": {"command": "leaves"}}],
        ToolContext(result_budget_chars=70_000),
        **options,
    )
    return len(result.text)


@pytest.mark.parametrize("kind", [ToolRegistry, FrozenToolRegistry])
def test_the_batch_comes_before_the_tool_and_the_tool_before_the_registry(kind):
    def registry(*tools, **options):
        return kind(tools, reducer_registry=default_reducers(), **options)

    of_registry = registry(tool(), reduction=ReductionPolicy(9_000))
    assert 8_900 < sent_chars(of_registry) <= 9_000
    of_tool = registry(tool(reduction=ReductionPolicy(6_000)), reduction=ReductionPolicy(9_000))
    assert 5_900 < sent_chars(of_tool) <= 6_000
    assert 2_900 < sent_chars(of_tool, reduction=ReductionPolicy(3_000)) <= 3_000
    assert sent_chars(registry(tool())) == len(reduce_text(LONG, command="leaves"))


def test_without_a_target_the_share_of_the_budget_is_the_target():
    registry = ToolRegistry(
        [tool()], reducer_registry=default_reducers(), reduction=ReductionPolicy(None)
    )
    calls = [{"id": str(n), "name": "terminal", "args": {"command": "leaves"}} for n in range(4)]
    context = ToolContext(result_budget_chars=20_000)
    results = registry.execute_parallel_sync(calls, context)
    assert all(4_800 < len(result.text) <= 5_000 for result in results)


def test_the_streaming_batch_takes_a_policy():
    registry = ToolRegistry([tool()], reducer_registry=default_reducers())

    async def streamed():
        calls = [{"id": "1", "name": "terminal", "args": {}}]
        stream = registry.view(Personality("all")).stream(
            calls, ToolContext(), reduction=ReductionPolicy(3_000)
        )
        return [result async for result in stream]

    [result] = asyncio.run(streamed())
    assert 2_900 < len(result.text) <= 3_000


def test_a_python_reducer_sees_the_policy():
    seen = []

    class Reducer:
        tool_name = "terminal"

        def reduce(self, result, context):
            seen.append(context.policy)
            return result

    reducers = default_reducers()
    reducers.unregister("terminal")
    reducers.register(Reducer())
    registry = ToolRegistry([tool()], reducer_registry=reducers, reduction=ReductionPolicy(5_000))
    sent_chars(registry)
    assert seen == [ReductionPolicy(5_000)]


@pytest.mark.parametrize("name", ["read_file", "head_tail"])
def test_the_target_bounds_the_lines_of_a_file_and_of_head_and_tail(name):
    for target in (2_000, 10_000, 20_000):
        text = reduce_text(LONG, tool_name=name, policy=ReductionPolicy(target))
        assert target - 300 < len(text) <= target
    assert reduce_text(LONG, tool_name=name, policy=ReductionPolicy(60_000)) == LONG


def test_a_list_of_tickets_that_fits_is_whole():
    tickets = "[" + ",".join(f'{{"id": {n}, "status": "todo"}}' for n in range(40)) + "]"
    assert reduce_text(tickets, tool_name="kanban_list", policy=ReductionPolicy(4_000)) == tickets
    assert len(reduce_text(tickets, tool_name="kanban_list", policy=ReductionPolicy(500))) < 500


def test_many_texts_take_the_policy_of_one():
    policy = ReductionPolicy(3_000)
    one = reduce_text(LONG, command="leaves", exit_code=0, policy=policy)
    assert reduce_many([LONG], commands=["leaves"], exit_codes=[0], policy=policy) == [one]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ReductionPolicy(0), "`target_chars` must be"),
        (lambda: ReductionPolicy("9"), "`target_chars` must be"),
        (lambda: ReductionPolicy(9, "all"), "`level` must be one of"),
        (lambda: ToolRegistry(reduction=9), "`reduction` must be a ReductionPolicy, got int"),
        (lambda: tool(reduction=9), "tool `terminal`: `reduction` must be a ReductionPolicy"),
        (lambda: reduce_text("a", policy=9), "`policy` must be a ReductionPolicy, got int"),
        (
            lambda: sent_chars(ToolRegistry([tool()]), reduction=9),
            "`reduction` must be a ReductionPolicy",
        ),
    ],
)
def test_a_policy_of_the_wrong_kind_is_named_in_one_line(make, message):
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")) as raised:
        make()
    assert "\n" not in str(raised.value)


def test_a_policy_is_a_value():
    policy = ReductionPolicy(8_000, "verdict")
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert {policy: 1}[ReductionPolicy(8_000, "verdict")] == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.level = "facts"


def test_a_change_by_force_of_a_policy_reaches_no_registry():
    policy, of_tool = ReductionPolicy(9_000), ReductionPolicy(6_000)
    cases = (([tool()], policy, 9_000), ([tool(reduction=of_tool)], None, 6_000))
    for tools, of_registry, chars in cases:
        registry = FrozenToolRegistry(
            tools, reducer_registry=default_reducers(), reduction=of_registry
        )
        object.__setattr__(of_registry or of_tool, "target_chars", 2_000)
        assert sent_chars(registry) > chars - 100
