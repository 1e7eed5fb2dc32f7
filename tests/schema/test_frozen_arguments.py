"""Nothing that a registry hands out can change what it runs."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import pytest

from ethos_registry import FrozenToolRegistry, ToolContext, ToolRegistry, tool
from ethos_registry.registry import DispatchContext


def registries() -> list[Any]:
    """A mutable and a frozen registry of the same tools."""

    @tool(strict=True, capabilities={"network": {"allowedHosts": ["example.org"]}})
    def pay(amount: int, to: str = "oak", **more: int) -> str:
        """Pay."""
        return f"{to} gets {amount} {sorted(more.items())}"

    @tool
    async def greet(name: str, context: ToolContext) -> str:
        """Greet."""
        return f"hello {name}"

    bound = tool(functools.partial(_doubled, factor=2), name="double")
    backends: Any = {"network": lambda name, declared, context: dict(declared)}
    registry = ToolRegistry([pay, greet, bound], capability_backends=backends)
    return [
        registry,
        registry.freeze(),
        registry.for_turn(),
        registry.turn(DispatchContext()).registry,
    ]


def _doubled(number: int, factor: int) -> int:
    return number * factor


CALLS = [
    {"id": "1", "name": "pay", "args": {"amount": "5", "tip": 1}},
    {"id": "2", "name": "pay", "args": {"to": 7}},
    {"id": "3", "name": "greet", "args": {"name": "elm"}},
    {"id": "4", "name": "double", "args": {"number": 4}},
]


def answers(registry: Any) -> Any:
    batch = registry.execute_parallel_sync(
        [*CALLS, {"id": "5", "name": "pay", "args": {"amount": 1}}]
    )
    return batch.to_wire(), registry.to_definitions()


def reachable(root: Any) -> Iterator[Any]:
    """The objects that attributes and items of a handed-out value lead to, and that are ours."""
    seen: dict[int, Any] = {}
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, type | ModuleType | FunctionType | str | int):
            continue
        seen[id(value)] = value
        yield value
        for name in dir(value):
            if name in ("__dict__", "__globals__") or (
                name.startswith("__") and name != "__self__"
            ):
                continue
            with contextlib.suppress(Exception):
                waiting.append(getattr(value, name))
        if isinstance(value, tuple | list | dict):
            waiting += gc.get_referents(value)


def tampered(value: Any) -> None:
    """Everything that plain and forced assignment does to one object."""
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    fields = (
        [item.name for item in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
    )
    for name in {*slots, *fields, *getattr(value, "__dict__", {})} - {"__weakref__", "__dict__"}:
        for assign in (setattr, object.__setattr__):
            with contextlib.suppress(Exception):
                assign(value, name, None)
    if isinstance(value, dict):
        with contextlib.suppress(Exception):
            dict.clear(value)
    if isinstance(value, list):
        with contextlib.suppress(Exception):
            list.clear(value)


@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize("name", ["pay", "greet", "double"])
def test_nothing_reachable_from_a_tool_changes_what_a_registry_runs(index: int, name: str) -> None:
    registry = registries()[index]
    before = answers(registry)
    for value in list(reachable(registry.get(name))):
        tampered(value)
    assert answers(registry) == before


@pytest.mark.parametrize("index", range(4))
def test_a_registry_runs_the_arguments_it_was_given(index: int) -> None:
    registry = registries()[index]
    before = answers(registry)
    arguments = registry.get("pay").arguments
    for name in ("_validate", "validate", "parameters", "schema", "binder", "bind"):
        for assign in (setattr, object.__setattr__):
            with contextlib.suppress(AttributeError):
                assign(arguments, name, None)
    with contextlib.suppress(AttributeError, TypeError):
        arguments.schema.clear()
    assert answers(registry) == before


def test_arguments_say_that_they_are_read_only() -> None:
    arguments = registries()[0].get("pay").arguments
    with pytest.raises(AttributeError, match="arguments are read-only; `parameters` cannot be set"):
        arguments.parameters = None
    with pytest.raises(TypeError, match="read-only"):
        arguments.schema.clear()


def test_the_keywords_of_a_partial_are_those_of_when_the_tool_was_made() -> None:
    doubled = functools.partial(_doubled, factor=2)
    frozen = FrozenToolRegistry([tool(doubled, name="double")])
    doubled.keywords["factor"] = 9
    assert frozen.execute_parallel_sync([CALLS[3]])[0].text == "8"
