"""Registries of every lifetime in random order, beside plain dicts."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from ethos_registry import Tool, ToolAlreadyRegisteredError, ToolFilterOpts, ToolRegistry, ok
from ethos_registry.registry import DispatchContext, TurnAlreadySignalledError
from registry_tools import OBJECT, names

NAMES = st.sampled_from(["a", "b", "c", "mcp__git__log"])
POLICIES = st.sampled_from(["throw", "replace", "keep"])
PLUGINS = st.sampled_from([None, "p"])
CHOICE = st.integers(0, 11)
MAX_REGISTRIES = 5
GATE = ToolFilterOpts(allowed_plugins=["q"], allowed_mcp_servers=["git"])


@dataclass(frozen=True)
class Known:
    """What the model holds of a registration."""

    tool: Tool
    plugin_id: str | None
    hidden: bool = False


@dataclass
class Model:
    """A registry as an ordered dict, the contexts that it is bound to, and whether it is closed."""

    tools: dict[str, Known] = field(default_factory=dict)
    bound: list[int] = field(default_factory=list)

    def copied(self) -> Model:
        return Model(dict(self.tools))

    def prune(self) -> None:
        for name in [name for name, known in self.tools.items() if known.tool.ephemeral]:
            del self.tools[name]


class LifetimeMachine(RuleBasedStateMachine):
    """A family of registries: turns, turns of turns, merged ones; each equals its model always."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs = [(ToolRegistry(), Model())]
        self.contexts = [(DispatchContext(), [])]
        self.generation = 0

    def pair(self, choice: int) -> tuple[ToolRegistry, Model]:
        return self.pairs[choice % len(self.pairs)]

    def keep(self, registry: ToolRegistry, model: Model) -> None:
        self.pairs = [*self.pairs, (registry, model)][-MAX_REGISTRIES:]

    def made(self, name: str, ephemeral: bool, policy: Any) -> Tool:
        """A tool that answers its generation, so that no call reaches the one before it."""
        self.generation += 1
        said = f"{name}{self.generation}"

        async def execute(args: Any, context: Any) -> Any:
            return ok(said)

        return Tool(name, said, OBJECT, execute, ephemeral=ephemeral, on_collision=policy)

    @rule(
        choice=CHOICE,
        name=NAMES,
        ephemeral=st.booleans(),
        policy=POLICIES,
        plugin=PLUGINS,
        overwrite=st.booleans(),
    )
    def register(
        self,
        choice: int,
        name: str,
        ephemeral: bool,
        policy: str,
        plugin: str | None,
        overwrite: bool,
    ) -> None:
        registry, model = self.pair(choice)
        tool = self.made(name, ephemeral, policy)
        if name in model.tools and not overwrite:
            with pytest.raises(ToolAlreadyRegisteredError):
                registry.register(tool, plugin_id=plugin)
            return
        registry.register(tool, overwrite, plugin_id=plugin)
        hidden = name in model.tools and model.tools[name].hidden
        model.tools[name] = Known(tool, plugin, hidden)

    @rule(choice=CHOICE, name=NAMES)
    def unregister(self, choice: int, name: str) -> None:
        registry, model = self.pair(choice)
        registry.unregister(name)
        model.tools.pop(name, None)

    @rule(choice=CHOICE, chosen=st.lists(NAMES, max_size=3), hidden=st.booleans())
    def hide(self, choice: int, chosen: list[str], hidden: bool) -> None:
        registry, model = self.pair(choice)
        (registry.hide if hidden else registry.unhide)(*chosen)
        for name in set(chosen) & model.tools.keys():
            model.tools[name] = replace(model.tools[name], hidden=hidden)

    @rule(choice=CHOICE, chosen=st.none() | st.lists(NAMES, max_size=3))
    def set_hidden(self, choice: int, chosen: list[str] | None) -> None:
        registry, model = self.pair(choice)
        if chosen is None:
            registry.clear_hidden()
        else:
            registry.set_hidden(chosen)
        for name, known in model.tools.items():
            model.tools[name] = replace(known, hidden=name in (chosen or ()))

    @rule(choice=CHOICE)
    def for_turn(self, choice: int) -> None:
        registry, model = self.pair(choice)
        self.keep(registry.for_turn(), model.copied())

    @rule(chosen=st.lists(CHOICE, max_size=3), policy=st.none() | POLICIES)
    def merge(self, chosen: list[int], policy: Any) -> None:
        parts = [self.pair(choice) for choice in chosen]
        merged: dict[str, Known] = {}
        for _, model in parts:
            for name, known in model.tools.items():
                own = known.tool.on_collision
                decided = (policy or "throw") if own == "throw" else own
                if name in merged and decided == "throw":
                    with pytest.raises(ToolAlreadyRegisteredError):
                        ToolRegistry.merge([registry for registry, _ in parts], policy)
                    return
                if name not in merged or decided == "replace":
                    merged[name] = known
        self.keep(ToolRegistry.merge([registry for registry, _ in parts], policy), Model(merged))

    @rule(choice=CHOICE)
    def prune(self, choice: int) -> None:
        registry, model = self.pair(choice)
        registry.prune_ephemeral()
        model.prune()

    @rule(choice=CHOICE, unsubscribe=st.booleans())
    def bind(self, choice: int, unsubscribe: bool) -> None:
        registry, model = self.pair(choice)
        context, bound = self.contexts[-1]
        stop = registry.bind_context(context)
        if unsubscribe:
            stop()
        else:
            bound.append(model)

    @rule(acknowledge=st.booleans())
    def signal(self, acknowledge: bool) -> None:
        context, bound = self.contexts[-1]
        if acknowledge:
            context.ack()
            for model in bound:
                model.prune()
        else:
            context.nack()
        with pytest.raises(TurnAlreadySignalledError):
            context.ack()
        self.contexts.append((DispatchContext(), []))

    @rule(choice=CHOICE)
    def freeze(self, choice: int) -> None:
        registry, model = self.pair(choice)
        frozen = registry.freeze()
        assert frozen.to_definitions() == registry.to_definitions()
        assert [frozen.registration(name) for name in model.tools] == [
            registry.registration(name) for name in model.tools
        ]

    @invariant()
    def registries_equal_their_models(self) -> None:
        for registry, model in self.pairs:
            assert registry.all() == [known.tool for known in model.tools.values()]
            assert len(registry) == len(model.tools)
            shown = [name for name, known in model.tools.items() if not known.hidden]
            assert names(registry.visible()) == shown
            assert names(registry.to_definitions()) == shown
            assert names(registry.to_definitions(None, GATE)) == [
                name for name in shown if model.tools[name].plugin_id is None
            ]
            for name in ("a", "b", "c", "mcp__git__log", "unknown"):
                known = model.tools.get(name)
                registration = registry.registration(name)
                assert registry.get(name) is (known.tool if known else None)
                assert (registration is None) == (known is None)
                if registration is not None and known is not None:
                    assert registration.plugin_id == known.plugin_id
                    assert registration.hidden == known.hidden

    def teardown(self) -> None:
        for registry, model in self.pairs[-2:]:
            calls = [{"id": name, "name": name} for name in model.tools]
            results = registry.execute_parallel_sync(calls)
            assert [result.text for result in results] == [
                known.tool.description for known in model.tools.values()
            ]


