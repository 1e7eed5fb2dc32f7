"""How long the tools of two public benchmarks are in a request, with and without a search.

python benches/definition_chars.py            # characters of JSON
python benches/definition_chars.py --record   # the same, for docs/benchmarks.md
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import record
from ethos_registry import Personality, Tool, ToolRegistry, ok
from ethos_registry.schema._drafts import schema_of_2020_12
from tool_search_quality import bfcl, live_tools

PROVIDERS = ("anthropic", "openai", "gemini")


def registry_of(tools: list[dict[str, Any]]) -> ToolRegistry:
    registry = ToolRegistry()
    for number, tool in enumerate(tools):
        name = re.sub(r"\W", "_", tool["name"].rpartition("__")[2])[:50]
        schema = schema_of_2020_12(tool["parameters"])  # BFCL has `dict` and `float`
        schema.setdefault("type", "object")
        made = Tool(f"{name}_{number}", tool["description"], schema, lambda args, context: ok(""))
        registry.register(made)
    return registry


def chars(definitions: Any) -> int:
    return len(json.dumps(definitions, separators=(",", ":"), ensure_ascii=False, default=dict))


def measured(tools: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Provider -> characters of all definitions, and of those of a view with a search."""
    registry = registry_of(tools)
    everyone = Personality("everyone")
    return {
        name: {
            "all tools": chars(registry.view(everyone).definitions(name)),
            "with a search": chars(registry.view(everyone, search=True).definitions(name)),
        }
        for name in PROVIDERS
    }


def main() -> None:
    figures = {
        "BFCL v4, 1,287 functions": measured(bfcl()[0]),
        "LiveMCPBench, 527 tools": measured(live_tools()),
    }
    print(json.dumps(figures, indent=1))
    if "--record" in sys.argv:
        record.save("definitions", figures)


if __name__ == "__main__":
    main()
