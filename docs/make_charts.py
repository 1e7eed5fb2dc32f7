"""Draw the charts and the short tables of the measured pages from their full tables.

`docs/make_figures.py` writes the full tables first, and then calls this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

DOCS = Path(__file__).parent
CHARTS = DOCS / "charts"
SHORT = "<!-- short: begin -->", "<!-- short: end -->"

PERFORMANCE_ROWS = {
    "batch of 64": "a batch of 64 calls",
    "batch of 64, gated": "the same behind a policy",
    "@tool, one call": "binding and calling one tool",
    "arguments": "validating arguments",
    "definitions, filtered": "definitions of 1,000 tools, filtered",
    "definitions, again": "definitions of a view, again",
    "8 x 1 MiB of emoji, cut": "cutting 8 MiB at visible characters",
    "unknown output, 16 MiB": "16 MiB of an unknown program",
    "tests, 16 MiB": "16 MiB of a test run",
    "capabilities": "resolving capabilities",
}
"""Row of the full table, and its label."""

SCALE_ROWS = {
    "get": True,
    "its definitions, again": True,
    "view of 20 tools": True,
    "a call": True,
    "a search": True,
    "definitions of all, first": False,
    "the first search": False,
    "register all": False,
}
"""Row of the table of sizes, and whether it is part of a turn."""
DECADES = {0: "1 µs", 1: "10 µs", 2: "100 µs", 3: "1 ms", 4: "10 ms", 5: "100 ms", 6: "1 s"}

RETENTION_PART = "Outputs of real projects"
RETENTION_ROWS = (
    "cargo",
    "eslint",
    "git",
    "go",
    "jest",
    "lint",
    "logs",
    "pytest",
    "search",
    "tsc",
)
CURVE_PART = "real projects"
CURVE_WAYS = {"policy": "with a policy", "cut": "a plain cut"}
METHODS = ("ethos-registry", "first 20,000 characters", "first and last 10,000", "basic rules")


@dataclass(frozen=True)
class Palette:
    """Colours of one scheme; the background is transparent."""

    text: str
    line: str
    bar: str
    other: str


PALETTES = {
    "light": Palette("#33373d", "#c9ccd1", "#3f51b5", "#a9b2bd"),
    "dark": Palette("#d5d8dd", "#4a4f57", "#8c9eff", "#5d6670"),
}


def table_rows(page: str, heading: str | None = None) -> list[list[str]]:
    """The cells of the tables of a page, after a heading if one is given."""
    text = (DOCS / page).read_text(encoding="utf-8")
    if heading is not None:
        text = text.partition(f"### {heading}\n")[2].partition("\n### ")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def performance() -> list[tuple[str, str, float]]:
    """Label, baseline and ratio of each short row."""
    found = {row[0]: row for row in table_rows("performance.md") if len(row) == 3}
    rows = []
    for name, label in PERFORMANCE_ROWS.items():
        if name not in found:
            raise SystemExit(f"performance.md has no row {name!r}; change PERFORMANCE_ROWS")
        rows.append((label, found[name][1], float(found[name][2])))
    return rows


def retention() -> list[tuple[str, list[str]]]:
    """Name and cells of each short row, then of all outputs."""
    found = {row[0]: row for row in table_rows("retention.md", RETENTION_PART) if len(row) == 13}
    rows = []
    for name in (*RETENTION_ROWS, "**all**"):
        if name not in found:
            raise SystemExit(f"retention.md has no row {name!r}; change RETENTION_ROWS")
        rows.append((name, found[name]))
    return rows


def performance_table() -> str:
    """The short table of `performance.md`."""
    lines = ["| What | Baseline | Ratio |", "|---|---|--:|"]
    lines += [f"| {label} | {baseline} | {ratio:g} |" for label, baseline, ratio in performance()]
    return "\n".join(lines)


def retention_table() -> str:
    """The short table of `retention.md`."""
    lines = [
        "| Kind | Outputs | Characters | Saved | Facts | Kept | Kept by first and last 10,000 |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, cells in retention():
        cut = cells[11].partition(" / ")[2]
        lines.append(
            f"| {name} | {cells[1]} | {cells[2]} | {cells[4]} % | {cells[5]} | {cells[6]} % "
            f"| {cut} % |"
        )
    return "\n".join(lines)


def opened(title: str, width: int, height: int, palette: Palette) -> list[str]:
    """The beginning of an SVG: its size, font and title."""
    font = 'font-family="system-ui, sans-serif" font-size="13"'
    size = f"0 0 {width} {height}"
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" {font} fill="{palette.text}">',
        f"<title>{escape(title)}</title>",
        f'<text x="0" y="18" font-weight="600">{escape(title)}</text>',
    ]


def bars(
    title: str,
    rows: Sequence[tuple[str, float, str, bool]],
    scale: Callable[[float], float],
    ticks: Iterable[tuple[float, str]],
    palette: Palette,
) -> str:
    """An SVG of horizontal bars: label, value, text beside the bar, and whether it is ours."""
    left, width, height, top = 290, 760, 26, 40
    plot = width - left - 90
    origin = left + plot * scale(1.0) if title.startswith("Time") else left
    bottom = top + height * len(rows)
    parts = opened(title, width, bottom + 34, palette)
    for value, label in ticks:
        x = left + plot * scale(value)
        parts.append(
            f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="{palette.line}"/>'
            f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{escape(label)}</text>'
        )
    for index, (label, value, text, ours) in enumerate(rows):
        y = top + height * index
        end = left + plot * scale(value)
        start, stop = min(origin, end), max(origin, end)
        parts.append(
            f'<text x="{left - 10}" y="{y + 17}" text-anchor="end">{escape(label)}</text>'
            f'<rect x="{start:.1f}" y="{y + 5}" width="{max(stop - start, 1.5):.1f}" height="16" '
            f'rx="2" fill="{palette.bar if ours else palette.other}"/>'
            f'<text x="{stop + 6:.1f}" y="{y + 17}">{escape(text)}</text>'
        )
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def performance_chart(palette: Palette) -> str:
    """Ratios to the baseline on a logarithmic scale; left of 1 is faster."""
    low, high = math.log10(0.05), math.log10(60.0)

    def scale(value: float) -> float:
        return (math.log10(max(value, 0.05)) - low) / (high - low)

    rows = [(label, ratio, f"{ratio:g}", ratio <= 1) for label, _baseline, ratio in performance()]
    ticks = [(0.1, "0.1"), (1.0, "as the baseline"), (10.0, "10"), (30.0, "30")]
    return bars("Time relative to the plain alternative", rows, scale, ticks, palette)


def retention_chart(palette: Palette) -> str:
    """Facts kept and characters saved, by method, over all outputs of real projects."""
    cells = retention()[-1][1]
    pairs = [(float(cells[4]), float(cells[6]))]
    pairs += [(float(a), float(b)) for a, b in (cell.split(" / ") for cell in cells[10:13])]
    rows = [
        (method, share, f"{share:g} %, saves {saved:g} %", index == 0)
        for index, (method, (saved, share)) in enumerate(zip(METHODS, pairs, strict=True))
    ]

    def scale(value: float) -> float:
        return value / 100 * 0.82

    ticks = [(value, f"{value:g} %") for value in (0.0, 25.0, 50.0, 75.0, 100.0)]
    return bars("Facts kept in outputs of real projects", rows, scale, ticks, palette)


def polyline(places: Sequence[tuple[float, float]], colour: str, label_y: float, label: str) -> str:
    """A line through places, with a label behind its end."""
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return (
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="3"/>'
        f'<text x="{places[-1][0] + 10:.0f}" y="{label_y:.1f}">{escape(label)}</text>'
    )


def lines(
    title: str,
    heads: Sequence[str],
    rows: Sequence[tuple[str, Sequence[float]]],
    palette: Palette,
) -> str:
    """An SVG of lines from 0 to 100 %, the first one ours: label and a value for each head."""
    left, right, top, bottom, width = 60, 600, 40, 260, 760
    step = (right - left) / (len(heads) - 1)
    parts = opened(title, width, bottom + 34, palette)

    def height(percent: float) -> float:
        return bottom - (bottom - top) * percent / 100

    for percent in (0, 25, 50, 75, 100):
        y = height(percent)
        parts.append(
            f'<line x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="{palette.line}"/>'
            f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>'
        )
    for index, head in enumerate(heads):
        x = left + step * index
        parts.append(
            f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{escape(head)}</text>'
        )
    for number, (label, values) in enumerate(rows):
        colour = palette.other if number else palette.bar
        places = [(left + step * index, height(value)) for index, value in enumerate(values)]
        parts.append(polyline(places, colour, places[-2][1] + 4, label))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def curve_chart(palette: Palette) -> str:
    """Facts kept at each length, over all outputs of real projects."""
    rows = table_rows("retention.md")
    heads = next(row for row in rows if row[0] == "outputs" and row[1] == "")[2:]
    found = {row[1]: row[2:] for row in rows if row[0] == CURVE_PART}
    values = [
        (label, [float(cell.removesuffix(" %")) for cell in found[way]])
        for way, label in CURVE_WAYS.items()
    ]
    return lines("Facts kept at each length in characters", heads, values, palette)


def scale_chart(palette: Palette) -> str:
    """Time by the number of tools, both on logarithmic scales: what is flat does not grow."""
    table = {row[0]: row[1:] for row in table_rows("performance.md") if len(row) == 5}
    [heads] = [cells for name, cells in table.items() if name == "µs, by the number of tools"]
    left, right, top, bottom = 60, 560, 40, 380
    step = (right - left) / math.log10(_number(heads[-1]))

    def place(size: str, microseconds: str) -> tuple[float, float]:
        decades = math.log10(_number(microseconds)) + 0.6
        y = bottom - (bottom - top) * decades / 7
        return left + step * math.log10(_number(size)), y

    parts = opened("Time by the number of tools", 760, bottom + 34, palette)
    for decade, label in DECADES.items():
        y = place("1", f"{10**decade}")[1]
        parts.append(
            f'<line x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="{palette.line}"/>'
            f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
        )
    parts += [
        f'<text x="{place(size, "1")[0]:.1f}" y="{bottom + 20}" text-anchor="middle">{size}</text>'
        for size in heads
    ]
    label_y = float(bottom)
    for name in sorted(SCALE_ROWS, key=lambda name: _number(table[name][-1])):
        places = [place(*cell) for cell in zip(heads, table[name], strict=True)]
        label_y = min(places[-1][1] + 4, label_y - 15)
        colour = palette.bar if SCALE_ROWS[name] else palette.other
        parts.append(polyline(places, colour, label_y, name))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _number(cell: str) -> float:
    return float(cell.replace(",", ""))


def generated() -> dict[Path, str]:
    """Every generated file with its content."""
    files = {}
    for scheme, palette in PALETTES.items():
        files[CHARTS / f"performance-{scheme}.svg"] = performance_chart(palette)
        files[CHARTS / f"curve-{scheme}.svg"] = curve_chart(palette)
        files[CHARTS / f"scale-{scheme}.svg"] = scale_chart(palette)
        files[CHARTS / f"retention-{scheme}.svg"] = retention_chart(palette)
    for page, table in (
        ("performance.md", performance_table()),
        ("retention.md", retention_table()),
    ):
        text = (DOCS / page).read_text(encoding="utf-8")
        before, _, rest = text.partition(SHORT[0])
        _, _, after = rest.partition(SHORT[1])
        files[DOCS / page] = f"{before}{SHORT[0]}\n{table}\n{SHORT[1]}{after}"
    return files


def main() -> None:
    """Write every generated file."""
    CHARTS.mkdir(exist_ok=True)
    for path, content in generated().items():
        path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
