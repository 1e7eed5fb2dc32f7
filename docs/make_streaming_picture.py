"""Draw `docs/streaming.svg`: the measured timeline of one streamed reply with three calls.

Run it as `python docs/make_streaming_picture.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from time import perf_counter
from typing import Any

from ethos_registry import Personality, Tool, ToolContext, ToolRegistry, ok

PICTURE = Path(__file__).with_name("streaming.svg")
EVENT_SECONDS = 0.02
TOOLS = (("search", 0.5), ("read_file", 0.3), ("list_files", 0.4))
"""The calls of the reply, and how long their tools take in seconds."""
DELTAS = 8

LEFT, RIGHT, TOP, ROW = 110, 20, 34, 34
WIDTH = 760


@dataclass
class Timeline:
    """Moments in seconds since the first event."""

    events: list[float] = field(default_factory=list)
    written: list[tuple[float, float]] = field(default_factory=list)
    ran: dict[str, tuple[float, float]] = field(default_factory=dict)
    total: float = 0.0


def reply_events() -> list[dict[str, Any]]:
    """One reply of Anthropic's Messages API with three calls."""
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"id": "msg_1"}}]
    for index, (name, _) in enumerate(TOOLS):
        block = {"type": "tool_use", "id": f"t{index}", "name": name, "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        pieces = ['{"query": "', *["word "] * (DELTAS - 2), '"}']
        events += [
            {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "input_json_delta", "partial_json": piece},
            }
            for piece in pieces
        ]
        events.append({"type": "content_block_stop", "index": index})
    events += [
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]
    return events


async def measured() -> Timeline:
    """Dispatch the reply and note when everything happened."""
    timeline = Timeline()
    start = perf_counter()

    def now() -> float:
        return perf_counter() - start

    def tool(name: str, seconds: float) -> Tool:
        async def run(args: Any, context: ToolContext) -> Any:
            began = now()
            await asyncio.sleep(seconds)
            timeline.ran[name] = (began, now())
            return ok("done")

        return Tool(name, "", {"type": "object"}, run)

    async def stream() -> AsyncIterator[dict[str, Any]]:
        for event in reply_events():
            await asyncio.sleep(EVENT_SECONDS)
            yield event

    view = ToolRegistry([tool(*each) for each in TOOLS]).view(Personality("all"))
    opened = 0.0
    async with view.dispatch(provider="anthropic") as turn:
        async for event in stream():
            timeline.events.append(now())
            if event["type"] == "content_block_start":
                opened = now()
            elif event["type"] == "content_block_stop":
                timeline.written.append((opened, now()))
            turn.feed(event)
    timeline.total = now()
    return timeline


def picture(timeline: Timeline) -> str:
    """The timeline as SVG; it loads nothing and follows the reader's colour scheme."""
    scale = (WIDTH - LEFT - RIGHT) / (timeline.total * 1.02)

    def x(seconds: float) -> float:
        return round(LEFT + seconds * scale, 1)

    height = TOP + ROW * (len(TOOLS) + 1) + 44
    rows = [_label("reply", TOP + 17)]
    for number, (begin, end) in enumerate(timeline.written):
        rows.append(_bar(x(begin), x(end), TOP, "written", f"call {number + 1}"))
    rows += [
        f'<line class="event" x1="{x(at)}" x2="{x(at)}" y1="{TOP + 22}" y2="{TOP + 26}"/>'
        for at in timeline.events
    ]
    stream_end = timeline.events[-1]
    rows.append(
        f'<line class="end" x1="{x(stream_end)}" x2="{x(stream_end)}" y1="{TOP - 10}" '
        f'y2="{height - 34}"/>'
        f'<text x="{x(stream_end) + 4}" y="{TOP - 12}">the stream ends</text>'
    )
    for number, (name, _) in enumerate(TOOLS):
        begin, end = timeline.ran[name]
        top = TOP + ROW * (number + 1) + 4
        rows.append(_label(name, top + 17))
        rows.append(_bar(x(begin), x(end), top, "ran", f"{end - begin:.2f} s"))
    rows += _axis(timeline.total, x, height - 30)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-label="Timeline of a streamed reply with three calls">\n'
        "<style>text{font:12px sans-serif;fill:#333}.written{fill:#b3c7e6}.ran{fill:#7fbf7b}"
        ".event,.end,.axis{stroke:#888}.end{stroke-dasharray:4 3}"
        "@media (prefers-color-scheme:dark){text{fill:#ddd}.written{fill:#3d5a80}"
        ".ran{fill:#2e7d32}}</style>\n" + "\n".join(rows) + "\n</svg>\n"
    )


def _label(text: str, y: float) -> str:
    return f'<text x="{LEFT - 8}" y="{y}" text-anchor="end">{escape(text)}</text>'


def _bar(left: float, right: float, top: float, kind: str, text: str) -> str:
    return (
        f'<rect class="{kind}" x="{left}" y="{top}" width="{right - left:.1f}" height="22" rx="3"/>'
        f'<text x="{left + 6}" y="{top + 15}">{escape(text)}</text>'
    )


def _axis(total: float, x: Any, y: float) -> list[str]:
    marks = [number / 5 for number in range(int(total * 5) + 1)]
    return [
        f'<line class="axis" x1="{x(0)}" x2="{x(total)}" y1="{y}" y2="{y}"/>',
        *[
            f'<line class="axis" x1="{x(at)}" x2="{x(at)}" y1="{y}" y2="{y + 4}"/>'
            f'<text x="{x(at)}" y="{y + 18}" text-anchor="middle">{at:g} s</text>'
            for at in marks
        ],
    ]


if __name__ == "__main__":
    PICTURE.write_text(picture(asyncio.run(measured())), encoding="utf-8")
