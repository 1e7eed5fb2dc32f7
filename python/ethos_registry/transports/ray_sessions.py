"""Settings of tools that keep state for a session."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from ethos_registry.contract import checks

__all__ = ["RaySessions", "session_actor_name"]


@dataclass(frozen=True, slots=True)
class RaySessions:
    """One actor for each `session_id`: for tools such as a browser or a shell.

    Raises:
        ConfigError: A value is of the wrong kind.

    >>> RaySessions(idle_seconds=60).is_serial
    True

    """

    idle_seconds: float = 600.0
    """An actor without calls for that time ends, and its state is lost."""
    is_serial: bool = True
    """Whether the calls of a session run one after another."""
    max_open: int = 64
    """The most sessions that this process keeps open; calls of others are `not_available`."""

    def __post_init__(self) -> None:
        checks.finite_number(self.idle_seconds, "idle_seconds")
        checks.boolean(self.is_serial, "is_serial")
        checks.finite_number(self.max_open, "max_open", minimum=1, whole=True)


def session_actor_name(pool: str, session_id: str) -> str:
    """The name of the actor of a session: the id itself may be personal data."""
    digest = hashlib.sha256(f"{pool}\0{session_id}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"ethos-registry/session/{digest[:32]}"
