"""Results of the protocol as results of the registry, and back without loss."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ethos_registry import _core
from ethos_registry.mcp._server_text import (
    cleaned_metadata,
    is_clean,
    json_fields,
    one_line,
    without_hidden,
)
from ethos_registry.types._call import CallResult
from ethos_registry.types._content import (
    Audio,
    ContentBlock,
    Document,
    Image,
    Link,
    block_of_signature,
)
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import json_object
from ethos_registry.types._result import NO_EXTRA, ToolError, ToolOk, ToolResult

if TYPE_CHECKING:
    from mcp_types import CallToolResult

# The answers to calls that were not sent, or whose connection ended.


class ConnectionLostError(Exception):
    """The connection ended while the call was on its way; it may have run."""


class NotSentError(Exception):
    """The call did not reach the server, or the server certainly did not start it."""

    def reason(self, server: str) -> str:
        """Why, and what to do, for a server of this name."""
        return str(self).format(server)


SESSION_ENDED = "the session on MCP server {} has ended; try again"
REFUSED = "MCP server {} cannot be reached: the connection was refused"


# From the protocol.

META_PREFIX = "ethos-registry/"
"""Begins the keys that the gateway adds to the `_meta` of tools and results."""
MAX_RESULT_CHARS = 16 * 1024 * 1024
"""Text of one result beyond that is dropped before anything is joined."""
_MAX_BLOCKS = 1000
MAX_REPORT_CHARS = 16_000
"""Of one block that is meant for the user alone."""
_SEPARATOR = "\n\n"
_NO_MESSAGE = "the server reported an error without a message"
_LAYOUT = "mcp"
"""The extra field of a result that is more than one text: its blocks in their order, without what
`value`, `content` and `structured` hold, so that redaction and limits apply to those alone."""


def from_mcp_result(
    answer: CallToolResult, report: Callable[[str], object] | None = None
) -> ToolResult:
    """Text joined by blank lines; each other block as a line of text, and as a content block.

    What the server marks as meant for the user alone goes to `report` and into the layout, for a
    client of the gateway; the result does not show it.
    """
    parts: list[str] = []
    content: list[ContentBlock] = []
    layout: list[dict[str, Any]] = []
    size = 0
    for position, block in enumerate(answer.content):
        if position >= _MAX_BLOCKS:
            parts.append(f"[{len(answer.content) - position} more blocks were dropped]")
            break
        if _is_for_user_alone(block):
            if report is not None:
                report(_read_block(block, _part(block))[0][:MAX_REPORT_CHARS])
            withheld = json_fields(block)
            if _core.json_size(withheld, MAX_RESULT_CHARS)[0] <= MAX_RESULT_CHARS - size:
                layout.append({"chars": 0, "withheld": withheld})
            continue
        part = _part(block)
        text, beside = _read_block(block, part)
        if beside is not None:
            part["block"] = len(content)
            content.append(beside)
        if size + len(text) > MAX_RESULT_CHARS:
            text = f"{text[: MAX_RESULT_CHARS - size]}\n[the rest of this result was dropped]"
        layout.append(part | {"chars": len(text)})
        size += len(text)
        parts.append(text)
        if size > MAX_RESULT_CHARS:
            break
    text = parts[0] if len(parts) == 1 else _SEPARATOR.join(part for part in parts if part)
    structured = answer.structured_content
    facts: dict[str, Any] = {}
    if structured is not None and not isinstance(structured, Mapping):
        structured = {"result": structured}
        facts["wraps"] = True
    if not text and structured is not None:
        text = json.dumps(answer.structured_content, ensure_ascii=False, separators=(",", ":"))
        text = text[:MAX_RESULT_CHARS]
    if len(layout) != 1 or layout[0].keys() != {"type", "chars"}:
        facts["content"] = layout
    given = cleaned_metadata(answer.meta)
    if meta := {key: each for key, each in given.items() if not key.startswith(META_PREFIX)}:
        facts["_meta"] = meta
    extra = {_LAYOUT: facts} if facts else NO_EXTRA
    if answer.is_error:
        error = text or _NO_MESSAGE
        return ToolError(error, "execution_failed", None, structured, None, extra, tuple(content))
    return ToolOk(text, structured, None, extra, tuple(content))


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


def _part(block: Any) -> dict[str, Any]:
    """The fields of a block but for its text and data."""
    part = json_fields(block)
    for key in ("text", "data"):
        part.pop(key, None)
    if part["type"] == "resource":
        for key in ("text", "blob"):
            part["resource"].pop(key, None)
    fields: dict[str, Any] = without_hidden(part)
    return fields


def _read_block(block: Any, part: dict[str, Any]) -> tuple[str, ContentBlock | None]:
    """The text of a block, or the line that describes it, and what is not text."""
    kind = block.type
    if kind == "text":
        return block.text, None
    if kind in ("image", "audio"):
        return _read_data(kind, block.data, block.mime_type, None, part)
    if kind == "resource_link":
        name = one_line(block.title or block.name or "", 200)
        uri = one_line(str(block.uri), 2000)
        link: Link | None = None
        with contextlib.suppress(ConfigError):  # white space: the line of text has it
            if is_clean(str(block.uri)):
                link = Link(str(block.uri), name or None)
        return f"[resource {name} <{uri}>]", link
    resource = block.resource
    uri = one_line(str(resource.uri), 2000)
    if getattr(resource, "text", None) is not None:
        heading = f"[resource <{uri}>]\n"
        part["heading"] = len(heading)
        return f"{heading}{resource.text}", None
    media_type = resource.mime_type or "application/octet-stream"
    main = media_type.partition("/")[0]
    kind = main if main in ("image", "audio") else "document"
    line, data = _read_data(kind, resource.blob, media_type, uri, part)
    return f"{line} <{uri}>", data


_KINDS: dict[str, type[Image | Audio | Document]] = {
    "image": Image,
    "audio": Audio,
    "document": Document,
}


def _read_data(
    kind: str, data: str, media_type: str, uri: str | None, part: dict[str, Any]
) -> tuple[str, ContentBlock | None]:
    shown = one_line(media_type, 100)
    try:
        decoded = base64.b64decode(data, validate=True)
        name = None if uri is None else uri.rstrip("/").rpartition("/")[2][:200] or None
        block = _KINDS[kind](decoded, media_type, name)
    except (binascii.Error, ValueError, ConfigError):
        part.clear()
        part["type"] = "text"
        return f"[{kind} {shown}: the data is invalid]", None
    return f"[{kind} {shown}, {_size(len(decoded))}]", block


def _size(count: int) -> str:
    return f"{count} bytes" if count < 1024 else f"{-(-count // 1024):,} KB"


# To the protocol.


def to_mcp_result(
    result: CallResult,
    *,
    wraps_untrusted: bool = False,
    has_output_schema: bool = False,
    max_structured_chars: float = float("inf"),
) -> dict[str, Any]:
    """A `tools/call` result: text and other blocks in the order that their server gave them.

    Blocks of other tools follow the text. `structuredContent` beyond `max_structured_chars` is left
    out unless the tool promises it by an output schema. `_meta` names what programs may need:
    whether the output is untrusted and its source, how long the text was before it was cut, the
    code of an error.
    """
    is_fenced = wraps_untrusted and result.untrusted
    given = result.result.extra.get(_LAYOUT)
    facts: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    meta = dict(facts.get("_meta") or {}) | _meta(result)
    wire: dict[str, Any] = {"resultType": "complete", "content": [], "isError": not result.ok}
    structured = result.result.structured
    if structured is not None:
        values: dict[str, Any] = dict(json_object(structured))
        chars = len(json.dumps(values, ensure_ascii=False))
        if chars <= max_structured_chars or (has_output_schema and result.ok):
            if is_fenced:
                values = _sanitized(values)
            wire["structuredContent"] = values["result"] if facts.get("wraps") else values
        else:
            meta[f"{META_PREFIX}structuredDropped"] = chars
    layout = facts.get("content")
    if isinstance(layout, Sequence) and not is_fenced and _is_layout(layout, result):
        wire["content"] = list(_ordered(layout, result))
    is_empty = layout is not None and not layout
    has_text = result.result.text not in ("", _NO_MESSAGE)
    if not wire["content"] and not (is_empty and ("structuredContent" in wire or not has_text)):
        wire["content"] = list(_unordered(result))
    if meta:
        wire["_meta"] = meta
    return wire


def _sanitized(value: Any) -> Any:
    """JSON values without chat tokens, as the text of a result inside a fence."""
    if isinstance(value, str):
        return _core.sanitize(value)
    if isinstance(value, dict):
        return {_core.sanitize(key): _sanitized(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_sanitized(each) for each in value]
    return value


def _meta(result: CallResult) -> dict[str, Any]:
    error = None if result.result.ok else result.result
    facts = {
        "untrusted": result.untrusted or None,
        "source": result.source if result.untrusted else None,
        "truncatedFrom": result.truncated_from,
        "code": error and error.code,
        "reason": error and error.reason,
    }
    return {f"{META_PREFIX}{key}": fact for key, fact in facts.items() if fact is not None}


def _is_layout(layout: Sequence[Any], result: CallResult) -> bool:
    """Whether it is one of ours, for the blocks that the result has."""
    blocks = []
    for part in layout:
        if not isinstance(part, Mapping) or type(part.get("chars")) is not int:
            return False
        if "withheld" in part:
            if not isinstance(part["withheld"], Mapping):
                return False
            continue
        kind, place = part.get("type"), part.get("block")
        if place is not None:
            blocks.append(place)
        if kind == "resource":
            if not isinstance(part.get("resource"), Mapping) or (place is None) != (
                type(part.get("heading")) is int
            ):
                return False
        elif kind not in ("text", "image", "audio", "resource_link"):
            return False
    return blocks == list(range(len(result.result.content)))


def _ordered(layout: Sequence[Mapping[str, Any]], result: CallResult) -> Iterator[dict[str, Any]]:
    """The blocks by their layout; text that was cut or changed meanwhile is found by the lines."""
    text, content = result.result.text, result.result.content
    counts = [part["chars"] for part in layout if part["chars"]]
    is_whole = len(text) == sum(counts) + len(_SEPARATOR) * max(len(counts) - 1, 0)
    listed = [part for part in layout if "withheld" not in part]
    pieces = _exactly(listed, text) if is_whole else _by_lines(listed, text, content)
    for part in layout:
        block = {
            key: each for key, each in part.items() if key not in ("chars", "block", "heading")
        }
        if "withheld" in part:
            yield dict(part["withheld"])
            continue
        piece = next(pieces)
        place = part.get("block")
        if place is not None:
            if block["type"] == "resource":
                block["resource"] = dict(block["resource"]) | {"blob": content[place].base64_text}
            elif block["type"] != "resource_link":
                block["data"] = content[place].base64_text
            yield block
        elif piece is not None:
            if block["type"] == "resource":
                piece = piece[part["heading"] :]
                block["resource"] = dict(block["resource"]) | {"text": piece}
            else:
                block = block if block["type"] == "text" else {"type": "text"}
                block["text"] = piece
            yield block


def _exactly(layout: Sequence[Mapping[str, Any]], text: str) -> Iterator[str | None]:
    position = 0
    for part in layout:
        yield text[position : position + part["chars"]]
        position += part["chars"] + (len(_SEPARATOR) if part["chars"] else 0)


def _by_lines(
    layout: Sequence[Mapping[str, Any]], text: str, content: Sequence[ContentBlock]
) -> Iterator[str | None]:
    """Pieces of changed text, cut before each line that describes a block."""
    lines = [_line(part, content) for part in layout]
    rest = text
    for index, (part, line) in enumerate(zip(layout, lines, strict=True)):
        if part.get("block") is not None:
            if line and rest.startswith(line):
                _, _, rest = rest.partition("\n")
                rest = rest.removeprefix("\n")
            yield None
            continue
        heading = part.get("heading", 0)
        if heading and not rest.startswith(line or "["):  # it was cut away
            yield " " * heading
            continue
        end = -1
        if (following := next((each for each in lines[index + 1 :] if each), None)) is not None:
            end = rest.find(following, heading)
        piece, rest = (rest, "") if end < 0 else (rest[:end], rest[end:])
        yield piece.removesuffix(_SEPARATOR) if end >= 0 else piece


def _line(part: Mapping[str, Any], content: Sequence[ContentBlock]) -> str | None:
    """How the line of a block begins; `None` for text."""
    if "heading" in part:
        return f"[resource <{one_line(str(part['resource'].get('uri')), 2000)}>]"
    if part.get("block") is None:
        return None
    block = content[part["block"]]
    if isinstance(block, Link):
        return "[resource "
    media_type = part.get("mimeType") or dict(part.get("resource") or {}).get("mimeType") or ""
    shown = one_line(media_type, 100) or "application/octet-stream"
    return f"[{block.kind} {shown}, {_size(len(block.data_bytes))}]"


def _unordered(result: CallResult) -> Iterator[dict[str, Any]]:
    text = result.result.text
    if text or not result.result.content:
        yield {"type": "text", "text": text}
    for position, block in enumerate(result.result.content):
        yield _block(block, result.tool_call_id, position)


def _block(block: ContentBlock, call_id: str, position: int) -> dict[str, Any]:
    if isinstance(block, Link):
        return {"type": "resource_link", "uri": block.url, "name": block.title or block.url}
    known = block_of_signature(block)
    if known is None and not isinstance(block, Document):
        return {
            "type": "text",
            "text": f"[not sent: {block.describe()}; its bytes are no {block.kind}]",
        }
    block = known or block
    if isinstance(block, Image | Audio):
        return {"type": block.kind, "data": block.base64_text, "mimeType": block.media_type}
    # A resource needs an address; this one cannot be read again.
    name = quote(block.name or f"document-{position + 1}", safe="")
    resource = {
        "uri": f"ethos-registry://calls/{quote(call_id, safe='')}/{name}",
        "mimeType": block.media_type,
    }
    return {"type": "resource", "resource": resource | _document_data(block)}


def _document_data(document: Document) -> dict[str, str]:
    if document.media_type.startswith("text/") or document.media_type == "application/json":
        try:
            return {"text": document.data_bytes.decode("utf-8")}
        except UnicodeDecodeError:
            pass
    return {"blob": document.base64_text}
