"""Arguments that Gemini streams as values of paths."""

from __future__ import annotations

import re
from typing import Any

from ethos_registry.contract.read_only import MAX_DEPTH
from ethos_registry.providers.stream.fields import field

__all__ = ["PathArguments"]

_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]]+)|\[(?P<index>[0-9]{1,9})\]|\[(?P<quote>['"])(?P<quoted>.*?)(?P=quote)\]"""
)
_VALUES = (
    ("stringValue", "string_value"),
    ("numberValue", "number_value"),
    ("boolValue", "bool_value"),
    ("nullValue", "null_value"),
)
_MAX_EXACT_FLOAT = 2**53


class _Text:
    """A string in pieces."""

    __slots__ = ("pieces",)

    def __init__(self, text: str) -> None:
        self.pieces = [text]


class PathArguments:
    """One object put together from `{jsonPath, stringValue | numberValue | ..., willContinue}`.

    >>> arguments = PathArguments()
    >>> for text, goes_on in (("Bos", True), ("ton", False)):
    ...     part = {"jsonPath": "$.places[0].city", "stringValue": text, "willContinue": goes_on}
    ...     arguments.add(part)
    >>> arguments.value(), arguments.is_whole, arguments.problem
    ({'places': [{'city': 'Boston'}]}, True, None)
    """

    __slots__ = ("_open_path", "_open_text", "_root", "problem")

    def __init__(self) -> None:
        self._root: dict[str, Any] = {}
        self._open_path: str | None = None
        self._open_text: _Text | None = None
        self.problem: str | None = None
        """What is wrong with a path, if anything."""

    @property
    def is_whole(self) -> bool:
        """Whether no string waits for its rest, and every path could be read."""
        return self._open_path is None and self.problem is None

    def add(self, part: Any) -> None:
        """Put one value in its place, or append to a string that goes on."""
        path = _either(part, "jsonPath", "json_path")
        if not isinstance(path, str):
            self.problem = "a part of the arguments has no path"
            return
        goes_on = bool(_either(part, "willContinue", "will_continue"))
        value = _value_of(part)
        if self._open_text is not None and path == self._open_path and isinstance(value, str):
            self._open_text.pieces.append(value)
        else:
            text = _Text(value) if isinstance(value, str) else None
            self._put(path, value if text is None else text)
            self._open_text = text
        self._open_path = path if goes_on else None
        if not goes_on:
            self._open_text = None

    def _put(self, path: str, value: Any) -> None:
        steps = _steps(path)
        if steps is None:
            self.problem = f"the path {path[:80]!r} cannot be read"
            return
        place: Any = self._root
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            last = following is None
            fresh: Any = value if last else ([] if isinstance(following, int) else {})
            if isinstance(step, int) and isinstance(place, list) and step <= len(place):
                if step == len(place):
                    place.append(fresh)
                elif last:
                    place[step] = fresh
            elif isinstance(step, str) and isinstance(place, dict):
                if last or step not in place:
                    place[step] = fresh
            else:
                self.problem = f"the path {path[:80]!r} does not fit the others"
                return
            place = place[step]

    def value(self) -> dict[str, Any]:
        """The object so far."""
        whole = _joined(self._root)
        return whole if isinstance(whole, dict) else {}


def _either(value: Any, camel: str, snake: str) -> Any:
    found = field(value, camel)
    return field(value, snake) if found is None else found


def _value_of(part: Any) -> Any:
    for camel, snake in _VALUES[:3]:
        value = _either(part, camel, snake)
        if value is not None:
            is_whole = type(value) is float and value.is_integer()
            return int(value) if is_whole and abs(value) < _MAX_EXACT_FLOAT else value
    return None


def _steps(path: str) -> list[str | int] | None:
    """The keys and indexes of a path such as `$.a.b[0]`."""
    steps: list[str | int] = []
    at = 1 if path.startswith("$") else 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or len(steps) == MAX_DEPTH:
            return None
        index = match["index"]
        name = match["name"] if match["name"] is not None else match["quoted"]
        steps.append(name if index is None else int(index))
        at = match.end()
    return steps if steps and isinstance(steps[0], str) else None


def _joined(value: Any) -> Any:
    if isinstance(value, _Text):
        return "".join(value.pieces)
    if isinstance(value, dict):
        return {key: _joined(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_joined(item) for item in value]
    return value
