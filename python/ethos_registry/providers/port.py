"""What every provider can do: show tools, read calls out of a reply, answer them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from ethos_registry.contract.call import CallResult, MalformedCall, ToolCall
from ethos_registry.providers.shown_tool import DefinitionOrder, ShownTool

__all__ = ["Provider"]


class Provider(Protocol):
    """One wire format. Stateless; needs no SDK, and takes SDK objects and plain dicts alike."""

    @property
    def name(self) -> str:
        """The name that `provider()` knows it by."""

    def definitions(
        self,
        tools: Iterable[ShownTool],
        *,
        order: DefinitionOrder = "segments",
        breakpoints: int = 1,
    ) -> list[dict[str, Any]]:
        """The request's `tools`: fresh dicts over the read-only schemas.

        `breakpoints` (0, 1 or 2) counts cache markers where the format has them.
        """

    def calls(self, reply: object) -> list[ToolCall | MalformedCall]:
        """The calls of one whole reply, in its order; `ConfigError` when it is no such reply.

        Ids are the provider's, duplicates included; a call without one gets `call_{position}`.
        """

    def messages(self, results: Iterable[CallResult]) -> list[dict[str, Any]]:
        """The messages that answer the calls, in order; none for no results."""
