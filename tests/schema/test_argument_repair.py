"""Wrong arguments are repaired after validation failed, if they have one reading, and on record."""

from __future__ import annotations

import json
import runpy
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import (
    CallResult,
    ConfigError,
    InvocationFilter,
    Pending,
    Tool,
    ToolContext,
    ToolRegistry,
    ok,
    tool,
)
from ethos_registry.execution import Approvals
from ethos_registry.types import Repair
from ethos_registry.usage import UsageLedger

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
CASES = json.loads((DATA / "schema_cases.json").read_text())
RECORDED = json.loads((DATA / "wrong_arguments.json").read_text())
LEVELS = ("off", "safe", "all")


def case_id(case: Any) -> str:
    return str(case["id"])


def called(schema: Any, sent: Any, level: str, **options: Any) -> tuple[list[Any], CallResult]:
    """The arguments that the tool got, and the result."""
    got: list[Any] = []

    async def execute(args: Any, context: ToolContext) -> Any:
        got.append(args)
        return ok("ran")

    registry = ToolRegistry(
        [Tool("act", "", schema, execute)],
        validate_arguments=True,
        repair_arguments=level,  # type: ignore[arg-type]
        **options,
    )
    [result] = registry.execute_parallel_sync([{"id": "1", "name": "act", "args": sent}])
    return got, result


def same(first: Any, second: Any) -> bool:
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def repairs_of(result: CallResult) -> list[tuple[str, str]]:
    return sorted((repair.path, repair.kind) for repair in result.repairs)


@pytest.mark.parametrize("case", CASES["arguments"], ids=case_id)
def test_published_case(case: Any) -> None:
    got, result = called(CASES["argument_schemas"][case["schema"]], case["sent"], case["level"])
    if "error" in case:
        assert (got, result.result.code, result.repairs) == ([], case["error"], ())
        return
    assert same(got, [case["runs_with"]])
    assert repairs_of(result) == sorted((each["path"], each["kind"]) for each in case["repairs"])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("case", RECORDED["wrong"], ids=case_id)
def test_recorded_case(case: Any, level: str) -> None:
    schema = RECORDED["schemas"][case["schema"]]
    got, result = called(schema, case["sent"], level)
    if case["level"] == "never" or LEVELS.index(level) < LEVELS.index(case["level"]):
        unrepaired = called(schema, case["sent"], "off")[1]
        assert (got, result.result, result.repairs) == ([], unrepaired.result, ())
        return
    assert same(got, [case["runs_with"]])
    assert repairs_of(result) == sorted((path, kind) for path, kind in case["repairs"])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("case", RECORDED["valid"], ids=case_id)
def test_valid_arguments_are_never_changed(case: Any, level: str) -> None:
    got, result = called(RECORDED["schemas"][case["schema"]], case["sent"], level)
    assert same(got, [json.loads(case["sent"])])
    assert result.repairs == ()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.sampled_from(["", "5", "true", "null", "[]", '{"a": 1}', "a,b", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=6,
)
TYPES = ["string", "integer", "number", "boolean", "null", "array", "object"]
SCHEMAS = st.recursive(
    st.just({}) | st.sampled_from(TYPES).map(lambda kind: {"type": kind}),
    lambda inner: (
        st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(
            lambda properties: {"type": "object", "properties": properties},
            st.dictionaries(st.sampled_from("abc"), inner),
        )
        | st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=2))
    ),
    max_leaves=5,
)


@given(
    st.dictionaries(st.sampled_from("abc"), SCHEMAS),
    st.dictionaries(st.sampled_from("abc"), JSON),
    st.sampled_from(["safe", "all"]),
)
def test_repair_needs_a_failure_and_ends_in_validity(
    properties: Any, args: Any, level: str
) -> None:
    schema = {"type": "object", "properties": properties}
    is_valid = called(schema, args, "off")[1].ok
    got, result = called(schema, json.loads(json.dumps(args)), level)
    if is_valid:
        assert same(got, [args])
        assert result.repairs == ()
    elif result.ok:
        assert result.repairs
        assert called(schema, got[0], "off")[1].ok
        assert not same(got, [args])
    else:
        assert result.text == called(schema, args, "off")[1].text


def find(limit: int = 3, tags: list[str] | None = None, deep: bool = False) -> str:
    """Find."""
    return json.dumps([limit, tags, deep])


def run(registry: ToolRegistry, args: Any, name: str = "find", **options: Any) -> CallResult:
    [result] = registry.execute_parallel_sync([{"id": "1", "name": name, "args": args}], **options)
    return result


