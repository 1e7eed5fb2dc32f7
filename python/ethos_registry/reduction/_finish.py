"""The last step of a call: turns the result of a tool into what the model reads."""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from ethos_registry import _core
from ethos_registry.reduction._python_reducer import is_large, is_plain, reduce_safely
from ethos_registry.reduction._redaction import (
    Redact,
    known_secrets,
    redacted_parts,
    redacted_start,
    redacted_text,
)
from ethos_registry.reduction._reducers import BuiltInReducer, exit_code_of, rebuilt, with_text
from ethos_registry.types._call import CallResult
from ethos_registry.types._content import (
    MAX_CONTENT_BYTES,
    ContentBlock,
    Link,
    content_blocks,
    is_text,
)
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import json_fields, json_object
from ethos_registry.types._reducer import ReductionPolicy, ToolResultReducer
from ethos_registry.types._result import ToolResult

# The blocks beside the text: each inside its limit, none lost without a note.

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
    sendable: list[ContentBlock] = []
    links: list[str] = []
    too_large: list[str] = []
    for given in blocks:
        block = given if redact is None else _redacted_block(given, redact)
        if isinstance(block, Link):
            if is_fenced:
                links.append(block.line())
            else:
                sendable.append(block)
        elif len(block.data_bytes) > MAX_CONTENT_BYTES:
            too_large.append(block.describe())
        else:
            has_name = is_fenced and block.name is not None
            sendable.append(replace(block, name=None) if has_name else block)
    is_same = len(sendable) == len(blocks) and all(map(operator.is_, sendable, blocks))
    if not is_same or blocks is not result.content:  # it may be an iterator, which is used up now
        result = replace(result, content=tuple(sendable))
    if links:
        result = with_text(result, "\n".join([result.text, *links]))
    if not too_large:
        return result, ""
    limit = f"over the limit of {MAX_CONTENT_BYTES:,} bytes"
    return result, f"\n[left out, {limit}: {', '.join(too_large)}"[:MAX_NOTE_CHARS] + "]"


def _redacted_block(block: ContentBlock, redact: Redact) -> ContentBlock:
    changes: dict[str, str | bytes] = {}
    for field in ("url", "title", "name", "media_type"):
        text = getattr(block, field, None)
        if text and (clean := redact(text)) is not text:
            changes[field] = clean.replace(" ", "-") if field == "url" else clean
    if not isinstance(block, Link) and is_text(block):
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


# Marks lines of a tool's output that look like notes of the registry.

MARK = "(tool output) "
"""The prefix of a line that a tool printed and that looks like a note of the registry."""

_WORDS = ("left out", "chars total", "artifact", "full text", "is lost")
"""No note is without one of these."""

_BLANK = r"[^\S\n]"
_UNSEEN = "[^\\S\\n]|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
_FRAME = re.compile(
    rf"^(?=(?:{_UNSEEN})*\[{_BLANK}*"
    rf"(?:truncated\b[^\]\n]*\bchars{_BLANK}+total"
    rf"|[^\]\n]*\bleft{_BLANK}+out"
    rf"|artifact{_BLANK}[^\]\n]*"
    rf"|(?:full|whole){_BLANK}+text\b[^\]\n]*"
    rf"|the{_BLANK}+rest{_BLANK}[^\]\n]*\bis{_BLANK}+lost\b[^\]\n]*)"
    rf"{_BLANK}*\](?:{_UNSEEN})*$)",
    re.MULTILINE,
)
_FINAL_MARKER = re.compile(r"\n\[truncated — (0|[1-9][0-9]{0,18}) chars total\]\Z")
_CONTROLS = "\x1b\r\b\x9b"
_FRAME_PARTS = (*_CONTROLS, *_WORDS)


def may_have_frames(text: str) -> bool:
    """Whether a line of `text` may look like a note; most text has none of the parts."""
    return "[" in text and any(part in text for part in _FRAME_PARTS)


