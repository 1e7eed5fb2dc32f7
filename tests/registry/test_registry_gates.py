"""What may be seen is what may run: gates, availability, and policies of the wrong kind."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from enum import Enum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethos_registry import (
    NO_TOOLS,
    ConfigError,
    Personality,
    ToolContext,
    ToolFilterOpts,
    ToolRegistry,
)
from registry_tools import EVERYTHING, made, names, outcomes
from table_cases import BARE_NAMES, PLUGINS, SERVERS, SOUND_NAMES, TOOLSETS, lists, maybe

pytestmark = pytest.mark.every_python

# Seen and run agree on every tool

REGISTRATIONS = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(SOUND_NAMES),
            "toolset": maybe(TOOLSETS),
            "always_include": st.booleans(),
            "plugin_id": maybe(PLUGINS),
            "mcp_server": maybe(SERVERS),
            "available": st.sampled_from([None, True, True, False, "raises"]),
            "hidden": st.sampled_from([False, False, True]),
        }
    ),
    max_size=8,
    unique_by=lambda spec: spec["name"],
)
FILTERS = st.none() | st.builds(
    ToolFilterOpts,
    allowed_mcp_servers=lists(SERVERS),
    allowed_plugins=lists(PLUGINS),
    allowed_mcp_tools=st.none()
    | st.dictionaries(
        st.sampled_from(SERVERS), st.lists(st.sampled_from(BARE_NAMES), max_size=2), max_size=2
    ),
    exclude_tools=lists(SOUND_NAMES),
)
ALLOWED = st.just(NO_TOOLS) | lists(SOUND_NAMES)
PERSONALITIES = st.builds(
    Personality,
    st.just("p"),
    toolset=lists((*SOUND_NAMES, "toolset:files", "toolset:web", "toolset:")),
    mcp_servers=st.lists(st.sampled_from(SERVERS), max_size=2),
    plugins=st.lists(st.sampled_from(PLUGINS), max_size=2),
    exclude=st.lists(st.sampled_from(SOUND_NAMES), max_size=2),
)


def probe(available: Any) -> Any:
    def raises() -> bool:
        raise RuntimeError("no")

    return {None: None, "raises": raises}.get(available, lambda: available)


def registry_of(specs: list[dict[str, Any]]) -> ToolRegistry:
    registry = ToolRegistry()
    for spec in specs:
        tool = made(
            spec["name"],
            toolset=spec["toolset"],
            always_include=spec["always_include"],
            is_available=probe(spec["available"]),
        )
        registry.register(tool, plugin_id=spec["plugin_id"], mcp_server=spec["mcp_server"])
        registry._table.set_hidden(spec["name"], hidden=spec["hidden"])
    return registry


def agree(specs: list[dict[str, Any]], shown: list[str], results: dict[str, str | None]) -> None:
    hidden = {spec["name"] for spec in specs if spec["hidden"]}
    ran = [name for name, reason in results.items() if reason is None]
    assert shown == [name for name in ran if name not in hidden]
    for spec in specs:
        if spec["available"] in (False, "raises"):
            assert results[spec["name"]] is not None
    assert set(results.values()) <= {None, "excluded", "denied", "unavailable"}


@given(REGISTRATIONS, ALLOWED, FILTERS)
@settings(max_examples=60)
def test_a_tool_is_shown_exactly_when_it_runs(
    specs: list[dict[str, Any]], allowed: Any, filters: ToolFilterOpts | None
) -> None:
    registry = registry_of(specs)
    called = [spec["name"] for spec in specs]
    shown = names(registry.to_definitions(allowed, filters))
    agree(specs, shown, outcomes(registry, called, allowed, filters))


@given(REGISTRATIONS, PERSONALITIES)
@settings(max_examples=60)
def test_a_personality_sees_exactly_what_it_may_run_and_reads_why(
    specs: list[dict[str, Any]], personality: Personality
) -> None:
    registry = registry_of(specs)
    view = registry.view(personality, allow_unmatched=True)
    results = {}
    for spec in specs:
        explanation = registry.explain(spec["name"], personality)
        [answer] = _run(view, spec["name"])
        results[spec["name"]] = getattr(answer.result, "reason", None)
        assert explanation.callable == answer.ok
        assert explanation.visible == (spec["name"] in names(view.definitions()))
    agree(specs, names(view.definitions()), results)


def _run(view: Any, name: str) -> Any:
    return asyncio.run(view.execute([{"id": "1", "name": name}]))


# The letter of the seed


def test_an_empty_list_gates_nothing_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    registry = ToolRegistry([made("a"), made("b")])
    with caplog.at_level(logging.DEBUG, "ethos_registry"):
        assert names(registry.to_definitions([])) == ["a", "b"]
    assert ["NO_TOOLS" in record.message for record in caplog.records] == [True]
    assert outcomes(registry, ["a"], []) == {"a": None}


class AnyCase(str):
    """A string that is equal to others."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str.lower(self) == str.lower(other)

    def __hash__(self) -> int:
        return hash(str.lower(self))


