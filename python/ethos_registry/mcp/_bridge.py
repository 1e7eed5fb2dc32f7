"""The tools of MCP servers in a registry."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

from ethos_registry._persistence.files import make_private_folder
from ethos_registry.capabilities._secrets import EnvironmentSecrets, SecretSource
from ethos_registry.mcp._callbacks import (
    McpElicitation,
    McpSampling,
    ServerCallbacks,
    checked_roots,
)
from ethos_registry.mcp._connection import Connection
from ethos_registry.mcp._definitions import (
    McpAnnotations,
    McpPins,
    McpProblem,
    McpServerStatus,
    PinDifference,
    ServerTools,
    ToolsChanged,
    pins_beside,
)
from ethos_registry.mcp._resources import (
    McpPrompt,
    McpRequestError,
    McpResource,
    completions,
    fenced_instructions,
    list_prompts,
    list_resources,
    read_resource,
)
from ethos_registry.mcp._server import McpServer, read_config
from ethos_registry.mcp._server_text import cleaned_fields, one_line
from ethos_registry.mcp._stdio import LogFile
from ethos_registry.mcp._tools import (
    AttachedRegistry,
    ChangePolicy,
    ToolSet,
    server_problems,
)
from ethos_registry.providers._portable_name import portable_name
from ethos_registry.registry._tool_registry import ToolRegistry, is_tool_registry
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._extras import has_extra, missing_extra
from ethos_registry.types._policy import Personality
from ethos_registry.types._result import ToolResult
from ethos_registry.types._settings import (
    checked_settings,
    choice,
    optional,
    setting,
    setting_names,
)

if TYPE_CHECKING:
    from mcp.client.client import Client

# The keywords of a bridge.


class McpBridgeOptions(TypedDict, total=False):
    """The keywords of `McpBridge`."""

    pins: McpPins | str | os.PathLike[str] | None
    on_change: ChangePolicy
    secrets: SecretSource | None
    stderr_folder: str | os.PathLike[str] | None
    on_tools_changed: Callable[[ToolsChanged], object] | None
    on_elicitation: Callable[[McpElicitation], Any] | None
    on_sampling: Callable[[McpSampling], Any] | None
    roots: Sequence[str]


def _pins(value: Any, name: str) -> McpPins:
    if value is None:
        return McpPins()
    return value if isinstance(value, McpPins) else McpPins.load(value)


def _callback(value: Any, name: str) -> Any:
    _checks.check_takes(value, name, "request")
    return value


@dataclass(frozen=True, slots=True)
class BridgeSettings:
    """What `McpBridge` was given, checked."""

    pins: McpPins = setting(_pins, default_factory=McpPins)
    on_change: ChangePolicy = setting(choice(ChangePolicy), default="quarantine")
    secrets: SecretSource = setting(
        lambda value, _: value or EnvironmentSecrets(), default_factory=EnvironmentSecrets
    )
    stderr_folder: Path | None = setting(optional(lambda value, _: Path(value)), default=None)
    on_tools_changed: Callable[[ToolsChanged], object] | None = setting(
        lambda value, _: value, default=None
    )
    on_elicitation: Callable[[McpElicitation], Any] | None = setting(
        optional(_callback), default=None
    )
    on_sampling: Callable[[McpSampling], Any] | None = setting(optional(_callback), default=None)
    roots: tuple[str, ...] = setting(lambda value, _: checked_roots(value), default=())


_logger = logging.getLogger("ethos_registry")


def _named(servers: list[McpServer], name: str) -> McpServer:
    for server in servers:
        if name in (server.name, portable_name(server.name, "tool").split("__")[1]):
            return server
    raise _unknown(name, [server.name for server in servers])


def _unknown(server: str, known: Iterable[str]) -> ConfigError:
    shown = ", ".join(known) or "none"
    return ConfigError(f"unknown MCP server {server!r}; there are: {shown}")


@_checks.checked_class
class McpBridge:
    """Connects MCP servers and keeps their tools in registries.

    Use it as an async context manager: entering connects all servers in parallel and returns when
    each is ready or has failed; a server that failed is tried again in the background and fails
    nothing else. `attach` puts the tools into a registry as `mcp__{server}__{tool}`, gated by
    `Personality.mcp_servers`. Their output is always untrusted, with `mcp:{server}` as source.

    A call is sent once. If the connection is lost during a call, the answer is `execution_failed`
    and states that it may have run; while a server is not connected, `not_available` and was not
    started.

    >>> async def main(registry, personality):
    ...     async with McpBridge.from_config("mcp.json") as bridge:
    ...         bridge.attach(registry)
    ...         for problem in bridge.problems:
    ...             print(problem)
    ...         view = registry.view(personality)

    Args:
        servers: The servers; each name once.

    Keyword Args:
        pins (McpPins | PathLike | None): Approved definitions, or their file. A tool of a pinned
            server whose definition is another one, or that is new, is not run until it is approved.
            Default: none; for `from_config("mcp.json")` the file `mcp.pins.json` beside it, if
            there is one.
        on_change (str): `"quarantine"` (default) refuses the calls of such a tool and keeps showing
            the approved definition; `"drop"` removes it; `"accept"` takes it over.
        secrets (SecretSource | None): Where `secret:NAME` comes from. Default: environment
            variables.
        stderr_folder (PathLike | None): A folder for a file `{server}.log` with the standard error
            of each command, at most 1 MiB. Default: none, and the last 4 KB are kept in memory.
        on_tools_changed (Callable | None): Called with a `ToolsChanged` after each listing that
            differs.
        on_elicitation (Callable | None): Called with an `McpElicitation` when a server asks a
            person; may be async. A mapping of the fields is the answer, `None` declines. Default:
            servers cannot ask.
        on_sampling (Callable | None): Called with an `McpSampling` when a server asks for an answer
            of a model; may be async. A string is the answer, `None` declines. Ask a person, or
            check the request and bound its cost, before a model sees it. Default: servers cannot
            ask.
        roots (Sequence[str]): `file://` URIs of the folders that servers may list. Default: none.

    Raises:
        ConfigError: Two servers have one name, an argument is of the wrong kind, the pins cannot
            be read, or the package `mcp` is not installed (`pip install 'ethos-registry[mcp]'`).

    """

    def __init__(self, servers: Iterable[McpServer], **options: Unpack[McpBridgeOptions]) -> None:
        known = setting_names(BridgeSettings)
        if unknown := options.keys() - set(known):
            raise _checks.unknown_option("McpBridge", min(unknown), known)
        self._servers: dict[str, McpServer] = {}
        for server in servers:
            _checks.instance(server, McpServer, "servers", "a list of McpServer")
            if server.name in self._servers:
                raise ConfigError(f"two MCP servers have the name {server.name!r}; rename one")
            self._servers[server.name] = server
        self._settings = checked_settings(BridgeSettings, options)
        self._sets: dict[str, ToolSet] = {}
        """The connection and the tools of each server, once they were entered."""
        self._attached: list[AttachedRegistry] = []

    @classmethod
    def from_config(
        cls,
        config: str | os.PathLike[str] | Mapping[str, Any],
        *,
        server_options: Mapping[str, Any] | None = None,
        only: Iterable[str] | None = None,
        **options: Unpack[McpBridgeOptions],
    ) -> McpBridge:
        """A bridge to the servers of a file in the common `mcpServers` format, or of its content.

        `server_options` are fields of `McpServer` for all of them, such as `timeout_seconds`;
        `only` are the names of those that are wanted, as they are or as tools have them.
        """
        servers = read_config(config)
        if only is not None:
            servers = [_named(servers, name) for name in only]
        if "pins" not in options and not isinstance(config, Mapping):
            beside = pins_beside(config)
            if beside.exists():
                options["pins"] = beside
        return cls(
            [server.with_options(**dict(server_options or {})) for server in servers], **options
        )

    @classmethod
    @_checks.checked_signature
    def from_command(cls, name: str, command: str, *args: str, **fields: Any) -> McpBridge:
        """A bridge to one command; `fields` are those of `McpServer`."""
        return cls([McpServer(name=name, command=command, args=args, **fields)])

    @classmethod
    @_checks.checked_signature
    def from_url(cls, name: str, url: str, **fields: Any) -> McpBridge:
        """A bridge to one URL (streamable HTTP); `fields` are those of `McpServer`."""
        return cls([McpServer(name=name, url=url, **fields)])

    @classmethod
    @_checks.checked_signature
    def from_server(cls, name: str, server: Any, **fields: Any) -> McpBridge:
        """A bridge to one server object of the package `mcp`; `fields` are those of `McpServer`."""
        return cls([McpServer(name=name, server=server, **fields)])

    def __repr__(self) -> str:
        return f"<McpBridge to {', '.join(self._servers) or 'no servers'}>"

    # Connections

    async def __aenter__(self) -> Self:
        if self._sets:
            raise ConfigError("this bridge was entered before; make another one")
        if not has_extra("mcp"):
            raise missing_extra("the bridge to MCP servers", "mcp")
        import mcp.client.client  # noqa: F401 - takes a second, which no server's time is to pay for

        if self._settings.stderr_folder is not None:
            make_private_folder(self._settings.stderr_folder)
        try:
            for name, server in self._servers.items():
                self._connect(name, server)
            await asyncio.gather(
                *(
                    each.connection.wait_settled(each.connection.server.connect_timeout_seconds)
                    for each in self._sets.values()
                )
            )
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    def _connect(self, name: str, server: McpServer) -> None:
        path, settings = None, self._settings
        if server.transport == "stdio" and settings.stderr_folder is not None:
            path = os.path.join(
                settings.stderr_folder, f"{re.sub(r'[^A-Za-z0-9_-]', '_', name)}.log"
            )
        connection = Connection(
            server,
            settings.secrets,
            LogFile(path),
            lambda listing: self._update(name, listing),
            ServerCallbacks(name, settings.on_elicitation, settings.on_sampling, settings.roots),
        )
        self._sets[name] = ToolSet(connection, settings.pins, settings.on_change)

    async def _close(self) -> None:
        """End all connections, whatever cancels this task meanwhile."""
        ends = [tools.connection.close() for tools in self._sets.values()]
        closing = asyncio.gather(*ends, return_exceptions=True)
        was_cancelled = False
        while not closing.done():
            try:
                await asyncio.shield(closing)
            except asyncio.CancelledError:
                if closing.done():
                    break
                was_cancelled = True
        for attached in self._attached:
            attached.remove(self._servers)
        self._attached.clear()
        if was_cancelled:
            raise asyncio.CancelledError

    # What there is

    @property
    def servers(self) -> dict[str, McpServerStatus]:
        """Each server as it is now, by name."""
        return {
            name: tools.connection.status(len(tools.tools)) for name, tools in self._sets.items()
        }

    @property
    def problems(self) -> list[McpProblem]:
        """What is wrong now: servers, skipped tools, names, pins; empty if all is well."""
        return [
            problem
            for tools in self._sets.values()
            for problem in server_problems(tools, self._attached)
        ]

    @property
    def tool_names(self) -> dict[str, tuple[str, str]]:
        """The server, and the name on it, of each tool by its name in the registry."""
        return {
            tool.name: (server, raw)
            for server, tools in self._sets.items()
            for raw, tool in tools.tools.items()
        }

    def annotations(self, name: str) -> McpAnnotations | None:
        """The server's hints about a tool, by its name in the registry; `None` for any other.

        An approval filter may ask for a person's consent where `destructive` is true.
        """
        for tools in self._sets.values():
            for tool in tools.tools.values():
                if tool.name == name:
                    return tool.annotations
        return None

    # Beside tools

    def instructions(self, personality: Personality) -> str:
        """What the servers that a personality may use state of themselves, for a system prompt.

        Each part is fenced as the words of its server, without hidden characters and chat tokens,
        and has at most 4,000 characters. Empty if there are none.
        """
        parts = [
            fenced_instructions(name, tools.connection.instructions)
            for name, tools in self._sets.items()
            if name in personality.mcp_servers
        ]
        return "\n\n".join(part for part in parts if part)

    async def resources(self, server: str) -> list[McpResource]:
        """The resources of a server and the templates of such.

        Raises, as the methods below: `ConfigError` if the server is not connected, and
        `McpRequestError` if it answers with an error.
        """
        with self._client_of(server) as client:
            return await list_resources(client, server)

    async def read_resource(self, server: str, uri: str) -> ToolResult:
        """The contents of a resource, as those of a result that embeds it."""
        with self._client_of(server) as client:
            return await read_resource(client, uri)

    async def prompts(self, server: str) -> list[McpPrompt]:
        """The prompts of a server."""
        with self._client_of(server) as client:
            return await list_prompts(client, server)

    async def prompt(
        self, server: str, name: str, arguments: Mapping[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """The messages of a prompt, `{role, content}`; treat them as the server's words."""
        with self._client_of(server) as client:
            answer = await client.get_prompt(name, dict(arguments or {}))
        return list(map(cleaned_fields, answer.messages))

    async def complete(
        self, place: McpPrompt | McpResource, argument: str, value: str
    ) -> list[str]:
        """What the server of a prompt or template proposes for an argument that begins so."""
        with self._client_of(place.server) as client:
            return await completions(client, place, argument, value)

    @contextlib.contextmanager
    def _client_of(self, server: str) -> Iterator[Client]:
        """The client of a server; every error of the SDK or of the server is one of ours."""
        [tools] = self._chosen(server)
        client = tools.connection.client
        try:
            yield client
        except Exception as error:  # the SDK raises errors of several kinds for invalid answers
            text = one_line(str(error), 500) or type(error).__name__
            raise McpRequestError(
                f"MCP server {server!r} did not answer the request: {text}"
            ) from None

    # Registries

    def attach(self, registry: ToolRegistry) -> None:
        """Put the tools into a registry, and keep them there as the servers list them.

        Views that exist never change; a new one shows what is listed then. When the bridge is
        closed its tools leave the registry. A name that is taken is a problem, not an error.

        Raises:
            ConfigError: It is not a `ToolRegistry`, or it is attached already.

        """
        if not is_tool_registry(registry):
            raise ConfigError(f"`registry` must be a ToolRegistry, got {type(registry).__name__}")
        if any(attached.registry is registry for attached in self._attached):
            raise ConfigError("this registry is attached to the bridge already")
        attached = AttachedRegistry(registry)
        self._attached.append(attached)
        registry.declare(mcp_servers=list(self._servers))
        for name, tools in self._sets.items():
            attached.update(name, tools.tools)

    def detach(self, registry: ToolRegistry) -> None:
        """Take the tools out of a registry; one that is not attached is ignored."""
        for attached in self._attached[:]:
            if attached.registry is registry:
                self._attached.remove(attached)
                attached.remove(self._servers)

    async def refresh(self, server: str | None = None) -> None:
        """List the tools of a server, or of all, now."""
        for tools in self._chosen(server):
            await tools.connection.refresh()

    async def reconnect(self, server: str | None = None) -> None:
        """Try a server, or all, that is not connected again now; returns when it is settled."""
        await asyncio.gather(*(tools.connection.reconnect() for tools in self._chosen(server)))

    def _chosen(self, server: str | None) -> list[ToolSet]:
        if server is None:
            return list(self._sets.values())
        if server not in self._sets:
            raise _unknown(server, self._sets)
        return [self._sets[server]]

    def _update(self, name: str, listing: ServerTools | None = None) -> None:
        """Make the tools of a server by a new listing, or by the pins as they are now."""
        tools = self._sets[name]
        before = {tool.name: tool for tool in tools.tools.values()}
        tools.update(listing)
        for attached in self._attached:
            attached.update(name, tools.tools)
        now = {tool.name: tool for tool in tools.tools.values()}
        change = ToolsChanged(
            name,
            tuple(sorted(now.keys() - before.keys())),
            tuple(sorted(before.keys() - now.keys())),
            tuple(sorted(key for key in now.keys() & before.keys() if now[key] is not before[key])),
        )
        if change and self._settings.on_tools_changed is not None:
            try:
                self._settings.on_tools_changed(change)
            except Exception:  # the bridge goes on
                _logger.exception("`on_tools_changed` of the MCP bridge raised")

    # Pins

    @property
    def pins(self) -> McpPins:
        """The approved definitions."""
        return self._settings.pins

    def diff(self, server: str | None = None) -> list[PinDifference]:
        """How the tools that pinned servers list differ from what was approved."""
        return [difference for tools in self._chosen(server) for difference in tools.differences]

    def pin(self, server: str | None = None) -> int:
        """Approve all tools of a server, or of all, as they are listed; the number of tools.

        Servers that have not been listed are left as they are. The file of pins is written.
        """
        count = 0
        for tools in self._chosen(server):
            if tools.listed is not None:
                name = tools.connection.server.name
                self._settings.pins.pin(name, tools.listed.values())
                count += len(tools.listed)
                self._update(name)
        self._settings.pins.save()
        return count

    def accept(self, server: str, tools: Iterable[str] | None = None) -> list[str]:
        """Approve changed and new tools of a pinned server, and forget those that are gone.

        `tools` are names on the server; by default all that differ. Takes effect in the next view.
        The file of pins is written. Returns the names that were approved or forgotten.

        Raises:
            ConfigError: The server is unknown, or one of the tools does not differ.

        """
        differences = {found.tool: found for found in self.diff(server)}
        chosen = list(differences) if tools is None else list(_checks.strings(tools, "tools"))
        for name in chosen:
            if name not in differences:
                raise ConfigError(
                    f"MCP server {server!r}: the tool {name!r} does not differ from its pin; "
                    f"these do: {', '.join(differences) or 'none'}"
                )
        listed = self._sets[server].listed or {}
        for name in chosen:
            if name in listed:
                self._settings.pins.approve(server, listed[name])
            else:
                self._settings.pins.forget(server, name)
        self._settings.pins.save()
        self._update(server)
        return chosen
