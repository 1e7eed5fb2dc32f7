"""Conformance with the TypeScript system, and better answers where that one is no measure."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ethos_cases import load_cases, matches, ruling
from ethos_driver import RUNNERS, made_tool, run_execute
from ethos_registry import (
    CallResult,
    ConfigError,
    Personality,
    Tool,
    ToolContext,
    ToolFilterOpts,
    ToolRegistry,
)
from ethos_registry.capabilities import NetworkPolicy
from ethos_registry.types import AbortController, ReadMtime, ToolProgressEvent

FILES = Path(__file__).with_name("data")
CASES = load_cases()
RULINGS = {name: ruling(case) for name, case in CASES.items()}

Check = Callable[[dict[str, Any]], None]
OURS: dict[str, Check] = {}
"""What this project does with the input of a case that it is not to match."""


def ours(*names: str) -> Callable[[Check], Check]:
    def keep(check: Check) -> Check:
        OURS.update(dict.fromkeys(names, check))
        return check

    return keep


def ids_of(*kinds: str) -> list[str]:
    return [name for name, rule in RULINGS.items() if rule.kind in kinds]


def test_no_case_is_silently_left_out() -> None:
    counts: dict[str, Counter[str]] = {}
    for name, rule in RULINGS.items():
        counts.setdefault(CASES[name]["area"], Counter())[rule.kind] += 1
    assert counts == {
        "registry": {"match": 4, "settled": 3, "defect": 1},
        "filter": {"match": 21, "settled": 3, "defect": 1, "js_quirk": 1},
        "execute": {"match": 20, "settled": 2, "defect": 3, "js_quirk": 6, "absent": 7},
        "trim": {"match": 12, "defect": 1, "js_quirk": 2, "absent": 8},
        "reducer_registry": {"match": 4},
    }


def test_every_case_that_is_not_matched_gives_a_reason_and_a_better_answer() -> None:
    assert OURS.keys() == set(ids_of("settled", "defect", "js_quirk"))
    assert all(RULINGS[name].reason for name in ids_of("settled", "defect", "js_quirk", "absent"))


def test_the_cases_of_sanitise_are_run_beside_what_they_test() -> None:
    """`test_wrap` and `test_clean` run them; scans for suspicious words are not built."""
    cases = json.loads((FILES / "sanitize_cases.json").read_text(encoding="ascii"))["cases"]
    assert Counter(case["op"] for case in cases) == {
        "sanitize_template_tokens": 23,
        "wrap_untrusted": 7,
        "describe_source": 6,
        "strip_ansi": 8,
        "pattern_check": 7,
    }
    assert all(case["not_in_seed"] for case in cases if case["op"] == "pattern_check")


@pytest.mark.parametrize("name", ids_of("match"))
def test_case_is_matched(name: str) -> None:
    actual = RUNNERS[CASES[name]["op"]](CASES[name])
    expected = RULINGS[name].expected
    if "results" in expected:
        # Durations are not in the seeds.
        results = [item | {"has_duration": True} for item in actual["results"]]
        expected = {"results": [item | {"has_duration": True} for item in expected["results"]]}
        actual = {"results": results}
    assert matches(expected, actual), json.dumps(actual)[:2_000]


@pytest.mark.parametrize("name", sorted(ids_of("settled", "defect", "js_quirk")))
def test_case_that_is_not_matched_is_answered_better(name: str) -> None:
    OURS[name](CASES[name])


def test_a_wrong_answer_is_seen() -> None:
    expected = RULINGS["filter-allowed-one"].expected
    assert matches(expected, expected)
    for right, wrong in (("true", "false"), ('"terminal"', '"term"'), ("]", ', "x"]')):
        assert not matches(expected, json.loads(json.dumps(expected).replace(right, wrong, 1)))
    [long] = RULINGS["trim-default-80000"].expected["results"]
    assert matches(long["result"]["value"], "x" * 80_000 + "\n[truncated — 80001 chars total]")
    assert not matches(long["result"]["value"], "x" * 80_001 + "\n[truncated — 80001 chars total]")


def one_result(case: dict[str, Any]) -> dict[str, Any]:
    [result] = run_execute(case)["results"]
    answer: dict[str, Any] = result["result"]
    return answer


# Registry


@ours("reg-overwrite-takes-builtin")
def a_plugin_takes_a_name_only_when_asked_to(case: dict[str, Any]) -> None:
    registry = ToolRegistry([made_tool({"name": "terminal"})])
    plugin = made_tool({"name": "terminal"})
    with pytest.raises(ConfigError, match="already registered"):
        registry.register(plugin, plugin_id="evil")
    assert registry.plugin_id_of("terminal") is None
    assert registry.get("terminal") is not plugin


@ours("reg-unicode-normalisation")
def a_name_outside_ascii_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="caf"):
        RUNNERS["registry_steps"](case)


@ours("reg-reach-undefined-toolset", "reg-reach-toolset")
def the_reach_of_a_personality_is_what_it_sees(case: dict[str, Any]) -> None:
    *steps, [_, personality] = case["input"]["steps"]
    registry = ToolRegistry()
    for _, spec in steps:
        if spec["name"] == "mcp__":
            with pytest.raises(ConfigError, match="mcp__"):
                registry.register(made_tool(spec))
        else:
            registry.register(made_tool(spec), plugin_id=spec.get("plugin_id"))
    toolset = personality.get("toolset")
    view = registry.view(Personality("r", toolset=toolset), allow_unmatched=True)
    expected = case["expected"]["outcomes"][-1]
    always = [] if toolset is None else ["get_skill"]
    assert [item["name"] for item in view.definitions()] == expected + always


# Gates


@ours("filter-mcp-name-no-server")
def a_name_without_server_and_tool_is_refused(case: dict[str, Any]) -> None:
    for spec in case["input"]["tools"]:
        with pytest.raises(ConfigError, match=spec["name"]):
            ToolRegistry([made_tool(spec)])


@ours(
    "filter-mcp-triple-underscore-2",
    "filter-mcp-tools-bare-with-double-underscore",
    "filter-mcp-server-with-double-underscore",
    "filter-mcp-tools-proto-server",
)
def the_server_that_is_given_decides(case: dict[str, Any]) -> None:
    servers = {
        "mcp__a___b": "a",
        "mcp__gh__get__pr": "gh",
        "mcp__my__srv__tool": "my__srv",
        "mcp__constructor__a": "constructor",
        "mcp____proto____a": "__proto__",
    }
    registry = ToolRegistry()
    for spec in case["input"]["tools"]:
        tool = made_tool(spec)
        if spec["name"] != "mcp__constructor__a":
            with pytest.raises(ConfigError, match="mcp_server"):
                registry.register(tool)
        registry.register(tool, mcp_server=servers[spec["name"]])
    filters = ToolFilterOpts(**case["input"]["filter_opts"])
    shown = [item["name"] for item in registry.to_definitions(None, filters)]
    assert shown == case["input"]["call"]
    calls = [{"id": name, "name": name} for name in shown]
    assert all(item.ok for item in registry.execute_parallel_sync(calls, None, None, filters))
    for server in servers.values():
        assert not registry.to_definitions(
            None, ToolFilterOpts(allowed_mcp_servers=["my"], allowed_mcp_tools={server: []})
        )


# Execution


@ours("exec-throw-object", "exec-throw-null")
def what_was_raised_is_the_message(case: dict[str, Any]) -> None:
    value = case["input"]["tools"][0]["value"]
    assert one_result(case) == {"ok": False, "error": str(value), "code": "execution_failed"}


@ours("exec-return-string")
def a_returned_string_is_no_result(case: dict[str, Any]) -> None:
    answer = one_result(case)
    assert answer["code"] == "execution_failed"
    assert "got str" in answer["error"]


@ours("red-undefined", "red-promise", "red-mutation-leaks")
def a_reducer_that_fails_leaves_the_result(case: dict[str, Any]) -> None:
    assert one_result(case) == {"ok": True, "value": "original"}


@ours("ifilter-short-circuit")
def after_a_short_circuit_every_after_still_runs_the_innermost_first(case: dict[str, Any]) -> None:
    # The case runs `after` in the order given; the contract nests filters and has the last word.
    actual = RUNNERS[case["op"]](case)
    assert actual["log"] == ["before0", "before1", "after2", "after1", "after0"]
    assert actual["result"] == {"ok": True, "value": "short1+a2+a1+a0"}


@ours("exec-aborted-signal-not-checked")
def after_an_abort_no_tool_starts(case: dict[str, Any]) -> None:
    started: list[str] = []
    controller = AbortController()
    controller.abort()
    registry = ToolRegistry(
        [Tool("t", "", {"type": "object"}, lambda args, context: started.append("t"))]
    )
    context = ToolContext(abort_signal=controller.signal)
    [result] = registry.execute_parallel_sync([{"id": "1", "name": "t"}], context)
    assert started == []
    assert result.text == "Tool t was not started: the turn was aborted"
    assert result.result.code == "not_available"


@ours("exec-concurrent-batches-share-live-context")
def concurrent_batches_never_mix_events(case: dict[str, Any]) -> None:
    async def execute(args: Any, context: ToolContext) -> dict[str, Any]:
        await asyncio.sleep(0.01)
        context.report(context.session_id)
        return {"ok": True, "value": context.storage}

    async def run() -> dict[str, tuple[list[str], list[CallResult]]]:
        registry = ToolRegistry([Tool("t", "", {"type": "object"}, execute)])

        async def batch(name: str) -> tuple[list[str], list[CallResult]]:
            events: list[ToolProgressEvent] = []
            context = ToolContext(session_id=name, emit=events.append, storage=f"of {name}")
            calls = [{"id": str(index), "name": "t"} for index in range(5)]
            results = await registry.execute_parallel(calls, context)
            return [event.message for event in events], results

        names = case["input"]["batches"]
        return dict(zip(names, await asyncio.gather(*map(batch, names)), strict=True))

    for name, (messages, results) in asyncio.run(run()).items():
        assert messages == [name] * 5
        assert [result.text for result in results] == [f"of {name}"] * 5


@ours("exec-ctx-fields-lost")
def every_fact_of_the_context_reaches_the_tool(case: dict[str, Any]) -> None:
    facts: dict[str, Any] = {
        "session_id": "s",
        "session_key": "cli:s",
        "platform": "slack",
        "working_dir": "/w",
        "agent_id": "a",
        "personality_id": "p",
        "memory_scope": "global",
        "memory_scope_id": "m",
        "team_id": "t",
        "current_turn": 3,
        "message_count": 4,
        "storage": object(),
        "read_mtimes": {"/a": ReadMtime(1.5, 2)},
        "network_policy": NetworkPolicy(allow=["a.example"]),
    }
    scoped = {"scoped_fs": object(), "kv_store": object()}
    seen: dict[str, Any] = {}

    async def execute(args: Any, context: ToolContext) -> dict[str, Any]:
        seen.update({name: getattr(context, name) for name in (*facts, *scoped)})
        return {"ok": True, "value": ""}

    registry = ToolRegistry([Tool("t", "", {"type": "object"}, execute)])
    registry.execute_parallel_sync([{"id": "1", "name": "t"}], ToolContext(**facts, **scoped))
    assert seen == facts | dict.fromkeys(scoped)
    assert seen["storage"] is facts["storage"]


@ours("ifilter-before-undefined")
def a_before_that_answers_nothing_stops_no_other(case: dict[str, Any]) -> None:
    assert RUNNERS["invocation_filters"](case) == {
        "log": ["before0", "before1", "execute", "after0"],
        "result": {"ok": True, "value": "v+a0"},
    }


# Trim


@ours("exec-error-not-trimmed")
def error_texts_are_bounded_too(case: dict[str, Any]) -> None:
    assert one_result(case)["error"] == "e" * 100 + "\n[truncated — 500 chars total]"


@ours("trim-budget-negative", "trim-max-result-chars-fraction")
def numbers_that_are_no_sizes_are_refused(case: dict[str, Any]) -> None:
    value = str({**case["input"]["tools"][0], **case["input"]["ctx"]}.get("max_result_chars", -3))
    with pytest.raises(ConfigError, match=value):
        run_execute(case)