def test_an_equal_string_of_another_class_is_another_policy() -> None:
    registry = ToolRegistry([made("a"), made("A"), made("b")])
    for name in ("a", "A"):
        listed, left_out = [AnyCase(name)], ToolFilterOpts(exclude_tools=[AnyCase(name)])
        assert names(registry.to_definitions(listed)) == [name]
        assert name not in names(registry.to_definitions(None, left_out))
        view = registry.view(Personality("p", toolset=listed))
        assert names(view.definitions()) == [name]


class Server(str, Enum):  # noqa: UP042 - its text is not its value
    FILES = "files"


def test_a_member_of_an_enumeration_names_a_server() -> None:
    registry = ToolRegistry([made("mcp__files__read"), made("mcp__files__write")])
    for server in (Server.FILES, "files"):
        filters = ToolFilterOpts(allowed_mcp_tools={server: ["read"]})
        assert names(registry.to_definitions(None, filters)) == ["mcp__files__read"]
        assert filters.to_wire() == {"allowedMcpTools": {"files": ["read"]}}


def test_no_tools_denies_every_built_in_but_the_included() -> None:
    registry = ToolRegistry([made("a"), made("skill", always_include=True), made("mcp__s__x")])
    registry.register(made("plug"), plugin_id="")
    assert names(registry.to_definitions(NO_TOOLS)) == ["skill", "mcp__s__x", "plug"]
    assert outcomes(registry, ["a", "skill"], NO_TOOLS) == {"a": "denied", "skill": None}


def test_an_empty_toolset_of_a_personality_admits_none() -> None:
    registry = ToolRegistry([made("a"), made("b")])
    assert registry.view(Personality("p", toolset=[])).definitions() == []
    assert names(registry.view(EVERYTHING).definitions()) == ["a", "b"]


@pytest.mark.parametrize("server", ["my__srv", "constructor", "__proto__", "hasOwnProperty"])
def test_a_server_is_gated_under_its_own_name_only(server: str) -> None:
    registry = ToolRegistry()
    registry.register(made(f"mcp__{server}__x"), mcp_server=server)
    for allowed, shown in (([server], 1), (["my", "", "proto"], 0), ([], 0)):
        assert len(registry.to_definitions(None, ToolFilterOpts(allowed))) == shown
    for tools, shown in (({}, 1), ({server: ["x"]}, 1), ({server: []}, 0)):
        filters = ToolFilterOpts(allowed_mcp_tools=tools)
        assert len(registry.to_definitions(None, filters)) == shown


def test_overwriting_moves_a_tool_between_gates() -> None:
    registry = ToolRegistry()
    registry.register(made("a"), plugin_id="p")
    no_plugins = ToolFilterOpts(allowed_plugins=[])
    assert registry.to_definitions(None, no_plugins) == []
    registry.register(made("a"), overwrite=True)
    assert names(registry.to_definitions(None, no_plugins)) == ["a"]
    assert outcomes(registry, ["a"], ["other"]) == {"a": "denied"}


def test_hidden_tools_run_and_are_not_shown() -> None:
    registry = ToolRegistry([made("a"), made("b")])
    assert registry._table.set_hidden("a", hidden=True) is True
    assert registry._table.set_hidden("c", hidden=True) is False
    assert names(registry.to_definitions()) == ["b"]
    assert outcomes(registry, ["a"]) == {"a": None}
    registration = registry.registration("a")
    assert registration is not None
    assert registration.hidden
    registry._table.set_hidden("a", hidden=False)
    assert names(registry.to_definitions()) == ["a", "b"]


# Availability


def counting(counts: Counter[str], name: str, answer: Any = True) -> Any:
    def asked() -> Any:
        counts[name] += 1
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return asked


def test_each_permitted_tool_is_asked_once_a_listing_and_once_a_batch() -> None:
    counts: Counter[str] = Counter()
    registry = ToolRegistry([made(name, is_available=counting(counts, name)) for name in "abc"])
    registry.to_definitions(["a", "b"])
    assert counts == {"a": 1, "b": 1}
    counts.clear()
    calls = [{"id": str(index), "name": name} for index, name in enumerate("aaabzc")]
    registry.execute_parallel_sync(calls, None, ["a", "b"])
    assert counts == {"a": 1, "b": 1}
    counts.clear()
    registry.get_available()
    assert counts == {"a": 1, "b": 1, "c": 1}


def test_availability_is_never_cached() -> None:
    answers = [True, False, True]
    registry = ToolRegistry([made("a", is_available=lambda: answers.pop(0))])
    assert [len(registry.to_definitions()) for _ in range(3)] == [1, 0, 1]


@pytest.mark.parametrize("answer", [0, "", None, [], False])
def test_falsy_answers_are_no(answer: Any) -> None:
    registry = ToolRegistry([made("a", is_available=lambda: answer)])
    assert registry.to_definitions() == registry.get_available() == []
    assert outcomes(registry, ["a"]) == {"a": "unavailable"}


async def awaited() -> bool:
    return True


class NoTruth:
    def __bool__(self) -> bool:
        raise RuntimeError("neither")


