"""The last step of a call: a result as its tool returned it becomes what the model reads."""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

from ethos_registry import _core
from ethos_registry.contract.reducer import ToolResultReducer
from ethos_registry.contract.result import ToolResult
from ethos_registry.reduction.built_in import BuiltInReducer
from ethos_registry.reduction.parts import exit_code_of, rebuilt, with_text
from ethos_registry.reduction.python_reducer import reduce_safely
from ethos_registry.reduction.structured import clean_extra, clean_structured, is_plain

__all__ = ["Fence", "Finished", "finish_result", "sanitized", "trimmed_result", "untouched_chars"]

Fence: TypeAlias = tuple[str, str]
"""The tool and the source that the fence around untrusted output names (contract 3.11)."""


class Finished:
    """A finished result, and what became of its text; lengths are in characters."""

    # No `__init__`: filling the slots from outside halves the price of one (0.11, not 0.26 us).
    __slots__ = ("raw_chars", "reduced_chars", "result", "sent_chars", "truncated_from")

    result: ToolResult
    raw_chars: int
    """Of the text as the tool returned it."""
    reduced_chars: int
    """After the reducer."""
    sent_chars: int
    """After the trim, its marker included."""
    truncated_from: int | None
    """What entered the trim, if it cut."""

    def add_line(self, line: str) -> None:
        """Put a line of the registry's own behind what the model reads."""
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
) -> Finished:
    """Reduce a result that a tool returned, replace lone surrogates, trim the text to `cap`.

    Successes and errors alike. `cost_usd` and extra fields stay, and so does `structured` up to
    1 MiB. A native reducer runs in the one crossing that trims; a Python one runs before it. With a
    `fence` the text is sanitised before the trim and fenced after it, in the same crossing. A
    result with nothing to do comes back as the same object, without any crossing.
    """
    text: str = result.value if result.ok else result.error
    finished = Finished()
    finished.raw_chars = raw_chars = len(text)
    if (
        reducer is None
        and fence is None
        and raw_chars <= cap
        and result.structured is None
        and not result.extra
        and text.isascii()
    ):
        finished.result = result
        finished.reduced_chars = finished.sent_chars = raw_chars
        finished.truncated_from = None
        return finished
    native: _core.NativeReducer | None = None
    if reducer is not None:
        if type(reducer) is BuiltInReducer:
            native = reducer.native
        else:
            result = reduce_safely(reducer, result, args, turn_count)
            text = result.text
    structured, extra = result.structured, result.extra
    if structured is not None and not is_plain(structured):
        structured = clean_structured(structured)
    if extra and not is_plain(extra):
        extra = clean_extra(extra)
    if native is None and fence is None and len(text) <= cap and text.isascii():
        sent, finished.reduced_chars, finished.truncated_from = text, len(text), None
    else:
        sent, finished.reduced_chars, finished.truncated_from = _core.finish(
            text, cap, native, args, result.ok, exit_code=exit_code_of(result), fence=fence
        )
    if sent is not text or structured is not result.structured or extra is not result.extra:
        result = rebuilt(result, sent, structured, result.cost_usd, extra)
    finished.result = result
    finished.sent_chars = len(sent)
    return finished


def untouched_chars(reducer: ToolResultReducer | None) -> int:
    """A text of at most this many characters is not changed by the reducer, whatever it says."""
    if reducer is None:
        return sys.maxsize
    return reducer.native.whole_chars if type(reducer) is BuiltInReducer else -1


def sanitized(finished: Finished) -> Finished:
    """The same without template tokens: what is fenced later competes with its true length."""
    text = _core.sanitize(finished.result.text)
    finished.result = with_text(finished.result, text)
    finished.sent_chars = len(text)
    return finished


def trimmed_result(
    result: ToolResult, cap: int, fence: Fence | None
) -> tuple[ToolResult, int | None]:
    """A reduced result cut to a smaller cap, and fenced; the length of its text if that was cut."""
    text, _, truncated_from = _core.finish(result.text, cap, fence=fence)
    return with_text(result, text), truncated_from
