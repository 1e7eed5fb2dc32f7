"""Which MCP servers there are: the common `mcpServers` JSON, and single servers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ethos_registry._suggest import did_you_mean
from ethos_registry.capabilities._secrets import SecretSource
from ethos_registry.mcp._server_text import MAX_DEFINITION_BYTES, MAX_SERVER_DEFINITION_BYTES
from ethos_registry.providers._portable_name import portable_name
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._secret_names import is_secret_name

# `secret:NAME` in the environment and headers of servers; values are never shown.

_REFERENCE = re.compile(r"(?:(?<=\s)|\A)secret:([\w./-]+)")
_MIN_CHARS = 6
"""Shorter values are not replaced in output: they would match by chance."""


_EXPANDED = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
"""`${NAME}`, `${env:NAME}` of VS Code, and `${NAME:-default}`."""


def expanded(value: str, server: str) -> str:
    """The value with environment variables; `ConfigError` names one that is missing.

    >>> expanded("${ABSENT:-8080}", "web")
    '8080'
    """

    def value_of(found: re.Match[str]) -> str:
        known = os.environ.get(found[1]) or found[2]
        if known is None:
            raise ConfigError(
                f"MCP server {server!r}: the environment variable {found[1]} is not defined; "
                f"define it, or write ${{{found[1]}:-default}}"
            )
        return known

    return _EXPANDED.sub(value_of, value)


def resolved(values: Mapping[str, str], secrets: SecretSource, server: McpServer) -> dict[str, str]:
    """The values with each `secret:NAME` replaced; `ConfigError` names a secret that is missing.

    Environment variables are replaced too if the server is from a configuration.
    """

    def value_of(found: re.Match[str]) -> str:
        value = secrets(found[1])
        if value is None:
            raise ConfigError(
                f"MCP server {server.name!r}: the secret {found[1]!r} is not defined; by default "
                f"it is the environment variable {re.sub(r'[^A-Za-z0-9]', '_', found[1]).upper()}"
            )
        return value

    if server.expands_variables:
        values = {name: expanded(value, server.name) for name, value in values.items()}
    return {name: _REFERENCE.sub(value_of, value) for name, value in values.items()}


class Scrubber:
    """Replaces secret values in text that is shown."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: tuple[str, ...] = ()

    def learn(self, given: Mapping[str, str], used: Mapping[str, str]) -> None:
        """Hide values that came from secrets, and those of variables with secret names."""
        self.hide(
            {value for name, value in used.items() if value != given[name] or is_secret_name(name)}
        )

    def hide(self, values: Collection[str]) -> None:
        """Hide the values, and what follows the scheme of an `Authorization` header."""
        parts = {*values, *(value.split(" ", 1)[-1] for value in values)}
        long = {part for part in parts if len(part) >= _MIN_CHARS}
        self._values = tuple(sorted({*self._values, *long}, key=len, reverse=True))

    def __call__(self, text: str) -> str:
        """The text without the values."""
        for value in self._values:
            text = text.replace(value, "[secret]")
        return text


McpTransportKind: TypeAlias = Literal["stdio", "http", "sse", "in-process"]

CONNECT_TIMEOUT_SECONDS = 15.0
TIMEOUT_SECONDS = 120.0
RECONNECT_WAIT_SECONDS = 5.0
_TRANSPORTS: dict[str, McpTransportKind] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
    "sse": "sse",
}
_VARIABLE = re.compile(r"\$\{[^}]+\}")
_URL_FIELDS = ("httpUrl", "serverUrl", "url")
"""Names of the same field in the files of different hosts; the first one that is given counts."""
_FIELDS = frozenset(
    {"command", "args", "env", "cwd", "headers", "type", "disabled", "enabled", *_URL_FIELDS}
)
_PROTOCOLS = ("auto", "legacy", "2026-07-28")


