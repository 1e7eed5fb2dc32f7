"""Every adapter, both ways: calls of users that run at once never meet.

In a process, and over the server that users of the framework run: FastMCP over HTTP, a Starlette
application for the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest

from adapters.table import Call
from ethos_registry import Personality, Tool, ToolContext, ToolRegistry, View

USER: ContextVar[str] = ContextVar("user", default="nobody")
USERS = ("ada", "ben")
ROUNDS = 200
OURS = (Call("who", {"number": 1}, "c1"), Call("thread", {"number": 2}, "c2"))
TURN = (*OURS, Call("native", {"number": 3}, "c3"))
"""One turn of a model: an async tool and a plain one of ours, and one of the framework."""
CALLS = 2_000


class Office:
    """Tools that return whose call they run, and the users of each batch."""

    def __init__(self, user: Callable[[], str] = USER.get) -> None:
        self.user = user
        self.batches: list[set[str]] = []
        self.registry = ToolRegistry(observers=[self])
        self.registry.tool(self.who)
        self.registry.tool(self.thread)

    @property
    def view(self) -> View:
        return self.registry.view(Personality("worker"))

    def batch_finished(self, calls: Sequence[Any]) -> None:
        self.batches.append({call.result.text.partition(" ")[0] for call in calls})

    def context(self, *framework: Any) -> ToolContext:
        """What a `context_factory` makes."""
        return ToolContext(agent_id=self.user())

    async def who(self, number: int, context: ToolContext) -> str:
        """Return the caller."""
        await asyncio.sleep(0)
        return f"{self.user()} {context.agent_id}"

    def thread(self, number: int, context: ToolContext) -> str:
        """Return the caller, from a thread."""
        return f"{self.user()} {context.agent_id}"

    async def native(self, number: int) -> str:
        """Return the caller, as a tool of the framework."""
        await asyncio.sleep(0)
        return f"{self.user()} native"


class Framework:
    """How a framework is given our tools beside its own, and what the model reads of a turn."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.module = importlib.import_module(f"adapters.test_{name.replace('-', '_')}")
        """Its test module, which skips where the framework is not installed."""
        bridge = importlib.import_module(f"ethos_registry.adapters.{name.replace('-', '_')}")
        self.to: Any = getattr(bridge, f"to_{name.replace('-', '_')}")
        self.from_: Any = getattr(bridge, f"from_{name.replace('-', '_')}")

    async def theirs(self, function: Any) -> list[Tool]:
        """A function as a tool of the framework, in a registry."""
        tools = self.native(function)
        made = self.from_(tools, trusted=True)
        return await made if asyncio.iscoroutine(made) else made  # type: ignore[no-any-return]

    def native(self, function: Any) -> Any:
        """A function as the framework's own tool."""
        module = self.module
        match self.name:
            case "pydantic-ai":
                return module.FunctionToolset([function])
            case "langchain":
                return [module.StructuredTool.from_function(coroutine=function)]
            case "openai-agents":
                return [module.function_tool(function, failure_error_function=None)]
            case "anthropic":
                return [module.beta_async_tool(function)]
            case "fastmcp":
                server = module.FastMCP("native")
                server.tool(function)
                return server
            case "agent-framework":
                return [module.tool(function, approval_mode="never_require")]
            case "google-adk":
                return [module.FunctionTool(function)]
            case "claude-agent-sdk":

                async def handler(args: dict[str, Any]) -> dict[str, Any]:
                    text = await function(**args)
                    return {"content": [{"type": "text", "text": text}]}

                return [module.tool("native", "Return the caller.", {"number": int})(handler)]

    def beside(self, office: Office, **options: Any) -> Any:
        """Our tools and a native one, for one agent that all users share."""
        ours, native = self.to(office.view, **options), self.native(office.native)
        match self.name:
            case "pydantic-ai":
                from pydantic_ai.toolsets import CombinedToolset

                return CombinedToolset([ours, native])
            case "fastmcp":
                for tool in ours:
                    native.add_tool(tool)
                return native
            case "google-adk":
                return [ours, *native]
            case _:
                return [*ours, *native]

    async def read(self, tools: Any, calls: tuple[Call, ...]) -> list[str]:
        """What the model reads of one turn of a new run."""
        module = self.module
        match self.name:
            case "pydantic-ai":
                [answers] = await module.run(tools, calls)
                return [answer.text for answer in answers]
            case "claude-agent-sdk":
                answers = await module.run(tools, calls, parallel=True)
                return [answer.text for answer in answers]
            case "anthropic":
                api = await module.run(tools, calls)
                return [module.answer_of(block).text for block in api.read]
            case "google-adk":
                return [str(item.response["result"]) for item in await module.run(tools, calls)]
            case _:
                return [module.answer_of(item).text for item in await module.run(tools, calls)]


