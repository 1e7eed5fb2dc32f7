"""What a server answered, as a result of the registry."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ethos_registry.bridges.mcp.bridge.plain_text import one_line
from ethos_registry.contract.content import Audio, ContentBlock, Document, Image, Link
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import NO_EXTRA, ToolError, ToolOk, ToolResult

if TYPE_CHECKING:
    from mcp_types import CallToolResult

__all__ = ["MAX_RESULT_CHARS", "tool_result"]

MAX_RESULT_CHARS = 16 * 1024 * 1024
"""Text of one result beyond that is dropped before anything is joined."""
_MAX_BLOCKS = 1000


def tool_result(answer: CallToolResult) -> ToolResult:
    """Text joined by blank lines; each other block as a line of text, and as a content block."""
    parts: list[str] = []
    content: list[ContentBlock] = []
    size = 0
    for position, block in enumerate(answer.content):
        if position >= _MAX_BLOCKS:
            parts.append(f"[{len(answer.content) - position} more blocks were dropped]")
            break
        text = _text_of(block, content)
        if size + len(text) > MAX_RESULT_CHARS:
            parts.append(
                f"{text[: MAX_RESULT_CHARS - size]}\n[the rest of this result was dropped]"
            )
            break
        size += len(text)
        parts.append(text)
    text = parts[0] if len(parts) == 1 else "\n\n".join(part for part in parts if part)
    structured = answer.structured_content
    if structured is not None and not isinstance(structured, Mapping):
        structured = {"result": structured}
    if not text and structured is not None:
        text = json.dumps(answer.structured_content, ensure_ascii=False, separators=(",", ":"))
        text = text[:MAX_RESULT_CHARS]
    if answer.is_error:
        error = text or "the server reported an error without a message"
        return ToolError(
            error, "execution_failed", None, structured, None, NO_EXTRA, tuple(content)
        )
    return ToolOk(text, structured, None, NO_EXTRA, tuple(content))


def _text_of(block: Any, content: list[ContentBlock]) -> str:
    """The text of a block, or the line that describes it; adds what is not text to `content`."""
    kind = block.type
    if kind == "text":
        text: str = block.text
        return text
    if kind in ("image", "audio"):
        return _blob(kind, block.data, block.mime_type, None, content)
    if kind == "resource_link":
        name = one_line(block.title or block.name or "", 200)
        uri = one_line(str(block.uri), 2000)
        with contextlib.suppress(ConfigError):  # white space: the line of text has it
            content.append(Link(str(block.uri), name or None))
        return f"[resource {name} <{uri}>]"
    resource = block.resource
    uri = one_line(str(resource.uri), 2000)
    if getattr(resource, "text", None) is not None:
        return f"[resource <{uri}>]\n{resource.text}"
    media_type = resource.mime_type or "application/octet-stream"
    main = media_type.partition("/")[0]
    kind = main if main in ("image", "audio") else "document"
    return f"{_blob(kind, resource.blob, media_type, uri, content)} <{uri}>"


_KINDS: dict[str, type[Image | Audio | Document]] = {
    "image": Image,
    "audio": Audio,
    "document": Document,
}


def _blob(
    kind: str, data: str, media_type: str, uri: str | None, content: list[ContentBlock]
) -> str:
    shown = one_line(media_type, 100)
    try:
        decoded = base64.b64decode(data, validate=True)
        name = None if uri is None else uri.rstrip("/").rpartition("/")[2] or None
        content.append(_KINDS[kind](decoded, media_type, name))
    except (binascii.Error, ValueError, ConfigError):
        return f"[{kind} {shown}: the data is invalid]"
    return f"[{kind} {shown}, {_size(len(decoded))}]"


def _size(count: int) -> str:
    return f"{count} bytes" if count < 1024 else f"{-(-count // 1024):,} KB"
