"""The tools of a request: in order, marked, as read-only values and as bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.read_only import ReadOnlyDict, ReadOnlyList
from ethos_registry.providers.port import Provider
from ethos_registry.providers.shown_tool import ShownTool
from ethos_registry.schema.compilation import NoSchemaError

__all__ = ["MARKER", "marked_text", "render_tool", "request_text", "request_values"]

MARKER = ReadOnlyDict(type="ephemeral")
"""The value of `cache_control` on a marked definition."""

_MARKER_TEXT = b',"cache_control":{"type":"ephemeral"}}'


def render_tool(provider: Provider, tool: ShownTool) -> bytes:
    """One tool without a marker, as compact JSON; empty if the provider takes no form of it."""
    try:
        return _core.json_bytes(provider.definition(tool))
    except NoSchemaError:
        return b""


def marked_text(text: bytes) -> bytes:
    """The bytes of a definition with a cache marker at its end."""
    return text[:-1] + _MARKER_TEXT


def request_values(
    provider: Provider, values: Iterable[Any], positions: Collection[int]
) -> list[Any]:
    """The `tools` of a request out of the values of each, the ones at `positions` marked."""
    items = list(values)
    if provider.has_markers:
        for position in positions:
            items[position] = ReadOnlyDict(items[position], cache_control=MARKER)
    if provider.frame is None or not items:
        return items
    return [ReadOnlyDict({provider.frame: ReadOnlyList(items)})]


def request_text(provider: Provider, texts: Iterable[bytes], positions: Collection[int]) -> bytes:
    """The bytes of a request's `tools` out of those of each, the ones at `positions` marked."""
    items = list(texts)
    if provider.has_markers:
        for position in positions:
            items[position] = marked_text(items[position])
    text = _core.join_json(items)
    if provider.frame is None or not items:
        return text
    return b"".join((b'[{"', provider.frame.encode(), b'":', text, b"}]"))
