"""Confinement on macOS: `sandbox-exec` with a generated profile.

The program is deprecated by Apple and still shipped; its profiles are not documented. The rules
here follow Apple's own profiles in `/System/Library/Sandbox/Profiles`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence

from ethos_registry.capabilities.sandbox.policy import (
    PreparedCommand,
    SandboxPolicy,
    confined_environment,
    system_paths,
)

__all__ = ["probe_seatbelt", "seatbelt_profile", "wrap_in_seatbelt"]

_PROGRAM = "/usr/bin/sandbox-exec"


def probe_seatbelt() -> str | None:
    """Why Seatbelt does not work here; `None` if it does."""
    return None if os.access(_PROGRAM, os.X_OK) else f"{_PROGRAM} is missing"


def wrap_in_seatbelt(
    argv: Sequence[str], policy: SandboxPolicy, *, environment: Mapping[str, str]
) -> PreparedCommand:
    """`argv` as a command that Seatbelt confines to the policy."""
    private = os.path.realpath(tempfile.mkdtemp(prefix="ethos-"))
    profile = seatbelt_profile(policy, private, system_paths(environment))
    wrapped = [_PROGRAM, "-p", profile, *argv]
    return PreparedCommand(wrapped, confined_environment(environment, policy, private), [private])


def seatbelt_profile(policy: SandboxPolicy, private: str, system: Sequence[str]) -> str:
    """The profile: what it does not name is denied; the last matching rule decides."""
    readable = (*system, "/System", "/Library", "/private/etc", "/dev", *policy.read)
    writable = (private, *policy.write)
    protection = policy.protection
    lines = [
        "(version 1)",
        "(deny default)",
        "(allow process-exec process-fork signal (target same-sandbox))",
        "(allow sysctl-read mach-lookup file-read-metadata)",
        f"(allow file-read* {_paths(*readable, *writable)})",
        f'(allow file-write* {_paths(*writable)} (literal "/dev/null") (literal "/dev/tty"))',
    ]
    if protection.closed_paths:
        lines.append(f"(deny file-read* file-write* {_paths(*protection.closed_paths)})")
    read_only = [
        os.path.join(root, name) for root in policy.write for name in protection.read_only_names
    ]
    if read_only:
        lines.append(f"(deny file-write* {_paths(*read_only)})")
    if policy.network:
        lines.append("(allow network*)")
    return "\n".join(lines)


def _paths(*paths: str) -> str:
    return " ".join(f'(subpath "{_quoted(path)}")' for path in dict.fromkeys(paths))


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')
