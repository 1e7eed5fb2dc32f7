"""ADR-1 to 28: the registry that nothing can change (facts of seed 004, by their numbers)."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import threading
import weakref
from typing import Any

import pytest

from ethos_registry import (
    ConfigError,
    EthosRegistryError,
    FrozenToolRegistry,
    Personality,
    Tool,
    ToolAlreadyRegisteredError,
    ToolContext,
    ToolRegistry,
    create_tool_registry,
    ok,
    tool,
)
from ethos_registry.registry import DispatchContext, ToolResolver
from registry_tools import made, names, outcomes, ran

CALL = [{"id": "1", "name": "a", "args": {"path": "x"}}]
MUTATORS = (
    "register",
    "register_all",
    "unregister",
    "tool",
    "prune_ephemeral",
    "bind_context",
    "hide",
    "unhide",
    "set_hidden",
    "clear_hidden",
    "turn",
    "merge",
)


@pytest.fixture(
    params=[FrozenToolRegistry, create_tool_registry, None], ids=["class", "create", "freeze"]
)
def freeze(request: pytest.FixtureRequest) -> Any:
    """Each way to make a frozen registry of some tools."""
    return request.param or (lambda tools=(): ToolRegistry(tools).freeze())


def test_adr_1_a_registry_is_made_of_a_list_of_tools() -> None:
    assert FrozenToolRegistry([made("a"), made("b")]).size == 2
    assert FrozenToolRegistry(made(name) for name in "ab").size == 2
    for wrong in (made("a"), 5, ["a"], None):
        with pytest.raises(ConfigError):
            FrozenToolRegistry(wrong)


def test_adr_2_create_tool_registry_does_the_same() -> None:
    tools = [made("b"), made("a")]
    assert type(create_tool_registry(tools)) is FrozenToolRegistry
    assert create_tool_registry(tools).list() == FrozenToolRegistry(tools).list()
    assert create_tool_registry().size == 0


def test_adr_3_there_is_no_register(freeze: Any) -> None:
    assert not hasattr(freeze([made("a")]), "register")


def test_adr_4_there_is_no_unregister(freeze: Any) -> None:
    assert not hasattr(freeze([made("a")]), "unregister")


@pytest.mark.parametrize("name", MUTATORS)
def test_adr_5_there_is_no_mutator_of_a_tool_registry(name: str) -> None:
    assert hasattr(ToolRegistry, name)
    assert not hasattr(FrozenToolRegistry([made("a")]), name)


def test_adr_5_what_is_public_only_reads() -> None:
    public = {name for name in dir(FrozenToolRegistry([])) if not name.startswith("_")}
    assert public == {
        "abandoned_calls",
        "capability_backends",
        "all",
        "check",
        "execute_parallel",
        "execute_parallel_sync",
        "explain",
        "validate_for",
        "get",
        "get_available",
        "get_for_toolset",
        "has",
        "hidden",
        "list",
        "plugin_id_of",
        "registration",
        "resolve",
        "resume",
        "size",
        "to_definitions",
        "view",
        "visible",
    }


def test_adr_6_no_tools_are_a_registry_too(freeze: Any) -> None:
    registry = freeze([])
    assert (registry.size, registry.list()) == (0, [])


def test_adr_7_the_size_is_the_number_of_tools(freeze: Any) -> None:
    registry = freeze([made("a"), made("b")])
    assert registry.size == len(registry) == 2


def test_adr_8_the_size_is_read_only(freeze: Any) -> None:
    registry = freeze([made("a")])
    for write in (setattr, object.__setattr__):
        with pytest.raises(AttributeError):
            write(registry, "size", 5)
    with pytest.raises(AttributeError):
        del registry.size
    assert registry.size == 1


def test_adr_9_a_name_resolves_to_the_very_tool(freeze: Any) -> None:
    weather = made("get_weather")
    assert freeze([weather]).resolve("get_weather") is weather


def weather_under(freeze: Any, name: Any) -> Tool | None:
    found: Tool | None = freeze([made("get_weather")]).resolve(name)
    return found


def test_adr_10_an_unknown_name_is_none_and_raises_nothing(freeze: Any) -> None:
    for name in ("unknown", "\ud800", None, 5, ["get_weather"]):
        assert weather_under(freeze, name) is None


def test_adr_11_a_name_in_another_case_is_none(freeze: Any) -> None:
    assert weather_under(freeze, "Get_Weather") is None


def test_adr_12_a_name_in_another_style_is_none(freeze: Any) -> None:
    assert weather_under(freeze, "getWeather") is None


@pytest.mark.parametrize("name", [" get_weather", "get_weather ", "get_weather\n"])
def test_adr_13_a_name_with_a_space_is_none(freeze: Any, name: str) -> None:
    assert weather_under(freeze, name) is None


def test_adr_14_the_empty_name_is_none(freeze: Any) -> None:
    assert weather_under(freeze, "") is None


def test_adr_15_names_that_differ_in_case_are_two_tools(freeze: Any) -> None:
    upper, lower = made("Read"), made("read")
    registry = freeze([upper, lower])
    assert (registry.resolve("Read"), registry.resolve("read")) == (upper, lower)


@pytest.fixture(params=[FrozenToolRegistry, create_tool_registry], ids=["class", "create"])
def duplicate_in(request: pytest.FixtureRequest) -> Any:
    """The duplicate that each way to make a frozen registry names, by the names it is given."""

    def named(given: str) -> Any:
        with pytest.raises(ConfigError) as refused:
            request.param([made(name) for name in given])
        assert not isinstance(refused.value, ToolAlreadyRegisteredError)
        assert f"two tools are named `{refused.value.context['tool_name']}`" in str(refused.value)
        return refused.value.context["tool_name"]

    return named


def test_adr_16_a_duplicate_is_a_config_error(duplicate_in: Any) -> None:
    assert duplicate_in("aa")


def test_adr_17_the_error_names_the_duplicate(duplicate_in: Any) -> None:
    assert duplicate_in("bab") == "b"


def test_adr_18_three_of_one_name_are_one_error(duplicate_in: Any) -> None:
    assert duplicate_in("aaa") == "a"


def test_adr_19_of_two_pairs_the_first_second_occurrence_is_named(duplicate_in: Any) -> None:
    assert [duplicate_in("abba"), duplicate_in("abab")] == ["b", "a"]


def test_adr_20_the_same_tool_twice_is_a_duplicate() -> None:
    twice = made("a")
    with pytest.raises(ConfigError):
        FrozenToolRegistry([twice, twice])


def test_adr_21_after_an_error_there_is_no_registry() -> None:
    gc.collect()
    before = [item for item in gc.get_objects() if type(item) is FrozenToolRegistry]
    registry = None
    with pytest.raises(ConfigError):
        registry = FrozenToolRegistry([made("a"), made("b"), made("a")])
    assert registry is None
    after = [item for item in gc.get_objects() if type(item) is FrozenToolRegistry]
    assert len(after) == len(before)


def test_adr_22_a_config_error_is_one_of_ours() -> None:
    assert issubclass(ConfigError, EthosRegistryError)


def test_adr_23_the_list_is_sorted_by_code_point(freeze: Any) -> None:
    registry = freeze([made(name) for name in ("b", "a_b", "B", "a-b", "a")])
    assert registry.list() == ["B", "a", "a-b", "a_b", "b"]


def test_adr_24_the_list_holds_names(freeze: Any) -> None:
    assert [type(name) for name in freeze([made("a")]).list()] == [str]


def test_adr_25_each_list_is_a_fresh_one(freeze: Any) -> None:
    registry = freeze([made("a")])
    registry.list().clear()
    registry.all().clear()
    registry.to_definitions().clear()
    assert (registry.list(), names(registry.to_definitions())) == (["a"], ["a"])


def test_adr_26_the_list_it_was_made_of_may_change(freeze: Any) -> None:
    tools = [made("a")]
    registry = freeze(tools)
    tools.append(made("b"))
    tools[0] = made("c")
    assert (registry.size, registry.resolve("b"), registry.list()) == (1, None, ["a"])


def test_adr_27_resolving_validates_nothing(freeze: Any) -> None:
    got: list[Any] = []

    def execute(args: Any, context: ToolContext) -> Any:
        got.append(args)
        return ok("")

    schema = {"type": "object", "required": ["path"]}
    registry = freeze([made("a", execute=execute, schema=schema)])
    resolved = registry.resolve("a")
    for value in ({"wrong": 1}, 5, None):
        resolved.execute(value, ToolContext())
    assert got == [{"wrong": 1}, 5, None]


def test_adr_28_a_handler_that_raises_is_not_caught_and_resolving_calls_none(freeze: Any) -> None:
    def execute(args: Any, context: ToolContext) -> Any:
        raise OSError("disk")

    registry = freeze([made("a", execute=execute)])
    resolved = registry.resolve("a")
    with pytest.raises(OSError, match="disk"):
        resolved.execute({}, ToolContext())
    [result] = registry.execute_parallel_sync(CALL)
    assert result.result.reason == "raised"


# Both are resolvers, and the frozen one does all that a registry does


def test_both_registries_are_resolvers(freeze: Any) -> None:
    for registry in (freeze([made("a")]), ToolRegistry([made("a")])):
        assert isinstance(registry, ToolResolver)
        assert (registry.size, registry.list()) == (1, ["a"])


def test_a_frozen_registry_keeps_tags_order_and_flags() -> None:
    registry = ToolRegistry([made("z"), made("a", toolset="file")])
    registry.register(made("plug"), plugin_id="p", owner="me")
    registry.register(made("mcp__git__log"))
    registry.unregister("z")
    registry.hide("a")
    frozen, turn = registry.freeze(), registry.for_turn()
    turn.register(made("more"))
    registry.unregister("plug")
    assert names(frozen.all()) == ["a", "plug", "mcp__git__log"]
    assert names(turn.freeze().all()) == ["a", "plug", "mcp__git__log", "more"]
    assert names(frozen.hidden()) == ["a"]
    plug = frozen.registration("plug")
    assert plug is not None
    assert (plug.owner, plug.plugin_id) == ("me", "p")
    reader = Personality("reader", toolset=["toolset:file"], mcp_servers=["git"])
    assert names(frozen.view(reader).definitions()) == ["mcp__git__log"]
    assert frozen.explain("plug", reader).outcome == "plugin"
    assert frozen.check(Personality("p", toolset=["gone"])) == {"toolset": ["gone"]}
    assert outcomes(frozen, ["a", "plug", "z"]) == {"a": None, "plug": None, "z": "unknown"}


def test_capabilities_and_strict_schemas_hold_in_a_frozen_registry() -> None:
    given: list[Any] = []

    async def execute(args: Any, context: ToolContext) -> Any:
        given.append(context.scoped_fs)
        return ok("")

    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    reach = {"read": ["/data"], "write": []}
    reading = made(
        "a", strict=True, schema=schema, execute=execute, capabilities={"fs_reach": reach}
    )
    backends = {"fs_reach": lambda name, declared, context: dict(declared)}
    plain = ToolRegistry([reading], capability_backends=backends)
    for registry in (
        plain,
        plain.freeze(),
        FrozenToolRegistry([reading], capability_backends=backends),
    ):
        [result] = registry.execute_parallel_sync(CALL)
        assert result.ok
        [wrong] = registry.execute_parallel_sync([{"id": "1", "name": "a", "args": {"path": 5}}])
        assert wrong.text == "path: should be a string, got 5"
    assert given == [reach, reach, reach]
    assert outcomes(FrozenToolRegistry([reading]), ["a"]) == {"a": "no_backends"}


# Force


async def evil(args: Any, context: ToolContext) -> Any:
    """What must never run."""
    return ok("evil")


def frozen_and_tools() -> tuple[FrozenToolRegistry, list[Tool]]:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    tools = [
        made("a", schema=schema, strict=True, toolset="file"),
        made("b", toolset="file"),
        made("mcp__git__log"),
    ]
    registry = ToolRegistry(tools)
    registry.hide("b")
    return registry.freeze(), tools


def said_by(registry: FrozenToolRegistry) -> list[Any]:
    """Verdicts, bytes and answers."""
    reader = Personality("reader", toolset=["toolset:file"])
    results = registry.execute_parallel_sync(
        [
            {"id": "1", "name": name, "args": {"path": "x"}}
            for name in ("a", "b", "mcp__git__log", "c")
        ]
    )
    wrong = registry.execute_parallel_sync([{"id": "1", "name": "a", "args": {"path": 5}}])
    return [
        registry.list(),
        registry.size,
        [registry.view(reader).definitions_bytes(name) for name in ("anthropic", "gemini")],
        [registry.explain(name, reader).outcome for name in ("a", "b", "mcp__git__log", "c")],
        registry.view(reader).fingerprint,
        [result.text for result in (*results, *wrong)],
        [
            (registry.registration(name).plugin_id, registry.registration(name).hidden)
            for name in registry.list()
        ],
    ]


def reachable(root: object) -> list[Any]:
    """What the collector finds below an object, but for types, modules and functions' insides."""
    found: dict[int, Any] = {}
    waiting = [root]
    while waiting:
        item = waiting.pop()
        if id(item) in found or isinstance(item, type) or callable(item):
            continue
        found[id(item)] = item
        waiting.extend(gc.get_referents(item))
    return list(found.values())


