"""What a dry run answers instead of running a tool (contract 3.12)."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.read_only import MAX_DEPTH
from ethos_registry.contract.result import ToolError, ToolOk, ToolResult
from ethos_registry.execution import refusals
from ethos_registry.execution.own_args import own_args
from ethos_registry.table.entry import Entry

__all__ = ["MAX_DRY_RUN_CHARS", "MAX_STRING_CHARS", "dry_run_answer", "dry_run_result"]

MAX_DRY_RUN_CHARS = 8_000
"""The answer is not trimmed to the cap of the call, but to this, marker included."""
_MARKER_CHARS = 40
"""More than the marker of a trim has."""
MAX_STRING_CHARS = 500
"""Longer strings in the arguments are shortened, and say so."""
MAX_INTEGER_BITS = 2_048
"""Python refuses to write integers that are much longer, as JSON too."""

_SECRET_KEY = re.compile(
    r"passw(or)?d|passphrase|pass$|secret|token|credential|authorization|cookie|bearer|jwt"
    r"|(api|private|access|signing|encryption|ssh)[_-]?key|^auth$|^pwd$",
    re.IGNORECASE,
)


def dry_run_answer(entry: Entry, args: Any, context: ToolContext) -> ToolResult:
    """What would be called; of a function whose arguments do not fit, what it would answer."""
    if entry.binding is not None:
        try:
            bound = entry.binding.bind(own_args(args), context)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # validators are code of the tool's author
            message = _core.replace_surrogates(refusals.raised(error)[:MAX_STRING_CHARS])
            return ToolError(message, "execution_failed", "raised")
        if isinstance(bound, ToolError):
            return bound
    return dry_run_result(entry.name, args)


def dry_run_result(name: str, args: Any) -> ToolOk:
    """`[dry-run] {name} would be called with: {compact JSON}`, without the secrets."""
    try:
        shown = _Shown().value(args, MAX_DEPTH)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a dict or list of a program's own class
        shown = f"[{type(args).__name__}]"
    arguments = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    text = _core.replace_surrogates(f"[dry-run] {name} would be called with: {arguments}")
    if len(text) > MAX_DRY_RUN_CHARS:
        text = _core.trim(text, MAX_DRY_RUN_CHARS - _MARKER_CHARS)[0]
    return ToolOk(text)


class _Shown:
    """Arguments as they are shown: as many values as can be seen in the answer, and no more.

    A value that stands at many places (programs share them) would else be written at each of them.
    """

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = MAX_DRY_RUN_CHARS  # a value takes a character at least

    def value(self, value: Any, depth: int) -> Any:
        """The value with long strings shortened and values under secret-looking keys redacted."""
        self._left -= 1
        if isinstance(value, str):
            return _shortened(value)
        if depth == 0 or self._left <= 0:
            return "..."
        if isinstance(value, dict):
            shown: dict[str, Any] = {}
            for key, item in value.items():
                if self._left <= 0:
                    break
                name = key if isinstance(key, str) else str(_scalar(key))
                is_secret = _SECRET_KEY.search(name) is not None
                shown[name] = "[redacted]" if is_secret else self.value(item, depth - 1)
            return shown
        if isinstance(value, list | tuple):
            items: list[Any] = []
            for item in value:
                if self._left <= 0:
                    break
                items.append(self.value(item, depth - 1))
            return items
        return _scalar(value)


def _scalar(value: Any) -> Any:
    """What is no container: as JSON has it, else in Python's words."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, int) and value.bit_length() <= MAX_INTEGER_BITS:
        return value
    try:
        return _shortened(repr(value))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return f"[{type(value).__name__}]"


def _shortened(text: str) -> str:
    if len(text) <= MAX_STRING_CHARS:
        return text
    return f"{text[:MAX_STRING_CHARS]}...[truncated, {len(text)} chars]"
