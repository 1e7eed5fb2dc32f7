"""Lists and bytes are made once, and are right all the same after every change."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ethos_registry import NO_TOOLS, Personality, ToolFilterOpts, ToolRegistry
from registry_tools import EVERYTHING, made, names


def test_lists_are_fresh_and_their_values_are_shared() -> None:
    registry = ToolRegistry([made("a"), made("b")])
    first, second = registry.to_definitions(["a"]), registry.to_definitions(["a"])
    assert first == second
    assert first is not second
    assert first[0] is second[0]
    first.clear()
    assert names(registry.to_definitions(["a"])) == ["a"]
    view = registry.view(EVERYTHING)
    view.definitions("anthropic").clear()
    assert names(view.definitions("anthropic")) == ["a", "b"]


def test_a_list_that_changes_is_another_policy() -> None:
    registry = ToolRegistry([made("a"), made("b"), made("c")])
    allowed = ["a"]
    assert names(registry.to_definitions(allowed)) == ["a"]
    allowed.append("c")
    assert names(registry.to_definitions(allowed)) == ["a", "c"]
    allowed[0] = "b"
    assert names(registry.to_definitions(allowed)) == ["b", "c"]
    allowed.clear()
    assert names(registry.to_definitions(allowed)) == ["a", "b", "c"]
    assert registry.to_definitions(NO_TOOLS) == []
    assert names(registry.to_definitions(("b",))) == ["b"]
    assert names(registry.to_definitions({"b"})) == ["b"]
    assert names(registry.to_definitions(iter(["c"]))) == ["c"]
    assert names(registry.to_definitions(["c"], ToolFilterOpts(exclude_tools=["c"]))) == []


@pytest.mark.parametrize("freeze", [False, True])
def test_probes_are_asked_at_each_call_once_and_the_answer_counts(freeze: bool) -> None:
    asked: list[str] = []
    answers = {"a": True, "b": True}

    def probe(name: str) -> Any:
        def ask() -> bool:
            asked.append(name)
            return answers[name]

        return ask

    registry: Any = ToolRegistry([made(n, is_available=probe(n)) for n in "ab"] + [made("c")])
    registry = registry.freeze() if freeze else registry
    view = registry.view(EVERYTHING)
    for look in (
        registry.to_definitions,
        view.definitions,
        lambda: view.definitions("anthropic"),
        lambda: view.definitions_bytes("openai"),
        lambda: view.fingerprint,
    ):
        asked.clear()
        answers.update(a=True, b=True)
        both = look()
        answers.update(a=False)
        one = look()
        answers.update(a=True)
        assert look() == both != one
        assert asked == ["a", "b"] * 3
    answers.update(a=False, b=False)
    assert names(view.definitions("anthropic")) == ["c"]


def test_frozen_availability_is_asked_once() -> None:
    asked: list[int] = []

    def probe() -> bool:
        asked.append(1)
        return len(asked) == 1

    view = ToolRegistry([made("a", is_available=probe)]).view(EVERYTHING, freeze_availability=True)
    for _ in range(3):
        assert names(view.definitions("anthropic")) == ["a"]
        assert names(view.definitions()) == ["a"]
    assert asked == [1]


def test_a_probe_that_raises_hides_its_tool_alone_and_the_others_are_asked_once() -> None:
    asked: list[str] = []

    def probe(name: str) -> Any:
        def ask() -> bool:
            asked.append(name)
            if name in "bd":
                raise RuntimeError(name)
            return name != "c"

        return ask

    registry = ToolRegistry([made(name, is_available=probe(name)) for name in "abcde"])
    assert names(registry.to_definitions()) == ["a", "e"]
    assert asked == list("abcde")


def test_a_turn_that_keeps_nothing_shows_what_it_holds() -> None:
    base = ToolRegistry([made("a"), made("b")])
    turn = base.for_turn()
    assert turn.to_definitions() == base.to_definitions()
    turn.register(made("c"))
    for _ in range(2):
        assert names(turn.to_definitions()) == ["a", "b", "c"]
        assert names(turn.view(EVERYTHING).definitions()) == ["a", "b", "c"]
    assert names(base.to_definitions()) == ["a", "b"]


def test_what_a_frozen_registry_keeps_of_its_definitions_does_not_keep_it_alive() -> None:
    class Owner:
        registry: Any = None

        def execute(self, args: Any, context: Any) -> Any:
            return {"ok": True}

        def is_available(self) -> bool:
            return True

    owner = Owner()
    tool = made("a", execute=owner.execute, is_available=owner.is_available)
    owner.registry = ToolRegistry([tool]).freeze()
    view = owner.registry.view(EVERYTHING)
    assert view.definitions("anthropic") == view.definitions("anthropic")
    assert owner.registry.to_definitions(["a"])
    gone = weakref.ref(owner.registry)
    del owner, tool, view
    gc.collect()
    assert gone() is None


def test_threads_that_change_and_look_at_once_see_only_whole_states() -> None:
    registry = ToolRegistry([made(f"t{index}") for index in range(20)])
    allowed = [f"t{index}" for index in range(20)] + ["x"]
    wrong: list[Any] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            shown = names(registry.to_definitions(allowed))
            if shown not in (allowed[:-1], allowed):
                wrong.append(shown)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        registry.register(made("x"))
        registry.unregister("x")
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


class CacheMachine(RuleBasedStateMachine):
    """Whatever happens, the answers are those of a registry that was made this moment."""

    NAMES = ("a", "b", "mcp__s__a", "plug")

    def __init__(self) -> None:
        super().__init__()
        self.registry = ToolRegistry()
        self.down: set[str] = set()
        self.policies = [None, ["a"], ["b", "a"], ("b",)]
        self.personality = Personality("p", toolset=["a", "b"], mcp_servers=["s"], plugins=["p"])

    @rule(name=st.sampled_from(NAMES), text=st.sampled_from(["one", "two"]), probed=st.booleans())
    def register(self, name: str, text: str, probed: bool) -> None:
        probe = (lambda: name not in self.down) if probed else None
        tool = made(name, description=text, is_available=probe)
        self.registry.register(tool, True, plugin_id="p" if name == "plug" else None)

    @rule(name=st.sampled_from(NAMES))
    def unregister(self, name: str) -> None:
        self.registry.unregister(name)

    @rule(name=st.sampled_from(NAMES))
    def flap(self, name: str) -> None:
        self.down ^= {name}

    @rule(name=st.sampled_from(NAMES), hidden=st.booleans())
    def hide(self, name: str, hidden: bool) -> None:
        (self.registry.hide if hidden else self.registry.unhide)(name)

    @invariant()
    def answers_are_those_of_now(self) -> None:
        fresh = ToolRegistry.merge([self.registry])
        for policy in self.policies:
            assert self.registry.to_definitions(policy) == fresh.to_definitions(policy)
        view, other = (
            each.view(self.personality, allow_unmatched=True) for each in (self.registry, fresh)
        )
        frozen = self.registry.freeze().view(self.personality, allow_unmatched=True)
        for provider in ("anthropic", "gemini"):
            expected = other.definitions_bytes(provider)
            assert view.definitions_bytes(provider) == expected
            assert frozen.definitions_bytes(provider) == expected
        assert view.fingerprint == other.fingerprint == frozen.fingerprint


TestCacheMachine = CacheMachine.TestCase
TestCacheMachine.settings = settings(max_examples=30, stateful_step_count=15, deadline=None)
