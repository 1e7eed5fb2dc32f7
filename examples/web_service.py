"""A web service with users and tenants: each request runs under the rights of its user.

    pip install . starlette httpx uvicorn
    python examples/web_service.py        # three turns of three users, without a server
    uvicorn --app-dir examples web_service:app

`POST /turn` takes the tool calls of a model's reply and returns one result per call. Who calls is
known from the token, never from the arguments: tools read the tenant from their context.
"""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from ethos_registry import Personality, ToolContext, ToolRegistry

ORDERS = {"acme": {"A1": "shipped", "A2": "paid"}, "globex": {"A1": "cancelled"}}
MOST_TURNS_AT_ONCE = 2
registry = ToolRegistry()


@dataclass(frozen=True)
class User:
    """Who a token belongs to, and what an agent may do for them."""

    name: str
    tenant: str
    policy: Personality


CLERK = Personality("clerk", toolset=["toolset:orders"], exclude=["cancel_order"])
MANAGER = Personality("manager", toolset=["toolset:orders"])
USERS = {  # in production: a session or a signed token
    "token-ada": User("ada", "acme", CLERK),
    "token-bob": User("bob", "acme", MANAGER),
    "token-eve": User("eve", "globex", MANAGER),
}


@registry.tool(toolset="orders", timeout_seconds=5)
async def order_state(order: str, context: ToolContext) -> str:
    """Get the state of an order."""
    return ORDERS[context.tenant_id or ""].get(order, "unknown order")


@registry.tool(toolset="orders", timeout_seconds=5)
def cancel_order(order: str, context: ToolContext) -> str:
    """Cancel an order."""
    ORDERS[context.tenant_id or ""][order] = "cancelled"
    return f"{order} of {context.tenant_id} is cancelled for {context.agent_id}"


views = {user.policy.id: registry.view(user.policy) for user in USERS.values()}
running: dict[str, asyncio.Semaphore] = {}


def user_of(request: Request) -> User | None:
    """The user of the request's token."""
    return USERS.get(request.headers.get("authorization", "").removeprefix("Bearer "))


async def definitions(request: Request) -> JSONResponse:
    """The tools that the user's agent may use, for `?provider=anthropic` and others."""
    if (user := user_of(request)) is None:
        return JSONResponse({"error": "unknown token"}, 401)
    provider = request.query_params.get("provider", "openai")
    return JSONResponse({"tools": views[user.policy.id].definitions(provider)})


async def turn(request: Request) -> JSONResponse:
    """Run the calls of one reply."""
    if (user := user_of(request)) is None:
        return JSONResponse({"error": "unknown token"}, 401)
    context = ToolContext(
        session_id=f"{user.tenant}:{user.name}",
        agent_id=user.name,
        tenant_id=user.tenant,
        result_budget_chars=40_000,
    )
    # One tenant cannot take the whole service: its turns wait for each other.
    async with running.setdefault(user.tenant, asyncio.Semaphore(MOST_TURNS_AT_ONCE)):
        results = await views[user.policy.id].execute(await request.json(), context)
    return JSONResponse({"results": [result.to_wire() for result in results]})


app = Starlette(routes=[Route("/definitions", definitions), Route("/turn", turn, methods=["POST"])])


def main() -> None:
    """Send three turns to the service, as a client would."""
    from starlette.testclient import TestClient

    calls: list[dict[str, Any]] = [
        {"id": "1", "name": "order_state", "args": {"order": "A1"}},
        {"id": "2", "name": "cancel_order", "args": {"order": "A2"}},
    ]
    with TestClient(app) as client:
        for token in ("token-ada", "token-bob", "token-eve"):
            answer = client.post(
                "/turn", json=calls, headers={"Authorization": f"Bearer {token}"}
            ).json()
            for result in answer["results"]:
                print(f"{token}: {result['name']}: {json.dumps(result['result'])}")


if __name__ == "__main__":
    main()
