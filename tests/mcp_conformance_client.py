"""The client under test of the official conformance suite: a bridge that lists and calls.

The suite appends the URL of its server and names the scenario in the environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from ethos_registry import Personality, ToolRegistry, View
from ethos_registry.mcp import McpBridge, McpElicitation, McpServer

REDIRECT = AnyUrl("http://localhost:3000/callback")


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


def answer_to(request: McpElicitation) -> dict[str, Any]:
    """Agrees with what the server proposes, and gives some value where it proposes none."""
    return {
        name: field["default"] if "default" in field else argument(dict(field))
        for name, field in request.fields.items()
        if "default" in field or name in request.required
    }


class Storage:
    """Tokens and client of one run."""

    def __init__(self, context: dict[str, Any]) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None
        if "client_id" in context:
            self.client = OAuthClientInformationFull(
                client_id=context["client_id"],
                client_secret=context.get("client_secret"),
                redirect_uris=[REDIRECT],
                token_endpoint_auth_method="client_secret_basic",
                issuer=context.get("issuer"),
            )

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Browser:
    """Follows the redirect of the authorization server, as a browser would."""

    def __init__(self) -> None:
        self.query: dict[str, list[str]] = {}

    async def open(self, url: str) -> None:
        async with httpx2.AsyncClient() as client:
            answer = await client.get(url)
        self.query = parse_qs(urlsplit(answer.headers["location"]).query)

    async def answer(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(
            code=self.query["code"][0],
            state=self.query.get("state", [None])[0],
            iss=self.query.get("iss", [None])[0],
        )


def authorized_client(url: str, context: dict[str, Any]) -> httpx2.AsyncClient:
    browser = Browser()
    provider = OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="ethos-registry",
            redirect_uris=[REDIRECT],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
        ),
        storage=Storage(context),
        redirect_handler=browser.open,
        callback_handler=browser.answer,
        client_metadata_url="https://conformance-test.local/client-metadata.json",
    )
    return httpx2.AsyncClient(auth=provider, timeout=30)


def calls_of(view: View, bridge: McpBridge, context: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls that the scenario asks for, else one of every tool."""
    names = {raw: name for name, (_, raw) in bridge.tool_names.items()}
    asked = context.get("toolCalls")
    if asked is not None:
        return [
            {
                "id": str(number),
                "name": names.get(call["name"], call["name"]),
                "args": {
                    name: value for name, value in call["arguments"].items() if value is not None
                },
            }
            for number, call in enumerate(asked)
        ]
    shown = {tool["name"]: tool["parameters"] for tool in view.definitions()}
    values = {name: arguments(schema) for name, schema in shown.items()}
    if "json_schema_echo" in names:
        focal = json.loads(json.dumps(shown[names["json_schema_2020_12_tool"]]))
        values = {names["json_schema_echo"]: {"schema": focal}}
    return [{"id": name, "name": name, "args": args} for name, args in values.items()]


async def main(url: str) -> int:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "")
    registry = ToolRegistry()
    async with contextlib.AsyncExitStack() as stack:
        client = None
        if os.environ.get("MCP_CONFORMANCE_SCENARIO", "").startswith("auth/"):
            client = await stack.enter_async_context(authorized_client(url, context))
        server = McpServer(
            name="suite",
            url=url,
            http_client=client,
            protocol="legacy" if version and version < "2026" else "auto",
            timeout_seconds=20,
            connect_timeout_seconds=20,
        )
        bridge = await stack.enter_async_context(McpBridge([server], on_elicitation=answer_to))
        bridge.attach(registry)
        for problem in bridge.problems:
            print(problem, file=sys.stderr)
        view = registry.view(Personality("suite", mcp_servers=["suite"]))
        for call in calls_of(view, bridge, context):
            [result] = await view.execute([call])
            print(call["name"], result.ok, result.text[:200], file=sys.stderr)
        return 0 if bridge.servers["suite"].state == "ready" else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[-1])))
