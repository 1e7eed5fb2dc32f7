"""Credentials out of results: the first thing that happens to what a tool returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ethos_registry.contract.result import ToolResult
from ethos_registry.reduction.parts import rebuilt, with_text

__all__ = ["Redact", "redacted_parts", "redacted_text"]

Redact: TypeAlias = Callable[[str], str]
"""Returns text without its credentials; the same object if there are none."""

_MAX_DEPTH = 128


def redacted_text(result: ToolResult, redact: Redact) -> ToolResult:
    """The result with credentials replaced in its text."""
    text = redact(result.text)
    return result if text is result.text else with_text(result, text)


def redacted_parts(result: ToolResult, redact: Redact) -> ToolResult:
    """The result with credentials replaced in `structured` and the extra fields.

    They are plain JSON of bounded size here. Keys are redacted too.
    """
    structured, extra = result.structured, result.extra
    clean_structured = None if structured is None else _redacted(structured, redact, _MAX_DEPTH)
    clean_extra = _redacted(extra, redact, _MAX_DEPTH) if extra else extra
    if clean_structured is structured and clean_extra is extra:
        return result
    return rebuilt(result, result.text, clean_structured, result.cost_usd, clean_extra)


def _redacted(value: Any, redact: Redact, depth: int) -> Any:
    """The value, or a copy of the containers around what changed."""
    if isinstance(value, str):
        return redact(value)
    if depth == 0:
        return value
    if isinstance(value, Mapping):
        items = {
            redact(key) if isinstance(key, str) else key: _redacted(item, redact, depth - 1)
            for key, item in value.items()
        }
        is_same = len(items) == len(value) and all(
            new_key is key and items[new_key] is item
            for (key, item), new_key in zip(value.items(), items, strict=True)
        )
        return value if is_same else items
    if isinstance(value, list | tuple):
        changed = [_redacted(item, redact, depth - 1) for item in value]
        is_same = all(new is old for new, old in zip(changed, value, strict=True))
        return value if is_same else changed
    return value