def test_function_is_bound_again() -> None:
    registry = ToolRegistry([tool(find)])
    result = run(registry, {"limit": "5", "tags": '["a"]'})
    assert (result.text, result.repairs) == ('[5, ["a"], false]', (Repair("tags", "json_text"),))
    assert run(registry, {"limit": None}).text == "[3, null, false]"
    assert run(registry, '{"limit": 5}{"limit": 5}').text == "[5, null, false]"
    lax = run(registry, {"limit": "5", "deep": "yes"})
    assert (lax.text, lax.repairs) == ("[5, null, true]", ())
    wrong = run(registry, {"tags": "a"})
    assert not wrong.ok
    assert wrong.text == run(ToolRegistry([tool(find)], repair_arguments="off"), {"tags": "a"}).text


async def find_later(tags: list[str], context: ToolContext) -> str:
    """Find."""
    return f"{tags}"


def test_function_of_any_kind_is_repaired() -> None:
    registry = ToolRegistry([tool(find_later)])
    assert run(registry, {"tags": '["a"]'}, "find_later").text == "['a']"
    dry = run(registry, {"tags": '["a"]'}, "find_later", context=ToolContext(dry_run=True))
    assert '{"tags":["a"]}' in dry.text
    assert dry.repairs == (Repair("tags", "json_text"),)


def test_strict_tool_is_never_repaired() -> None:
    log: list[Any] = []
    schema = {"type": "object", "properties": {"limit": {"type": "integer"}}}
    strict = Tool("find", "", schema, lambda args, context: log.append(args), strict=True)
    assert not run(ToolRegistry([strict], repair_arguments="all"), {"limit": "5"}).ok
    assert log == []
    with pytest.raises(ConfigError, match="contradicts `strict`"):
        strict.replace(repair_arguments="safe")


def test_tool_without_validation_gets_what_was_sent() -> None:
    schema = {"type": "object", "properties": {"limit": {"type": "integer"}}}
    registry = ToolRegistry([Tool("find", "", schema, lambda args, context: ok(str(args)))])
    assert run(registry, {"limit": "5"}).text == "{'limit': '5'}"
    assert not run(registry, '{"limit": 5}{"limit": 5}').ok


def test_level_of_the_tool_counts_before_that_of_the_registry() -> None:
    registry = ToolRegistry([tool(repair_arguments="all")(find)], repair_arguments="off")
    assert run(registry, {"tags": "a"}).text == '[3, ["a"], false]'
    quiet = ToolRegistry([tool(repair_arguments="off")(find)], repair_arguments="all")
    assert not run(quiet, {"tags": '["a"]'}).ok
    assert run(registry.freeze(), {"tags": "a"}).ok  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="repair_arguments"):
        ToolRegistry(repair_arguments="some")  # type: ignore[arg-type]


def test_filters_and_approvals_see_repaired_arguments() -> None:
    seen: list[Any] = []

    def before(invocation: Any) -> Pending:
        seen.append((invocation.args, invocation.repairs))
        return Pending("please")

    registry = ToolRegistry(
        [tool(find)],
        approvals=Approvals(b"a key of sixteen bytes"),
        filters=[InvocationFilter(before=before)],
    )
    result = run(registry, {"tags": '["a"]'})
    repairs = (Repair("tags", "json_text"),)
    assert seen == [({"tags": ["a"]}, repairs)]
    assert result.pending is not None
    assert (result.pending.arguments, result.pending.repairs) == ({"tags": ["a"]}, repairs)
    assert result.to_wire().keys() == {"toolCallId", "name", "result"}


def test_ledger_counts_repaired_calls() -> None:
    ledger = UsageLedger()
    registry = ToolRegistry([tool(find)], observers=[ledger])
    for args in ({"tags": '["a"]'}, {"limit": 1}, {"limit": None}, {"limit": "many"}):
        run(registry, args)
    [used] = ledger.report().tools
    assert (used.repaired, used.invocations) == (2, used.invocations)
    assert used.repair_rate == 2 / used.invocations
    assert ledger.report().to_wire()["totals"]["repaired"] == 2


def test_table_of_the_docs_is_what_the_bench_measures() -> None:
    bench = ROOT / "benches" / "repair.py"
    measured = runpy.run_path(str(bench))["table"]()
    assert measured in (ROOT / "docs" / "concepts" / "argument-repair.md").read_text()


