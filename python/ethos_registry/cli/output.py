"""Standard output: text, bytes, JSON, and what rich draws."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console, RenderableType

from ethos_registry.cli.errors import CommandError, OutputClosedError

__all__ = [
    "is_terminal",
    "json_text",
    "write_bytes",
    "write_file",
    "write_json",
    "write_rendered",
    "write_text",
]

MIN_WIDTH = 40
MAX_DEPTH = 200


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def write_text(text: str) -> None:
    """Write and flush; `OutputClosedError` if the reader has gone."""
    if sys.stdout is None:
        raise CommandError("there is no standard output to write to")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise OutputClosedError from None


def write_bytes(content: bytes) -> None:
    """Write bytes as they are and flush; `OutputClosedError` if the reader has gone."""
    if sys.stdout is None:
        raise CommandError("there is no standard output to write to")
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise OutputClosedError from None


def write_file(path: str, text: str) -> None:
    """Write a file that an option names; `CommandError` if it cannot be written."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CommandError(f"{path}: cannot be written: {reason}") from None


def write_json(document: object) -> None:
    """Indented JSON and a line end."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    write_text(json_text(document, only_ascii=not encoding.startswith("utf")))


def json_text(document: object, *, only_ascii: bool = True) -> str:
    """Valid JSON of any value: what JSON lacks becomes a string, NaN and infinities become null."""
    plain = _plain(document, MAX_DEPTH)
    return json.dumps(plain, ensure_ascii=only_ascii, indent=2, allow_nan=False) + "\n"


def write_rendered(renderable: RenderableType) -> None:
    """Draw for the terminal, or in plain text if standard output is not one."""
    console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False)
    console.width = max(console.width, MIN_WIDTH)
    with console.capture() as captured:
        console.print(renderable)
    write_text("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def _plain(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth == 0:
        return "..."
    if isinstance(value, Mapping):
        return {str(key): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth - 1) for item in value]
    return str(value)
