"""The tools of a request: in order, marked, as read-only values and as bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from ethos_registry import _core
from ethos_registry.contract.read_only import MAX_DEPTH, ReadOnlyDict, ReadOnlyList, freeze
from ethos_registry.providers.port import Provider
from ethos_registry.providers.shown_tool import (
    DefinitionOrder,
    ShownTool,
    breakpoint_positions,
    ordered,
)

__all__ = [
    "MARKER",
    "RenderedTools",
    "marked_text",
    "render_tool",
    "render_tools",
    "request_text",
]

MARKER = ReadOnlyDict(type="ephemeral")
"""The value of `cache_control` on a marked definition."""

_MARKER_TEXT = b',"cache_control":{"type":"ephemeral"}}'
_LEVELS_AROUND_SCHEMA = 4


class RenderedTools(NamedTuple):
    """The `tools` of a request; the bytes are the compact JSON of the values."""

    values: tuple[Any, ...]
    text: bytes


def render_tool(provider: Provider, tool: ShownTool) -> tuple[Any, bytes]:
    """One tool without a marker: a read-only value, and its compact JSON."""
    definition = provider.definition(tool)
    text = _core.json_bytes(definition)
    return freeze(definition, "definition", MAX_DEPTH + _LEVELS_AROUND_SCHEMA), text


def marked_text(text: bytes) -> bytes:
    """The bytes of a definition with a cache marker at its end."""
    return text[:-1] + _MARKER_TEXT


def render_tools(
    provider: Provider,
    tools: Iterable[tuple[ShownTool, tuple[Any, bytes]]],
    order: DefinitionOrder,
    breakpoints: int,
) -> RenderedTools:
    """The tools, each rendered before, in the order of a request."""
    rendered = {id(tool): (tool, *both) for tool, both in tools}
    shown = ordered([tool for tool, _, _ in rendered.values()], order)
    positions = breakpoint_positions([tool.segment for tool in shown], breakpoints)
    values: list[Any] = []
    for position, tool in enumerate(shown):
        value = rendered[id(tool)][1]
        if provider.has_markers and position in positions:
            value = ReadOnlyDict(value, cache_control=MARKER)
        values.append(value)
    if provider.frame is not None and values:
        values = [ReadOnlyDict({provider.frame: ReadOnlyList(values)})]
    texts = [rendered[id(tool)][2] for tool in shown]
    return RenderedTools(tuple(values), request_text(provider, texts, positions))


def request_text(provider: Provider, texts: Sequence[bytes], positions: Collection[int]) -> bytes:
    """The bytes of a request's `tools` out of those of each, the ones at `positions` marked."""
    items = list(texts)
    if provider.has_markers:
        for position in positions:
            items[position] = marked_text(items[position])
    text = _core.join_json(items)
    if provider.frame is None or not items:
        return text
    return b"".join((b'[{"', provider.frame.encode(), b'":', text, b"}]"))
