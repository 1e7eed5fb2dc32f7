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

_SECRET_KEY = re.compile(
    r"pass(word|wd|phrase)?$|secret|token|api[_-]?key|credential|authorization|cookie|private[_-]?key"
    r"|access[_-]?key|^auth$|bearer|^pwd$",
    re.IGNORECASE,
)


def dry_run_result(name: str, args: Any) -> ToolOk:
    """`[dry-run] {name} would be called with: {compact JSON}`, without the secrets."""
    arguments = json.dumps(
        _shown(args, MAX_DEPTH), ensure_ascii=False, separators=(",", ":"), default=repr
    )
    text = _core.replace_surrogates(f"[dry-run] {name} would be called with: {arguments}")
    return ToolOk(_core.trim(text, MAX_DRY_RUN_CHARS)[0])


def _shown(value: Any, depth: int) -> Any:
    """The value with long strings shortened and values under secret-looking keys redacted."""
    if isinstance(value, str):
        if len(value) <= MAX_STRING_CHARS:
            return value
        return f"{value[:MAX_STRING_CHARS]}...[truncated, {len(value)} chars]"
    if depth == 0:
        return "..."
    if isinstance(value, dict):
        return {
            str(key): "[redacted]" if _SECRET_KEY.search(str(key)) else _shown(item, depth - 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_shown(item, depth - 1) for item in value]
    return value
