"""What an adapter shows and hands out of a view, whatever the framework is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

from ethos_registry.contract import checks
from ethos_registry.contract.call import CallResult
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.ports import ToolView
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.contract.read_only import thaw

__all__ = [
    "AsyncProgress",
    "ShownDefinition",
    "ShownTools",
    "approval_names",
    "definitions_of",
    "plain_result",
]

T = TypeVar("T")


class ShownDefinition(NamedTuple):
    """One tool of a view, as plain values that a framework may change."""

    name: str
    description: str
    parameters: dict[str, Any]


def definitions_of(view: ToolView) -> list[ShownDefinition]:
    """The tools that the view shows; deep copies, because several frameworks change schemas."""
    return [
        ShownDefinition(shown["name"], shown["description"], thaw(shown["parameters"]))
        for shown in view.definitions()
    ]


class ShownTools(Generic[T]):
    """A framework's objects for the tools of a view, made again only when the view changes."""

    __slots__ = ("_fingerprint", "_make", "_tools", "_view")

    def __init__(self, view: ToolView, make: Callable[[ShownDefinition], T]) -> None:
        self._view = view
        self._make = make
        self._fingerprint: str | None = None
        self._tools: dict[str, T] = {}

    def current(self) -> dict[str, T]:
        """Name -> object, in the order of the definitions; the same dict while nothing changes."""
        fingerprint = self._view.fingerprint
        if fingerprint != self._fingerprint:
            shown = definitions_of(self._view)
            self._tools = {definition.name: self._make(definition) for definition in shown}
            self._fingerprint = fingerprint
        return self._tools


def plain_result(result: CallResult) -> dict[str, Any]:
    """A result that a framework keeps in a history: dicts, lists and plain values of its own."""
    plain: dict[str, Any] = json.loads(json.dumps(result.to_wire()))
    return plain


def approval_names(names: Iterable[str], view: ToolView) -> frozenset[str]:
    """The tools that a person approves; `ConfigError` for a name that the view does not show."""
    wanted = frozenset(checks.strings(names, "needs_approval"))
    unknown = wanted - {shown["name"] for shown in view.definitions()}
    if unknown:
        raise ConfigError(
            f"`needs_approval` names {min(unknown)!r}, which the view does not show; "
            "without the tool there is nothing to approve"
        )
    return wanted


class AsyncProgress:
    """Passes the events of one call to a channel of the framework that has to be awaited."""

    __slots__ = ("_send", "_tasks")

    def __init__(self, send: Callable[[ToolProgressEvent], Coroutine[Any, Any, object]]) -> None:
        self._send = send
        self._tasks: list[asyncio.Task[object]] = []

    def __call__(self, event: ToolProgressEvent) -> None:
        """Start to send an event."""
        self._tasks.append(asyncio.ensure_future(self._send(event)))

    async def sent(self) -> None:
        """Wait until all events were sent; what the framework raises is dropped."""
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
