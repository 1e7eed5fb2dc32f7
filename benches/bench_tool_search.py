"""A search through 10,000 tools, beside the same in plain Python; and what the index costs.

python benches/bench_tool_search.py
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import oracle_tool_search
from ethos_registry import _core

VERBS = ["get", "list", "create", "delete", "update", "search", "send", "read", "move", "archive"]
NOUNS = [
    "file",
    "event",
    "ticket",
    "invoice",
    "message",
    "branch",
    "user",
    "table",
    "page",
    "alert",
]
SERVICES = [f"service{number}" for number in range(100)]
QUERIES = [
    "create invoice",
    "send a message to a user",
    "list all open tickets of service42 that changed since yesterday",
    "get list create delete update search send read move archive file event ticket invoice",
]


def definition(number: int) -> bytes:
    verb, noun = VERBS[number % 10], NOUNS[number // 10 % 10]
    service = SERVICES[number // 100]
    words = " ".join(random.Random(number).choices(VERBS + NOUNS + SERVICES, k=20))
    properties = {
        f"{noun}_id": {"type": "string", "description": f"Which {noun} of {service}."},
        "limit": {"type": "integer", "description": "The most that is returned."},
    }
    return json.dumps(
        {
            "name": f"{service}_{verb}_{noun}",
            "description": f"{verb.title()} a {noun} of {service}. {words}",
            "parameters": {"type": "object", "properties": properties},
        }
    ).encode()


def main(count: int = 10_000) -> None:
    definitions = [definition(number) for number in range(count)]
    started = time.perf_counter()
    index = _core.ToolSearchIndex(definitions)
    print(f"index of {count:,} tools: {(time.perf_counter() - started) * 1000:.0f} ms")
    texts = [each.decode() for each in definitions[:1_000]]
    for query in QUERIES:
        times = []
        for _ in range(201):
            started = time.perf_counter()
            index.find(query, 55)
            times.append((time.perf_counter() - started) * 1000)
        started = time.perf_counter()
        oracle_tool_search.find(texts, query, 55)
        plain = time.perf_counter() - started
        print(
            f"{statistics.median(times):.3f} ms (worst {max(times):.3f}) for {len(query.split())} "
            f"words; plain Python over 1,000 tools without an index: {plain * 1000:.0f} ms"
        )


if __name__ == "__main__":
    main()
