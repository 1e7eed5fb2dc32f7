"""Resources, prompts and completions of a bridge's servers for the clients of a gateway.

Imports the package `mcp`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CompleteRequestParams,
    GetPromptRequestParams,
    PaginatedRequestParams,
    PromptReference,
    ReadResourceRequestParams,
)

from ethos_registry.mcp._bridge import McpBridge
from ethos_registry.mcp._connection import Connection
from ethos_registry.mcp._resources import READ_RESOURCE, address_of
from ethos_registry.mcp._server_text import cleaned, cleaned_fields, is_clean
from ethos_registry.providers._portable_name import portable_name
from ethos_registry.types._policy import Personality

CallTool = Callable[[Any, CallToolRequestParams], Awaitable[dict[str, Any]]]
LISTED: dict[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
"""What every list of a gateway has."""


@dataclass(frozen=True, slots=True)
class PassedOn:
    """What servers offer beside tools, as far as a personality permits these servers.

    A resource is read by the tool `read_resource` of its server, so gates, redaction, the budget
    and observers apply to it as to any call.
    """

    bridge: McpBridge
    personality: Personality
    call_tool: CallTool
    is_listed: Callable[[str], bool]

    def add_to(self, server: Server[Any]) -> None:
        page = PaginatedRequestParams
        server.add_request_handler("resources/list", page, self._list_resources)
        server.add_request_handler("resources/templates/list", page, self._list_templates)
        server.add_request_handler("resources/read", ReadResourceRequestParams, self._read)
        server.add_request_handler("prompts/list", page, self._list_prompts)
        server.add_request_handler("prompts/get", GetPromptRequestParams, self._get_prompt)
        server.add_request_handler("completion/complete", CompleteRequestParams, self._complete)

    def _connections(self, capability: str) -> Iterator[Connection]:
        for name, tools in self.bridge._sets.items():
            connection = tools.connection
            if name not in self.personality.mcp_servers or connection._client is None:
                continue
            if capability == "resources" and not self._reads(connection):
                continue
            if getattr(connection.client.server_capabilities, capability) is not None:
                yield connection

    # Resources

    def _reads(self, connection: Connection) -> bool:
        name = portable_name(connection.server.name, READ_RESOURCE)
        return connection.offers_resources and self.is_listed(name)

    async def _resources(self, kind: str, *, again: bool = True) -> list[tuple[Connection, Any]]:
        """Each with its server; `kind` is `resources` or `resource_templates`."""
        found = []
        for connection in self._connections("resources"):
            try:
                listed = await connection.listed(kind, again=again)
            except MCPError:  # not every server with resources knows templates
                continue
            found += [(connection, each) for each in listed if is_clean(address_of(each))]
        return found

    async def _list_resources(self, context: Any, params: Any) -> dict[str, Any]:
        found = await self._resources("resources")
        return LISTED | {"resources": [cleaned_fields(each) for _, each in found]}

    async def _list_templates(self, context: Any, params: Any) -> dict[str, Any]:
        found = await self._resources("resource_templates")
        return LISTED | {"resourceTemplates": [cleaned_fields(each) for _, each in found]}

    async def _owner(self, uri: str) -> Connection:
        """The server that lists a resource, or a template of it; no other one is sent its URI.

        Servers are asked only for a URI that was in none of their last lists.
        """
        for again in (False, True):
            for connection, each in await self._resources("resources", again=again):
                if address_of(each) == uri:
                    return connection
            for connection, each in await self._resources("resource_templates", again=again):
                if _matches(address_of(each), uri):
                    return connection
        raise MCPError(INVALID_PARAMS, "Resource not found", {"uri": uri})

    async def _read(self, context: Any, params: ReadResourceRequestParams) -> dict[str, Any]:
        uri = str(params.uri)
        connection = await self._owner(uri)
        name = portable_name(connection.server.name, READ_RESOURCE)
        call = CallToolRequestParams(name=name, arguments={"uri": uri})
        result = await self.call_tool(context, call)
        if result["isError"]:
            raise MCPError(INTERNAL_ERROR, result["content"][0]["text"], {"uri": uri})
        contents = [_contents(block, uri) for block in result["content"]]
        return LISTED | {"contents": contents, "_meta": result.get("_meta", {})}

    # Prompts

    async def _prompts(self, *, again: bool) -> dict[str, tuple[Connection, Any]]:
        """The server and the listing of each prompt.

        A name that an earlier server has too begins with the name of its server.
        """
        found: dict[str, tuple[Connection, Any]] = {}
        for connection in self._connections("prompts"):
            for each in await connection.listed("prompts", again=again):
                name = each.name
                if name in found:
                    name = f"{connection.server.name}__{name}"
                if is_clean(each.name) and name not in found:
                    found[name] = connection, each
        return found

    async def _prompt(self, name: str) -> tuple[Connection, str]:
        for again in (False, True):
            if (found := (await self._prompts(again=again)).get(name)) is not None:
                return found[0], found[1].name
        raise MCPError(INVALID_PARAMS, f"unknown prompt {name[:100]!r}")

    async def _list_prompts(self, context: Any, params: Any) -> dict[str, Any]:
        found = await self._prompts(again=True)
        listed = [cleaned_fields(each) | {"name": name} for name, (_, each) in found.items()]
        return LISTED | {"prompts": listed}

    async def _get_prompt(self, context: Any, params: GetPromptRequestParams) -> dict[str, Any]:
        connection, name = await self._prompt(params.name)
        asking = connection.client.get_prompt(name, dict(params.arguments or {}))
        return {"resultType": "complete"} | await _answer(asking)

    async def _complete(self, context: Any, params: CompleteRequestParams) -> dict[str, Any]:
        reference = params.ref
        if isinstance(reference, PromptReference):
            connection, name = await self._prompt(reference.name)
            reference = PromptReference(type="ref/prompt", name=name)
        else:
            connection = await self._owner(str(reference.uri))
        argument = {"name": params.argument.name, "value": params.argument.value}
        given = params.context.arguments if params.context is not None else None
        asking = connection.client.complete(reference, argument, given)
        return {"resultType": "complete"} | await _answer(asking)


async def _answer(asking: Awaitable[Any]) -> dict[str, Any]:
    try:
        return cleaned_fields(await asking)
    except MCPError as error:
        raise MCPError(error.code, cleaned(error.message, 4000)) from None


def _matches(template: str, uri: str) -> bool:
    """Whether a URI is of a template, or is the template itself; in linear time."""
    first, *parts = re.split(r"\{[^{}]*\}", template)
    if not parts or not uri.startswith(first):
        return uri == template
    *inner, last = parts
    at = len(first)
    for part in inner:  # the value of an expression has at least one character
        found = uri.find(part, at + 1)
        if found < 0:
            return uri == template
        at = found + len(part)
    return uri == template or (uri.endswith(last) and at < len(uri) - len(last))


def _contents(block: Mapping[str, Any], uri: str) -> dict[str, Any]:
    """The contents of a resource in a block of a result; a fenced one is text."""
    if block["type"] == "resource":
        return dict(block["resource"])
    if "data" in block:
        return {"uri": uri, "mimeType": block["mimeType"], "blob": block["data"]}
    return {"uri": uri, "mimeType": "text/plain", "text": block.get("text", "")}