@_checks.checked_class
@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class McpServer:
    """One MCP server: a `command`, a `url`, or a `server` object of this process.

    `env` and `headers` may hold `secret:NAME` for a value of the bridge's secrets, as in
    `{"Authorization": "Bearer secret:github"}`; `repr` shows their names only. The command gets
    HOME, LOGNAME, PATH, SHELL, TERM and USER, and `env`.

    >>> McpServer(name="git", command="mcp-server-git", env={"TOKEN": "s3cret"})
    McpServer(name='git', command='mcp-server-git', env=['TOKEN'])

    Raises:
        ConfigError: The name cannot be part of a tool's name, or the server has no place, or two.

    """

    name: str
    """The server's id in personalities and names: without `__`, and without `_` at either end."""
    command: str | None = None
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    transport: McpTransportKind | None = None
    """By default `stdio` for a command and `http` (streamable HTTP) for a URL; `sse` is legacy."""
    server: Any = None
    """A server object of the package `mcp`, run in this process."""
    http_client: Any = None
    """An `httpx2.AsyncClient` of your own, for example with an OAuth provider; you close it."""
    connect_timeout_seconds: float = CONNECT_TIMEOUT_SECONDS
    """From the start of a connection to the end of its first listing."""
    timeout_seconds: float | None = TIMEOUT_SECONDS
    """The timeout of each call; `None` for no timeout."""
    trust_annotations: bool = False
    """Believe `readOnlyHint` and `idempotentHint`: such tools count as idempotent, start early in
    streams and are sent again, once, if the connection was lost during a call."""
    resources: bool = False
    """Offer the server's resources as a tool `read_resource`, gated as its tools are."""
    max_definition_bytes: int = MAX_DEFINITION_BYTES
    """A tool whose definition is larger is skipped and reported as a problem."""
    max_total_definition_bytes: int = MAX_SERVER_DEFINITION_BYTES
    """Tools beyond it, in the order of their names, are skipped and reported."""
    protocol: str = "auto"
    """`auto` asks the server; `legacy` starts with `initialize`; or `2026-07-28`."""
    reconnect_wait_seconds: float = RECONNECT_WAIT_SECONDS
    """How long after the loss of a connection a call waits for the next one, before it is answered
    `not_available`; 0 to wait for nothing."""
    expands_variables: bool = False
    """Replace `${NAME}` and `${NAME:-default}` by environment variables when it connects; true for
    servers of a configuration."""
    unknown_fields: tuple[str, ...] = ()
    """Fields of the JSON object that are not read here; the bridge lists them as a problem."""

    def __post_init__(self) -> None:
        portable_name(self.name, "tool")
        places = [
            place for place in ("command", "url", "server") if getattr(self, place) is not None
        ]
        if len(places) != 1:
            raise self._error(
                f"needs one of `command`, `url` and `server`, got {' and '.join(places) or 'none'}"
            )
        [place] = places
        expected: McpTransportKind = {"command": "stdio", "url": "http", "server": "in-process"}[
            place
        ]  # type: ignore[assignment]
        transport = self.transport or expected
        if transport != expected and not (place == "url" and transport == "sse"):
            raise self._error(f"a `{place}` cannot be reached by {transport!r}")
        values: dict[str, Any] = {"transport": transport}
        for name in ("command", "url", "cwd"):
            value = getattr(self, name)
            if name == "command" and isinstance(value, list | tuple):
                raise self._error("`command` is one program; what follows it belongs in `args`")
            if value is not None and not _checks.text(os.fspath(value), name):
                raise self._error(f"`{name}` must not be empty")
            values[name] = None if value is None else os.fspath(value)
        is_expanded = self.expands_variables and str(self.url).startswith("${")
        if self.url is not None and not (
            is_expanded or self.url.startswith(("http://", "https://"))
        ):
            raise self._error(
                f"`url` must begin with http:// or https://: {_checks.brief(self.url)}"
            )
        values["args"] = _checks.strings(self.args, "args")
        for name in ("env", "headers"):
            values[name] = self._strings(getattr(self, name), name)
        _checks.one_of(self.protocol, _PROTOCOLS, "protocol")
        _checks.boolean(self.trust_annotations, "trust_annotations")
        _checks.finite_number(self.connect_timeout_seconds, "connect_timeout_seconds")
        _checks.finite_number(self.reconnect_wait_seconds, "reconnect_wait_seconds")
        _checks.boolean(self.expands_variables, "expands_variables")
        _checks.boolean(self.resources, "resources")
        for name in ("max_definition_bytes", "max_total_definition_bytes"):
            _checks.finite_number(getattr(self, name), name, whole=True)
        if self.timeout_seconds is not None:
            _checks.finite_number(self.timeout_seconds, "timeout_seconds")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        parts = [f"name={self.name!r}"]
        if self.command is not None:
            parts.append(f"command={self.command!r}")
        if self.url is not None:
            parts.append(f"url={url_without_secrets(self.url)!r}")
        if self.env:
            parts.append(f"env={list(self.env)!r}")
        if self.headers:
            parts.append(f"headers={list(self.headers)!r}")
        return f"McpServer({', '.join(parts)})"

    @property
    def unexpanded_fields(self) -> list[str]:
        """The fields that hold `${...}` that is not replaced, as some hosts do."""
        fields: dict[str, str | None] = {"command": self.command, "cwd": self.cwd, "url": self.url}
        fields |= {f"args.{place}": value for place, value in enumerate(self.args)}
        fields |= {f"env.{key}": value for key, value in self.env.items()}
        fields |= {f"headers.{key}": value for key, value in self.headers.items()}
        if self.expands_variables:
            fields = {name: _EXPANDED.sub("", value or "") for name, value in fields.items()}
        return [name for name, value in fields.items() if value and _VARIABLE.search(value)]

    def expanded(self) -> McpServer:
        """The same with the environment variables in command, arguments, folder and URL."""
        if not self.expands_variables:
            return self
        values: dict[str, Any] = {
            name: expanded(value, self.name)
            for name in ("command", "cwd", "url")
            if (value := getattr(self, name)) is not None
        }
        args = [expanded(value, self.name) for value in self.args]
        changed: McpServer = replace(self, args=args, **values)
        if changed.url is not None and not changed.url.startswith(("http://", "https://")):
            raise self._error("its URL does not begin with http:// or https://")
        return changed

    @property
    def place(self) -> str:
        """Where the server is, in one line without secrets."""
        if self.command is not None:
            return self.command
        return url_without_secrets(self.url) if self.url is not None else "in this process"

    def with_options(self, **options: Any) -> McpServer:
        """A copy with some fields changed."""
        return replace(self, **options)

    def _strings(self, value: object, name: str) -> dict[str, str]:
        if not isinstance(value, Mapping):
            raise self._error(f"`{name}` must be an object of strings, got {type(value).__name__}")
        for key, item in value.items():
            if not isinstance(key, str) or not isinstance(item, str):
                raise self._error(f"`{name}.{key}` must be a string, got {type(item).__name__}")
        return dict(value)

    def _error(self, problem: str) -> ConfigError:
        return ConfigError(
            f"MCP server {self.name!r}: {problem}", context={"field": "server", "value": self.name}
        )