@pytest.mark.parametrize(
    "fails",
    [RuntimeError("no"), SystemExit(3), lambda: awaited(), lambda: NoTruth()],
    ids=["raises", "exits", "awaitable", "no truth"],
)
def test_a_probe_that_fails_takes_down_its_own_tool_alone(
    fails: Any, caplog: pytest.LogCaptureFixture
) -> None:
    counts: Counter[str] = Counter()
    asked = counting(counts, "bad", fails) if isinstance(fails, BaseException) else fails
    registry = ToolRegistry([made("a"), made("bad", is_available=asked), made("b")])
    with caplog.at_level(logging.WARNING, "ethos_registry"):
        for _ in range(3):
            assert names(registry.to_definitions()) == ["a", "b"]
            assert names(registry.get_available()) == ["a", "b"]
        assert outcomes(registry, ["a", "bad", "b"]) == {"a": None, "bad": "unavailable", "b": None}
    assert [record.message for record in caplog.records] == ["`is_available` of tool `bad` raised"]


def test_a_keyboard_interrupt_of_a_probe_passes() -> None:
    registry = ToolRegistry([made("a", is_available=counting(Counter(), "a", KeyboardInterrupt()))])
    with pytest.raises(KeyboardInterrupt):
        registry.to_definitions()


def test_refusals_of_policy_win_over_availability() -> None:
    counts: Counter[str] = Counter()
    registry = ToolRegistry([made("a", is_available=counting(counts, "a", False))])
    excluded = ToolFilterOpts(exclude_tools=["a"])
    assert outcomes(registry, ["a"], None, excluded) == {"a": "excluded"}
    assert outcomes(registry, ["a"], ["b"]) == {"a": "denied"}
    assert counts == {}


# Policies and batches of the wrong kind

CALL = [{"id": "1", "name": "t"}]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (("t",), "`allowed_tools` must be a list of strings: 't'"),
        ((5,), "`allowed_tools` must be a list of strings: 5"),
        (([5],), r"`allowed_tools` must be a list of strings: \[5\]"),
        (({"t": 1},), "`allowed_tools` must be a list of strings"),
        (
            (None, {"allowedPlugins": []}),
            "`filter_opts` must be ToolFilterOpts, got dict; `ToolFilterOpts",
        ),
        ((Personality("p"),), r"`registry\.view\(personality\)` shows and runs"),
        ((None, Personality("p")), r"`registry\.view\(personality\)` shows and runs"),
        ((None, ["t"]), "`filter_opts` must be ToolFilterOpts, got list"),
    ],
)
def test_policies_of_the_wrong_kind_are_refused_before_any_tool_starts(
    policy: tuple[Any, ...], message: str
) -> None:
    started: list[str] = []
    registry = ToolRegistry([made("t", execute=lambda args, context: started.append("t"))])
    with pytest.raises(ConfigError, match=message):
        registry.to_definitions(*policy)
    with pytest.raises(ConfigError, match=message):
        registry.execute_parallel_sync(CALL, None, *policy)
    assert started == []


@pytest.mark.parametrize(
    ("calls", "options", "message"),
    [
        (None, {}, "`calls` must be a list of calls, got NoneType"),
        ("t", {}, "`calls` must be a list of calls, got str"),
        (CALL[0], {}, "`calls` must be a list of calls, got dict"),
        (CALL, {"context": {}}, "`context` must be a ToolContext, got dict"),
        (CALL, {"turn_attachments": ["a.png"]}, "`turn_attachments`.*got str"),
        (CALL, {"turn_attachments": 5}, "`turn_attachments`"),
        (CALL, {"deadline_seconds": -1}, "`deadline_seconds` must be a finite number >= 0: -1"),
        (CALL, {"deadline_seconds": float("nan")}, "`deadline_seconds`.*nan"),
        (CALL, {"deadline_seconds": 10**400}, "`deadline_seconds`"),
        (CALL, {"max_concurrency": 0}, "`max_concurrency` must be a whole number >= 1: 0"),
        (CALL, {"max_concurrency": 1.5}, "`max_concurrency`.*1.5"),
        (CALL, {"budget_policy": "greedy"}, "`budget_policy` must be one of .*'greedy'"),
        (CALL, {"untrusted": "ignore"}, "`untrusted` must be one of .*'ignore'"),
        (CALL, {"on_result": "log"}, "`on_result` must be callable, got str"),
    ],
    ids=range(14),
)
def test_batches_of_the_wrong_kind_are_refused_before_any_tool_starts(
    calls: Any, options: dict[str, Any], message: str
) -> None:
    started: list[str] = []
    registry = ToolRegistry([made("t", execute=lambda args, context: started.append("t"))])
    with pytest.raises(ConfigError, match=message) as refusal:
        registry.execute_parallel_sync(calls, **options)
    assert "\n" not in str(refusal.value)
    assert started == []


def test_a_huge_budget_is_a_budget() -> None:
    registry = ToolRegistry([made("t", execute=lambda args, context: {"ok": True, "value": "é"})])
    [result] = registry.execute_parallel_sync(CALL, ToolContext(result_budget_chars=1e300))
    assert result.text == "é"
