"""Tools on a Ray cluster: actors, workers and the transport that calls them."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.transports.ray._members import RaySessions
    from ethos_registry.transports.ray._pool import RayWorkers
    from ethos_registry.transports.ray._transport import RayTransport

__all__ = [
    "RaySessions",
    "RayTransport",
    "RayWorkers",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "transports.ray._members": "RaySessions",
            "transports.ray._pool": "RayWorkers",
            "transports.ray._transport": "RayTransport",
        },
    )
