"""What a server may ask of the program, and how much at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from ethos_registry.mcp._server_text import (
    cleaned,
    cleaned_fields,
    cleaned_metadata,
    is_clean,
    one_line,
)
from ethos_registry.types._blocking import awaited, report_blocking
from ethos_registry.types._errors import ConfigError

_logger = logging.getLogger("ethos_registry")
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
}
_MAX_MESSAGE_CHARS = 4000
_MAX_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class McpElicitation:
    """A question of a server to a person; the words are the server's, without hidden characters."""

    server: str
    message: str
    fields: Mapping[str, Any]
    """The JSON Schema of each field by its name; empty if a page is to be opened."""
    required: tuple[str, ...] = ()
    url: str | None = None
    """A page that the person is to open; nothing of it is read here."""


@dataclass(frozen=True, slots=True)
class McpSampling:
    """A request of a server for an answer of the program's model."""

    server: str
    messages: tuple[Mapping[str, Any], ...]
    """`{role, content}` as the protocol has them; text without hidden characters."""
    system_prompt: str | None
    max_tokens: int
    """What the server asks for, at most 4,096."""
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class ServerCallbacks:
    """The functions of a bridge as the SDK's client calls them, for one server.

    A request is refused if its function raises, or answers with a value of the wrong kind.
    """

    server: str
    elicit: Callable[[McpElicitation], Any] | None = None
    sample: Callable[[McpSampling], Any] | None = None
    roots: Sequence[str] = ()

    def options(self) -> dict[str, Any]:
        """The keywords of the SDK's client; what is not given is not offered to the server."""
        found: dict[str, Any] = {"logging_callback": self._log}
        if self.elicit is not None:
            found["elicitation_callback"] = self._elicitation
        if self.sample is not None:
            found["sampling_callback"] = self._sampling
        if self.roots:
            found["list_roots_callback"] = self._list_roots
        return found

    async def _elicitation(self, context: Any, params: Any) -> Any:
        from mcp_types import ElicitResult

        url = getattr(params, "url", None)
        if url is not None and not is_clean(url):
            return ElicitResult(action="decline")
        schema = getattr(params, "requested_schema", None) or {}
        fields = schema.get("properties") if isinstance(schema, Mapping) else None
        request = McpElicitation(
            self.server,
            cleaned(params.message, _MAX_MESSAGE_CHARS),
            {name: cleaned_metadata(field) for name, field in cleaned_metadata(fields).items()},
            tuple(one_line(str(name)) for name in dict(schema).get("required") or ()),
            url,
        )
        answer = await self._answer(self.elicit, request)
        if isinstance(answer, Mapping):
            return ElicitResult(action="accept", content=None if request.url else dict(answer))
        return ElicitResult(action="decline" if answer is None else "cancel")

    async def _sampling(self, context: Any, params: Any) -> Any:
        from mcp_types import INVALID_REQUEST, CreateMessageResult, ErrorData, TextContent

        request = McpSampling(
            self.server,
            tuple(map(cleaned_fields, params.messages)),
            None if params.system_prompt is None else cleaned(params.system_prompt, 20_000),
            min(params.max_tokens, _MAX_TOKENS),
            params.temperature,
        )
        answer = await self._answer(self.sample, request)
        if not isinstance(answer, str):
            return ErrorData(code=INVALID_REQUEST, message="the request was declined")
        content = TextContent(type="text", text=answer)
        return CreateMessageResult(role="assistant", content=content, model="ethos-registry")

    async def _list_roots(self, context: Any) -> Any:
        from mcp_types import ListRootsResult

        return ListRootsResult.model_validate({"roots": [{"uri": uri} for uri in self.roots]})

    async def _answer(self, function: Callable[[Any], Any] | None, request: Any) -> Any:
        assert function is not None
        what = f"the answer to a request of MCP server `{self.server}`"
        try:
            return await awaited(partial(report_blocking, what), function, request)
        except Exception:
            _logger.exception("%s raised", what)
            return None

    async def _log(self, params: Any) -> None:
        level = _LEVELS.get(params.level, logging.ERROR)
        if _logger.isEnabledFor(level):
            _logger.log(level, "MCP server `%s`: %s", self.server, one_line(str(params.data), 500))


def checked_roots(roots: Sequence[str]) -> tuple[str, ...]:
    """The URIs of folders; `ConfigError` for another one."""
    if isinstance(roots, str):
        raise ConfigError(f"`roots` must be a list of URIs: {roots!r}; write [{roots!r}]")
    for root in roots:
        if not isinstance(root, str) or not root.startswith("file://"):
            raise ConfigError(f"`roots` must be file:// URIs: {root!r}")
    return tuple(roots)


MAX_OPEN_REQUESTS = 1_000
"""A server that has more does not take the answers: each would wait in memory."""


class OpenRequests:
    """A transport for the SDK's client, which ends when its server has too many requests open.

    The client starts a task for each request, whether the server takes the answers or not.
    """

    def __init__(self, transport: Any, on_too_many: Callable[[], object]) -> None:
        self._transport = transport
        self._on_too_many = on_too_many
        self._open = 0
        self.problem = ""
        """Why nothing more is read."""

    async def __aenter__(self) -> tuple[Any, Any]:
        reading, writing = await self._transport.__aenter__()
        return _Stream(reading, self._received), _Stream(writing, self._sent)

    async def __aexit__(self, *details: object) -> Any:
        return await self._transport.__aexit__(*details)

    def _received(self, item: Any) -> None:
        message = getattr(item, "message", None)
        if getattr(message, "method", None) and getattr(message, "id", None) is not None:
            self._open += 1
        if self._open > MAX_OPEN_REQUESTS:
            self.problem = f"it has more than {MAX_OPEN_REQUESTS:,} requests open"
            self._on_too_many()
            raise StopAsyncIteration

    def _sent(self, item: Any) -> None:
        if getattr(item.message, "method", None) is None:
            self._open -= 1


class _Stream:
    """One side of a transport, and who sees what has passed through it."""

    def __init__(self, stream: Any, passed: Callable[[Any], None]) -> None:
        self._stream = stream
        self._passed = passed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *details: object) -> Any:
        return await self._stream.__aexit__(*details)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        item = await self._stream.__anext__()
        self._passed(item)
        return item

    async def send(self, item: Any) -> None:
        """Pass on one message; it counts when the transport has taken it."""
        await self._stream.send(item)
        self._passed(item)
