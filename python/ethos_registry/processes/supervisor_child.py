"""What the supervisor's child sets for itself before it becomes the command.

Linux only. The supervisor program runs after this module, in the same namespace, in a process of
its own that has no package and one thread.
"""

# ruff: noqa: D102, D103, SIM105
from __future__ import annotations

import _ctypes
import posix

TYPE_CHECKING = False  # `typing` takes as long to import as the interpreter to start
if TYPE_CHECKING:
    from typing import Any

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_PATH_BENEATH = 1
_READ_FILE_AND_FOLDER = 0b1100
_INSTRUCTION_BYTES = 8
_PR_CAPBSET_DROP = 24
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITIES = 64
_CAPABILITY_VERSION = 0x20080522


def _call(name: str, *arguments: int | bytes) -> None:
    native = _ctypes
    library = native.dlopen(None, 0)  # type: ignore[arg-type]
    function = native.dlsym(library, name)
    if native.call_function(function, arguments) != 0:
        raise OSError(name + " failed")


def prctl(option: int, value: int) -> None:
    _call("prctl", option, value, 0, 0, 0)


def drop_capabilities() -> None:
    """Give up every capability, also those that root gets by executing a program."""
    for option, first, second in (
        (_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0),
        *((_PR_CAPBSET_DROP, capability, 0) for capability in range(_CAPABILITIES)),
    ):
        try:
            _call("prctl", option, first, second, 0, 0)
        except OSError:
            pass  # there is no such capability, or this process may not: then it has none
    header = _CAPABILITY_VERSION.to_bytes(4, "little") + bytes(4)
    _call("capset", header, bytes(24))


class Restriction:
    """Landlock rules and a seccomp filter that the host has prepared, for the child to enter."""

    def __init__(self, rules: int, instructions: bytes) -> None:
        native: Any = _ctypes
        char = type("char", (native._SimpleCData,), {"_type_": "c"})
        fields = {"_type_": char, "_length_": len(instructions)}
        buffer: Any = type("buffer", (native.Array,), fields)
        self.rules = rules
        self.instructions = buffer.from_buffer_copy(instructions)
        length = len(instructions) // _INSTRUCTION_BYTES
        address = native.addressof(self.instructions)
        # struct sock_fprog: the length, six bytes of padding, the address. Landlock and seccomp are
        # used on 64-bit processors with this byte order only.
        self.program = length.to_bytes(8, "little") + address.to_bytes(8, "little")

    def enter(self) -> None:
        prctl(_PR_SET_NO_NEW_PRIVS, 1)
        # In the host `/proc/self` would be the host's process, with its environment.
        own = posix.open("/proc/self", posix.O_PATH | posix.O_CLOEXEC)
        beneath = _READ_FILE_AND_FOLDER.to_bytes(8, "little") + own.to_bytes(4, "little")
        _call("syscall", _LANDLOCK_ADD_RULE, self.rules, _PATH_BENEATH, beneath, 0)
        posix.close(own)
        _call("syscall", _LANDLOCK_RESTRICT_SELF, self.rules, 0)
        drop_capabilities()
        _call("prctl", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, self.program, 0, 0)


def set_limits(limits: list[tuple[str, int]]) -> None:
    import resource

    for name, value in (("RLIMIT_CORE", 0), *limits):
        number = getattr(resource, name)
        most = resource.getrlimit(number)[1]
        # SIGXCPU comes at the lower one, SIGKILL at the upper one.
        pair = (value, value + 1) if name == "RLIMIT_CPU" else (value, value)
        if most != resource.RLIM_INFINITY:
            pair = (min(pair[0], most), min(pair[1], most))
        resource.setrlimit(number, pair)
