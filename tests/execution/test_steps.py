"""The steps of a call: their order, and that each runs exactly once."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ethos_registry import (
    DefaultToolResultReducerRegistry,
    InvocationFilter,
    Tool,
    ToolContext,
    ToolFilterOpts,
    ToolRegistry,
    ok,
)
from ethos_registry.execution import _steps
from ethos_registry.types import AbortController
from session_tools import quick, reason, registry_of, tool

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
LONG = "x" * 500


class Log(list[str]):
    """What happened, in order."""

    def said(self, word: str, answer: Any = None) -> Any:
        self.append(word)
        return answer


def outcomes() -> dict[str, Any]:
    """The answers to calls that several steps could refuse, and what ran for a call that works."""
    log = Log()

    async def execute(args: Any, context: Any) -> Any:
        log.append(f"execute {args} {context.result_budget_chars} {context.scoped_fetch}")
        return ok(LONG)

    class Counting:
        tool_name = "works"

        def reduce(self, result: Any, context: Any) -> Any:
            log.append("reduce")
            return result

    reducers = DefaultToolResultReducerRegistry()
    reducers.register(Counting())
    network = {"network": {"allowed_hosts": ["a.example"]}}

    def backend(name: str, declaration: Any, context: Any) -> Any:
        log.append(f"backend of {name}")
        return f"fetch for {name}"

    def strict(name: str, **options: Any) -> Tool:
        return Tool(name, "A tool.", SCHEMA, execute, strict=True, **options)

    def off() -> bool:
        return log.said("asked off", False)

    registry = ToolRegistry(
        [
            Tool(
                "works",
                "A tool.",
                SCHEMA,
                execute,
                capabilities=network,
                is_available=lambda: log.said("asked works", True),
                max_result_chars=90,
            ),
            strict("excluded", is_available=off),
            strict("denied", is_available=off, capabilities={"secrets": []}),
            strict("off", is_available=off, capabilities={"secrets": []}),
            strict("no_backend", capabilities={"secrets": []}),
        ],
        capability_backends={"network": backend},
        reducer_registry=reducers,
    )

    def answers(bad: bool, context: ToolContext) -> list[Any]:
        args: Any = '{"n": "many"}' if bad else '{"n": 5}'
        names = ["ghost", "excluded", "denied", "off", "no_backend", "works", "works"]
        if bad:
            names = names[:5]
        results = asyncio.run(
            registry.execute_parallel(
                [{"id": str(i), "name": name, "args": args} for i, name in enumerate(names)],
                context,
                ["works", "off", "no_backend", "excluded"],
                ToolFilterOpts(exclude_tools=["excluded"]),
            )
        )
        return [(result.text[:80], reason(result)) for result in results]

    controller = AbortController()
    controller.abort()
    return {
        "bad arguments": answers(True, ToolContext()),
        "good arguments": answers(False, ToolContext(result_budget_chars=700)),
        "dry run": answers(False, ToolContext(dry_run=True)),
        "dry run, bad arguments": answers(True, ToolContext(dry_run=True)),
        "aborted": answers(False, ToolContext(abort_signal=controller.signal)),
        "aborted dry run": answers(
            False, ToolContext(dry_run=True, abort_signal=controller.signal)
        ),
        "log": list(log),
    }


EXPECTED_GOOD = [
    ("Unknown tool: ghost", "unknown"),
    ("Tool excluded is not available on this surface", "excluded"),
    ("Tool denied is not permitted for this personality", "denied"),
    ("Tool off is not currently available", "unavailable"),
    (
        "Tool no_backend declares the capability secrets but no backend for it is configu",
        "no_backends",
    ),
]
DRY = '[dry-run] works would be called with: {"n":5}'
RUN = ["execute {'n': 5} 90 fetch for works", "reduce"] * 2


def test_every_step_answers_in_its_order_and_runs_once() -> None:
    seen = outcomes()
    assert seen["bad arguments"][:4] == EXPECTED_GOOD[:4]
    assert seen["bad arguments"][4][1] == "invalid_args"
    cut = ("x" * 80, None)
    assert seen["good arguments"] == [*EXPECTED_GOOD, cut, cut]
    assert seen["dry run"] == [*EXPECTED_GOOD, (DRY, None), (DRY, None)]
    assert seen["dry run, bad arguments"] == seen["bad arguments"]
    aborted = ("Tool works was not started: the turn was aborted", "cancelled")
    assert seen["aborted"] == [*EXPECTED_GOOD, aborted, aborted]
    assert seen["aborted dry run"] == seen["dry run"]
    batch = ["asked off", "asked works"]
    assert seen["log"] == [
        "asked off",
        *batch,
        "backend of works",
        "backend of works",
        *RUN,
        *batch,
        "asked off",
        *batch,
        *batch,
    ]


def mutations() -> Iterator[tuple[str, tuple[_steps.Step, ...]]]:
    """The table with two neighbours swapped, one step dropped, or one repeated."""
    table = _steps.STEPS.rows
    for index, step in enumerate(table):
        if index + 1 < len(table):
            swapped = (*table[:index], table[index + 1], step, *table[index + 2 :])
            yield f"swap {step.name} and {table[index + 1].name}", swapped
        yield f"drop {step.name}", (*table[:index], *table[index + 1 :])
        yield f"repeat {step.name}", (*table[: index + 1], *table[index:])


def test_the_drawing_in_the_documentation_has_the_steps_of_the_table() -> None:
    page = (Path(__file__).parents[2] / "docs/concepts/one-call.md").read_text()
    [drawing, *_] = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    drawn = [name.strip() for name in drawing.replace("\n", " ").split("→")]
    assert drawn == [step.name for step in _steps.STEPS.rows]
    rows = re.findall(r"^\| `(.*?)` \| (\w+) \|", page, re.MULTILINE)
    assert rows == [(step.name, step.scope) for step in _steps.STEPS.rows]


def is_equivalent(what: str, table: tuple[_steps.Step, ...]) -> bool:
    """Whether only the drawing shows the change: scopes run in their own order, checks are pure."""
    by_scope = [[step.name for step in table if step.scope == scope] for scope in SCOPES]
    original = [
        [step.name for step in _steps.STEPS.rows if step.scope == scope] for scope in SCOPES
    ]
    return by_scope == original or (
        what.startswith("repeat") and what != "repeat capabilities" and "call" in what_scope(what)
    )


def what_scope(what: str) -> str:
    """The scope of a repeated step; verdict steps count as calls, since both only answer."""
    [scope] = [step.scope for step in _steps.STEPS.rows if what == f"repeat {step.name}"]
    return "call" if scope == "verdict" else scope


SCOPES = ("batch", "verdict", "call", "tool", "run")


@pytest.mark.parametrize(("what", "table"), list(mutations()), ids=lambda value: str(value)[:40])
def test_a_change_of_the_table_is_noticed(
    what: str, table: tuple[_steps.Step, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    equivalent = is_equivalent(what, table)
    try:
        mutated = _steps.StepTable(*table)
    except ValueError:  # a scope has one step too many or too few
        return
    monkeypatch.setattr(_steps, "STEPS", mutated)
    with pytest.raises(AssertionError):
        test_the_drawing_in_the_documentation_has_the_steps_of_the_table()
    if not equivalent:
        with pytest.raises((AssertionError, ValueError, TypeError)):
            test_every_step_answers_in_its_order_and_runs_once()


# What single steps do with their input


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


async def test_the_position_in_invalid_json_is_that_of_the_text_as_it_came() -> None:
    call = {"id": "1", "name": "quick", "args": r'{"text": "\ud83d" oops}'}
    [result] = await registry_of(quick).execute_parallel([call])
    assert result.text.endswith("at line 1 column 19")


async def test_a_dry_run_refuses_what_has_no_backends() -> None:
    declaring = tool(quick, "declaring", capabilities={"secrets": []})
    for backends in (None, {"network": lambda name, declaration, context: object()}):
        registry = registry_of(declaring, capability_backends=backends)
        [result] = await registry.execute_parallel(
            [{"id": "1", "name": "declaring", "args": {}}], ToolContext(dry_run=True)
        )
        assert reason(result) == "no_backends"


@pytest.mark.parametrize("options", [{}, {"allowed_tools": ["other"]}])
@pytest.mark.parametrize("name", ["ghost\ud800", "\udfff" * 10_000, "g" * 10_000])
async def test_a_refusal_repeats_a_bounded_name_without_lone_surrogates(
    name: str, options: Any
) -> None:
    [result] = await registry_of(quick).execute_parallel(
        [{"id": "1", "name": name, "args": {}}], **options
    )
    assert reason(result) == "unknown"
    assert len(result.text) < 150
    assert result.text.encode()
    assert result.name == name


async def test_a_filter_applies_after_the_steps_before_the_tool() -> None:
    asked: list[str] = []
    item = InvocationFilter(before=lambda invocation: asked.append(invocation.tool_name))
    registry = registry_of(quick, tool(quick, "off", is_available=lambda: False))
    calls = [{"id": name, "name": name, "args": {}} for name in ("ghost", "off", "quick")]
    await registry.execute_parallel(calls, filters=[item])
    assert asked == ["quick"]
