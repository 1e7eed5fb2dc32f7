"""Plain-Python twin of the kanban reducer: `json.loads`, a count and a sort."""

from __future__ import annotations

import json
import re
from typing import Any

import oracle

MAX_DEPTH = 128
CLOSED = {"done", "archived", "cancelled", "closed"}
WORDS = {
    **dict.fromkeys(["critical", "blocker", "urgent", "highest", "p0"], 5.0),
    **dict.fromkeys(["high", "major", "p1"], 4.0),
    **dict.fromkeys(["medium", "normal", "moderate", "p2"], 3.0),
    **dict.fromkeys(["low", "minor", "p3"], 2.0),
    **dict.fromkeys(["lowest", "trivial", "p4"], 1.0),
    "p5": 0.0,
}
FIELDS = {"id", "title", "status", "priority", "updatedAt", "updated_at"}
SHORT_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
ESCAPED = r"\x00-\x1f\\\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"


class Number(str):
    """A number as the text writes it."""

    __slots__ = ()


def kanban_list(text: str, ok: bool = True) -> str:
    """Counts by status and the five open tickets that come first, of a list of more than ten."""
    text = oracle.replace_surrogates(text)
    try:
        entries = json.loads(text, parse_int=Number, parse_float=Number, parse_constant=refuse)
    except (ValueError, RecursionError):
        return text
    if not ok or not isinstance(entries, list) or len(entries) <= 10 or depth(entries) > MAX_DEPTH:
        return text
    tickets = [entry if isinstance(entry, dict) else {} for entry in entries]
    if not any(FIELDS & ticket.keys() for ticket in tickets):
        return text
    counts: dict[str, int] = {}
    for ticket in tickets:
        status = shown(ticket.get("status"), "unknown")
        counts[status] = counts.get(status, 0) + 1
    open_tickets = [
        entry
        for entry in entries
        if isinstance(entry, dict) and lower(shown(entry.get("status"), "unknown")) not in CLOSED
    ]
    top = sorted(open_tickets, key=rank, reverse=True)[:5]
    by_status = ", ".join(f"{escaped(name, ';,=:')}={count}" for name, count in counts.items())
    named = "; ".join(
        f"{escaped(shown(ticket.get('id'), '?'), ';')}: {escaped(title(ticket), ';')}"
        for ticket in top
    )
    line = f"Counts by status: {by_status}. Top {len(top)} open: {named}"
    return line if len(line) < len(text) else text


def refuse(constant: str) -> None:
    raise ValueError(constant)


def depth(value: Any) -> int:
    deepest, waiting = 0, [(value, 0)]
    while waiting:
        value, level = waiting.pop()
        deepest = max(deepest, level)
        if isinstance(value, dict | list):
            items = value.values() if isinstance(value, dict) else value
            deepest = max(deepest, level + 1)
            waiting += [(item, level + 1) for item in items]
    return deepest


def shown(value: Any, otherwise: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return oracle.replace_surrogates(value) if isinstance(value, str) else otherwise


def title(ticket: dict[str, Any]) -> str:
    value = ticket.get("title")
    return shown(value, "(no title)" if value is None else "(not text)")


def lower(text: str) -> str:
    """Without the case of ASCII letters."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def rank(ticket: dict[str, Any]) -> tuple[bool, float, int, float, str]:
    """The greater, the earlier: priority, then when it changed; `reverse=True` sorts stably too."""
    priority = ticket.get("priority")
    if isinstance(priority, Number):
        urgency = float(priority)
    elif isinstance(priority, str):
        urgency = WORDS.get(lower(priority), float("-inf"))
    else:
        urgency = float("-inf")
    has_priority = isinstance(priority, Number) or urgency > float("-inf")
    for spelling in ("updatedAt", "updated_at"):
        updated = ticket.get(spelling)
        if isinstance(updated, Number):
            return has_priority, urgency, 2, float(updated), ""
        if isinstance(updated, str):
            return has_priority, urgency, 1, 0.0, oracle.replace_surrogates(updated)
    return has_priority, urgency, 0, 0.0, ""


def escaped(text: str, separators: str) -> str:
    def escape(found: re.Match[str]) -> str:
        return SHORT_ESCAPES.get(found[0], f"\\u{ord(found[0]):04x}")

    return re.sub(f"[{ESCAPED}{separators}]", escape, text)
