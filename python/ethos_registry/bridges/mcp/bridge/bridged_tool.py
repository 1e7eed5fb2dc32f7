"""One tool of a server in the registry."""

from __future__ import annotations

from typing import Any

from ethos_registry.bridges.mcp.bridge.answers import not_started
from ethos_registry.bridges.mcp.bridge.connection import Connection
from ethos_registry.bridges.mcp.bridge.definition import (
    RemoteDefinition,
    argument_validator,
    compositions_at_root,
)
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.result import ToolResult
from ethos_registry.contract.tool import Tool
from ethos_registry.providers.portable_name import portable_name

__all__ = ["BridgedTool"]

NETWORK_TRANSPORTS = {"stdio": "pipe", "http": "tcp", "sse": "tcp"}
"""A server in this process has none."""


def _never() -> bool:
    return False


class BridgedTool:
    """A definition, frozen when it was listed, and the calls of it.

    With a `refusal` its calls are answered `not_available`; a tool that was not approved is not
    shown either, and its description is not that of the server.

    Raises `ConfigError` if no registry could take the definition.
    """

    __slots__ = (
        "_connection",
        "_may_resend",
        "_validator",
        "annotations",
        "definition",
        "is_hidden",
        "name",
        "refusal",
        "tool",
    )

    def __init__(
        self,
        connection: Connection,
        definition: RemoteDefinition,
        refusal: str | None = None,
        *,
        is_hidden: bool = False,
    ) -> None:
        server = connection.server
        self._connection = connection
        self.definition = definition
        self.refusal = refusal
        self.is_hidden = is_hidden
        self.annotations = definition.annotations
        self.name = portable_name(server.name, definition.name)
        is_trusted = server.trust_annotations and (
            self.annotations.read_only or self.annotations.idempotent
        )
        self._may_resend = is_trusted
        description, schema = definition.description, definition.schema
        if is_hidden:
            description, schema = "Not approved.", {"type": "object"}
        self.tool = Tool(
            self.name,
            description,
            schema,
            self,
            output_is_untrusted=True,
            timeout_seconds=server.timeout_seconds,
            idempotent=is_trusted,
            is_available=_never if is_hidden else None,
        )
        self._validator = argument_validator(self.name, self.tool.schema)

    @property
    def root_compositions(self) -> list[str]:
        """Keywords at the root of its schema that some providers refuse there."""
        return compositions_at_root(self.definition.fields.get("inputSchema"))

    def is_same(self, definition: RemoteDefinition, refusal: str | None) -> bool:
        """Whether a listing shows this tool as it is here."""
        return definition.digest == self.definition.digest and refusal == self.refusal

    @property
    def protocol_version(self) -> str | None:
        """The revision of MCP that the connection speaks; read by telemetry."""
        return self._connection.protocol_version

    @property
    def network_transport(self) -> str | None:
        """How the server is reached, as OpenTelemetry names it; read by telemetry."""
        return NETWORK_TRANSPORTS.get(self._connection.server.transport or "")

    async def __call__(self, args: Any, context: ToolContext) -> ToolResult:
        """Run one call."""
        if self.refusal is not None:
            return not_started(self.name, self.refusal)
        problem = self._validator.problems(args)
        if problem is not None:
            return problem
        return await self._connection.call(
            self.name, self.definition.name, args, context, self._may_resend
        )
