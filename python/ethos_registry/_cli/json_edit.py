"""Changes to the text of a JSON file that leave all other characters as they are."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ethos_registry._cli.console import CommandError

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Item:
    """A member of an object, or an element of a list, in the text."""

    key: str | int
    start: int
    """Where it begins: a member at its key."""
    value: int
    end: int


def parse_object(text: str, name: str) -> dict[str, Any]:
    """The JSON object in `text`.

    Raises:
        CommandError: It is not strict JSON, has a key twice, or is not an object.

    """
    try:
        document = json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise CommandError(f"{name}: nested too deeply") from None
    except json.JSONDecodeError as error:
        raise CommandError(
            f"{name}: not changed, because line {error.lineno}, column {error.colno} is not JSON "
            f"({error.msg}); files with comments must be changed by hand"
        ) from None
    except ValueError as error:
        raise CommandError(f"{name}: not changed: {error}") from None
    if not isinstance(document, dict):
        raise CommandError(f"{name}: not changed, because it is not a JSON object")
    return document


def append_item(text: str, path: Path, item: object, key: str | None = None) -> str:
    """The text with `item` at the end of the list at `path`, or as `key` of the object there.

    >>> append_item('{"a": [1]}', ("a",), 2)
    '{"a": [1, 2]}'
    """
    start, end = _locate(text, path)
    items = _items(text, start)
    newline = "\r\n" if "\r\n" in text else "\n"
    step = _indentation(text)
    outer = _line_indentation(text, start)
    is_inline = bool(items) and newline not in text[start : items[0].start]
    inner = outer + step if not items else _line_indentation(text, items[0].start)
    written = json.dumps(item, ensure_ascii=False, indent=None if is_inline else step)
    written = written.replace("\n", newline + inner)
    if key is not None:
        written = f"{json.dumps(key, ensure_ascii=False)}: {written}"
    if not items:
        middle = f"{newline}{inner}{written}{newline}{outer}"
        return f"{text[: start + 1]}{middle}{text[end - 1 :]}"
    comma = ", " if is_inline else f",{newline}{inner}"
    return f"{text[: items[-1].end]}{comma}{written}{text[items[-1].end :]}"


def remove_item(text: str, path: Path) -> str:
    """The text without the member or the element at `path`.

    >>> remove_item('{"a": [1, 2]}', ("a", 1))
    '{"a": [1]}'
    """
    start, end = _locate(text, path[:-1])
    items = _items(text, start)
    [number] = [number for number, item in enumerate(items) if item.key == path[-1]]
    if number:
        return text[: items[number - 1].end] + text[items[number].end :]
    if len(items) > 1:
        return text[: items[0].start] + text[items[1].start :]
    return text[: start + 1] + text[end - 1 :]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} appears twice")
    return found


def _skipped(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


def _value_end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]


def _locate(text: str, path: Path) -> tuple[int, int]:
    """Where the value at `path` begins and ends."""
    at = _skipped(text, 0)
    for key in path:
        [at] = [item.value for item in _items(text, at) if item.key == key]
    return at, _value_end(text, at)


def _items(text: str, start: int) -> list[_Item]:
    """The items of the object or the list that begins at `start`."""
    is_object = text[start] == "{"
    items: list[_Item] = []
    at = _skipped(text, start + 1)
    while text[at] not in "}]":
        key: str | int = len(items)
        value = at
        if is_object:
            key, end = _DECODER.raw_decode(text, at)
            value = _skipped(text, _skipped(text, end) + 1)
        end = _value_end(text, value)
        items.append(_Item(key, at, value, end))
        at = _skipped(text, end)
        if text[at] == ",":
            at = _skipped(text, at + 1)
    return items


def _line_indentation(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indentation(text: str) -> str:
    """The indentation of the first member."""
    match = re.search(r"\{[ \t]*\r?\n([ \t]+)\S", text)
    return "  " if match is None else match[1]