SETTINGS = settings(
    max_examples=max(settings().max_examples // 4, 20), stateful_step_count=30, deadline=None
)


class TestLifetimeMachine(LifetimeMachine.TestCase):
    settings = SETTINGS


class LeakingMachine(LifetimeMachine):
    """A family whose models share the tools of a turn with its base."""

    @rule(choice=CHOICE)
    def leak(self, choice: int) -> None:
        registry, model = self.pair(choice)
        self.keep(registry.for_turn(), Model(model.tools))


def test_a_wrong_model_is_seen() -> None:
    looking = settings(SETTINGS, max_examples=5_000, database=None, phases=[Phase.generate])
    with pytest.raises(AssertionError):
        run_state_machine_as_test(LeakingMachine, settings=looking)


class TurnsMachine(RuleBasedStateMachine):
    """Turns that are used on threads of their own while their base goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.generation = 0
        self.base = ToolRegistry([self.made(name) for name in "abc"])
        self.expected = {"a": 1, "b": 2, "c": 3}

    def made(self, name: str) -> Tool:
        self.generation += 1
        return Tool(name, str(self.generation), OBJECT, lambda args, context: ok(""))

    @rule(name=st.sampled_from("abcd"))
    def change_the_base(self, name: str) -> None:
        self.base.register(self.made(name), overwrite=True)
        self.expected[name] = self.generation

    @rule(name=st.sampled_from("abcd"))
    def take_from_the_base(self, name: str) -> None:
        self.base.unregister(name)
        self.expected.pop(name, None)

    @rule(plans=st.lists(st.lists(st.sampled_from("abcde"), max_size=4), min_size=1, max_size=4))
    def run_turns(self, plans: list[list[str]]) -> None:
        """Each turn overwrites and hides what its plan says, at the same time as the others."""
        failures: list[BaseException] = []
        gate = threading.Barrier(len(plans) + 1)
        turns = [self.base.for_turn() for _ in plans]
        before = dict(self.expected)

        def run(turn: ToolRegistry, mark: int, plan: list[str]) -> None:
            try:
                gate.wait(100)
                model = {name: str(generation) for name, generation in before.items()}
                for step, name in enumerate(plan):
                    said = f"turn {mark} step {step}"
                    tool = Tool(name, said, OBJECT, lambda args, context: ok(""))
                    turn.register(tool, overwrite=True)
                    model[name] = said
                    assert said_by(turn) == model
                turn.hide(*plan)
                assert set(names(turn.hidden())) == set(plan)
                assert said_by(turn) == model
            except BaseException as failure:
                failures.append(failure)

        threads = [
            threading.Thread(target=run, args=(turn, mark, plan))
            for mark, (turn, plan) in enumerate(zip(turns, plans, strict=True))
        ]
        for thread in threads:
            thread.start()
        gate.wait(100)
        self.change_the_base("d")
        for thread in threads:
            thread.join(100)
        assert failures == []

    @invariant()
    def the_base_is_what_was_done_to_it(self) -> None:
        assert said_by(self.base) == {
            name: str(generation) for name, generation in self.expected.items()
        }
        assert self.base.hidden() == []


def said_by(registry: ToolRegistry) -> dict[str, str]:
    return {tool.name: tool.description for tool in registry.all()}


class TestTurnsMachine(TurnsMachine.TestCase):
    settings = settings(SETTINGS, max_examples=20, stateful_step_count=10)
