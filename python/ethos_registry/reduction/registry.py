"""Reducers by the exact name of their tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from ethos_registry.contract import checks
from ethos_registry.contract.callables import check_takes
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.reducer import ToolResultReducer

__all__ = ["DefaultToolResultReducerRegistry", "ReducerAlreadyRegisteredError"]


class ReducerAlreadyRegisteredError(ConfigError):
    """The tool already has a reducer; unregister that one first."""

    code: ClassVar[str] = "E_REDUCER_ALREADY_REGISTERED"

    def __init__(self, tool_name: str) -> None:
        super().__init__(
            f"Reducer already registered for tool '{tool_name}'", context={"tool_name": tool_name}
        )
        self.tool_name = tool_name


class _Entry:
    """One registration; registering the same reducer again makes another one."""

    __slots__ = ("reducer",)

    def __init__(self, reducer: ToolResultReducer) -> None:
        self.reducer = reducer


class DefaultToolResultReducerRegistry:
    """At most one reducer per tool; any string is a name, and names are exact.

    >>> from ethos_registry.reduction.built_in import built_in_reducers
    >>> reducers = DefaultToolResultReducerRegistry(built_in_reducers())
    >>> reducers.get("terminal").tool_name
    'terminal'
    """

    __slots__ = ("__weakref__", "_entries")

    def __init__(self, reducers: Iterable[ToolResultReducer] = ()) -> None:
        self._entries: dict[str, _Entry] = {}
        for reducer in reducers:
            self.register(reducer)

    def register(self, reducer: ToolResultReducer) -> Callable[[], None]:
        """Register a reducer; returns a clean-up function that removes this registration.

        The clean-up may be called any number of times and never removes a successor. Raises
        `ReducerAlreadyRegisteredError` if the tool has a reducer, `ConfigError` if the object is
        not a reducer.
        """
        tool_name = _tool_name(reducer)
        entry = _Entry(reducer)
        if self._entries.setdefault(tool_name, entry) is not entry:
            raise ReducerAlreadyRegisteredError(tool_name)

        def clean_up() -> None:
            if self._entries.get(tool_name) is entry:
                del self._entries[tool_name]

        return clean_up

    def unregister(self, tool_name: str) -> None:
        """Remove the reducer of a tool, if it has one."""
        self._entries.pop(checks.text(tool_name, "tool_name"), None)

    @property
    def tool_names(self) -> list[str]:
        """The tools that have a reducer, in the order of registration."""
        return list(self._entries)

    def get(self, tool_name: str) -> ToolResultReducer | None:
        """The reducer of a tool, or `None`."""
        entry = self._entries.get(tool_name)
        return None if entry is None else entry.reducer

    def __repr__(self) -> str:
        return f"DefaultToolResultReducerRegistry({', '.join(map(repr, self._entries))})"


def _tool_name(reducer: object) -> str:
    tool_name = getattr(reducer, "tool_name", None)
    reduce = getattr(reducer, "reduce", None)
    if isinstance(reducer, type) or not isinstance(tool_name, str) or not callable(reduce):
        raise ConfigError(
            "a reducer must have a string `tool_name` and a method "
            f"`reduce(result, context)`, got {type(reducer).__name__}",
            context={"field": "reducer", "value": reducer},
        )
    check_takes(reduce, "reduce", "result", "context")
    return tool_name
