"""The reducer registry: one a tool, exact names, clean-ups that never take a successor."""

import pickle

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ethos_registry import (
    ConfigError,
    DefaultToolResultReducerRegistry,
    ToolResult,
    default_reducers,
    ok,
)
from ethos_registry.reduction import ToolReducerContext, ToolResultReducer, built_in_reducers
from ethos_registry.reduction._reducers import BuiltInReducer, ReducerAlreadyRegisteredError


class Same:
    def __init__(self, tool_name: str) -> None:
        self.tool_name = tool_name

    def reduce(self, result: ToolResult, context: ToolReducerContext, /) -> ToolResult:
        return result


def test_a_registered_reducer_is_found_by_its_exact_name() -> None:
    registry, reducer = DefaultToolResultReducerRegistry(), Same("Read")
    registry.register(reducer)
    assert registry.get("Read") is reducer
    assert [registry.get(name) for name in ("read", "Read ", "Rea", "*", "")] == [None] * 5


@pytest.mark.parametrize("name", ["", "__proto__", "constructor", "mcp__a__b", "ünïcode", "\n"])
def test_any_string_is_a_name(name: str) -> None:
    registry = DefaultToolResultReducerRegistry()
    assert registry.get(name) is None
    registry.register(Same(name))
    found = registry.get(name)
    assert found is not None
    assert found.tool_name == name


def test_a_duplicate_raises_the_exact_text_and_keeps_the_first() -> None:
    registry, first = DefaultToolResultReducerRegistry(), Same("terminal")
    registry.register(first)
    with pytest.raises(ConfigError) as caught:
        registry.register(Same("terminal"))
    assert str(caught.value) == "Reducer already registered for tool 'terminal'"
    assert isinstance(caught.value, ReducerAlreadyRegisteredError)
    assert caught.value.tool_name == "terminal"
    assert registry.get("terminal") is first
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.tool_name) == (str(caught.value), "terminal")


def test_a_clean_up_removes_its_registration_and_may_run_twice() -> None:
    registry = DefaultToolResultReducerRegistry()
    clean_up = registry.register(Same("a"))
    clean_up()
    assert registry.get("a") is None
    clean_up()


@pytest.mark.parametrize("same_object", [False, True])
def test_a_stale_clean_up_never_removes_a_successor(same_object: bool) -> None:
    registry, first = DefaultToolResultReducerRegistry(), Same("a")
    stale = registry.register(first)
    registry.unregister("a")
    successor = first if same_object else Same("a")
    registry.register(successor)
    stale()
    assert registry.get("a") is successor


def test_a_reducer_that_changes_its_name_is_cleaned_up_under_the_old_one() -> None:
    registry, reducer = DefaultToolResultReducerRegistry(), Same("old")
    clean_up = registry.register(reducer)
    reducer.tool_name = "new"
    clean_up()
    assert registry.get("old") is None


def test_unregistering_an_unknown_name_does_nothing() -> None:
    registry = DefaultToolResultReducerRegistry([Same("a")])
    registry.unregister("b")
    assert registry.get("a") is not None


class NoReduce:
    tool_name = "x"


class NumberName:
    tool_name = 3

    def reduce(self, result: ToolResult, context: ToolReducerContext) -> ToolResult:
        return result


class Constant:
    tool_name = "x"

    def reduce(self, result: ToolResult, context: ToolReducerContext, /) -> ToolResult:
        return result


@pytest.mark.parametrize(
    "thing", [None, "terminal", Same, Constant, NoReduce(), NumberName(), object()]
)
def test_what_is_no_reducer_is_refused(thing: object) -> None:
    registry = DefaultToolResultReducerRegistry()
    with pytest.raises(ConfigError, match="a reducer must have"):
        registry.register(thing)  # type: ignore[arg-type]


def test_the_built_in_reducers_serve_terminal_read_file_and_kanban_list() -> None:
    names = [reducer.tool_name for reducer in built_in_reducers()]
    assert names == ["terminal", "read_file", "kanban_list"]
    registry = default_reducers()
    assert isinstance(registry.get("terminal"), BuiltInReducer)
    assert isinstance(registry.get("read_file"), ToolResultReducer)
    registry.unregister("terminal")
    assert default_reducers().get("terminal") is not None


def test_a_built_in_reducer_alone_keeps_all_but_the_text() -> None:
    reducer = built_in_reducers()[0]
    long = "\n".join(f"line {number}" for number in range(5_000))
    result = ok(long, structured={"exit_code": 0}, cost_usd=0.5, note="kept")
    reduced = reducer.reduce(result, ToolReducerContext({"command": "make"}, 1))
    assert isinstance(reduced, type(result))
    assert len(reduced.text) < len(long)
    assert reduced.structured is result.structured
    assert (reduced.cost_usd, reduced.extra) == (0.5, {"note": "kept"})


@pytest.mark.parametrize("args", [None, "", "{}", {"command": 3}, [1], object(), {"command": None}])
def test_a_built_in_reducer_never_raises_and_returns_the_same_object_unchanged(
    args: object,
) -> None:
    for reducer in built_in_reducers():
        for text in ("", "short", "a\ud800b", "é"):
            result = ok(text)
            assert reducer.reduce(result, ToolReducerContext(args)) is result


class Model(RuleBasedStateMachine):
    """A dict of the last registrations is all there is to it."""

    def __init__(self) -> None:
        super().__init__()
        self.registry = DefaultToolResultReducerRegistry()
        self.expected: dict[str, Same] = {}
        self.clean_ups: list[tuple[str, Same, object]] = []

    @rule(name=st.sampled_from(["", "a", "b"]))
    def register(self, name: str) -> None:
        reducer = Same(name)
        if name in self.expected:
            with pytest.raises(ReducerAlreadyRegisteredError):
                self.registry.register(reducer)
        else:
            self.clean_ups.append((name, reducer, self.registry.register(reducer)))
            self.expected[name] = reducer

    @rule(name=st.sampled_from(["", "a", "b"]))
    def unregister(self, name: str) -> None:
        self.registry.unregister(name)
        self.expected.pop(name, None)

    @rule(data=st.data())
    def clean_up(self, data: st.DataObject) -> None:
        if not self.clean_ups:
            return
        name, reducer, clean_up = data.draw(st.sampled_from(self.clean_ups))
        assert callable(clean_up)
        clean_up()
        if self.expected.get(name) is reducer:
            del self.expected[name]

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        for name in ("", "a", "b"):
            assert self.registry.get(name) is self.expected.get(name)


TestModel = Model.TestCase


def test_a_reducer_that_could_never_be_called_is_refused_when_it_is_registered() -> None:
    class Short:
        tool_name = "t"

        def reduce(self, result):
            return result

    with pytest.raises(ConfigError, match=r"`reduce` must take result and context, it is reduce"):
        DefaultToolResultReducerRegistry([Short()])
