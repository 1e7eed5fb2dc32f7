"""The gateway: personalities of a registry as servers."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from collections.abc import AsyncIterator, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from ethos_registry.execution._options import UntrustedPolicy
from ethos_registry.mcp._bridge import McpBridge
from ethos_registry.mcp._gateway_access import Access, claimed_stdio
from ethos_registry.mcp._users import McpUsers
from ethos_registry.registry._reader import RegistryReader
from ethos_registry.types import _checks
from ethos_registry.types._context import DEFAULT_BUDGET_CHARS
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._extras import missing_extra
from ethos_registry.types._policy import Personality
from ethos_registry.types._ports import ArtifactStore

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.applications import Starlette

POLL_SECONDS = 0.25
PROBE_EVERY = 20
"""One look at the registry in 20 asks `is_available` too."""
WRITE_OUT_SECONDS = 1.0
ANSWER_SECONDS = 0.05


@_checks.checked_class
class McpGateway:
    """Serves personalities of a registry over the Model Context Protocol; needs the extra `mcp`.

    Clients of every revision of the protocol list what the personality permits and call it; calls
    pass the same steps as those of `View.execute`: gates, arguments, capabilities, budget,
    observers. A refused or failed call is a result with `isError`, which the model reads. When the
    registry changes, clients are notified.

    Args:
        registry: Whose tools are served.
        personalities: One personality or several with different ids; over stdio exactly one.
        name: The name of the server. Default: `ethos-registry`.
        instructions: Text for the model about the server as a whole.
        result_budget_chars: Characters that the result of a call may have.
        untrusted: `"mark"` flags the output of untrusted tools in `_meta`; `"wrap"` also puts it
            inside a fence that the model sees. Default: `"mark"`.
        working_dir: Where tools work. Default: the current folder; a client never chooses it.
        artifact_store: Stores the full text of results that were cut.
        dry_run: Answer what would be called, and call nothing.
        bridge: Its servers' resources, prompts and completions are passed on to clients whose
            personality permits the server; resources of those with `McpServer(resources=True)`,
            read by their tool `read_resource`. Enter it in the event loop of the gateway.
            Default: clients see tools only.

    >>> import asyncio
    >>> from mcp.client import Client
    >>> from ethos_registry import Personality, ToolRegistry
    >>> registry = ToolRegistry()
    >>> @registry.tool
    ... def add(a: int, b: int) -> int:
    ...     "Add two numbers."
    ...     return a + b
    >>> gateway = McpGateway(registry, Personality("calculator"))
    >>> async def main():
    ...     async with Client(gateway.server()) as client:
    ...         return await client.call_tool("add", {"a": 2, "b": 3})
    >>> asyncio.run(main()).content[0].text
    '5'

    Raises:
        ConfigError: no personality, two of one id, or a value of the wrong kind.

    """

    def __init__(
        self,
        registry: RegistryReader,
        personalities: Personality | Iterable[Personality],
        *,
        name: str = "ethos-registry",
        instructions: str | None = None,
        result_budget_chars: float = DEFAULT_BUDGET_CHARS,
        untrusted: UntrustedPolicy = "mark",
        working_dir: str | os.PathLike[str] | None = None,
        artifact_store: ArtifactStore | None = None,
        dry_run: bool = False,
        bridge: McpBridge | None = None,
    ) -> None:
        served = _served_module()
        settings = served.GatewaySettings(
            name=_checks.text(name, "name"),
            instructions=_checks.optional_text(instructions, "instructions"),
            result_budget_chars=_checks.finite_number(result_budget_chars, "result_budget_chars"),
            untrusted=_checks.one_of(untrusted, ("mark", "wrap"), "untrusted"),
            working_dir=os.getcwd() if working_dir is None else os.path.abspath(working_dir),
            artifact_store=artifact_store,
            dry_run=_checks.boolean(dry_run, "dry_run"),
            bridge=bridge,
        )
        _checks.instance(registry, RegistryReader, "registry", "a registry")
        _checks.instance(bridge, McpBridge | None, "bridge", "an McpBridge")
        self._make: Callable[..., Any] = partial(served.ServedPersonality, registry, settings)
        self._served = {each.id: self._make(each) for each in _checked(personalities)}
        self._users: Any = None
        self._closing, self._stopped = asyncio.Event(), asyncio.Event()

    def __repr__(self) -> str:
        return f"<McpGateway of {', '.join(self._served)}>"

    def server(self, personality_id: str | None = None) -> Server[Any]:
        """The SDK's server of a personality, for transports and hosts of your own.

        Without an id, that of the only personality.
        """
        server: Server[Any] = self._one(personality_id).server
        return server

    async def announce_changes(self) -> None:
        """Notify clients of changes of their list now.

        `serve_stdio` and `serve_http` look for changes themselves, several times a second.
        """
        for one in self._all_served():
            await one.announce_changes()

    def _all_served(self) -> list[Any]:
        users = () if self._users is None else self._users.served
        return [*self._served.values(), *users]

    @staticmethod
    def claimed_stdio() -> contextlib.AbstractContextManager[tuple[int, int]]:
        """Take standard input and output before anything can write to them; see `serve_stdio`.

        For programs that load tools first: what modules print when they are imported would reach
        the client. The block's value is what `serve_stdio` takes as `descriptors`.
        """
        return claimed_stdio()

    async def serve_stdio(
        self,
        personality_id: str | None = None,
        *,
        descriptors: tuple[int, int] | None = None,
    ) -> None:
        """Serve one client over standard input and output, until the input ends or `close`.

        Meanwhile nothing else can write to standard output, and what tools print goes to standard
        error. At the end every running call is cancelled. `descriptors` are used instead of the
        standard ones if given.
        """
        import anyio

        from ethos_registry.mcp import _gateway_stdio

        one = self._one(personality_id)
        given = claimed_stdio() if descriptors is None else contextlib.nullcontext(descriptors)
        received, receive = anyio.create_memory_object_stream[Any](0)
        send, sent = anyio.create_memory_object_stream[Any](0)
        with given as (reader, writer):
            async with self._running():
                reading = asyncio.create_task(
                    _gateway_stdio.read_messages(reader, received, send.clone())
                )
                writing = asyncio.create_task(_gateway_stdio.write_messages(sent, writer))
                ending = asyncio.create_task(self._end_input(reading))
                try:
                    options = one.server.create_initialization_options()
                    await one.server.run(receive, send, options)
                finally:
                    ending.cancel()
                    reading.cancel()
                    with anyio.move_on_after(WRITE_OUT_SECONDS, shield=True):
                        await asyncio.wait([writing])
                    writing.cancel()
                    with anyio.CancelScope(shield=True):
                        await asyncio.gather(reading, writing, ending, return_exceptions=True)

    async def _end_input(self, reading: asyncio.Task[None]) -> None:
        """To the server, closing is the end of its input; what was answered is sent before."""
        await self._stopped.wait()
        await asyncio.sleep(ANSWER_SECONDS)
        reading.cancel()

    def http_app(
        self,
        *,
        host: str = "127.0.0.1",
        token: str | None = None,
        allowed_hosts: Iterable[str] = (),
        users: McpUsers | None = None,
    ) -> Starlette:
        """An ASGI application that serves each personality at `/mcp/{id}`, for a server of yours.

        With `users` it serves each user at `/mcp` instead, by the gates of that user.

        Args:
            host: The address that the server listens at.
            token: What clients must send as `Authorization: Bearer <token>`; required unless `host`
                is a loopback address, or there are `users`.
            users: Who may use the gateway, by tokens of their own.
            allowed_hosts: Further names under which clients reach the server. A request whose
                `Host` or `Origin` names another host is refused, against DNS rebinding.

        Raises:
            ConfigError: an address for other machines without a token.

        """
        from ethos_registry.mcp._gateway_http import http_app
        from ethos_registry.mcp._gateway_users import ServedUsers

        access = Access(host, token, allowed_hosts, needs_token=users is None)
        if users is None:
            return http_app(self._served, access, self._running)
        _checks.instance(users, McpUsers, "users", "McpUsers")
        if token is not None:
            raise ConfigError("give `token` or `users`, not both")
        self._users = served = ServedUsers(users, self._make)
        return served.app(access, self._running)

    async def serve_http(
        self,
        host: str = "127.0.0.1",
        port: int = 8000,
        *,
        token: str | None = None,
        allowed_hosts: Iterable[str] = (),
        users: McpUsers | None = None,
        on_ready: Callable[[list[str]], object] | None = None,
    ) -> None:
        """Serve over streamable HTTP until `close`; see `http_app` for the parameters.

        Port 0 takes one that is free; `on_ready` is called with the URLs of the personalities.
        """
        from ethos_registry.mcp import _gateway_http

        app = self.http_app(host=host, token=token, allowed_hosts=allowed_hosts, users=users)
        listener = _gateway_http.bound_socket(host, port)
        if not self._closing.is_set():
            self._closing = asyncio.Event()  # of this event loop
        if on_ready is not None:
            shown = f"[{host}]" if ":" in host else host
            address = f"http://{shown}:{listener.getsockname()[1]}"
            paths = [_gateway_http.path_of(each) for each in self._served]
            on_ready([f"{address}{path}" for path in (paths if users is None else ["/mcp"])])
        await _gateway_http.serve_app(app, listener, self._closing)

    def close(self) -> None:
        """End serving: running calls are cancelled, clients are answered. Call it on the loop."""
        self._closing.set()

    @contextlib.asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        """Look for changes while the block runs, and end all calls when it is closed."""
        tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._stop_calls())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self) -> None:
        for looks in itertools.count(1):
            await asyncio.sleep(POLL_SECONDS)
            for one in self._all_served():
                if looks % PROBE_EVERY == 0 or one.has_new_entries():
                    await one.announce_changes()

    async def _stop_calls(self) -> None:
        await self._closing.wait()
        await asyncio.gather(*(one.stop() for one in self._all_served()))
        self._stopped.set()

    def _one(self, personality_id: str | None) -> Any:
        known = ", ".join(f"`{each}`" for each in self._served)
        if personality_id is None:
            if len(self._served) > 1:
                raise ConfigError(f"several personalities; choose one of {known}")
            return next(iter(self._served.values()))
        if personality_id not in self._served:
            raise ConfigError(
                f"unknown personality {_checks.brief(personality_id)}; there are {known}"
            )
        return self._served[personality_id]


def _served_module() -> Any:
    try:
        from ethos_registry.mcp import _gateway_session
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise missing_extra("the gateway", "mcp") from None
    return _gateway_session


def _checked(personalities: object) -> list[Personality]:
    if isinstance(personalities, Personality):
        return [personalities]
    if not isinstance(personalities, Iterable) or isinstance(personalities, str):
        raise ConfigError(
            f"`personalities` must be a Personality or several, got {type(personalities).__name__}"
        )
    found = list(personalities)
    for one in found:
        if not isinstance(one, Personality):
            raise ConfigError(f"`personalities` holds a {type(one).__name__}, not a Personality")
    if not found:
        raise ConfigError("`personalities` is empty: there is nothing to serve")
    ids = [one.id for one in found]
    twice = next((each for each in ids if ids.count(each) > 1), None)
    if twice is not None:
        raise ConfigError(f"two personalities have the id {_checks.brief(twice)}")
    return found
