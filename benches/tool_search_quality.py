"""How often the tool that a question needs is among the first ones found, here and elsewhere.

python benches/tool_search_quality.py            # every other question, without other packages
python benches/tool_search_quality.py --all      # all questions, with the packages that are there
python benches/tool_search_quality.py --record   # the same, for docs/benchmarks.md

The weights of our ranking were chosen on the questions that only `--all` adds. Others are asked
through what an agent calls, with their defaults, for the ten best: fastmcp (`BM25SearchTransform`),
pydantic-ai (`keywords_search_fn`) and toolregistry (`ToolDiscoveryTool`).
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import record
from ethos_registry import _core

DATA = Path(__file__).parent / "data"
Question = tuple[str, list[str]]
"""The text, and the names of the tools that it needs."""
Finder = Callable[[str], list[str]]
"""The names of the tools found for a question, the best first."""
LIMITS = (5, 10)
FOUND = max(LIMITS)


def load(name: str) -> Any:
    return json.loads(gzip.decompress((DATA / name).read_bytes()))


def bfcl() -> tuple[list[dict[str, Any]], list[Question]]:
    document = load("bfcl_v4_single_turn.json.gz")
    return document["tools"], [(each["text"], each["tools"]) for each in document["questions"]]


def live_tools() -> list[dict[str, Any]]:
    return [
        {
            "name": f"mcp__{server}__{tool['name']}",
            "description": tool.get("description") or "",
            "parameters": tool.get("inputSchema") or {},
        }
        for entry in load("livemcpbench/tools.json.gz")
        for server, listed in entry["tools"].items()
        for tool in listed["tools"]
    ]


def lines(text: str) -> list[str]:
    return [
        re.sub(r"^\s*\d+[.)]\s*", "", line).strip() for line in text.split("\n") if line.strip()
    ]


def live_questions(known: set[str]) -> Iterator[tuple[list[Question], Question]]:
    """For each task its steps with their tool, and the question with all of them."""
    for task in load("livemcpbench/annotations.json.gz"):
        steps, tools = lines(task["Steps"]), lines(task["Tools"])
        pairs = zip(steps, tools, strict=True) if len(steps) == len(tools) else ()
        by_step = [(step, [tool]) for step, tool in pairs if tool in known]
        yield by_step, (task["Question"], [tool for tool in tools if tool in known])


def find_here(tools: list[dict[str, Any]]) -> Finder:
    index = _core.ToolSearchIndex([json.dumps(tool).encode() for tool in tools])
    return lambda text: [tools[at]["name"] for at, _ in index.find(text, FOUND)]


def find_by_fastmcp(tools: list[dict[str, Any]]) -> Finder:
    from fastmcp.server.transforms.search import BM25SearchTransform
    from fastmcp.tools import Tool

    known = [
        Tool(name=tool["name"], description=tool["description"], parameters=tool["parameters"])
        for tool in tools
    ]
    search = BM25SearchTransform(max_results=FOUND)

    def find(text: str) -> list[str]:
        return [tool.name for tool in asyncio.run(search._search(known, text))]

    return find


def find_by_pydantic_ai(tools: list[dict[str, Any]]) -> Finder:
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets._tool_search import keywords_search_fn

    known = [
        ToolDefinition(
            name=tool["name"],
            description=tool["description"],
            parameters_json_schema=tool["parameters"],
        )
        for tool in tools
    ]
    context: Any = None  # the function does not use it
    return lambda text: list(keywords_search_fn(context, [text], known))[:FOUND]


def find_by_toolregistry(tools: list[dict[str, Any]]) -> Finder:
    from toolregistry import Tool, ToolRegistry
    from toolregistry.llm.discovery import ToolDiscoveryTool

    registry = ToolRegistry()
    given: dict[str, str] = {}
    for tool in tools:
        made = Tool.from_function(len, name=tool["name"], description=tool["description"])
        object.__setattr__(made, "parameters", tool["parameters"])
        registry.register(made)
        given[made.name] = tool["name"]
    search = ToolDiscoveryTool(registry)

    def find(text: str) -> list[str]:
        return [given.get(found["name"], found["name"]) for found in search.discover(text, FOUND)]

    return find


FINDERS: dict[str, tuple[str, Callable[[list[dict[str, Any]]], Finder]]] = {
    "fastmcp": ("fastmcp, BM25", find_by_fastmcp),
    "toolregistry": ("toolregistry", find_by_toolregistry),
    "pydantic-ai-slim": ("pydantic-ai, keywords", find_by_pydantic_ai),
}
"""By distribution: the label, and what makes the search."""


def rates(find: Finder, questions: list[Question], *, by_question: bool = False) -> list[float]:
    """The share of needed tools among the first 5 and 10, in percent.

    Each needed tool counts the same, or with `by_question` each question, a tool once in each.
    """
    hits, needed = dict.fromkeys(LIMITS, 0.0), 0.0
    for text, names in questions:
        found = [name.rpartition("__")[2] for name in find(text)]
        names = list(set(names)) if by_question else names
        weight = 1 / len(names) if by_question and names else 1.0
        needed += weight * len(names)
        for limit in hits:
            hits[limit] += weight * sum(name in found[:limit] for name in names)
    return [round(100 * count / needed, 1) for count in hits.values()]


def measured(
    make: Callable[[list[dict[str, Any]]], Finder], every: slice
) -> dict[str, list[float]]:
    """Data set -> the rates of one search."""
    tools, questions = bfcl()
    live = live_tools()
    tasks = list(live_questions({tool["name"].rpartition("__")[2] for tool in live}))[every]
    find_live = make(live)
    return {
        "BFCL v4, 1,287 functions": rates(make(tools), questions[every]),
        "LiveMCPBench, 527 tools, by step": rates(
            find_live, [step for steps, _ in tasks for step in steps]
        ),
        "LiveMCPBench, whole question": rates(
            find_live, [whole for _, whole in tasks], by_question=True
        ),
    }


def search_milliseconds(
    tools: list[dict[str, Any]], questions: list[Question]
) -> tuple[int, float]:
    tools = [tool | {"name": f"{tool['name']}_{turn}"} for turn in range(4) for tool in tools][
        :2000
    ]
    index = _core.ToolSearchIndex([json.dumps(tool).encode() for tool in tools])
    times = []
    for text, _ in questions[:500]:
        began = time.perf_counter()
        index.find(text, 10)
        times.append((time.perf_counter() - began) * 1000)
    return len(tools), statistics.median(times)


def main() -> None:
    published, everything = slice(1, None, 2), slice(None)
    figures: dict[str, dict[str, list[float]]] = {}
    versions: dict[str, str] = {}

    def measure(label: str, make: Callable[[list[dict[str, Any]]], Finder], every: slice) -> None:
        figures[label] = measured(make, every)
        print(f"{label}: {figures[label]}", flush=True)

    if "--all" not in sys.argv or "--record" in sys.argv:
        measure("here, every other question", find_here, published)
    if {"--all", "--record"} & set(sys.argv):
        measure("here", find_here, everything)
        for distribution, (label, make) in FINDERS.items():
            try:
                versions[distribution] = version(distribution)
            except PackageNotFoundError:
                print(f"{distribution} is not installed", file=sys.stderr)
                continue
            measure(label, make, everything)
    count, median = search_milliseconds(*bfcl())
    print(f"a search among {count:,} tools: {median:.2f} ms (median)")
    if "--record" in sys.argv:
        record.save("tool_search", figures, **versions)


if __name__ == "__main__":
    main()