def mark_frames(text: str, *, is_displayed: bool = False) -> str:
    r"""`text` with a prefix before each line that looks like a note; the same object without any.

    The marker of a trim at the very end stays: text that was trimmed before passes unchanged.
    `is_displayed` is set for text that a reducer reads as a terminal displays it; if a note appears
    only there, as in text with escape sequences, the displayed text is returned.

    >>> mark_frames("a\n[5 of 9 lines left out]\nb")
    'a\n(tool output) [5 of 9 lines left out]\nb'
    """
    if any(control in text for control in _CONTROLS):
        displayed = _core.as_displayed(text)
        if _marked(displayed) is displayed:
            return text
        return _marked(displayed) if is_displayed else _marked_by_line(text)
    return _marked(text)


def _marked(text: str) -> str:
    if not any(word in text for word in _WORDS):
        return text
    body, marker = _without_final_marker(text)
    marked = _FRAME.sub(MARK, body)
    return text if marked == body else marked + marker


def _marked_by_line(text: str) -> str:
    """The same by what each line displays, whose control characters stay."""
    body, marker = _without_final_marker(text)
    lines = [
        MARK + line if _FRAME.search(_core.as_displayed(line)) else line
        for line in body.split("\n")
    ]
    return "\n".join(lines) + marker


def _without_final_marker(text: str) -> tuple[str, str]:
    """The text before a well-formed marker at its end, and that marker."""
    found = _FINAL_MARKER.search(text)
    if found is None or int(found[1]) <= found.start():
        return text, ""
    return text[: found.start()], found[0]


LARGE_TEXT_CHARS = 256 * 1024
"""Longer text is finished on a thread, so that the event loop goes on."""

Fence: TypeAlias = tuple[str, str]
"""The tool and the source that the fence around untrusted output names."""


class Finished:
    """A finished result and the lengths of its text, in characters."""

    # No `__init__`: filling the slots from outside halves the price of one (0.11, not 0.26 us).
    __slots__ = ("raw_chars", "raw_text", "reduced_chars", "result", "sent_chars", "truncated_from")

    result: ToolResult
    raw_text: str
    """The text that the tool returned, without credentials: it may be stored. Only as much of it as
    a trim leaves, unless the caller keeps it."""
    raw_chars: int
    """The length of the text that the tool returned."""
    reduced_chars: int
    """The length after the reducer."""
    sent_chars: int
    """The length after the trim, with its marker."""
    truncated_from: int | None
    """The length before the trim if it cut the text, else `None`."""


def add_line(finished: Finished | CallResult, line: str) -> None:
    """Append a line of the registry to the text for the model."""
    if line:
        finished.result = with_text(finished.result, finished.result.text + line)
        finished.sent_chars += len(line)


