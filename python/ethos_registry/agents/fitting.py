"""Rows of results as JSON that fits into a budget."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ethos_registry import _core
from ethos_registry.execution.budget import fill_shares

__all__ = ["fitted"]

_MARKER_CHARS = 60
"""Room for the marker of a cut text."""


def fitted(
    rows: Sequence[Mapping[str, Any]],
    budget_chars: float,
    truncated_from: Sequence[int | None] | None = None,
) -> str:
    """The rows as compact JSON of at most `budget_chars`, with strings cut where necessary.

    Each row has its text under `value` or `error`. The budget that remains beside names and
    brackets is shared max-min fairly; a cut text ends in the usual marker. A budget that is too
    small for the names alone is exceeded: the JSON is whole all the same. `truncated_from` are the
    lengths of values that were cut before: what follows their marker stays, and so does the length.

    >>> rows = [{"agent": "a", "ok": True, "value": "x" * 1_000}]
    >>> text = fitted(rows, 200)
    >>> len(text) <= 200, json.loads(text)[0]["agent"]
    (True, 'a')
    """
    whole = _json(rows)
    if len(whole) <= budget_chars:
        return whole
    texts = [str(row.get("value", row.get("error", ""))) for row in rows]
    lengths = [_length(text) for text in texts]
    left = max(budget_chars - (len(whole) - sum(lengths)), 0)
    shares = fill_shares(left, lengths)
    return _json(
        [
            _with_text(row, _cut(text, share, total))
            for row, text, share, total in zip(
                rows, texts, shares, truncated_from or [None] * len(rows), strict=True
            )
        ]
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _length(text: str) -> int:
    """Characters of a string inside JSON quotes."""
    return len(json.dumps(text, ensure_ascii=False)) - 2


def _with_text(row: Mapping[str, Any], text: str) -> dict[str, Any]:
    return {**row, "value" if "value" in row else "error": text}


def _cut(text: str, chars: int, total: int | None) -> str:
    """The longest beginning that takes at most this number of characters in JSON, with a marker."""
    if _length(text) <= chars:
        return text
    body, tail = _without_tail(text, total)
    room = _length(tail) if tail else _MARKER_CHARS
    least, most = 0, max(chars - room, 0)
    while least < most:
        middle = (least + most + 1) // 2
        if _length(body[:middle]) <= chars - room:
            least = middle
        else:
            most = middle - 1
    cut = _core.trim(body, least)[0]
    return _without_tail(cut, len(body))[0] + tail if tail else cut


def _without_tail(text: str, total: int | None) -> tuple[str, str]:
    """The text before the marker of a cut, and the rest."""
    place = -1 if total is None else text.rfind(f"\n[truncated — {total} chars total]")
    return (text, "") if place < 0 else (text[:place], text[place:])
