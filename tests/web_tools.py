"""What tests of the web tools share: a loopback web, and calls under a policy that permits it."""

from __future__ import annotations

import base64
from typing import Any

from ethos_registry import (
    CallResult,
    Personality,
    Tool,
    ToolContext,
    ToolRegistry,
    default_reducers,
)
from ethos_registry.capabilities import ConnectionPools, NetworkPolicy, standard_backends

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
PRIVATE = NetworkPolicy(allow_private_urls=True)


def registry_of(*tools: Tool, **backends: Any) -> ToolRegistry:
    """The tools with standard backends; every name is an address of this machine."""
    backends.setdefault("pools", ConnectionPools(resolve=lambda host, port: ["127.0.0.1"]))
    return ToolRegistry(
        tools,
        capability_backends=standard_backends(**backends),
        reducer_registry=default_reducers(),
    )


async def call(
    registry: ToolRegistry,
    name: str,
    args: Any,
    *,
    policy: NetworkPolicy | None = PRIVATE,
    attachments: Any = (),
    **context: Any,
) -> CallResult:
    """One call of a tool under a personality with the policy."""
    [result] = await registry.view(Personality("p", network=policy)).execute(
        [{"id": "1", "name": name, "args": args}],
        ToolContext(**context),
        turn_attachments=attachments,
    )
    return result
