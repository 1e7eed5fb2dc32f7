"""What the tests of artifacts share: texts in a store, and what tells of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ethos_registry import ToolContext
from ethos_registry.artifacts import ArtifactOrigin, SpooledArtifact

if TYPE_CHECKING:
    from ethos_registry import Tool, ToolResult
    from ethos_registry.artifacts import MemoryArtifactStore

LINE = re.compile(
    r"\n\[artifact (?P<id>a[0-9a-z]+): (?:the whole text, )?(?P<lines>[0-9,]+) lines?"
    r"(?:; read it with (?P<readers>[a-z_, ]+))?\]\Z"
)
"""What tells a model of an artifact, at the end of a result."""


def remaining(store: MemoryArtifactStore, text: str, source: str | None = None) -> SpooledArtifact:
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
