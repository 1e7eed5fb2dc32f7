"""Confined commands, at the strongest level that this machine supports."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Protocol

from ethos_registry.capabilities.sandbox.bubblewrap import (
    find_bubblewrap,
    probe_bubblewrap,
    wrap_in_bubblewrap,
)
from ethos_registry.capabilities.sandbox.landlock import probe_landlock, wrap_in_landlock
from ethos_registry.capabilities.sandbox.policy import (
    PreparedCommand,
    SandboxLevel,
    SandboxPolicy,
    Support,
)
from ethos_registry.capabilities.sandbox.seatbelt import probe_seatbelt, wrap_in_seatbelt
from ethos_registry.contract.errors import EthosRegistryError

__all__ = ["CommandSandbox", "CommandSandboxPort", "UnconfinedError", "sandbox_support"]


class UnconfinedError(EthosRegistryError, RuntimeError):
    """A command must run confined, and this machine cannot confine it."""


class CommandSandboxPort(Protocol):
    """Runs commands confined; `CommandSandbox` implements it."""

    def probe(self) -> Support:
        """What this machine can enforce."""

    def wrap(
        self,
        argv: Sequence[str],
        policy: SandboxPolicy,
        *,
        directory: str,
        environment: Mapping[str, str],
    ) -> PreparedCommand:
        """The command line that runs `argv` confined; raises `UnconfinedError` if it cannot."""


class CommandSandbox:
    """Confines commands by bubblewrap, else by Landlock and seccomp, else by Seatbelt.

    The machine is probed once, at the first use. `levels` restricts the choice, for tests.

    >>> CommandSandbox(levels=()).probe().level
    'none'
    """

    def __init__(
        self, levels: Sequence[SandboxLevel] = ("namespaces", "landlock", "seatbelt")
    ) -> None:
        self._levels = tuple(levels)
        self._lock = threading.Lock()
        self._support: Support | None = None
        self._bubblewrap = ""

    def probe(self) -> Support:
        """What this machine can enforce; probed once."""
        with self._lock:
            if self._support is None:
                self._support = self._probed()
            return self._support

    def _probed(self) -> Support:
        reasons = []
        if "namespaces" in self._levels and sys.platform == "linux":
            program = find_bubblewrap()
            problem = (
                "bubblewrap is missing (apt install bubblewrap)"
                if program is None
                else probe_bubblewrap(program)
            )
            if program is not None and problem is None:
                self._bubblewrap = program
                return Support("namespaces")
            reasons.append(str(problem))
        if "landlock" in self._levels and sys.platform == "linux":
            problem = probe_landlock()
            if problem is None:
                return Support("landlock", "; ".join(reasons))
            reasons.append(problem)
        if "seatbelt" in self._levels and sys.platform == "darwin":
            problem = probe_seatbelt()
            if problem is None:
                return Support("seatbelt", "; ".join(reasons))
            reasons.append(problem)
        return Support("none", "; ".join(reasons) or "commands cannot be confined on this system")

    def wrap(
        self,
        argv: Sequence[str],
        policy: SandboxPolicy,
        *,
        directory: str,
        environment: Mapping[str, str] | None = None,
    ) -> PreparedCommand:
        """The command line that runs `argv` confined to `policy`.

        Raises `UnconfinedError` if this machine cannot confine it; then the command must not run.
        """
        support = self.probe()
        environment = os.environ if environment is None else environment
        if support.level == "namespaces":
            return wrap_in_bubblewrap(
                self._bubblewrap, argv, policy, directory=directory, environment=environment
            )
        if support.level == "landlock":
            return wrap_in_landlock(argv, policy, environment=environment)
        if support.level == "seatbelt":
            return wrap_in_seatbelt(argv, policy, environment=environment)
        raise UnconfinedError(f"the command cannot be confined here: {support.reason}")


_SHARED = CommandSandbox()


def sandbox_support() -> Support:
    """What this machine can enforce for commands; probed once.

    >>> sandbox_support().level in ("namespaces", "landlock", "seatbelt", "none")
    True
    """
    return _SHARED.probe()
