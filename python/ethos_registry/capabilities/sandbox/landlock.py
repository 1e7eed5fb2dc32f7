"""Confinement by Landlock and seccomp: the process restricts itself, then executes the command.

The supervisor's child does this between `fork` and `exec`. For those who run the command line
otherwise, it begins with a launcher that does the same; that costs the start of an interpreter.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence

from ethos_registry import _core
from ethos_registry.capabilities.sandbox.policy import (
    DEVICES,
    PreparedCommand,
    SandboxPolicy,
    confined_environment,
    system_paths,
    without_closed,
)
from ethos_registry.processes.restrictions import LandlockRules

__all__ = ["probe_landlock", "wrap_in_landlock"]

_LAUNCHER = os.path.join(os.path.dirname(__file__), "landlock_launcher.py")


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
    paths = [*system_paths(environment), *policy.read]
    writable = [private, *without_closed(policy.write, policy.protection, by_name=False)]
    rules = LandlockRules(
        [*without_closed(paths, policy.protection), "/proc/meminfo", "/proc/cpuinfo"],
        [path for path in (*writable, *DEVICES) if os.path.exists(path)],
        policy.network,
    )
    request = {"core": _core.__file__} | dataclasses.asdict(rules)
    return PreparedCommand(
        [sys.executable, "-I", "-S", _LAUNCHER, json.dumps(request), *argv],
        confined_environment(environment, policy, private),
        [private],
        [*argv],
        rules,
    )
