"""What a confined command may access, and how strong the confinement is."""

from __future__ import annotations

import contextlib
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


OWN_PLACES = ("/proc", "/dev", "/run", "/tmp", "/var/run", "/sys")
"""A command has these of its own, whatever its reach is: they show the host's processes."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def without_closed(
    paths: Sequence[str], protection: Protection, *, by_name: bool = True
) -> list[str]:
    """`paths`, with each directory that contains a closed path replaced by its other entries.

    Closed are those of `protection`, those that have a closed name in one of `paths` (`by_name`),
    and, in a path that contains them, the places that each command has for itself.
    """
    closed = [os.path.realpath(path) for path in protection.closed_paths]
    if by_name:
        closed += [os.path.join(path, name) for path in paths for name in protection.closed_names]
    closed = [path for path in closed if os.path.lexists(path)]
    found: list[str] = []
    for path in paths:
        real = os.path.realpath(path)
        own = [place for place in OWN_PLACES if is_below(place, (real,)) and place != real]
        found += _carved(path, real, [*closed, *own])
    return found


def _carved(path: str, real: str, closed: Sequence[str]) -> Iterator[str]:
    if is_below(real, closed):
        return
    inside = [one for one in closed if is_below(one, (real,))]
    if not inside:
        yield path
        return
    with contextlib.suppress(OSError), os.scandir(real) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if not entry.is_symlink():
                yield from _carved(entry.path, entry.path, inside)


_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/snap")
_TOOLS_IN_HOME = (
    ".asdf",
    ".bun",
    ".cargo",
    ".deno",
    ".fnm",
    ".local/bin",
    ".local/lib",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".nodenv",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    "anaconda3",
    "go",
    "mambaforge",
    "miniconda3",
    "miniforge3",
)
"""Where toolchains are installed in a home directory; their credentials remain closed."""


def system_paths(environment: Mapping[str, str]) -> list[str]:
    """What every program may read: the system, and the toolchains on `PATH`.

    These are the directories of programs and what links in them lead to, the prefix of a Python or
    conda environment, and known directories of toolchains; never the parent of an entry of `PATH`,
    and never a home directory.
    """
    found = [path for path in _SYSTEM if os.path.exists(path)]
    home = str(Path.home())
    candidates = [sys.prefix, sys.base_prefix, sys.exec_prefix]
    candidates += [os.path.join(home, name) for name in _TOOLS_IN_HOME]
    for entry in environment.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(entry):
            candidates += _of_programs(os.path.realpath(entry), found)
    for path in candidates:
        real = os.path.realpath(path)
        is_too_wide = real in ("/", home) or home.startswith(real + os.sep)
        if os.path.exists(real) and not is_too_wide and not is_below(real, found):
            found.append(real)
    return found


def _of_programs(folder: str, known: Sequence[str]) -> Iterator[str]:
    """A directory of programs, its environment, and what its links lead to."""
    if is_below(folder, known):
        return
    yield folder
    yield from _environment_of(folder)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                target = os.path.realpath(entry.path)
                yield target
                yield from _environment_of(os.path.dirname(target))


def _environment_of(folder: str) -> Iterator[str]:
    prefix = os.path.dirname(folder)
    if any(os.path.exists(os.path.join(prefix, name)) for name in ("pyvenv.cfg", "conda-meta")):
        yield prefix


def is_below(path: str, folders: Sequence[str]) -> bool:
    """Whether a path is one of the folders or below one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
