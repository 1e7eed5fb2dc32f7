"""What the tests of artifacts share: a turn that ends, and texts in a store."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ethos_registry import ArtifactOrigin, SpooledArtifact, ToolContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from ethos_registry import MemoryArtifactStore, Tool, ToolResult

LINE = re.compile(
    r"\n\[artifact (?P<id>a[0-9]+): (?:the whole text, )?(?P<lines>[0-9,]+) lines?"
    r"(?:; read it with (?P<readers>[a-z_, ]+))?\]\Z"
)
"""What tells a model of an artifact, at the end of a result."""


class Turn:
    """One turn: `ack` calls what listens, once."""

    def __init__(self) -> None:
        self._handlers: list[Callable[[], object]] = []

    def on_ack(self, handler: Callable[[], object]) -> Callable[[], None]:
        self._handlers.append(handler)

        def unsubscribe() -> None:
            if handler in self._handlers:
                self._handlers.remove(handler)

        return unsubscribe

    def ack(self) -> None:
        handlers, self._handlers = self._handlers, []
        for handler in handlers:
            handler()


def kept(store: MemoryArtifactStore, text: str, source: str | None = None) -> SpooledArtifact:
    """The artifact of a text that a tool gave."""
    artifact_id = store.reserve()
    store.spool(artifact_id, text, ArtifactOrigin("make", f"call-{artifact_id}", source))
    artifact = store.get(artifact_id)
    assert artifact is not None
    return artifact


def read(
    tools: list[Tool], name: str, artifact_id: str, *, budget_chars: int = 80_000, **args: Any
) -> ToolResult:
    """What one of the tools answers."""
    [reader] = [tool for tool in tools if tool.name == name]
    context = ToolContext(result_budget_chars=budget_chars)
    result: Any = reader.execute({"artifact_id": artifact_id} | args, context)
    return result
