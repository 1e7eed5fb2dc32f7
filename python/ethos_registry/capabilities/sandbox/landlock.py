"""Confinement by Landlock and seccomp: the process restricts itself, then executes the command."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence

from ethos_registry import _core
from ethos_registry.capabilities.sandbox.policy import (
    PreparedCommand,
    SandboxPolicy,
    confined_environment,
    system_paths,
    without_closed,
)

__all__ = ["probe_landlock", "wrap_in_landlock"]

_LAUNCHER = os.path.join(os.path.dirname(__file__), "landlock_launcher.py")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts")


def probe_landlock() -> str | None:
    """Why Landlock does not work here; `None` if it does."""
    problem = getattr(_core, "confinement_problem", None)
    if problem is None:
        return "Landlock is a Linux interface"
    if not sys.executable:
        return "the path of this Python interpreter is unknown"
    found: str | None = problem()
    return found


def wrap_in_landlock(
    argv: Sequence[str],
    policy: SandboxPolicy,
    *,
    environment: Mapping[str, str],
) -> PreparedCommand:
    """`argv` as a command that restricts itself to the policy before it runs."""
    private = tempfile.mkdtemp(prefix="ethos-")
    readable = [
        *system_paths(environment),
        "/dev/random",
        "/dev/urandom",
        "/proc/self",
        "/proc/meminfo",
    ]
    request = {
        "core": _core.__file__,
        "read": without_closed([*readable, *policy.read], policy.protection),
        "write": [path for path in (*policy.write, private, *_DEVICES) if os.path.exists(path)],
        "network": policy.network,
    }
    wrapped = [sys.executable, "-I", "-S", _LAUNCHER, json.dumps(request), *argv]
    return PreparedCommand(wrapped, confined_environment(environment, policy, private), [private])
