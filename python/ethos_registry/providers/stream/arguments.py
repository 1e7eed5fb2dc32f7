"""The arguments of one call while they arrive."""

from __future__ import annotations

import json
from typing import Any

import pydantic_core

from ethos_registry import _core

__all__ = ["StreamedArguments"]

_INVALID_JSON = "INVALID_JSON"
_PARTIAL_EVERY_CHARS = 4_096
"""Up to this length every piece gives a partial value; beyond, see `partial`."""
_PARTIAL_GROWTH = 16


def _is_high_surrogate(character: str) -> bool:
    return "\ud800" <= character <= "\udbff"


class StreamedArguments:
    """JSON text in pieces: collected, scanned once, and parsed once at the end.

    Pieces wait in a list until somebody asks, and cross into the native scanner together.

    >>> arguments = StreamedArguments()
    >>> arguments.add('{"path": "a.t'), arguments.is_object, arguments.partial()
    (None, False, {'path': 'a.t'})
    >>> arguments.add('xt"}'), arguments.is_object, arguments.for_call()
    (None, True, {'path': 'a.txt'})
    """

    __slots__ = ("_json", "_shown_chars", "_value", "_waiting", "add")

    def __init__(self) -> None:
        self.reset()

    def reset(self, text: str = "") -> None:
        """Start again with this text."""
        self._json = _core.JsonStream()
        self._waiting: list[str] = [text] if text else []
        self._shown_chars = 0
        self._value: dict[str, Any] | None = None
        self.add = self._waiting.append
        """Append a piece; it must be a string."""

    def set_value(self, value: dict[str, Any]) -> None:
        """Take an object that came whole."""
        self.reset()
        self._value = value

    @property
    def came_whole(self) -> bool:
        """Whether the arguments came as one object."""
        return self._value is not None

    def _scanned(self, *, is_end: bool = True) -> _core.JsonStream:
        waiting = self._waiting
        if waiting:
            text = "".join(waiting)
            waiting.clear()
            if not text.isascii():
                # A provider that cuts by UTF-16 units may split a pair between two events.
                if not is_end and _is_high_surrogate(text[-1]):
                    waiting.append(text[-1])
                    text = text[:-1]
                text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            self._json.push(text)
        return self._json

    @property
    def is_blank(self) -> bool:
        """Whether nothing but white space has come."""
        return self._value is None and self._scanned(is_end=False).is_blank()

    @property
    def is_object(self) -> bool:
        """Whether the text is one whole JSON object, without duplicate keys."""
        return self._value is not None or self._scanned(is_end=False).is_object()

    @property
    def is_empty_object(self) -> bool:
        """Whether the text is `{}`."""
        return (
            self._value == {}
            if self._value is not None
            else self.is_object and self._json.text().strip() == "{}"
        )

    @property
    def text(self) -> str:
        """The whole text so far."""
        if self._value is not None:
            return json.dumps(self._value, ensure_ascii=False)
        return self._scanned().text()

    def for_call(self) -> Any:
        """What the call gets: the object, `{}` for blank text, or text that is not valid JSON."""
        if self._value is not None:
            return self._value
        scanned = self._scanned()
        if scanned.is_blank():
            return {}
        text = scanned.text()
        if scanned.is_invalid():
            return text
        try:
            return pydantic_core.from_json(text, allow_inf_nan=False)
        except ValueError:
            return text

    def for_reply(self) -> dict[str, Any]:
        """The object as it may be sent back; anything else under the key `INVALID_JSON`."""
        value = self.for_call()
        return value if isinstance(value, dict) else {_INVALID_JSON: self.text}

    def text_for_reply(self) -> str:
        """The same as JSON text; valid text is unchanged."""
        if self._value is not None:
            return self.text
        scanned = self._scanned()
        if scanned.is_object():
            return scanned.text()
        return "{}" if scanned.is_blank() else json.dumps(self.for_reply(), ensure_ascii=False)

    def partial(self, *, is_end: bool = False) -> Any:
        """The longest valid partial value, or `None` when there is nothing new to show.

        Strings show what they have so far; a key without a value and an unfinished number or
        literal are left out. Beyond 4,096 characters a value is given each time that the text has
        grown by a sixteenth, so that all values together cost linear time.
        """
        if self._value is not None:
            return self._value if is_end else None
        scanned = self._scanned(is_end=is_end)
        chars = scanned.length()
        if chars == self._shown_chars and chars:
            return None
        step = chars // _PARTIAL_GROWTH if chars > _PARTIAL_EVERY_CHARS else 1
        if not is_end and chars - self._shown_chars < step:
            return None
        text = scanned.partial()
        if text is None:
            return {} if is_end and scanned.is_blank() else None
        self._shown_chars = chars
        return pydantic_core.from_json(text)
