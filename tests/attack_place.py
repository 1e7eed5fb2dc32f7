"""Where commands attack: directories inside and outside, and a process of the host."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from command_attacks import SECRET, CommandAttack
from ethos_registry.capabilities import (
    CommandSandbox,
    SandboxPolicy,
    SupervisedProcess,
    SupervisorUnavailableError,
)
from ethos_registry.capabilities._sandbox import PreparedCommand
from started import ended_with_test

_VICTIM = 'exec 9<"$1"; IFS= read -r S <&9; echo ready; read -r line'
_IPC_CREAT = 0o1000


class Place:
    """A working directory that may be written, and what must not be reached."""

    def __init__(self, base: Path) -> None:
        self.inside = base / "inside"
        self.outside = base / "outside"
        self.inside.mkdir()
        self.outside.mkdir()
        self.secret = self.outside / "secret.txt"
        self.secret.write_text(SECRET)
        (self.outside / "empty").mkdir()
        self.key = 0x40000000 | (os.getpid() & 0xFFFFFF)
        self.victim: subprocess.Popen[bytes] | None = None

    def filled(self, script: str) -> str:
        pid = self.victim.pid if self.victim is not None else 0
        values = {
            "python": sys.executable,
            "secret": self.secret,
            "outside": self.outside,
            "pid": pid,
            "key": self.key,
        }
        for name, value in values.items():
            script = script.replace(f"{{{name}}}", str(value))
        return script

    def run(
        self, sandbox: CommandSandbox, script: str, by: str = "start", **policy: object
    ) -> tuple[int, str]:
        """The exit status and all output of a confined shell script."""
        settings: dict = {"write": [str(self.inside)]} | policy
        prepared = sandbox.wrap(
            ["sh", "-c", script], SandboxPolicy(**settings), directory=str(self.inside)
        )
        try:
            if by == "argv":
                return self._output(prepared.argv, prepared.environment)
            return output_of(prepared, str(self.inside))
        finally:
            prepared.clean_up()

    def run_unconfined(self, script: str) -> tuple[int, str]:
        return self._output(["sh", "-c", script], dict(os.environ))

    def _output(self, argv: list[str], environment: dict[str, str]) -> tuple[int, str]:
        done = subprocess.run(
            argv,
            env=environment,
            cwd=self.inside,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout.decode(errors="replace")

    def state(self) -> object:
        """Owner, mode, time and content of everything outside, and the state of the process."""
        files = {}
        for path in (self.outside, *sorted(self.outside.rglob("*"))):
            found = path.lstat()
            content = path.read_bytes() if path.is_file() else None
            times = found.st_mtime_ns if path == self.secret else 0
            files[str(path)] = (found.st_mode, found.st_uid, times, content)
        return files, self._process_state()

    def _process_state(self) -> object:
        if self.victim is None:
            return None
        if self.victim.poll() is not None:
            return "ended"
        pid = self.victim.pid
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        return state == "T", limits, os.getpriority(os.PRIO_PROCESS, pid)

    def succeeds(self, attack: CommandAttack, run, patience_seconds: float = 0.05) -> bool:
        """Whether `run(script)` reads what is outside, or changes it within some time."""
        before = self.state()
        _, output = run(self.filled(attack.script))
        if attack.reads:
            return SECRET in output
        end = time.monotonic() + patience_seconds
        while (is_same := self.state() == before) and time.monotonic() < end:
            time.sleep(0.02)
        return not is_same


@contextlib.contextmanager
def attack_place() -> Iterator[Place]:
    # Not below /tmp: that is private to a confined command anyway.
    base = Path(tempfile.mkdtemp(dir="/var/tmp")).resolve()
    try:
        yield Place(base)
    finally:
        shutil.rmtree(base, ignore_errors=True)


@contextlib.contextmanager
def victim_of(place: Place) -> Iterator[None]:
    """A process of the same user, shared memory and a message queue, each with the secret."""
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    memory = libc.shmget(place.key, 4096, _IPC_CREAT | 0o600)
    address = libc.shmat(memory, None, 0)
    ctypes.memmove(address, SECRET.encode(), len(SECRET))
    queue = libc.msgget(place.key, _IPC_CREAT | 0o600)
    message = b"\1" + b"\0" * 7 + SECRET.encode()
    assert libc.msgsnd(queue, message, len(SECRET), 0) == 0
    victim = subprocess.Popen(
        ["sh", "-c", _VICTIM, "sh", str(place.secret)],
        env={"PATH": os.defpath, "SECRET_OF_HOST": SECRET},
        cwd=place.inside,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        with ended_with_test(victim):
            assert victim.stdout is not None
            assert victim.stdout.readline() == b"ready\n"
            place.victim = victim
            yield
    finally:
        place.victim = None
        libc.shmdt(ctypes.c_void_p(address))
        libc.shmctl(memory, 0, None)
        libc.msgctl(queue, 0, None)


def output_of(prepared: PreparedCommand, directory: str) -> tuple[int, str]:
    def start() -> SupervisedProcess:
        process = prepared.start(
            directory=directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            when_ended="keep",
        )
        process.wait_started(60)
        return process

    try:
        process = start()
    except SupervisorUnavailableError:  # from now on: process groups
        process = start()
    assert process.stdout is not None
    killer = threading.Timer(60, process.kill)
    killer.start()
    output = bytearray()
    with process.stdout as pipe:
        while piece := pipe.read(65_536):
            output += piece
    killer.cancel()
    status = process.wait(60)
    process.kill()
    process.wait_ended(20)
    process.detach()
    return status, output.decode(errors="replace")


PYTHON = f"{sys.executable} -I -c"