def written_over(item: Any) -> bool:
    """Whether force could write anything into an object."""
    written = False
    if isinstance(item, dict):
        dict.clear(item)
        written = True
    elif isinstance(item, list):
        list.clear(item)
        written = True
    elif isinstance(item, set):
        set.clear(item)
        written = True
    for kind in type(item).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            try:
                object.__setattr__(item, name, evil)
                written = True
            except (AttributeError, TypeError):
                pass
    return written


def test_force_on_everything_that_the_collector_reaches_changes_nothing() -> None:
    registry, tools = frozen_and_tools()
    before, definitions = said_by(registry), pickle.dumps(registry.to_definitions())
    functions = [tool.execute for tool in tools]
    written = [type(item).__name__ for item in reachable(registry) if written_over(item)]
    assert "Tool" in written
    assert said_by(registry) == before
    assert pickle.dumps(registry.to_definitions()) == definitions
    assert all(function is ran for function in functions)


def test_force_on_the_registry_itself_is_refused() -> None:
    registry, _ = frozen_and_tools()
    before = said_by(registry)
    for name in ("_snapshot", "resolve", "entries", "_sealed", "anything", "__dict__"):
        for write in (setattr, object.__setattr__):
            with pytest.raises((AttributeError, TypeError)):
                write(registry, name, evil)
    assert not hasattr(registry, "__dict__")
    with pytest.raises(AttributeError, match="keeps its class"):
        object.__setattr__(
            registry, "__class__", type("Open", FrozenToolRegistry.__bases__, {"__slots__": ()})
        )
    registry.__init__([made("evil")])
    assert said_by(registry) == before


