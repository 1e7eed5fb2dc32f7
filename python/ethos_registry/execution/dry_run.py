"""What a dry run answers instead of running a tool (contract 3.12)."""

from __future__ import annotations

import json
import re
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.read_only import MAX_DEPTH
from ethos_registry.contract.result import ToolOk

__all__ = ["MAX_DRY_RUN_CHARS", "MAX_STRING_CHARS", "dry_run_result"]

MAX_DRY_RUN_CHARS = 8_000
"""The answer is not trimmed to the cap of the call, but to this."""
MAX_STRING_CHARS = 500
"""Longer strings in the arguments are shortened, and say so."""
MAX_INTEGER_BITS = 2_048
"""Python refuses to write integers that are much longer, as JSON too."""

_SECRET_KEY = re.compile(
    r"pass(word|wd|phrase)?$|secret|token|api[_-]?key|credential|authorization|cookie|private[_-]?key"
    r"|access[_-]?key|^auth$|bearer|^pwd$",
    re.IGNORECASE,
)


def dry_run_result(name: str, args: Any) -> ToolOk:
    """`[dry-run] {name} would be called with: {compact JSON}`, without the secrets."""
    arguments = json.dumps(_shown(args, MAX_DEPTH), ensure_ascii=False, separators=(",", ":"))
    text = _core.replace_surrogates(f"[dry-run] {name} would be called with: {arguments}")
    return ToolOk(_core.trim(text, MAX_DRY_RUN_CHARS)[0])


def _shown(value: Any, depth: int) -> Any:
    """The value with long strings shortened and values under secret-looking keys redacted."""
    if isinstance(value, str):
        return _shortened(value)
    if depth == 0:
        return "..."
    if isinstance(value, dict):
        return {
            str(key): "[redacted]" if _SECRET_KEY.search(str(key)) else _shown(item, depth - 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_shown(item, depth - 1) for item in value]
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int) and value.bit_length() <= MAX_INTEGER_BITS:
        return value
    try:
        return _shortened(repr(value))
    except Exception:
        return f"[{type(value).__name__}]"


def _shortened(text: str) -> str:
    if len(text) <= MAX_STRING_CHARS:
        return text
    return f"{text[:MAX_STRING_CHARS]}...[truncated, {len(text)} chars]"
