"""The last step of a call: turns the result of a tool into what the model reads."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, TypeAlias

from ethos_registry import _core
from ethos_registry.contract.reducer import ToolResultReducer
from ethos_registry.contract.reduction_policy import ReductionPolicy
from ethos_registry.contract.result import ToolResult
from ethos_registry.reduction.built_in import BuiltInReducer
from ethos_registry.reduction.content import bounded_content
from ethos_registry.reduction.frames import mark_frames
from ethos_registry.reduction.parts import exit_code_of, rebuilt, with_text
from ethos_registry.reduction.python_reducer import reduce_safely
from ethos_registry.reduction.redaction import Redact, known_secrets
from ethos_registry.reduction.structured import clean_extra, clean_structured, is_large, is_plain

__all__ = [
    "LARGE_TEXT_CHARS",
    "Fence",
    "Finished",
    "finish_result",
    "is_large_result",
    "sanitized",
    "trimmed_result",
    "untouched_chars",
]

LARGE_TEXT_CHARS = 256 * 1024
"""Longer text is finished on a thread, so that the event loop goes on."""

Fence: TypeAlias = tuple[str, str]
"""The tool and the source that the fence around untrusted output names."""


class Finished:
    """A finished result and the lengths of its text, in characters."""

    # No `__init__`: filling the slots from outside halves the price of one (0.11, not 0.26 us).
    __slots__ = ("raw_chars", "reduced_chars", "result", "sent_chars", "truncated_from")

    result: ToolResult
    raw_chars: int
    """The length of the text that the tool returned."""
    reduced_chars: int
    """The length after the reducer."""
    sent_chars: int
    """The length after the trim, with its marker."""
    truncated_from: int | None
    """The length before the trim if it cut the text, else `None`."""

    def add_line(self, line: str) -> None:
        """Append a line of the registry to the text for the model."""
        if line:
            self.result = with_text(self.result, self.result.text + line)
            self.sent_chars += len(line)


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
    raw_chars: int | None = None,
    is_start: bool = False,
) -> Finished:
    """Reduce a result that a tool returned, replace lone surrogates, trim its text to `cap`.

    The same for successes and errors. `cost_usd` is unchanged; `structured` and extra fields are
    converted to JSON of at most 1 MiB each. A native reducer runs in the same crossing as the trim,
    a Python reducer before it. With a `fence` the text is sanitised before the trim and fenced
    after it, in the same crossing. Lines of the text that look like notes of the registry are
    marked first (see `frames`). A `policy` states how much a reducer keeps. `redact` takes
    credentials out of content blocks, and out of what a reducer makes visible; those of the text
    are gone already: it had `raw_chars` characters with them. With `is_start` the text is only the
    start of such an output. If there is nothing to do, the same object is returned.
    """
    text: str = result.value if result.ok else result.error
    finished = Finished()
    stated_chars = len(text) if raw_chars is None else raw_chars
    finished.raw_chars = stated_chars
    if "[" in text:
        marked = mark_frames(text, is_displayed=_reads_displayed(reducer))
        if marked is not text:
            stated_chars += len(marked) - len(text)
            result, text = with_text(result, marked), marked
    entering_chars = len(text)
    if (
        reducer is None
        and fence is None
        and entering_chars <= cap
        and result.structured is None
        and not result.extra
        and not result.content
        and text.isascii()
    ):
        finished.result = result
        finished.reduced_chars = stated_chars
        finished.sent_chars = entering_chars
        finished.truncated_from = None
        return finished
    note = ""
    if result.content:
        result, note = bounded_content(result, is_fenced=fence is not None, redact=redact)
        stated_chars += len(result.text) - len(text)
        text = result.text
    exit_code = exit_code_of(result)
    structured, extra = _clean_parts(result)
    native: _core.NativeReducer | None = None
    if reducer is not None:
        if type(reducer) is BuiltInReducer:
            native = reducer.native
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
            exit_code=exit_code,
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
    finished.result = result
    finished.sent_chars = len(sent)
    finished.add_line(note)
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
        structured = clean_structured(structured)
    if extra and not is_plain(extra):
        extra = clean_extra(extra)
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
