"""Whose output an artifact is."""

from __future__ import annotations

from dataclasses import dataclass

from ethos_registry.contract import checks

__all__ = ["ArtifactOrigin"]


@dataclass(frozen=True, slots=True)
class ArtifactOrigin:
    """The call whose result was cut, and whether anybody vouches for its text.

    >>> ArtifactOrigin("fetch", "call_1", "https://example.org").is_untrusted
    True
    """

    tool_name: str
    tool_call_id: str
    source: str | None = None
    """Where untrusted output came from, as `file:a.txt`; `None` for output that is trusted."""

    def __post_init__(self) -> None:
        checks.text(self.tool_name, "tool_name")
        checks.text(self.tool_call_id, "tool_call_id")
        checks.optional_text(self.source, "source")

    @property
    def is_untrusted(self) -> bool:
        """Whether others than the tool's author wrote it; who reads it gets the same mark."""
        return self.source is not None
