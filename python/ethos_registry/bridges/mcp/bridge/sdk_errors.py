"""What an error of the SDK's client means: it uses few codes, which servers use too.

Imports the package `mcp`: a connection imports this module when it connects.
"""

from __future__ import annotations

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST, REQUEST_TIMEOUT

from ethos_registry.bridges.mcp.bridge.answers import ConnectionLostError, SessionEndedError

__all__ = ["is_answer", "is_timeout", "raise_if_lost"]

_CLOSED = ("Connection closed", "SSE stream ")
_SESSION_ENDED = (INVALID_REQUEST, "Session terminated")


def raise_if_lost(error: BaseException) -> None:
    """Raise what a lost connection means for the call; return if the error is another one.

    Raises:
        ConnectionLostError: The connection ended before the answer came.
        SessionEndedError: The server refused the request: it does not know the session any more.

    """
    if isinstance(error, anyio.BrokenResourceError | anyio.ClosedResourceError):
        raise ConnectionLostError from None
    if isinstance(error, MCPError):
        if error.code == CONNECTION_CLOSED and error.message.startswith(_CLOSED):
            raise ConnectionLostError from None
        if (error.code, error.message) == _SESSION_ENDED:
            raise SessionEndedError from None


def is_timeout(error: MCPError) -> bool:
    """Whether the client gave up; servers use the code for errors of their own."""
    return error.code == REQUEST_TIMEOUT and error.message.endswith("timed out")


def is_answer(error: BaseException) -> bool:
    """Whether it is an error that the server answered with."""
    if not isinstance(error, MCPError) or is_timeout(error):
        return False
    try:
        raise_if_lost(error)
    except (ConnectionLostError, SessionEndedError):
        return False
    return True
