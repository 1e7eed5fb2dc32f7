"""What every provider can do: show tools, read calls out of a reply, answer them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from ethos_registry.contract.call import CallResult, MalformedCall, ToolCall
from ethos_registry.providers.shown_tool import ShownTool

__all__ = ["Provider"]


class Provider(Protocol):
    """One wire format. Stateless; needs no SDK, and takes SDK objects and plain dicts alike."""

    @property
    def name(self) -> str:
        """The name that `provider()` knows it by."""

    @property
    def has_markers(self) -> bool:
        """Whether a definition can carry a cache marker."""

    @property
    def frame(self) -> str | None:
        """The key of the one object that holds all definitions, if the format has that."""

    def definition(self, tool: ShownTool) -> dict[str, Any]:
        """One tool as the model is shown it, without a marker; plain dicts and lists."""

    def calls(self, reply: object) -> list[ToolCall | MalformedCall]:
        """The calls of one whole reply, in its order; `ConfigError` for another value.

        Ids are the provider's, duplicates included; a call without one gets `call_{position}`.
        """

    def messages(self, results: Iterable[CallResult]) -> Sequence[Any]:
        """The messages that answer the calls, in order; none for no results."""
