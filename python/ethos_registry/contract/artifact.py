"""The origin of an artifact."""

from __future__ import annotations

from dataclasses import dataclass

from ethos_registry.contract import checks

__all__ = ["ArtifactOrigin"]


@dataclass(frozen=True, slots=True)
class ArtifactOrigin:
    """The call whose result was shortened, and whether its output is trusted.

    >>> ArtifactOrigin("fetch", "call_1", "https://example.org").is_untrusted
    True
    """

    tool_name: str
    tool_call_id: str
    source: str | None = None
    """The source of untrusted output, as `file:a.txt`; `None` for trusted output."""

    def __post_init__(self) -> None:
        checks.text(self.tool_name, "tool_name")
        checks.text(self.tool_call_id, "tool_call_id")
        checks.optional_text(self.source, "source")

    @property
    def is_untrusted(self) -> bool:
        """Whether the output is untrusted; what is read from the artifact is untrusted too."""
        return self.source is not None