def test_force_on_its_settings_changes_nothing() -> None:
    registry, _ = frozen_and_tools()
    before, settings = said_by(registry), registry._settings().settings()
    for field in dataclasses.fields(registry._settings()):
        object.__setattr__(registry._settings(), field.name, evil)
    view = registry.view(Personality("reader", toolset=["toolset:file"]))
    object.__setattr__(registry._parts()[1].counters, "has_checked_reducers", evil)
    assert registry._settings().settings() == settings
    assert said_by(registry) == before
    assert view.execute_sync([{"id": "1", "name": "a", "args": {"path": "x"}}])[0].ok


def test_the_native_table_that_is_returned_is_a_copy() -> None:
    registry, _ = frozen_and_tools()
    before = said_by(registry)
    table, _ = registry._sealed()
    table.remove("a")
    table.set_hidden("b", False)
    table.insert("evil")
    assert said_by(registry) == before


def test_what_it_hands_out_can_be_written_to_without_effect() -> None:
    registry, _ = frozen_and_tools()
    before = said_by(registry)
    for definition in registry.to_definitions():
        dict.__setitem__(definition, "name", "evil")
        dict.__setitem__(definition["parameters"], "properties", {})
    for resolved in registry.all():
        for field in ("name", "execute", "definition", "schema", "toolset", "strict"):
            object.__setattr__(resolved, field, evil)
    object.__setattr__(registry.registration("a"), "plugin_id", "evil")
    view = registry.view(Personality("reader"))
    object.__setattr__(view, "_caller", None)
    assert said_by(registry) == before


