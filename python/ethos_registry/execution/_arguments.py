"""The arguments of a call: parsed, repaired, copied for the tool, shown by a dry run."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pydantic_core

from ethos_registry import _core
from ethos_registry._table.entry import Entry, FailingPlaces
from ethos_registry.execution import _refusals
from ethos_registry.reduction._redaction import Redact
from ethos_registry.types._call import Repair, RepairLevel
from ethos_registry.types._checks import guarded
from ethos_registry.types._context import ToolContext
from ethos_registry.types._json_values import MAX_DEPTH
from ethos_registry.types._result import ToolError, ToolOk, ToolResult
from ethos_registry.types._secret_names import is_secret_name

# Arguments that a model sent as JSON text.

_POSITION = re.compile(r" at line ([0-9]+) column ([0-9]+)$")
_FOREIGN_LITERAL = re.compile(rb"(?:-?NaN|-?Infinity|None|True|False|undefined)\b")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""An escape in a JSON string: a pair of surrogates, a lone surrogate (valid in the JSON grammar,
but refused by the parser), or any other."""


class BadArgumentsError(Exception):
    """The arguments are not valid JSON; the message gives the reason and the position."""


def parse_json_arguments(text: str) -> Any:
    """The value of `text`; empty text and `null` are `{}`. Raises `BadArgumentsError`.

    Integers stay exact. A lone surrogate, escaped or not, becomes U+FFFD. NaN, infinities,
    duplicate keys in one object and more than 128 levels are refused.

    >>> parse_json_arguments('{"city": "Oslo"}')
    {'city': 'Oslo'}
    """
    if not text or text.isspace():
        return {}
    text = _core.replace_surrogates(text)
    try:
        value = pydantic_core.from_json(text, allow_inf_nan=False)
    except ValueError as error:
        if _SURROGATE_ESCAPE.search(text):
            repaired = _ESCAPE.sub(_well_formed_escape, text)
            if repaired != text:
                return parse_json_arguments(repaired)
        raise BadArgumentsError(f"arguments are not valid JSON: {_reason(text, error)}") from None
    fault = _core.json_fault(text)
    if fault is not None:
        reason, line, column = fault
        raise BadArgumentsError(
            f"arguments are not valid JSON: {reason} at line {line} column {column}"
        )
    return {} if value is None else value


def _well_formed_escape(escape: re.Match[str]) -> str:
    """The escape, or that of U+FFFD for a lone surrogate: the same length, so positions stay."""
    return escape[0] if escape["lone"] is None else r"\ufffd"


def _reason(text: str, error: ValueError) -> str:
    """The parser's reason; literals of other languages that JSON does not have are named."""
    reason = str(error)
    position = _POSITION.search(reason)
    if position is None:
        return reason
    line = text.encode().split(b"\n")[int(position[1]) - 1]  # the parser counts bytes, from 1
    start = int(position[2]) - 1
    if line[:start].endswith(b"-"):
        start -= 1
    word = _FOREIGN_LITERAL.match(line, start)
    return reason if word is None else f"{word[0].decode()} is not a JSON value{position[0]}"


# Arguments that fail, and have one reading.


def repaired(
    entry: Entry, args: Any, failing: FailingPlaces, level: RepairLevel
) -> tuple[Any, tuple[Repair, ...]] | None:
    """Arguments that do not fail, with what was done to get them; `None` if nothing may be."""
    if level == "off":
        return None
    schema = entry.definition.fresh()["parameters"]
    restore = None if entry.sent_arguments is None else entry.sent_arguments.restored
    # It runs validators of the tool's author, and mappings of the host's own classes.
    repair = entry.repair.values
    found = guarded(lambda _: None, repair, args, schema, failing, level, restore)
    return None if found is None else (found[0], tuple(found[1]))


def is_same_json(left: Any, right: Any, levels: int = MAX_DEPTH) -> bool:
    """Whether two values are written alike as JSON; `1`, `1.0` and `True` are not."""
    if type(left) is not type(right) or levels == 0:
        return False
    if type(left) is dict:
        return left.keys() == right.keys() and all(
            is_same_json(value, right[name], levels - 1) for name, value in left.items()
        )
    if type(left) is list:
        return len(left) == len(right) and all(
            is_same_json(one, other, levels - 1) for one, other in zip(left, right, strict=True)
        )
    return bool(left is right or (type(left) in _JSON_SCALARS and left == right))


_JSON_SCALARS = (str, int, float, bool)

MAX_DRY_RUN_CHARS = 8_000
"""The answer is trimmed to this length, marker included, not to the cap of the call."""
_MARKER_CHARS = 40
"""At least the length of the marker of a trim."""
MAX_STRING_CHARS = 500
"""Longer strings in the arguments are shortened and marked."""
MAX_INTEGER_BITS = 2_048
"""Python refuses to convert much longer integers to text."""

_PLAIN_TYPES = (float, complex, bytes, date, datetime, Decimal, UUID)
"""The text of such a value cannot contain other values."""


def dry_run_answer(
    entry: Entry, args: Any, context: ToolContext, redact: Redact | None
) -> ToolResult:
    """What would be called; or the refusal if the function's arguments do not fit.

    `[dry-run] {name} would be called with: {compact JSON}`, secrets redacted.
    """
    if entry.binding is not None:
        bound = guarded(
            _binding_raised, entry.binding.bind, _core.isolated_arguments(args), context
        )
        if isinstance(bound, ToolError):
            return bound
    arguments = redacted_arguments(args, str if redact is None else redact)
    text = _core.replace_surrogates(f"[dry-run] {entry.name} would be called with: {arguments}")
    if len(text) > MAX_DRY_RUN_CHARS:
        text = _core.trim(text, MAX_DRY_RUN_CHARS - _MARKER_CHARS)[0]
    return ToolOk(text)


def _binding_raised(error: BaseException) -> ToolError:
    """Validators are code of the tool's author."""
    message = _core.replace_surrogates(_refusals.exception_text(error)[:MAX_STRING_CHARS])
    return ToolError(message, "execution_failed", "raised")


def redacted_arguments(
    args: Any, redact: Redact = _core.redact, max_string_chars: int = MAX_STRING_CHARS
) -> str:
    """Arguments as compact JSON, without credentials and values under secret-looking keys.

    >>> redacted_arguments({"city": "Oslo", "api_key": "abc"})
    '{"city":"Oslo","api_key":"[redacted]"}'
    """

    def text() -> str:
        shown = BoundedArguments(redact, max_string_chars).value(args, MAX_DEPTH)
        return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))

    # A mapping or sequence may be of a program's own class.
    return guarded(lambda _: f'"[{_refusals.class_name(args)}]"', text)


class BoundedArguments:
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
                shown[self._redact(name)] = "[redacted]"
                self.chars_left -= 1
            else:
                shown[self._redact(name)] = self.value(value[key], depth - 1)
        return shown


def _scalar(value: Any) -> Any:
    """A value that is not a container: as JSON has it, else its class name in brackets."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return float.__float__(value)
    if isinstance(value, int) and int.bit_length(value) <= MAX_INTEGER_BITS:
        return int.__index__(value)
    if isinstance(value, int) or type(value) not in _PLAIN_TYPES:
        return f"[{_refusals.class_name(value)}]"
    return _shortened(str(value), MAX_STRING_CHARS)


def _shortened(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    return f"{text[:max_chars]}...[truncated, {len(text)} chars]"