@pytest.fixture(
    params=[
        "agent-framework",
        "anthropic",
        "claude-agent-sdk",
        "fastmcp",
        "google-adk",
        "langchain",
        "openai-agents",
        "pydantic-ai",
    ]
)
def framework(request: pytest.FixtureRequest) -> Framework:
    return Framework(request.param)


async def as_user(user: str, texts: Callable[[], Any]) -> list[str]:
    USER.set(user)
    return await texts()  # type: ignore[no-any-return]


async def at_once(texts: Callable[[], Any]) -> list[tuple[str, list[str]]]:
    """What both users read who ask in the same tick."""
    read = await asyncio.gather(*(as_user(user, texts) for user in USERS))
    return list(zip(USERS, read, strict=True))


async def test_our_tools_run_as_the_user_who_calls(framework: Framework) -> None:
    office = Office()
    plain = framework.beside(office)
    with_context = framework.beside(office, context_factory=office.context)
    for number in range(ROUNDS):
        tools = with_context if number % 2 else plain
        for user, texts in await at_once(partial(framework.read, tools, TURN)):
            agent = user if number % 2 else None
            assert texts == [f"{user} {agent}", f"{user} {agent}", f"{user} native"]
    assert sum(map(len, office.batches)) == len(office.batches)


async def test_their_tools_run_as_the_user_who_calls(framework: Framework) -> None:
    office = Office()
    registry = ToolRegistry()
    registry.register_all(await framework.theirs(office.native))
    view = registry.view(Personality("worker"))
    calls = [{"id": str(n), "name": "native", "args": {"number": n}} for n in range(3)]

    async def texts() -> list[str]:
        return [result.text for result in await view.execute(calls, office.context())]

    for _ in range(ROUNDS):
        for user, read in await at_once(texts):
            assert read == [f"{user} native"] * 3


# Over a server


class Server:
    """An ASGI application on a port of its own."""

    def __init__(self, app: Any, lifespan: str) -> None:
        import uvicorn

        config = uvicorn.Config(
            app, port=0, log_level="critical", ws="none", lifespan=lifespan, loop="asyncio"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    async def start(self) -> str:
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            await asyncio.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(60)


@contextlib.asynccontextmanager
async def serving(app: Any, lifespan: str = "off") -> AsyncIterator[str]:
    server = Server(app, lifespan)
    try:
        yield await server.start()
    finally:
        server.stop()


def application(framework: Framework, tools: Any) -> Any:
    """A service with one agent: who asks is in a header."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def turn(request: Request) -> JSONResponse:
        USER.set(request.headers["x-user"])
        return JSONResponse(await framework.read(tools, TURN))

    return Starlette(routes=[Route("/turn", turn)])


async def ask_service(url: str, user: str, turns: int) -> list[list[str]]:
    import httpx

    async with httpx.AsyncClient(headers={"x-user": user}, timeout=120) as client:
        return [(await client.get(f"{url}/turn")).json() for _ in range(turns)]


async def ask_fastmcp(url: str, user: str, turns: int) -> list[list[str]]:
    from fastmcp import Client
    from fastmcp.client.transports import StreamableHttpTransport

    read = []
    transport = StreamableHttpTransport(f"{url}/mcp", headers={"x-user": user})
    async with Client(transport) as client:
        for _ in range(turns):
            calls = [client.call_tool_mcp(call.name, call.args) for call in TURN]
            results = await asyncio.gather(*calls)
            read.append([result.content[0].text for result in results])
    return read


def header_user() -> str:
    from fastmcp.server.dependencies import get_http_headers

    return str(get_http_headers().get("x-user"))


@pytest.mark.parametrize(
    "calls", [120, pytest.param(CALLS, marks=pytest.mark.long)], ids=["few", "many"]
)
async def test_users_of_a_server_never_meet(framework: Framework, calls: int) -> None:
    over_http = framework.name == "fastmcp"
    office = Office(header_user) if over_http else Office()
    tools = framework.beside(office)
    app = tools.http_app() if over_http else application(framework, tools)
    ask = ask_fastmcp if over_http else ask_service
    clients = [*USERS, *USERS, *USERS]
    turns = -(-calls // (len(clients) * len(TURN)))
    async with serving(app, "on" if over_http else "off") as url:
        read = await asyncio.gather(*(ask(url, user, turns) for user in clients))
    crossed = [
        text
        for user, answers in zip(clients, read, strict=True)
        for texts in answers
        for text, wanted in zip(texts, [f"{user} None"] * 2 + [f"{user} native"], strict=True)
        if text != wanted
    ]
    assert crossed == []
    assert all(len(users) == 1 for users in office.batches)
