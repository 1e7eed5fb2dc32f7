"""The connection of this process to a Ray cluster."""

from __future__ import annotations

import logging
import re
import socket
import sys
import threading
from typing import Any

from ethos_registry.contract.extras import missing_extra

__all__ = [
    "DEFAULT_NAMESPACE",
    "UnavailableError",
    "brief_error",
    "connect",
    "draining_nodes",
    "is_connected",
    "worker_name",
    "worker_names",
]

DEFAULT_NAMESPACE = "ethos-registry"
_PREFIX = "ethos-registry/pool/"
_connecting = threading.Lock()
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class UnavailableError(Exception):
    """No actor can take calls; nothing was sent."""


def is_connected() -> bool:
    """Whether this process has a cluster."""
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


def connect(address: str | None, seconds: float) -> None:
    """Connect this process once; blocks for about `seconds` at most.

    Raises:
        UnavailableError: Ray is missing, or there is no cluster at the address.

    """
    try:
        import ray
    except ImportError:
        raise UnavailableError(str(missing_extra("Ray", "ray"))) from None
    if ray.is_initialized():
        return
    if address is not None and address.startswith("ray://"):
        raise UnavailableError(
            f"{address!r} is for Ray Client, which has no streams; run on a node of the cluster "
            "and give HOST:PORT or auto"
        )
    _check_reachable(address, seconds)
    failures: list[Exception] = []
    logging.getLogger("ray._private.worker").addFilter(_is_no_signal_note)

    def initialise() -> None:
        try:
            with _connecting:
                if not ray.is_initialized():
                    ray.init(
                        address=address or "auto", log_to_driver=False, configure_logging=False
                    )
        except Exception as error:
            failures.append(error)

    # On a thread: there Ray leaves the signal handlers of the program alone, and can be given up.
    thread = threading.Thread(target=initialise, daemon=True, name="ethos-registry-ray-init")
    thread.start()
    thread.join(seconds)
    shown = address or "auto"
    if thread.is_alive():
        raise UnavailableError(f"the Ray cluster at {shown!r} does not answer within {seconds:g} s")
    if failures:
        raise UnavailableError(
            f"cannot connect to the Ray cluster at {shown!r}: {brief_error(failures[0])}"
        )


def _is_no_signal_note(record: logging.LogRecord) -> bool:
    """Drops the note that Ray leaves the signal handlers alone, which is wanted."""
    return "SIGTERM handler is not set" not in record.getMessage()


def _check_reachable(address: str | None, seconds: float) -> None:
    """Ray itself tries for a minute, and ends the process when it gives up."""
    found = re.fullmatch(r"\[?(?P<host>[^/]+?)\]?:(?P<port>\d{1,5})", address or "")
    if found is None:
        return
    try:
        socket.create_connection((found["host"], int(found["port"])), min(seconds, 10)).close()
    except (OSError, OverflowError) as error:
        reason = "timed out" if isinstance(error, TimeoutError) else brief_error(error)
        raise UnavailableError(f"no Ray cluster at {address!r}: {reason}") from None


def brief_error(error: Exception) -> str:
    """The first line of an error, without colours."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    first = next(iter(_ESCAPES.sub("", str(error)).strip().splitlines()), "")
    return first[:200] or type(error).__name__


def draining_nodes() -> frozenset[str]:
    """The ids of the nodes that Ray empties before they go; blocks for a short time."""
    import ray
    from ray.exceptions import RayError

    try:
        state: Any = ray._private.state.state
        return frozenset(state.get_draining_nodes())
    except (AttributeError, RayError, RuntimeError):  # not public: another release may lack it
        return frozenset()


def worker_name(pool: str, worker: str) -> str:
    """The name of a worker of a pool."""
    return f"{_PREFIX}{pool}/{worker}"


def worker_names(pool: str, namespace: str) -> list[str]:
    """The names of the workers that a pool has now; blocks for a short time."""
    import ray

    prefix = worker_name(pool, "")
    return sorted(
        entry["name"]
        for entry in ray.util.list_named_actors(all_namespaces=True)
        if entry["namespace"] == namespace and entry["name"].startswith(prefix)
    )