def url_without_secrets(url: str) -> str:
    """The URL without user, password, query and fragment, where secrets are put."""
    scheme, _, rest = url.partition("://")
    end = min((rest.find(mark) for mark in "/?#" if mark in rest), default=len(rest))
    host, path = rest[:end].rpartition("@")[2], rest[end:]
    for mark in "?#":
        path = path.partition(mark)[0]
    return f"{scheme}://{host}{path}"


def read_config(source: str | os.PathLike[str] | Mapping[str, Any]) -> list[McpServer]:
    """The servers of a file in the common `mcpServers` format, or of its content.

    `servers` of VS Code is read too, and `serverUrl` and `httpUrl` for `url`. Servers with
    `"disabled": true` or `"enabled": false` are left out.

    Raises:
        ConfigError: The file cannot be read, is not JSON, or describes a server in a wrong way.

    """
    place = "the configuration"
    document: Any = source
    if not isinstance(source, Mapping):
        place = os.fspath(source)
        try:
            document = json.loads(Path(source).read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"{place}: cannot be read: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{place}: is not text in UTF-8; save it as UTF-8") from None
        except ValueError as error:
            raise ConfigError(f"{place}: is not valid JSON: {error}") from None
    servers = _servers_in(document)
    if servers is None:
        raise ConfigError(
            f'{place}: must be {{"mcpServers": {{"name": {{"command": "..."}}}}}}: '
            "there is no object `mcpServers`"
        )
    found = [_server(place, name, entry) for name, entry in servers.items()]
    return [server for server in found if server is not None]


def _servers_in(document: Any) -> Mapping[str, Any] | None:
    """The object of servers: `mcpServers`, or `servers` as VS Code writes it."""
    for path in (("mcpServers",), ("servers",), ("mcp", "servers")):
        found = document
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        if isinstance(found, Mapping):
            return found
    return None


def _server(place: str, name: str, entry: Any) -> McpServer | None:
    if not isinstance(entry, Mapping):
        raise ConfigError(f"{place}: server {name!r} must be an object, got {type(entry).__name__}")
    for switch, default in (("disabled", False), ("enabled", True)):  # hosts differ in the field
        value = entry.get(switch, default)
        if not isinstance(value, bool):
            raise ConfigError(
                f"{place}: server {name!r}: `{switch}` must be true or false, got "
                f"{_checks.brief(value)}"
            )
        if value is not default:
            return None
    kind = entry.get("type")
    if kind is not None and (not isinstance(kind, str) or kind not in _TRANSPORTS):
        raise ConfigError(
            f"{place}: server {name!r} has the unknown type {_checks.brief(kind)}"
            f"{did_you_mean(kind, _TRANSPORTS)}; known are stdio, http and sse"
        )
    known = {
        field: entry[field]
        for field in ("command", "args", "env", "cwd", "headers")
        if entry.get(field) is not None
    }
    urls = [entry[field] for field in _URL_FIELDS if entry.get(field) is not None]
    if urls:
        known["url"] = urls[0]
    try:
        return McpServer(
            name=name,
            transport=None if kind is None else _TRANSPORTS[kind],
            expands_variables=True,
            unknown_fields=tuple(sorted(str(field) for field in entry.keys() - _FIELDS)),
            **known,
        )
    except (ConfigError, TypeError) as error:
        raise ConfigError(f"{place}: server {name!r}: {error}") from None
