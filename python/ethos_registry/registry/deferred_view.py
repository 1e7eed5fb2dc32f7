"""A view whose tools the model's provider searches: definitions marked `defer_loading`."""

from __future__ import annotations

import hashlib
from typing import Any, Final, NoReturn

from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.read_only import ReadOnlyDict
from ethos_registry.providers.names import provider as provider_named
from ethos_registry.providers.rendered import request_text, request_values
from ethos_registry.providers.shown_tool import DefinitionOrder, breakpoint_positions
from ethos_registry.registry.shown import SentTools, in_order
from ethos_registry.registry.view import View
from ethos_registry.table.admission import without
from ethos_registry.table.entry import Entry

__all__ = ["DeferredView"]

_SEARCH: Final = {
    "anthropic": ReadOnlyDict(type="tool_search_tool_bm25_20251119", name="tool_search_tool_bm25"),
    "openai_responses": ReadOnlyDict(type="tool_search"),
}
_SEARCH_TEXT: Final = {
    "anthropic": b'{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}',
    "openai_responses": b'{"type":"tool_search"}',
}
_DEFERRED_TEXT: Final = b',"defer_loading":true}'


class DeferredView(View):
    """Lists every permitted tool, and defers those that are not always included.

    Made by `registry.view(personality, search=ToolSearch(by="provider"))`. A request holds all
    definitions; the provider keeps deferred ones out of the prompt until its own search loads
    them. A cache marker is put on the last tool that is not deferred.

    Raises `ConfigError` for a provider without a search of its own.
    """

    __slots__ = ()

    def definitions(
        self,
        provider: str | None = None,
        *,
        order: DefinitionOrder = "segments",
        breakpoints: int = 1,
    ) -> list[Any]:
        """What a request lists: the provider's search tool, listed tools, deferred tools."""
        if provider is None:
            return super().definitions()
        wire_format = _searching(provider)
        sent = SentTools(wire_format)
        listed, deferred, positions = self._split(sent, order, breakpoints)
        values = [sent.value(entry) for entry in listed]
        return [
            _SEARCH[wire_format.name],
            *request_values(wire_format, values, positions),
            *(ReadOnlyDict(sent.value(entry), defer_loading=True) for entry in deferred),
        ]

    def definitions_bytes(
        self, provider: str, *, order: DefinitionOrder = "segments", breakpoints: int = 1
    ) -> bytes:
        """The same as compact JSON in UTF-8."""
        wire_format = _searching(provider)
        sent = SentTools(wire_format)
        listed, deferred, positions = self._split(sent, order, breakpoints)
        texts = [sent.text(entry) for entry in listed]
        head = request_text(wire_format, texts, positions)[1:-1]
        items = [
            _SEARCH_TEXT[wire_format.name],
            *([head] if head else []),
            *(sent.text(entry)[:-1] + _DEFERRED_TEXT for entry in deferred),
        ]
        return b"[" + b",".join(items) + b"]"

    def bytes_digest(
        self, provider: str, *, order: DefinitionOrder = "segments", breakpoints: int = 1
    ) -> str:
        """SHA-256 hex over `definitions_bytes`."""
        text = self.definitions_bytes(provider, order=order, breakpoints=breakpoints)
        return hashlib.sha256(text).hexdigest()

    def prefix(
        self, provider: str, *, order: DefinitionOrder = "segments", breakpoints: int = 1
    ) -> NoReturn:
        """Not supported: deferred tools are not part of a prompt's prefix."""
        raise ConfigError("a view with the provider's search has no prefix: tools are deferred")

    def _split(
        self, sent: SentTools, order: DefinitionOrder, breakpoints: int
    ) -> tuple[list[Entry], list[Entry], frozenset[int]]:
        entries = in_order(without(self._admission.visible(), self._missing()), order)
        entries = sent.fitting(entries)
        listed = [entry for entry in entries if entry.always_include]
        deferred = [entry for entry in entries if not entry.always_include]
        return listed, deferred, breakpoint_positions([e.segment for e in listed], breakpoints)


def _searching(provider: str) -> Any:
    wire_format = provider_named(provider)
    if wire_format.name not in _SEARCH:
        raise ConfigError(
            f"`{provider}` has no tool search of its own; {' and '.join(_SEARCH)} have. "
            "`search=True` works with every provider"
        )
    return wire_format
