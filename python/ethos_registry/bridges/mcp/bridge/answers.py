"""The answers to calls that were not sent, or whose connection ended."""

from __future__ import annotations

from ethos_registry.contract.result import ToolError

__all__ = ["ConnectionLostError", "SessionEndedError", "not_started", "session_ended", "was_lost"]


class ConnectionLostError(Exception):
    """The connection ended while the call was on its way; it may have run."""


class SessionEndedError(Exception):
    """The server does not know the session any more, so it did not start the call."""


def not_started(tool: str, reason: str) -> ToolError:
    """The answer to a call that certainly was not sent."""
    return ToolError(f"Tool {tool} was not started: {reason}", "not_available", "unavailable")


def session_ended(server: str) -> str:
    """Why a call was not started, and what to do."""
    return f"the session on MCP server {server} has ended; try again"


def was_lost(tool: str, server: str) -> ToolError:
    """The answer to a call whose connection ended."""
    return ToolError(
        f"Tool {tool}: the connection to MCP server {server} was lost during the call; "
        "it may have run",
        "execution_failed",
    )
