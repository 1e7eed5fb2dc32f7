"""Confinement by namespaces: the program `bwrap`."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence

from ethos_registry.capabilities.sandbox.policy import (
    PreparedCommand,
    SandboxPolicy,
    confined_environment,
    system_paths,
)

__all__ = ["find_bubblewrap", "probe_bubblewrap", "wrap_in_bubblewrap"]

_PROBE_SECONDS = 10.0
_PRIVATE = "/tmp"


def find_bubblewrap() -> str | None:
    """The path of `bwrap` on `PATH`, never one below the working directory unless that is `/`."""
    here = os.path.realpath(os.getcwd()).rstrip(os.sep) + os.sep
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if not os.path.isabs(folder):
            continue
        found = shutil.which("bwrap", path=folder)
        if found is not None and (here == os.sep or not os.path.realpath(found).startswith(here)):
            return found
    return None


def probe_bubblewrap(program: str) -> str | None:
    """Why bubblewrap does not work here; `None` if it does."""
    command = [program, *_NAMESPACES, "--unshare-net", "--ro-bind", "/", "/", "true"]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_PROBE_SECONDS, check=False, text=True
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} does not run: {error}"
    if done.returncode == 0:
        return None
    reason = done.stderr.strip().splitlines()
    return reason[-1] if reason else f"{program} ended with status {done.returncode}"


_NAMESPACES = (
    "--unshare-user-try",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
)


def wrap_in_bubblewrap(
    program: str,
    argv: Sequence[str],
    policy: SandboxPolicy,
    *,
    directory: str,
    environment: Mapping[str, str],
) -> PreparedCommand:
    """`argv` as a command that sees only the paths of the policy and the system's."""
    wrapped = [program, *_NAMESPACES]
    if not policy.network:
        wrapped.append("--unshare-net")
    wrapped += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", _PRIVATE]
    for path in (*system_paths(environment), *policy.read):
        wrapped += _bind("--ro-bind", path)
    for path in policy.write:
        wrapped += _bind("--bind", path)
    wrapped += _protect(policy)
    # The root is a file system in memory; files written there would be lost silently.
    wrapped += ["--remount-ro", "/", "--chdir", directory, "--", *argv]
    return PreparedCommand(wrapped, confined_environment(environment, policy, _PRIVATE))


def _bind(option: str, path: str) -> list[str]:
    if os.path.islink(path):  # /bin and /lib are links to below /usr on most systems
        target = os.readlink(path)
        if path.count("/") == 1:
            return ["--symlink", target, path]
    return [f"{option}-try", path, path]


def _protect(policy: SandboxPolicy) -> Iterator[str]:
    """Options that keep protected paths closed or read-only inside the bound directories."""
    protection = policy.protection
    roots = (*policy.write, *policy.read)
    closed = (
        *protection.closed_paths,
        *(os.path.join(root, name) for root in roots for name in protection.closed_names),
    )
    for path in closed:
        if os.path.isdir(path):
            yield from ("--tmpfs", path, "--remount-ro", path)
        elif os.path.exists(path):
            yield from ("--ro-bind", "/dev/null", path)
    read_only = (
        *protection.read_only_paths,
        *(os.path.join(root, name) for root in policy.write for name in protection.read_only_names),
    )
    for path in read_only:
        if os.path.exists(path) and any(
            path == root or path.startswith(root.rstrip("/") + "/") for root in policy.write
        ):
            yield from ("--ro-bind", path, path)
