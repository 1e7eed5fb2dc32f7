"""Users of one gateway, with the client of the SDK and its OAuth provider."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from ethos_registry import ConfigError, Personality, Tool, ToolContext, ToolRegistry, ok
from ethos_registry.mcp import McpGateway, McpUsers

pytest.importorskip("mcp", reason="the gateway needs the extra mcp")

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.provider import AccessToken

from ethos_registry.mcp import _gateway_http

NOTHING = {"type": "object", "properties": {}}
TOOLS = {"ada": ["read", "whoami"], "bob": ["whoami", "write"]}


def made(name: str) -> Tool:
    def execute(args: Any, context: ToolContext) -> Any:
        return ok(f"{name}: {context.personality_id} {context.session_key} {context.working_dir}")

    return Tool(name, name, NOTHING, execute)


class Verifier:
    """Tokens as `name:expiry:scope`, all valid but those of mallory."""

    resource: str | None = None

    async def verify_token(self, token: str) -> AccessToken | None:
        name, expires, scope = token.split(":")
        if name == "mallory":
            return None
        return AccessToken(
            token=token,
            client_id="the-client",
            subject=name,
            scopes=[scope],
            expires_at=int(expires),
            resource=self.resource,
        )


def token_of(name: str, seconds: int = 600, scope: str = "tools") -> str:
    return f"{name}:{int(time.time()) + seconds}:{scope}"


def personality_of(token: AccessToken) -> Personality | None:
    tools = TOOLS.get(token.subject or "")
    return None if tools is None else Personality(str(token.subject), toolset=tools)


def users(**options: Any) -> McpUsers:
    values: dict[str, Any] = {
        "verifier": Verifier(),
        "personality_of": personality_of,
        "context_of": lambda token: {"working_dir": f"/srv/{token.subject}"},
        "required_scopes": ["tools"],
    }
    return McpUsers(**values | options)


@contextlib.asynccontextmanager
async def serving(given: McpUsers) -> AsyncIterator[str]:
    registry = ToolRegistry([made(name) for name in ("read", "write", "whoami")])
    gateway = McpGateway(registry, Personality("unused", toolset=[]))
    ready: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(gateway.serve_http(port=0, users=given, on_ready=ready.set_result))
    try:
        yield (await ready)[0]
    finally:
        gateway.close()
        await task


@contextlib.asynccontextmanager
async def client_of(url: str, token: str, mode: str = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_each_user_has_own_tools_and_an_own_context(mode: str) -> None:
    async with (
        serving(users()) as url,
        client_of(url, token_of("ada"), mode) as ada,
        client_of(url, token_of("bob"), mode) as bob,
    ):
        for client, name in ((ada, "ada"), (bob, "bob"), (ada, "ada")):
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == TOOLS[name]
            result = await client.call_tool("whoami", {})
            assert result.content[0].text == (f"whoami: {name} mcp:the-client:{name} /srv/{name}")
        refused = await ada.call_tool("write", {})
        assert refused.is_error
        assert "not permitted" in refused.content[0].text


@pytest.mark.parametrize(
    ("make_token", "status", "error"),
    [
        (lambda: None, 401, "invalid_token"),
        (lambda: token_of("mallory"), 401, "invalid_token"),
        (lambda: token_of("ada", -10), 401, "invalid_token"),
        (lambda: "not a token", 401, "invalid_token"),
        (lambda: token_of("ada", scope="other"), 403, "insufficient_scope"),
        (lambda: token_of("carol"), 403, "access_denied"),
    ],
    ids=["none", "unknown user", "expired", "malformed", "other scope", "no personality"],
)
async def test_who_is_not_verified_or_permitted_is_refused(
    make_token: Callable[[], str | None], status: int, error: str
) -> None:
    token = make_token()
    async with serving(users()) as url, httpx2.AsyncClient() as client:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        response = await client.post(url, json={}, headers=headers)
    assert response.status_code == status
    assert response.json()["error"] == error
    assert "Bearer" in response.headers["www-authenticate"]


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
LISTING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


@contextlib.asynccontextmanager
async def sending(given: McpUsers) -> AsyncIterator[Callable[..., Any]]:
    """Sends one request of a user to a gateway, in a session if there is one."""
    async with serving(given) as url, httpx2.AsyncClient(timeout=60) as client:

        async def send(
            name: str, body: Any = HELLO, session: str | None = None, method: str = "POST"
        ) -> httpx2.Response:
            headers = {
                "Authorization": f"Bearer {token_of(name)}",
                "Accept": "application/json, text/event-stream",
            }
            if session is not None:
                headers["mcp-session-id"] = session
            return await client.request(method, url, json=body, headers=headers)

        yield send


async def test_a_session_of_another_user_is_unknown() -> None:
    async with sending(users()) as send:
        session = (await send("ada")).headers["mcp-session-id"]
        assert (await send("ada", LISTING, session)).status_code == 200
        assert (await send("bob", LISTING, session)).status_code == 404


async def test_sessions_of_a_user_are_limited_in_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_gateway_http, "MAX_SESSIONS", 2)
    async with sending(users()) as send:
        assert [(await send("ada")).status_code for _ in range(3)] == [200, 200, 503]
        assert (await send("bob")).status_code == 200


async def test_users_beyond_the_limit_are_refused_until_another_has_no_session() -> None:
    async with sending(users(max_users=1)) as send:
        session = (await send("ada")).headers["mcp-session-id"]
        assert (await send("bob")).status_code == 503
        await send("ada", None, session, "DELETE")
        assert (await send("bob")).status_code == 200
        assert (await send("ada")).status_code == 503


async def test_sessions_end_with_the_rights_of_their_user() -> None:
    rights: dict[str, Personality | None] = {"ada": Personality("ada", toolset=["read"])}
    async with sending(users(personality_of=lambda token: rights[token.subject])) as send:
        session = (await send("ada")).headers["mcp-session-id"]
        changed = rights["ada"] = Personality("ada", toolset=["write"])
        answers = await asyncio.gather(*(send("ada") for _ in range(5)))
        assert [each.status_code for each in answers] == [200] * 5
        assert (await send("ada", LISTING, session)).status_code == 404
        for answer in answers:
            session = answer.headers["mcp-session-id"]
            assert (await send("ada", LISTING, session)).status_code == 200
        rights["ada"] = None
        assert (await send("ada", LISTING, session)).status_code == 403
        rights["ada"] = changed
        assert (await send("ada", LISTING, session)).status_code == 404


async def test_a_token_for_another_resource_is_refused() -> None:
    verifier = Verifier()
    verifier.resource = "https://other.example/mcp"
    given = users(verifier=verifier, resource_url="https://tools.example/mcp")
    async with serving(given) as url, httpx2.AsyncClient() as client:
        headers = {"Authorization": f"Bearer {token_of('ada')}"}
        assert (await client.post(url, json={}, headers=headers)).status_code == 401


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="verify_token"):
        users(verifier=object())
    with pytest.raises(ConfigError, match="`issuer_url` must be a URL"):
        users(issuer_url="issuer")
    gateway = McpGateway(ToolRegistry(), Personality("p"))
    with pytest.raises(ConfigError, match="not both"):
        gateway.http_app(token="x", users=users())
