"""Private attributes of the package `mcp`: where one is missing, its feature is off, no more."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

_logger = logging.getLogger("ethos_registry")
_reported: set[str] = set()


def private_attribute(owner: Any, name: str, feature: str) -> Any:
    """The attribute; or `None`, and one WARNING that a feature is off."""
    found = getattr(owner, name, None)
    if found is None and feature not in _reported:
        _reported.add(feature)
        _logger.warning(
            "%s is off: the installed package `mcp` has no `%s.%s`; install another release",
            *(feature, type(owner).__name__, name),
        )
    return found


def raw_requests(session: Any, feature: str) -> Callable[..., Awaitable[dict[str, Any]]] | None:
    """Sends a request and returns its result as JSON: `send(method, params, **options)`.

    The SDK's own way refuses results that its revision of the protocol does not have. `None` if
    the SDK has no other.
    """
    stamp = private_attribute(session, "_stamp", feature)
    dispatcher = private_attribute(session, "_dispatcher", feature)
    if stamp is None or dispatcher is None:
        return None

    async def send(method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        data: dict[str, Any] = {"method": method, "params": params}
        stamp(data, options)
        return dict(await dispatcher.send_raw_request(method, data["params"], options))

    return send
