"""The answers of a dry run, in place of running the tool."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from ethos_registry import _core
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.read_only import MAX_DEPTH
from ethos_registry.contract.result import ToolError, ToolOk, ToolResult
from ethos_registry.contract.secret_names import is_secret_name
from ethos_registry.execution import refusals
from ethos_registry.execution.isolated_arguments import isolated_arguments
from ethos_registry.reduction.redaction import Redact
from ethos_registry.table.entry import Entry

__all__ = [
    "MAX_DRY_RUN_CHARS",
    "MAX_STRING_CHARS",
    "ShownArguments",
    "dry_run_answer",
    "dry_run_result",
    "redacted_arguments",
]

MAX_DRY_RUN_CHARS = 8_000
"""The answer is trimmed to this length, marker included, not to the cap of the call."""
_MARKER_CHARS = 40
"""At least the length of the marker of a trim."""
MAX_STRING_CHARS = 500
"""Longer strings in the arguments are shortened and marked."""
MAX_INTEGER_BITS = 2_048
"""Python refuses to convert much longer integers to text."""

_PLAIN_TYPES = (float, complex, bytes, date, datetime, Decimal, UUID)


def dry_run_answer(
    entry: Entry, args: Any, context: ToolContext, redact: Redact | None = _core.redact
) -> ToolResult:
    """What would be called; or the refusal if the function's arguments do not fit.

    `redact` takes credentials out of the arguments; `None` leaves them.
    """
    if entry.binding is not None:
        try:
            bound = entry.binding.bind(isolated_arguments(args), context)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # validators are code of the tool's author
            message = _core.replace_surrogates(refusals.exception_text(error)[:MAX_STRING_CHARS])
            return ToolError(message, "execution_failed", "raised")
        if isinstance(bound, ToolError):
            return bound
    return dry_run_result(entry.name, args, redact)


def dry_run_result(name: str, args: Any, redact: Redact | None = _core.redact) -> ToolOk:
    """`[dry-run] {name} would be called with: {compact JSON}`, secrets redacted."""
    arguments = redacted_arguments(args, _unchanged if redact is None else redact)
    text = _core.replace_surrogates(f"[dry-run] {name} would be called with: {arguments}")
    if len(text) > MAX_DRY_RUN_CHARS:
        text = _core.trim(text, MAX_DRY_RUN_CHARS - _MARKER_CHARS)[0]
    return ToolOk(text)


def _unchanged(text: str) -> str:
    return text


def redacted_arguments(
    args: Any, redact: Redact = _core.redact, max_string_chars: int = MAX_STRING_CHARS
) -> str:
    """Arguments as compact JSON, without credentials and values under secret-looking keys.

    >>> redacted_arguments({"city": "Oslo", "api_key": "abc"})
    '{"city":"Oslo","api_key":"[redacted]"}'
    """
    try:
        shown = ShownArguments(redact, max_string_chars).value(args, MAX_DEPTH)
        return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    except KeyboardInterrupt:
        raise
    except BaseException:  # a mapping or sequence of a program's own class
        return f'"[{refusals.class_name(args)}]"'


class ShownArguments:
    """Arguments as they are shown: as many values as the answer can show, and no more.

    Without the bound, a value that programs share at many places would be written at each of them.
    """

    __slots__ = ("_max_string_chars", "_redact", "chars_left")

    def __init__(
        self, redact: Redact, max_string_chars: int, max_chars: int = MAX_DRY_RUN_CHARS
    ) -> None:
        self._redact = redact
        self._max_string_chars = max_string_chars
        self.chars_left = max_chars  # a value takes at least one character

    def text(self, text: str) -> str:
        """A string, redacted and shortened."""
        return _shortened(self._redact(text), self._max_string_chars)

    def name(self, name: str) -> str:
        """A key, redacted."""
        return self._redact(name)

    def hide(self, value: Any) -> None:
        """A value under a secret-looking key, which is not shown."""

    def value(self, value: Any, depth: int) -> Any:
        """The value with long strings shortened and values under secret-looking keys redacted."""
        self.chars_left -= 1
        if isinstance(value, str):
            return self.text(str.__str__(value))
        if depth == 0 or self.chars_left <= 0:
            return "..."
        if isinstance(value, tuple) and hasattr(value, "_asdict"):  # a named tuple has field names
            value = value._asdict()
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, Sequence | AbstractSet) and not isinstance(value, bytes | bytearray):
            items: list[Any] = []
            for item in value:
                if self.chars_left <= 0:
                    break
                items.append(self.value(item, depth - 1))
            return items
        return _scalar(value)

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for key in value:
            if self.chars_left <= 0:
                break
            name = str.__str__(key) if isinstance(key, str) else str(_scalar(key))
            if is_secret_name(name):
                self.hide(value[key])
                shown[self.name(name)] = "[redacted]"
                self.chars_left -= 1
            else:
                shown[self.name(name)] = self.value(value[key], depth - 1)
        return shown


def _scalar(value: Any) -> Any:
    """A value that is not a container: as JSON has it, else its class name in brackets."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return float.__float__(value)
    if isinstance(value, int) and int.bit_length(value) <= MAX_INTEGER_BITS:
        return int.__index__(value)
    if isinstance(value, int) or not _is_plain(value):
        return f"[{refusals.class_name(value)}]"
    return _shortened(str(value), MAX_STRING_CHARS)


def _is_plain(value: object) -> bool:
    """Whether the text of a value cannot contain other values."""
    return type(value) in _PLAIN_TYPES


def _shortened(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    return f"{text[:max_chars]}...[truncated, {len(text)} chars]"
