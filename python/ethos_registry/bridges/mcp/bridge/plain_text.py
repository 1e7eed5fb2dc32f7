"""Text of a server, without characters that hide what a model reads."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["MAX_DESCRIPTION_CHARS", "cleaned", "cleaned_schema", "one_line"]

MAX_DESCRIPTION_CHARS = 2048
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters but tab and line ends
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # invisible letters
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, line separators, bidirectional
    "\ufe00-\ufe0f\ufeff\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]"  # tags and variation selectors
)
_MAX_DEPTH = 64


def cleaned(text: str, max_chars: int = MAX_DESCRIPTION_CHARS) -> str:
    r"""Without control, zero-width and bidirectional characters, and at most `max_chars` long.

    >>> cleaned("read\u200b a file\u202e")
    'read a file'
    """
    text = _HIDDEN.sub("", text).strip()
    return text if len(text) <= max_chars else f"{text[: max_chars - 3]}..."


def one_line(text: str, max_chars: int = 300) -> str:
    """The same on one line."""
    return cleaned(" ".join(cleaned(text, max_chars * 4).split()), max_chars)


def cleaned_schema(schema: Any, depth: int = 0) -> Any:
    """The schema with each `title` and `description` cleaned, since a model reads them too."""
    if depth > _MAX_DEPTH:
        return schema
    if isinstance(schema, dict):
        return {
            key: cleaned(value)
            if key in ("title", "description", "$comment") and isinstance(value, str)
            else cleaned_schema(value, depth + 1)
            for key, value in schema.items()
        }
    if isinstance(schema, list):
        return [cleaned_schema(item, depth + 1) for item in schema]
    return schema
