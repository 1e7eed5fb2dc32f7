"""The blocks beside the text: each inside its limit, none lost without a note."""

from __future__ import annotations

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

__all__ = ["bounded_content"]

MAX_NOTE_CHARS = 200


def bounded_content(result: ToolResult, *, is_fenced: bool) -> tuple[ToolResult, str]:
    """The result with the blocks that may be sent, and a line about those that may not.

    A block over `MAX_CONTENT_BYTES` is left out. Where the text is to be fenced, everything from
    the tool has to be inside the fence: links become lines of the text, file names are dropped.
    """
    try:
        blocks = content_blocks(result.content)
    except ConfigError as error:
        return replace(result, content=()), f"\n[content left out: {error}]"[:MAX_NOTE_CHARS]
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
    if len(sendable) != len(blocks) or is_fenced:
        result = replace(result, content=tuple(sendable))
    if links:
        result = with_text(result, "\n".join([result.text, *links]))
    if not too_large:
        return result, ""
    limit = f"over the limit of {MAX_CONTENT_BYTES:,} bytes"
    return result, f"\n[left out, {limit}: {', '.join(too_large)}"[:MAX_NOTE_CHARS] + "]"


def _without_name(block: Image | Document | Audio) -> ContentBlock:
    return block if block.name is None else replace(block, name=None)
