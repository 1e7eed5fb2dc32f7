"""The registry as a catalogue: registering, order, life, mistakes."""

from __future__ import annotations

import asyncio
import gc
import inspect
import itertools
import threading
import typing
import weakref
from typing import Any

import pytest

from ethos_registry import (
    ConfigError,
    DefaultToolRegistry,
    Personality,
    Tool,
    ToolAlreadyRegisteredError,
    ToolContext,
    ToolRegistry,
    default_reducers,
)
from ethos_registry._table.entry_table import EntryTable
from ethos_registry.capabilities import CapabilityBackends
from registry_tools import EVERYTHING, made, names, ran
from stepping import interrupted_at

pytestmark = pytest.mark.every_python

CALL = [{"id": "1", "name": "t"}]


# Registering


def test_tools_are_found_by_their_exact_name() -> None:
    hello = made("hello")
    registry = ToolRegistry([hello])
    assert registry.get("hello") is hello
    for other in ("Hello", "hello ", "hell", "", "\ud800", None, 5, ["hello"]):
        assert registry.get(other) is None
        assert other not in registry
    assert "hello" in registry
    assert len(registry) == 1


def test_a_taken_name_is_refused_with_both_owners_and_nothing_changes() -> None:
    first = made("a")
    registry = ToolRegistry()
    registry.register(first, owner="mine", plugin_id="p")
    with pytest.raises(ToolAlreadyRegisteredError, match="owner 'mine', now 'yours'") as refusal:
        registry.register(made("a"), owner="yours")
    assert (refusal.value.owner, refusal.value.existing_owner) == ("yours", "mine")
    assert registry.get("a") is first
    assert registry.plugin_id_of("a") == "p"


def test_overwriting_keeps_the_position_and_takes_the_new_tags() -> None:
    registry = ToolRegistry()
    registry.register(made("a"), plugin_id="old", owner="me")
    registry.register(made("b"))
    second = made("a", description="second")
    registry.register(second, overwrite=True, owner="you", mcp_server="srv")
    assert names(registry.get_available()) == ["a", "b"]
    registration = registry.registration("a")
    assert registration is not None
    assert registration.tool is second
    assert (registration.plugin_id, registration.owner) == (None, "you")
    assert (registration.mcp_server, registration.mcp_tool) == ("srv", "a")
    assert registration.segment == "mcp"


def test_a_tool_that_comes_back_is_last() -> None:
    registry = ToolRegistry([made("a"), made("b")])
    registry.unregister("a")
    registry.register(made("a"))
    assert names(registry.to_definitions()) == ["b", "a"]


def test_unregistering_an_unknown_name_does_nothing() -> None:
    registry = ToolRegistry([made("a")])
    for _ in range(2):
        registry.unregister("never")
    registry.unregister("a")
    registry.unregister("a")
    assert (len(registry), registry.to_definitions(), registry.get("a")) == (0, [], None)


@pytest.mark.parametrize(
    "batch",
    [
        [made("c"), made("a")],
        [made("c"), made("d"), made("c")],
        [made("c"), "no tool"],
        [made("c"), made("mcp__a___b")],
    ],
    ids=["taken", "twice", "no tool", "no server"],
)
def test_all_are_registered_or_none(batch: list[Any]) -> None:
    registry = ToolRegistry([made("a"), made("b")])
    with pytest.raises(ConfigError):
        registry.register_all(batch, plugin_id="p")
    assert names(registry.to_definitions()) == ["a", "b"]
    registry.register_all([made("c"), made("d")], plugin_id="p")
    assert names(registry.to_definitions()) == ["a", "b", "c", "d"]
    assert (registry.plugin_id_of("a"), registry.plugin_id_of("d")) == (None, "p")


def test_lists_are_fresh_and_hold_the_registered_objects() -> None:
    first, second = made("a", toolset="x"), made("b", toolset="x", is_available=lambda: False)
    registry = ToolRegistry([first, second])
    for listing in (registry.get_available, lambda: registry.get_for_toolset("x")):
        assert listing() == [first]
        assert listing()[0] is first
        listing().clear()
        assert listing() == [first]
    registry.to_definitions().clear()
    assert names(registry.to_definitions()) == ["a"]


def test_the_groups_of_a_toolset_are_exact() -> None:
    registry = ToolRegistry([made("a", toolset="file"), made("b"), made("c", toolset="")])
    assert names(registry.get_for_toolset("file")) == ["a"]
    assert names(registry.get_for_toolset("")) == ["c"]
    assert registry.get_for_toolset("FILE") == []


def test_registrations_tell_when_and_by_whom() -> None:
    registry = ToolRegistry([made("mcp__git__log")])
    registration = registry.registration("mcp__git__log")
    assert registration is not None
    assert (registration.mcp_server, registration.mcp_tool) == ("git", "log")
    assert registration.registered_at_seconds > 1_700_000_000
    assert registration.hidden is False
    assert registry.registration("other") is None


