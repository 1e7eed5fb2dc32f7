"""What a confined command may access, and how strong the confinement is."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ethos_registry.capabilities.protected import DEFAULT_PROTECTION, Protection
from ethos_registry.processes.restrictions import LandlockRules
from ethos_registry.processes.supervised_process import SupervisedProcess
from ethos_registry.processes.supervisor import containment, start_supervised

__all__ = ["PreparedCommand", "SandboxLevel", "SandboxPolicy", "Support", "system_paths"]

SandboxLevel: TypeAlias = Literal["namespaces", "landlock", "seatbelt", "none"]
"""`namespaces`: the command sees only permitted paths, and no process of the host (bubblewrap).
`landlock`: rules for reads, writes and sockets; metadata, and protected files in writable
directories, are not covered. `seatbelt`: the same on macOS. `none`: commands cannot be confined."""


@dataclass(frozen=True, slots=True)
class Support:
    """What this machine can enforce, and why not more."""

    level: SandboxLevel
    reason: str = ""
    """What to install for a stronger level; empty if there is nothing to gain."""


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """What one command may access; paths are absolute."""

    read: Sequence[str] = ()
    write: Sequence[str] = ()
    """May be read too. A private temporary directory is added."""
    network: bool = False
    protection: Protection = DEFAULT_PROTECTION
    variables: Sequence[str] = ()
    """Names of environment variables to pass, in addition to a few harmless ones."""


@dataclass(frozen=True, slots=True)
class PreparedCommand:
    """A command that runs confined: by `start`, or however else `argv` is run."""

    argv: list[str]
    environment: dict[str, str]
    temporary: list[str] = field(default_factory=list)
    """Directories that exist for this command only."""
    program: list[str] | None = None
    """With `rules`, the command line that `start` runs: `argv` has to confine itself."""
    rules: LandlockRules | None = None

    def start(self, **options: Any) -> SupervisedProcess:
        """Start it by `start_supervised`, with these options."""
        if self.program is None or containment() != "tree":
            return start_supervised(self.argv, environment=self.environment, **options)
        return start_supervised(
            self.program, environment=self.environment, rules=self.rules, **options
        )

    def clean_up(self) -> None:
        """Remove the command's temporary directories."""
        for path in self.temporary:
            shutil.rmtree(path, ignore_errors=True)


_PASSED = ("PATH", "LANG", "LANGUAGE", "TERM", "TZ", "COLORTERM", "NO_COLOR", "CI", "SHELL", "USER")


def confined_environment(
    environment: Mapping[str, str], policy: SandboxPolicy, home: str
) -> dict[str, str]:
    """The variables to pass: none that could contain a secret of the host."""
    passed = {*_PASSED, *policy.variables}
    inherited = {
        name: value
        for name, value in environment.items()
        if name in passed or name.startswith("LC_")
    }
    toolchains = {
        name: path
        for name, folder in _TOOLCHAINS
        if os.path.isdir(path := environment.get(name) or os.path.join(Path.home(), folder))
    }
    return inherited | toolchains | {"HOME": home, "TMPDIR": home}


_TOOLCHAINS = (("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv"))
"""Toolchain managers that look below `HOME`, which is a private directory here."""


def without_closed(paths: Sequence[str], protection: Protection) -> list[str]:
    """`paths`, with each directory that contains a closed path replaced by its other entries."""
    closed = [os.path.realpath(path) for path in protection.closed_paths]
    closed += [os.path.join(path, name) for path in paths for name in protection.closed_names]
    closed = [path for path in closed if os.path.lexists(path)]
    return [rest for path in paths for rest in _carved(path, os.path.realpath(path), closed)]


def _carved(path: str, real: str, closed: Sequence[str]) -> Iterator[str]:
    if _is_below(real, closed):
        return
    inside = [one for one in closed if _is_below(one, (real,))]
    if not inside:
        yield path
        return
    with os.scandir(real) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if not entry.is_symlink():
                yield from _carved(entry.path, entry.path, inside)


def system_paths(environment: Mapping[str, str]) -> list[str]:
    """What every program may read: the system, and the toolchains on `PATH`.

    A toolchain below a home directory (`~/.cargo`, a virtual environment) is included with its
    whole prefix; the home directory itself never is.
    """
    system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/snap"]
    found = [path for path in system if os.path.exists(path)]
    home = str(Path.home())
    on_path = environment.get("PATH", os.defpath).split(os.pathsep)
    candidates = [
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        *(os.path.dirname(os.path.realpath(entry)) for entry in on_path if os.path.isabs(entry)),
        f"{home}/.rustup",
        f"{home}/.cargo",
    ]
    for path in candidates:
        real = os.path.realpath(path)
        is_too_wide = real in ("/", home) or home.startswith(real + os.sep)
        if os.path.isdir(real) and not is_too_wide and not _is_below(real, found):
            found.append(real)
    return found


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)