@pytest.mark.parametrize("case", CASES["tool_names"], ids=case_id)
def test_tool_names_are_never_repaired(case: Any) -> None:
    names = [*case["registered"], *case.get("hidden", ())]
    schema = {"type": "object"}
    registry = ToolRegistry([Tool(name, "", schema, lambda a, c: ok("")) for name in names])
    result = run(registry, {}, case["sent"], allowed_tools=case["registered"])
    assert result.ok is (case["sent"] in case["registered"])
    if not result.ok:
        nearest = "" if case["id"] == "never-hidden" else " (did you mean read_file?)"
        assert result.text == f"Unknown tool: {case['sent']}{nearest}"
        assert result.repairs == ()


REPAIRED = {"id": "1", "name": "add", "args": {"numbers": "[1, 2]", "note": None}}
NOTE = "\n[arguments repaired: numbers from JSON text; note null as not given]"


def adding(**options: Any) -> ToolRegistry:
    registry = ToolRegistry(**options)

    @registry.tool
    def add(numbers: list[int], note: str = "") -> str:
        """Add."""
        return str(sum(numbers)) * 40

    return registry


@pytest.mark.parametrize("budget_policy", ["even", "fill"])
def test_a_model_reads_what_was_repaired_where_the_registry_says_so(budget_policy):
    context = ToolContext(result_budget_chars=10)
    for options, note in (({}, ""), ({"repair_note": True}, NOTE)):
        registry = adding(**options)
        for each in (registry, registry.freeze()):
            [result] = each.execute_parallel_sync([REPAIRED], context, budget_policy=budget_policy)
            cut = "3333333333\n[truncated — 40 chars total]"
            assert (result.text, result.sent_chars) == (cut + note, len(cut + note))
            assert [repair.kind for repair in result.repairs] == ["json_text", "null_as_absent"]


def test_the_note_about_many_repairs_is_short():
    args = {f"a_long_name_{number}": "5" for number in range(50)}
    check = ToolRegistry(
        [
            Tool(
                "wide",
                "",
                {"type": "object", "additionalProperties": {"type": "integer"}},
                lambda args, context: ok("ok"),
            )
        ],
        validate_arguments=True,
        repair_note=True,
    )
    [result] = check.execute_parallel_sync([{"id": "1", "name": "wide", "args": args}])
    assert len(result.repairs) == 50
    assert result.text.startswith("ok\n[arguments repaired: a_long_name_0 from text; ")
    assert result.text.endswith(" more]")
    assert len(result.text) <= len("ok") + 120


def test_nothing_is_said_about_arguments_that_were_right():
    right = {"id": "1", "name": "add", "args": {"numbers": [1, 2]}}
    [result] = adding(repair_note=True).execute_parallel_sync([right])
    assert result.text == "3" * 40


def test_a_repair_note_that_is_no_boolean_is_refused():
    with pytest.raises(ConfigError, match="repair_note"):
        ToolRegistry(repair_note="yes")


def rows(lists: list[list[int]]) -> str:
    """Count rows."""
    return f"{len(lists)} of {sum(map(sum, lists))}"


@pytest.mark.parametrize(
    ("name", "args", "known"),
    [
        ("find", {str(number): number for number in range(200_000)}, "limit, tags, deep"),
        ("rows", {"lists": ["[1]"] * 200_000}, "lists"),
    ],
    ids=["names", "items"],
)
def test_very_many_problems_are_counted_and_neither_listed_nor_repaired(name, args, known):
    start = time.process_time()
    wrong = run(ToolRegistry([tool(rows), tool(find)]), args, name)
    assert time.process_time() - start < 2
    assert wrong.text == f"arguments: 200,000 values do not fit; the arguments are {known}"


def test_names_are_compared_with_patterns_in_linear_time():
    integer = {"type": "integer"}
    schema = {"type": "object", "patternProperties": {"^a": integer, "^(a+)+$": integer}}
    registry = ToolRegistry([Tool("sums", "", schema, lambda args, _: ok(str(*args.values())))])
    start = time.process_time()
    assert run(registry, {"a" * 40 + "b": "5"}, "sums").text == "5"
    assert time.process_time() - start < 2


def test_one_repair_does_not_copy_what_another_copied():
    def seconds(lists):
        start = time.process_time()
        registry = ToolRegistry([tool(rows)])
        assert run(registry, {"lists": lists}, "rows").text == "409000 of 409000"
        return time.process_time() - start

    good, texts = [[1]] * 400_000, ["[1]"] * 9_000
    assert seconds(texts + good) < 12 * seconds([[1]] * 9_000 + good)
    assert texts[8_999] == "[1]"
