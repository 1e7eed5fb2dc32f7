"""The blocks beside the text: each inside its limit, none lost without a note."""

from __future__ import annotations

import operator
from dataclasses import replace

from ethos_registry.contract.content import (
    MAX_CONTENT_BYTES,
    Audio,
    ContentBlock,
    Document,
    Image,
    Link,
    content_blocks,
)
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import ToolResult
from ethos_registry.reduction.parts import with_text
from ethos_registry.reduction.redaction import Redact

__all__ = ["bounded_content"]

MAX_NOTE_CHARS = 200


def bounded_content(
    result: ToolResult, *, is_fenced: bool, redact: Redact | None = None
) -> tuple[ToolResult, str]:
    """The result with the blocks that may be sent, and a line about those that may not.

    A block over `MAX_CONTENT_BYTES` is left out. Credentials are taken out of the names, titles and
    URLs of blocks and out of documents of text. Where the text is to be fenced, everything from
    the tool has to be inside the fence: links become lines of the text, file names are dropped.
    """
    try:
        blocks = content_blocks(result.content)
    except ConfigError as error:
        return replace(result, content=()), f"\n[content left out: {error}]"[:MAX_NOTE_CHARS]
    given, blocks = blocks, blocks if redact is None else _redacted(blocks, redact)
    sendable: list[ContentBlock] = []
    links: list[str] = []
    too_large: list[str] = []
    for block in blocks:
        if isinstance(block, Link):
            if is_fenced:
                links.append(block.line())
            else:
                sendable.append(block)
        elif len(block.data_bytes) > MAX_CONTENT_BYTES:
            too_large.append(block.describe())
        else:
            sendable.append(_without_name(block) if is_fenced else block)
    if len(sendable) != len(blocks) or is_fenced or blocks is not given:
        result = replace(result, content=tuple(sendable))
    if links:
        result = with_text(result, "\n".join([result.text, *links]))
    if not too_large:
        return result, ""
    limit = f"over the limit of {MAX_CONTENT_BYTES:,} bytes"
    return result, f"\n[left out, {limit}: {', '.join(too_large)}"[:MAX_NOTE_CHARS] + "]"


def _redacted(blocks: tuple[ContentBlock, ...], redact: Redact) -> tuple[ContentBlock, ...]:
    """The blocks without credentials; the same tuple if they have none."""
    clean = tuple(_redacted_block(block, redact) for block in blocks)
    return blocks if all(map(operator.is_, clean, blocks)) else clean


def _redacted_block(block: ContentBlock, redact: Redact) -> ContentBlock:
    changes: dict[str, str | bytes] = {}
    for field in ("url", "title", "name", "media_type"):
        text = getattr(block, field, None)
        if text and (clean := redact(text)) is not text:
            changes[field] = clean.replace(" ", "-") if field == "url" else clean
    if not isinstance(block, Link) and _is_text(block):
        for encoding in _ENCODINGS:
            try:
                text = block.data_bytes.decode(encoding)
            except UnicodeDecodeError:
                continue
            if (clean := redact(text)) is not text:
                changes["data"] = clean.encode(encoding, "replace")
            break
    return replace(block, **changes) if changes else block  # type: ignore[arg-type]


_ENCODINGS = ("utf-8", "utf-16", "latin-1")


def _is_text(block: Image | Document | Audio) -> bool:
    """Whether a block's data is text that a model reads as such; SVG is."""
    kind, _, subtype = block.media_type.partition(";")[0].partition("/")
    return kind == "text" or subtype in _TEXT or subtype.endswith(("+json", "+xml", "+yaml"))


_TEXT = frozenset(
    {"json", "xml", "yaml", "x-yaml", "toml", "javascript", "x-sh", "sql", "x-ndjson", "rtf"}
)


def _without_name(block: Image | Document | Audio) -> ContentBlock:
    return block if block.name is None else replace(block, name=None)
