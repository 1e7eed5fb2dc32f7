"""Received bytes as a result: text as text, images, documents and audio as content blocks."""

from __future__ import annotations

import codecs
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.content import Audio, Document, Image
from ethos_registry.contract.result import ToolOk, ok
from ethos_registry.toolkit.arguments import RefusalError

__all__ = ["decoded", "received", "sniffed_type"]

_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The formats that providers accept."""
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def sniffed_type(data: bytes) -> str:
    """The media type that the content shows, whatever its name or headers claim."""
    if any(data.startswith(mark) for mark, _ in _BYTE_ORDER_MARKS[1:]):
        return "text/plain"
    return _core.sniff_media_type(data) or "application/octet-stream"


def decoded(data: bytes, charset: str | None = None) -> str:
    """Text by its byte order mark, else by `charset`, else as UTF-8."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode(charset or "utf-8", "replace")
    except LookupError:
        return data.decode("utf-8", "replace")


def received(
    data: bytes,
    what: str,
    *,
    name: str | None = None,
    charset: str | None = None,
    structured: dict[str, Any] | None = None,
) -> ToolOk:
    """The result that shows `data`; a refusal for a format that models cannot read.

    `what` names the content in messages; `name` is the file name that providers show.
    """
    media_type = sniffed_type(data)
    facts = {**(structured or {}), "mediaType": media_type, "bytes": len(data)}
    if media_type.startswith("text/") or (charset and media_type == "application/octet-stream"):
        return ok(decoded(data, charset), structured=facts)
    block = _block(data, media_type, name)
    if block is None:
        raise RefusalError(
            f"{what} is {media_type} ({len(data):,} bytes), which cannot be shown; ask for it as "
            "text, PDF, PNG or JPEG",
            "not_available",
        )
    return ok(f"{what}: {block.describe()}", structured=facts, content=[block])


def _block(data: bytes, media_type: str, name: str | None) -> Image | Document | Audio | None:
    if media_type in _IMAGES:
        return Image(data, media_type, name)
    if media_type == "application/pdf":
        return Document(data, media_type, name)
    if media_type.startswith("audio/"):
        return Audio(data, media_type, name)
    return None
