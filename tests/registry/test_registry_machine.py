"""A registry in any state is a plain dict with flags: the same tools, order, gates and answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from ethos_registry import Tool, ToolAlreadyRegisteredError, ToolRegistry, ok
from registry_tools import OBJECT, names

NAMES = st.sampled_from(["a", "b", "c", "d"])
ALLOWED = st.none() | st.lists(NAMES, max_size=3)


@pytest.mark.slow
@dataclass(frozen=True)
class Known:
    """What the model holds of a tool."""

    generation: int
    available: bool
    hidden: bool = False


class RegistryMachine(RuleBasedStateMachine):
    """Registering, overwriting, hiding and forgetting, beside a dict in registration order."""

    def __init__(self) -> None:
        super().__init__()
        self.registry = ToolRegistry()
        self.model: dict[str, Known] = {}
        self.generation = 0

    def made(self, name: str, *, available: bool) -> tuple[Tool, Known]:
        """A tool that answers its generation, so that no call reaches the one before it."""
        self.generation += 1
        generation = self.generation

        async def execute(args: Any, context: Any) -> Any:
            return ok(f"{name}{generation}")

        tool = Tool(
            name,
            f"Generation {generation}.",
            OBJECT,
            execute,
            is_available=None if available else lambda: False,
        )
        return tool, Known(generation, available)

    @rule(name=NAMES, available=st.booleans())
    def register(self, name: str, available: bool) -> None:
        tool, known = self.made(name, available=available)
        if name in self.model:
            with pytest.raises(ToolAlreadyRegisteredError):
                self.registry.register(tool)
        else:
            self.registry.register(tool)
            self.model[name] = known

    @rule(name=NAMES, available=st.booleans())
    def overwrite(self, name: str, available: bool) -> None:
        tool, known = self.made(name, available=available)
        self.registry.register(tool, overwrite=True)
        hidden = name in self.model and self.model[name].hidden
        self.model[name] = replace(known, hidden=hidden)

    @rule(chosen=st.lists(NAMES, max_size=3))
    def register_all(self, chosen: list[str]) -> None:
        made = [(name, *self.made(name, available=True)) for name in chosen]
        tools = [tool for _, tool, _ in made]
        if len(set(chosen)) < len(chosen) or self.model.keys() & set(chosen):
            with pytest.raises(ToolAlreadyRegisteredError):
                self.registry.register_all(tools)
        else:
            self.registry.register_all(tools)
            self.model.update({name: known for name, _, known in made})

    @rule(name=NAMES)
    def unregister(self, name: str) -> None:
        self.registry.unregister(name)
        self.model.pop(name, None)

    @rule(name=NAMES, hidden=st.booleans())
    def hide(self, name: str, hidden: bool) -> None:
        assert self.registry._table.set_hidden(name, hidden=hidden) == (name in self.model)
        if name in self.model:
            self.model[name] = replace(self.model[name], hidden=hidden)

    @rule(allowed=ALLOWED)
    def definitions(self, allowed: list[str] | None) -> None:
        shown = [
            (name, f"Generation {known.generation}.")
            for name, known in self.model.items()
            if known.available and not known.hidden and (not allowed or name in allowed)
        ]
        listed = self.registry.to_definitions(allowed)
        assert [(item["name"], item["description"]) for item in listed] == shown

    @rule(chosen=st.lists(NAMES, max_size=5), allowed=ALLOWED)
    def execute(self, chosen: list[str], allowed: list[str] | None) -> None:
        calls = [{"id": f"c{place}", "name": name} for place, name in enumerate(chosen)]
        results = asyncio.run(self.registry.execute_parallel(calls, None, allowed))
        assert [result.tool_call_id for result in results] == [call["id"] for call in calls]
        assert [self.said(result.result) for result in results] == [
            self.expected(name, allowed) for name in chosen
        ]

    @staticmethod
    def said(result: Any) -> str:
        return str(result.text if result.ok else result.reason)

    def expected(self, name: str, allowed: list[str] | None) -> str:
        known = self.model.get(name)
        if known is None:
            return "unknown"
        if allowed and name not in allowed:
            return "denied"
        return f"{name}{known.generation}" if known.available else "unavailable"

    @invariant()
    def the_registry_holds_what_the_model_holds(self) -> None:
        assert names(self.registry.all()) == list(self.model)
        assert names(self.registry.get_available()) == [
            name for name, known in self.model.items() if known.available
        ]
        assert len(self.registry) == len(self.model)
        for name in "abcd":
            registration = self.registry.registration(name)
            known = self.model.get(name)
            assert (name in self.registry) == (known is not None)
            assert (registration is None) == (known is None)
            if registration is not None and known is not None:
                assert registration.hidden == known.hidden
                assert registration.tool is self.registry.get(name)


SETTINGS = settings(
    max_examples=max(settings().max_examples // 4, 20), stateful_step_count=25, deadline=None
)


class TestRegistryMachine(RegistryMachine.TestCase):
    settings = SETTINGS


class ForgettingMachine(RegistryMachine):
    """A registry whose model forgets that a tool is hidden when it is replaced."""

    @rule(name=NAMES)
    def overwrite_and_forget(self, name: str) -> None:
        tool, known = self.made(name, available=True)
        self.registry.register(tool, overwrite=True)
        self.model[name] = known


def test_a_wrong_model_is_seen() -> None:
    looking = settings(SETTINGS, max_examples=5_000, database=None, phases=[Phase.generate])
    with pytest.raises(AssertionError):
        run_state_machine_as_test(ForgettingMachine, settings=looking)