def test_it_cannot_be_subclassed() -> None:
    with pytest.raises(TypeError, match="subclass"):
        type("Open", (FrozenToolRegistry,), {})


def test_copies_are_the_registry_itself() -> None:
    registry, _ = frozen_and_tools()
    assert copy.copy(registry) is registry
    assert copy.deepcopy(registry) is registry


def test_a_registry_that_was_pickled_says_the_same_and_cannot_be_changed() -> None:
    registry, _ = frozen_and_tools()
    again = pickle.loads(pickle.dumps(registry))
    assert type(again) is FrozenToolRegistry
    assert said_by(again) == said_by(registry)
    assert again.registration("a").registered_at_seconds == (
        registry.registration("a").registered_at_seconds
    )
    with pytest.raises(AttributeError):
        object.__setattr__(again, "size", 0)


def test_what_a_registry_is_pickled_as_makes_it_more_than_once() -> None:
    registry, _ = frozen_and_tools()
    make, values = registry.__reduce__()
    assert said_by(make(*values)) == said_by(make(*values)) == said_by(registry)


def test_what_cannot_be_sent_as_it_is_is_not_pickled() -> None:
    registry, tools = frozen_and_tools()
    object.__setattr__(tools[0], "execute", evil)
    with pytest.raises(TypeError, match="`a` belongs to a turn or was changed by force"):
        pickle.dumps(registry)
    forged = ToolRegistry.forged([made("b")], DispatchContext()).freeze()
    with pytest.raises(TypeError, match="`b` belongs to a turn"):
        pickle.dumps(forged)

    @tool
    def count(text: str) -> int:
        return len(text)

    with pytest.raises(TypeError, match="decorate the function at module level"):
        pickle.dumps(FrozenToolRegistry([count]))


def test_threads_share_a_frozen_registry() -> None:
    registry, _ = frozen_and_tools()
    expected = said_by(registry)
    seen: list[Any] = []

    def look() -> None:
        seen.extend([said_by(registry) for _ in range(5)])

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 20
    assert all(one == expected for one in seen)


def test_a_frozen_registry_that_its_own_tools_hold_is_collected() -> None:
    class Owner:
        def execute(self, args: Any, context: Any) -> Any:
            return ok("")

    owner = Owner()
    owner.registry = FrozenToolRegistry([made("a", execute=owner.execute)])
    gone = weakref.ref(owner.registry)
    del owner
    gc.collect()
    assert gone() is None