# The life of a registry


def test_a_registry_that_its_own_tools_hold_is_collected() -> None:
    class Owner:
        def __init__(self, registry: ToolRegistry) -> None:
            self.registry = registry

        async def execute(self, args: Any, context: Any) -> dict[str, Any]:
            return {"ok": True, "value": str(len(self.registry))}

        def is_available(self) -> bool:
            return len(self.registry) > 0

    registry = ToolRegistry()
    owner = Owner(registry)
    registry.register(made("t", execute=owner.execute, is_available=owner.is_available))
    assert registry.execute_parallel_sync(CALL)[0].text == "1"
    assert registry.to_definitions()
    registry.view(EVERYTHING, freeze_availability=True).definitions()
    alive = weakref.ref(registry), weakref.ref(owner)
    del registry, owner
    gc.collect()
    assert [item() for item in alive] == [None, None]


def test_threads_register_and_list_at_once_and_every_list_is_whole() -> None:
    registry = ToolRegistry([made("first")])
    failures: list[BaseException] = []
    done = threading.Event()

    def change(owner: int) -> None:
        for round_ in range(60):
            batch = [made(f"t{owner}_{round_}_{part}") for part in range(3)]
            registry.register_all(batch)
            for tool in batch:
                assert registry.get(tool.name) is tool
            for tool in batch:
                registry.unregister(tool.name)

    def look() -> None:
        while not done.is_set():
            listed = names(registry.to_definitions())
            assert listed[0] == "first"
            assert len(set(listed)) == len(listed)
            tool = registry.get("t0_5_1")
            assert tool is None or tool.name == "t0_5_1"
            assert "first" in registry

    def guarded(work: Any, *arguments: Any) -> None:
        try:
            work(*arguments)
        except BaseException as failure:
            failures.append(failure)

    lookers = [threading.Thread(target=guarded, args=(look,)) for _ in range(3)]
    changers = [threading.Thread(target=guarded, args=(change, owner)) for owner in range(3)]
    for thread in (*lookers, *changers):
        thread.start()
    for thread in changers:
        thread.join()
    done.set()
    for thread in lookers:
        thread.join()
    assert failures == []
    assert names(registry.to_definitions()) == ["first"]


def test_a_name_that_goes_while_it_is_looked_up_is_found_as_itself_or_not_at_all() -> None:
    code = EntryTable.find.__code__
    for step in itertools.count():
        first, second, third = made("first"), made("second"), made("third")
        registry = ToolRegistry([first, second])
        found: list[Tool | None] = []

        def change(registry: ToolRegistry = registry, third: Tool = third) -> None:
            registry.unregister("first")
            registry.register(third)  # takes the slot that is free now

        changer = threading.Thread(target=change)

        def interfere(changer: threading.Thread = changer) -> None:
            changer.start()
            changer.join(0.05)  # it waits for a look-up that holds the lock

        def look(registry: ToolRegistry = registry, found: list[Tool | None] = found) -> None:
            found.append(registry.get("first"))

        reached = interrupted_at(code, step, interfere, look)
        assert found in ([first], [None]), step
        if not reached:
            break
        changer.join()
    assert step > 5


def test_a_subclass_is_a_registry() -> None:
    class Audited(ToolRegistry):
        def register(self, tool: Tool, overwrite: bool = False, **tags: Any) -> None:
            super().register(tool, overwrite, **tags)
            seen.append(tool.name)

    seen: list[str] = []
    registry = Audited()
    registry.register(made("a"))

    @registry.tool
    def b() -> str:
        """Do b."""
        return "b"

    assert seen == ["a", "b"]
    assert registry.execute_parallel_sync([{"id": "1", "name": "b"}])[0].text == "b"


def test_backends_and_reducers_go_by_position_in_the_ethos_spelling() -> None:
    backends: CapabilityBackends = {"storage": lambda tool_name, declaration, context: tool_name}
    registry = DefaultToolRegistry(backends, default_reducers())

    async def execute(args: Any, context: ToolContext) -> dict[str, Any]:
        return {"ok": True, "value": f"{context.kv_store} " + "x\n" * 10_000}

    registry.register(made("terminal", execute=execute, capabilities={"storage": {}}))
    [result] = registry.execute_parallel_sync([{"id": "1", "name": "terminal"}])
    assert result.text.startswith("terminal x\n")
    assert result.reduced_chars < result.raw_chars
    assert isinstance(registry, ToolRegistry)
    assert DefaultToolRegistry().to_definitions() == []


# Running without a loop


def test_a_batch_runs_from_code_without_a_loop() -> None:
    assert ToolRegistry([made()]).execute_parallel_sync(CALL)[0].text == "ran"


def test_a_mistake_in_code_without_a_loop_is_reported_without_another_error() -> None:
    with pytest.raises(ConfigError) as raised:
        ToolRegistry([made()]).execute_parallel_sync("t")
    assert raised.value.__context__ is None