def finish_result(
    result: ToolResult,
    cap: int,
    reducer: ToolResultReducer | None = None,
    args: Any = None,
    turn_count: int = 0,
    fence: Fence | None = None,
    policy: ReductionPolicy | None = None,
    *,
    redact: Redact | None = None,
    keeps_text: bool = True,
) -> Finished:
    """Reduce a result that a tool returned, replace lone surrogates, trim its text to `cap`.

    The same for successes and errors. `cost_usd` is unchanged; `structured` and extra fields are
    converted to JSON of at most 1 MiB each. A native reducer runs in the same crossing as the trim,
    a Python reducer before it. With a `fence` the text is sanitised before the trim and fenced
    after it, in the same crossing. Lines of the text that look like notes of the registry are
    marked first (see `frames`). A `policy` states how much a reducer keeps. `redact` takes
    credentials out of the text before all that, out of content blocks, `structured` and extra
    fields, and out of what a reducer makes visible; unless the caller `keeps_text`, only the part
    of the text is searched that a trim leaves. If there is nothing to do, the same object is
    returned.
    """
    finished = Finished()
    finished.raw_chars = stated_chars = len(result.text)
    is_start = False
    if redact is not None:
        start = None
        is_cut_only = not keeps_text and reducer is None and fence is None
        if is_cut_only and not may_have_frames(result.text):  # each would count in the marker
            start = redacted_start(result.text, cap, redact)
        is_start = start is not None
        result = redacted_text(result, redact) if start is None else with_text(result, start)
    text = finished.raw_text = result.text
    if may_have_frames(text):
        marked = mark_frames(text, is_displayed=_reads_displayed(reducer))
        if marked is not text:
            stated_chars += len(marked) - len(text)
            result, text = with_text(result, marked), marked
    entering_chars = len(text)
    note = ""
    if result.content:
        result, note = bounded_content(result, is_fenced=fence is not None, redact=redact)
        stated_chars += len(result.text) - len(text)
        text = result.text
    structured, extra = _clean_parts(result)
    native: _core.NativeReducer | None = None
    if reducer is not None:
        if type(reducer) is BuiltInReducer:
            native, policy = reducer.native, policy or reducer.policy
        else:
            if structured is not result.structured or extra is not result.extra:
                result = rebuilt(result, text, structured, result.cost_usd, extra)
            result = reduce_safely(reducer, result, args, turn_count, policy)
            text = result.text
            stated_chars = len(text)
            structured, extra = _clean_parts(result)
    if native is None and fence is None and len(text) <= cap and text.isascii():
        sent, finished.reduced_chars, finished.truncated_from = text, stated_chars, None
    else:
        finish = _core.finish(
            text,
            cap,
            native,
            args,
            result.ok,
            exit_code=exit_code_of(result),
            fence=fence,
            target_chars=None if native is None or policy is None else policy.target_chars,
            level=None if native is None or policy is None else policy.level,
            stated_chars=stated_chars,
            is_start=is_start,
            redacts=redact is not None,
            known=known_secrets(redact),
        )
        sent, finished.reduced_chars, finished.truncated_from = finish
        if (
            native is not None
            and finished.truncated_from is None
            and finished.reduced_chars < entering_chars
            and native.kind == "read_file"
        ):
            finished.truncated_from = finished.raw_chars
    if sent is not text or structured is not result.structured or extra is not result.extra:
        result = rebuilt(result, sent, structured, result.cost_usd, extra)
    if redact is not None and (structured is not None or extra):
        result = redacted_parts(result, redact)
    finished.result = result
    finished.sent_chars = len(sent)
    if note:
        add_line(finished, note)
    return finished


def untouched_chars(reducer: ToolResultReducer | None) -> int:
    """The reducer does not change text of at most this many characters, whatever its content."""
    if reducer is None:
        return sys.maxsize
    return reducer.native.whole_chars if type(reducer) is BuiltInReducer else -1


def _reads_displayed(reducer: ToolResultReducer | None) -> bool:
    """Whether a reducer reads text as a terminal displays it."""
    return type(reducer) is BuiltInReducer and reducer.kind in ("terminal", "generic")


def _clean_parts(result: ToolResult) -> tuple[Mapping[str, Any] | None, Mapping[str, Any]]:
    """`structured` and `extra` as bounded JSON; the same objects where they are that already."""
    structured, extra = result.structured, result.extra
    if structured is not None and not is_plain(structured):
        structured = json_object(structured)
    if extra and not is_plain(extra):
        extra = json_fields(extra)
    return structured, extra


def is_large_result(result: ToolResult) -> bool:
    """Whether finishing a result takes so long that it belongs on a thread."""
    return (
        len(result.text) > LARGE_TEXT_CHARS or is_large(result.structured) or is_large(result.extra)
    )


_OPENING_CHARS = _core.wrap("x", "", "").index("\n") + 1
_CLOSING_CHARS = len(_core.wrap("x", "", "")) - _OPENING_CHARS - 1
"""The parts of a fence before and after its text."""


def sanitized(finished: Finished) -> Finished:
    """The same as it is inside a fence, so that budgets are shared by final lengths.

    Without template tokens, and with forged tags of the fence escaped, which makes text longer.
    """
    fenced = _core.wrap(_core.sanitize(finished.result.text), "", "")
    text = fenced[_OPENING_CHARS:-_CLOSING_CHARS]
    finished.result = with_text(finished.result, text)
    finished.reduced_chars = finished.sent_chars = len(text)
    return finished


def trimmed_result(
    result: ToolResult, cap: int, fence: Fence | None, stated_chars: int
) -> tuple[ToolResult, int | None]:
    """A reduced result trimmed to a smaller cap and fenced, and the length before the trim."""
    text, _, truncated_from = _core.finish(result.text, cap, fence=fence, stated_chars=stated_chars)
    return with_text(result, text), truncated_from
