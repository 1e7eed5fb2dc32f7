"""A registry for conversations with real clients: every kind of answer that a tool can give."""

from __future__ import annotations

from typing import Any, Literal

from ethos_registry import Personality, ToolRegistry, ToolResult, err, ok
from ethos_registry.types import Audio, Document, Image, Link

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
PDF = b"%PDF-1.7\n" + bytes(range(64))
WAV = b"RIFF\0\0\0\0WAVE" + bytes(range(32))

ASSISTANT = Personality("assistant", plugins=["maps"], mcp_servers=["git"], exclude=["forbidden"])


def registry() -> ToolRegistry:
    tools = ToolRegistry()

    @tools.tool
    def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
        """The weather in a city, such as Zürich or 東京."""
        return f"{city}: 21 °{unit}"

    @tools.tool(strict=True)
    async def forecast(city: str, days: int = 1) -> str:
        """The weather of the next days."""
        return f"{city}: {days} days of sun"

    @tools.tool
    def chart(kind: str = "bar") -> ToolResult:
        """Draw a chart."""
        return ok(f"a {kind} chart", content=[Image(PNG), Link("https://example.com/chart")])

    @tools.tool
    def report() -> ToolResult:
        """The report, and a recording."""
        return ok("the report", content=[Document(PDF, name="report.pdf"), Audio(WAV)])

    @tools.tool
    def broken(path: str) -> ToolResult:
        """Read what cannot be read."""
        return err(f"no such file: {path}", "execution_failed")

    @tools.tool
    def raises() -> str:
        """Raise."""
        raise RuntimeError("the disk is on fire")

    @tools.tool
    def forbidden() -> str:
        """Not for everybody."""
        return "never"

    tools.register(weather.replace(name="map_weather"), plugin_id="maps")
    tools.register(weather.replace(name="mcp__git__log"))
    return tools


CALLS: list[tuple[str, Any]] = [
    ("weather", {"city": "Zürich"}),
    ("forecast", {"city": "Oslo", "days": 3}),
    ("chart", {}),
    ("report", {}),
    ("broken", {"path": "a.txt"}),
    ("raises", {}),
    ("forbidden", {}),
    ("no_such_tool", {"x": 1}),
]
"""One reply's parallel calls: successes, images, files, errors, a refusal, an unknown tool."""

TEXTS = [
    "Zürich: 21 °C",
    "Oslo: 3 days of sun",
    "a bar chart",
    "the report",
    "no such file: a.txt",
    "the disk is on fire",
    "Tool forbidden is not available on this surface",
    "Unknown tool: no_such_tool",
]
