"""What a program may use and access, set in its process before it runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypedDict

from ethos_registry import _core
from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError

__all__ = ["LandlockRules", "ResourceLimits", "checked_limits"]


class ResourceLimits(TypedDict, total=False):
    """The most that each process of a program may use; what is not given is not limited."""

    cpu_seconds: int
    """Processor time; then `SIGXCPU`, and `SIGKILL` a second later."""
    memory_bytes: int
    """Address space; allocations beyond it fail."""
    file_size_bytes: int
    """The size of a file that it writes; then `SIGXFSZ`."""
    open_files: int
    """Open descriptors."""


_NAMES = {
    "cpu_seconds": "RLIMIT_CPU",
    "memory_bytes": "RLIMIT_AS",
    "file_size_bytes": "RLIMIT_FSIZE",
    "open_files": "RLIMIT_NOFILE",
}


def checked_limits(limits: ResourceLimits | None) -> list[tuple[str, int]]:
    """The limits by the names that the system uses; `ConfigError` for an unknown one."""
    found = []
    given: Mapping[str, object] = limits or {}
    for name, value in given.items():
        if name not in _NAMES:
            raise ConfigError(
                f"`limits` has an unknown resource {name!r}; known are {', '.join(_NAMES)}"
            )
        number = checks.finite_number(value, f"limits.{name}", minimum=1, whole=True)
        found.append((_NAMES[name], int(number)))
    return found


@dataclass(frozen=True, slots=True)
class LandlockRules:
    """What a program may access, enforced by Landlock and seccomp.

    The rules are prepared here; the process that becomes the program enters them with three system
    calls between `fork` and `exec`.
    """

    read: Sequence[str]
    write: Sequence[str]
    network: bool

    @contextmanager
    def prepared(self) -> Iterator[tuple[int, bytes]]:
        """The descriptor of the rules, open while the program is started, and the filter.

        Raises:
            OSError: The kernel cannot do it; the program must not be started.

        """
        descriptor, instructions = _core.prepare_confinement(
            list(self.read), list(self.write), self.network
        )
        try:
            yield descriptor, instructions
        finally:
            os.close(descriptor)
