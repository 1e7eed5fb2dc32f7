"""What a server answered, as a result of the registry."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ethos_registry.types._content import Audio, ContentBlock, Document, Image, Link
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._result import NO_EXTRA, ToolError, ToolOk, ToolResult

if TYPE_CHECKING:
    from mcp_types import CallToolResult

__all__ = [
    "MAX_DESCRIPTION_CHARS",
    "MAX_RESULT_CHARS",
    "ConnectionLostError",
    "SessionEndedError",
    "cleaned",
    "cleaned_schema",
    "from_mcp_result",
    "not_started",
    "one_line",
    "readable_blocks",
    "session_ended",
    "was_lost",
]


# The answers to calls that were not sent, or whose connection ended.


class ConnectionLostError(Exception):
    """The connection ended while the call was on its way; it may have run."""


class SessionEndedError(Exception):
    """The server does not know the session any more, so it did not start the call."""


def not_started(tool: str, reason: str) -> ToolError:
    """The answer to a call that certainly was not sent."""
    return ToolError(f"Tool {tool} was not started: {reason}", "not_available", "unavailable")


def session_ended(server: str) -> str:
    """Why a call was not started, and what to do."""
    return f"the session on MCP server {server} has ended; try again"


def was_lost(tool: str, server: str) -> ToolError:
    """The answer to a call whose connection ended."""
    return ToolError(
        f"Tool {tool}: the connection to MCP server {server} was lost during the call; "
        "it may have run",
        "execution_failed",
    )


# Text of a server, without characters that hide what a model reads.

MAX_DESCRIPTION_CHARS = 2048
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters but tab and line ends
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # invisible letters
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, line separators, bidirectional
    "\ufe00-\ufe0f\ufeff\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]"  # tags and variation selectors
)
_MAX_DEPTH = 64


def cleaned(text: str, max_chars: int = MAX_DESCRIPTION_CHARS) -> str:
    r"""Without control, zero-width and bidirectional characters, and at most `max_chars` long.

    >>> cleaned("read\u200b a file\u202e")
    'read a file'
    """
    text = _HIDDEN.sub("", text).strip()
    return text if len(text) <= max_chars else f"{text[: max_chars - 3]}..."


def one_line(text: str, max_chars: int = 300) -> str:
    """The same on one line."""
    return cleaned(" ".join(cleaned(text, max_chars * 4).split()), max_chars)


def cleaned_schema(schema: Any, depth: int = 0) -> Any:
    """The schema with each `title` and `description` cleaned, since a model reads them too."""
    if depth > _MAX_DEPTH:
        return schema
    if isinstance(schema, dict):
        return {
            key: cleaned(value)
            if key in ("title", "description", "$comment") and isinstance(value, str)
            else cleaned_schema(value, depth + 1)
            for key, value in schema.items()
        }
    if isinstance(schema, list):
        return [cleaned_schema(item, depth + 1) for item in schema]
    return schema


MAX_RESULT_CHARS = 16 * 1024 * 1024
"""Text of one result beyond that is dropped before anything is joined."""
_MAX_BLOCKS = 1000
MAX_REPORT_CHARS = 16_000
"""Of one block that is meant for the user alone."""


def from_mcp_result(
    answer: CallToolResult, report: Callable[[str], object] | None = None
) -> ToolResult:
    """Text joined by blank lines; each other block as a line of text, and as a content block.

    What the server marks as meant for the user alone goes to `report`, not into the result.
    """
    parts: list[str] = []
    content: list[ContentBlock] = []
    size = 0
    for position, block in enumerate(answer.content):
        if position >= _MAX_BLOCKS:
            parts.append(f"[{len(answer.content) - position} more blocks were dropped]")
            break
        if _is_for_user_alone(block):
            if report is not None:
                report(_text_of(block, [])[:MAX_REPORT_CHARS])
            continue
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


def _is_for_user_alone(block: Any) -> bool:
    audience = getattr(getattr(block, "annotations", None), "audience", None) or ()
    return bool(audience) and "assistant" not in audience


def readable_blocks(answer: Any, is_readable: Callable[[Any], bool]) -> Any:
    """The answer to a call, as JSON, with a line of text in place of each unreadable block.

    The SDK refuses the whole result of a call, which has run, for one block that it does not know.
    """
    blocks = answer.get("content") if isinstance(answer, dict) else None
    if not isinstance(blocks, list) or all(map(is_readable, blocks)):
        return answer
    return answer | {
        "content": [block if is_readable(block) else _unreadable(block) for block in blocks]
    }


def _unreadable(block: Any) -> dict[str, str]:
    kind = block.get("type") if isinstance(block, dict) else type(block).__name__
    return {
        "type": "text",
        "text": f"[a block of type {one_line(str(kind), 100)} was not readable]",
    }


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
