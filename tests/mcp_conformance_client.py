"""The client under test of the official conformance suite: a bridge that lists and calls.

The suite appends the URL of its server and names the scenario in the environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from ethos_registry import McpBridge, Personality, ToolRegistry


def argument(schema: dict[str, Any]) -> Any:
    """Some value that a schema takes."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return arguments(schema)
    values: dict[str, Any] = {
        "string": "text",
        "integer": 5,
        "number": 5,
        "boolean": True,
        "array": [],
        "null": None,
    }
    return values[kind]


def arguments(schema: dict[str, Any]) -> dict[str, Any]:
    return {
        name: argument(value if isinstance(value, dict) else {})
        for name, value in schema.get("properties", {}).items()
    }


async def main(url: str) -> int:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "")
    protocol = "legacy" if version and version < "2026" else "auto"
    registry = ToolRegistry()
    async with McpBridge.from_url(
        "suite", url, protocol=protocol, timeout_seconds=15, connect_timeout_seconds=15
    ) as bridge:
        bridge.attach(registry)
        for problem in bridge.problems:
            print(problem, file=sys.stderr)
        view = registry.view(Personality("suite", mcp_servers=["suite"]))
        asked = context.get("toolCalls")
        names = {raw: name for name, (_, raw) in bridge.tool_names.items()}
        if asked is None:
            calls = [
                {"id": tool["name"], "name": tool["name"], "args": arguments(tool["parameters"])}
                for tool in view.definitions()
            ]
        else:
            calls = [
                {
                    "id": str(number),
                    "name": names.get(call["name"], call["name"]),
                    "args": call["arguments"],
                }
                for number, call in enumerate(asked)
            ]
        for call in calls:
            [result] = await view.execute([call])
            print(call["name"], result.ok, result.text[:200], file=sys.stderr)
        return 0 if bridge.servers["suite"].state == "ready" else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[-1])))
