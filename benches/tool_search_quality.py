"""How often the tool that a question needs is among the first ones found.

python benches/tool_search_quality.py [--all]

Figures are of every other question: the weights were chosen on the rest, which `--all` adds.
"""

from __future__ import annotations

import gzip
import json
import re
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ethos_registry import _core

DATA = Path(__file__).parent / "data"
Question = tuple[str, list[str]]


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


def rates(
    tools: list[dict[str, Any]], questions: list[Question], *, by_question: bool = False
) -> dict[int, float]:
    """The share of needed tools among the first 5 and 10, in percent.

    Each needed tool counts the same, or with `by_question` each question, a tool once in each.
    """
    index = _core.ToolSearchIndex([json.dumps(tool).encode() for tool in tools])
    hits, needed = {5: 0.0, 10: 0.0}, 0.0
    for text, names in questions:
        found = [tools[at]["name"].rpartition("__")[2] for at, _ in index.find(text, 10)]
        names = list(set(names)) if by_question else names
        weight = 1 / len(names) if by_question and names else 1.0
        needed += weight * len(names)
        for limit in hits:
            hits[limit] += weight * sum(name in found[:limit] for name in names)
    return {limit: round(100 * count / needed, 1) for limit, count in hits.items()}


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
    every = slice(None) if "--all" in sys.argv else slice(1, None, 2)
    tools, questions = bfcl()
    print(f"BFCL: {rates(tools, questions[every])}")
    live = live_tools()
    tasks = list(live_questions({tool["name"].rpartition("__")[2] for tool in live}))[every]
    print(f"LiveMCPBench by step: {rates(live, [step for steps, _ in tasks for step in steps])}")
    whole = rates(live, [whole for _, whole in tasks], by_question=True)
    print(f"LiveMCPBench, whole question: {whole}")
    count, median = search_milliseconds(tools, questions)
    print(f"a search among {count:,} tools: {median:.2f} ms (median)")


if __name__ == "__main__":
    main()