def test_both_ways_to_run_a_batch_take_the_same_parameters() -> None:
    ways = (ToolRegistry.execute_parallel, ToolRegistry.execute_parallel_sync)
    reported, reported_sync = (inspect.signature(way).parameters for way in ways)
    assert list(reported.values()) == list(reported_sync.values())


def test_type_checkers_know_every_keyword_of_the_decorator_of_a_registry() -> None:
    for overload in typing.get_overloads(ToolRegistry.tool):
        [options] = typing.get_args(
            inspect.signature(overload, eval_str=True).parameters["options"].annotation
        )
        assert typing.get_type_hints(options).keys() == {
            *(set(Tool.FIELDS) - {"execute"}),
            *("overwrite", "plugin_id", "owner"),
        }


async def test_a_batch_runs_from_code_inside_a_running_loop() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def execute(args: Any, context: Any) -> dict[str, Any]:
        loops.append(asyncio.get_running_loop())
        return await ran(args, context)

    registry = ToolRegistry([made(execute=execute)])
    assert registry.execute_parallel_sync(CALL)[0].text == "ran"
    assert loops[0] is not asyncio.get_running_loop()
    with pytest.raises(ConfigError, match="`calls` must be a list"):
        registry.execute_parallel_sync("t")


# Wrong kinds


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ToolRegistry(5), "`tools` must be a list of tools, got int"),
        (lambda: ToolRegistry(made()), "`tools` must be a list of tools, got Tool"),
        (lambda: ToolRegistry([print]), "a registry holds Tool values, got builtin.*`@tool`"),
        (lambda: ToolRegistry(default_timeout_seconds=-1), "`default_timeout_seconds`.*-1"),
        (lambda: ToolRegistry(default_timeout_seconds="5"), "`default_timeout_seconds`.*'5'"),
        (lambda: ToolRegistry(capability_backends=[]), "`capability_backends` must map"),
        (lambda: ToolRegistry(reducer_registry=5), r"`reducer_registry` must have `get\(tool_name"),
    ],
    ids=range(7),
)
def test_registries_of_the_wrong_kind_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.parametrize(
    ("arguments", "tags", "message"),
    [
        (("t",), {}, "a registry holds Tool values, got str; `@tool`"),
        (([made()],), {}, r"got list; `register_all\(tools\)` takes several"),
        ((made(), 1), {}, "`overwrite` must be True or False: 1"),
        ((made(),), {"plugin_id": 5}, "`plugin_id` must be a string: 5"),
        ((made(),), {"owner": 5}, "`owner` must be a string: 5"),
        ((made(),), {"mcp_server": 5}, "`mcp_server` must be a string: 5"),
        ((made(),), {"mcp_server": ""}, "`mcp_server` of tool `t` is empty"),
        ((made(),), {"plugin_id": "\ud800"}, "`plugin_id` must be text without lone surrogates"),
        ((made(),), {"owner": "\ud800"}, "`owner` must be text without lone surrogates"),
        ((made(),), {"mcp_server": "\ud800"}, "`mcp_server` must be text without lone surrogates"),
    ],
    ids=range(10),
)
def test_registrations_of_the_wrong_kind_change_nothing(
    arguments: tuple[Any, ...], tags: dict[str, Any], message: str
) -> None:
    registry = ToolRegistry()
    with pytest.raises(ConfigError, match=message):
        registry.register(*arguments, **tags)
    assert len(registry) == 0


@pytest.mark.parametrize("name", [None, 5, ["t"], b"t"])
def test_names_are_strings_where_a_mistake_would_pass_unseen(name: Any) -> None:
    registry = ToolRegistry([made()])
    with pytest.raises(ConfigError, match="`name` must be a string"):
        registry.unregister(name)
    with pytest.raises(ConfigError, match="`name` must be a string"):
        registry.explain(name, EVERYTHING)
    with pytest.raises(ConfigError, match="`toolset` must be a string"):
        registry.get_for_toolset(name)


def test_a_tool_that_is_decorated_again_is_pointed_to_register() -> None:
    registry = ToolRegistry()
    with pytest.raises(ConfigError, match=r"registry\.register"):
        registry.tool(made("a"))  # type: ignore[arg-type]


def test_two_of_one_name_in_a_list_are_reported_without_a_way_that_a_list_lacks() -> None:
    with pytest.raises(ToolAlreadyRegisteredError, match="the list holds two of this name"):
        ToolRegistry().register_all([made("a"), made("a")])


def test_a_registry_and_a_view_tell_how_many_tools_they_hold() -> None:
    registry = ToolRegistry([made("a"), made("b")])
    assert repr(registry) == "<ToolRegistry of 2 tools>"
    assert repr(registry.view(Personality("x", toolset=["a"]))) == "<View of 1 tools>"
