"""Tables for notebooks: every cell is text, never markup."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from itertools import islice

from ethos_registry import _core

__all__ = ["MAX_CELL_CHARS", "MAX_ROWS", "html_table"]

MAX_ROWS = 100
MAX_CELL_CHARS = 200


def html_table(
    caption: str, headers: Sequence[str], rows: Iterable[Sequence[object]], count: int
) -> str:
    """A table of at most `MAX_ROWS` of `count` rows; longer cells are cut.

    >>> html_table("1 tool", ["name"], [["<b>"]], 1)
    '<table><caption>1 tool</caption><tr><th>name</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    lines = [_row("th", headers), *(_row("td", row) for row in islice(rows, MAX_ROWS))]
    if count > MAX_ROWS:
        lines.append(_row("td", [f"... {count - MAX_ROWS} more"]))
    return f"<table><caption>{_cell(caption)}</caption>{''.join(lines)}</table>"


def _row(tag: str, cells: Sequence[object]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_cell(cell)}</{tag}>' for cell in cells)}</tr>"


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    if len(text) > MAX_CELL_CHARS:
        text = f"{text[:MAX_CELL_CHARS]}..."
    return html.escape(_core.replace_surrogates(text))
