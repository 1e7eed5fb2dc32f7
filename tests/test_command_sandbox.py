"""Confined commands: what is tried from inside changes and reads nothing outside."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ethos_registry import SupervisedProcess, SupervisorUnavailableError
from ethos_registry.capabilities.protected import Protection
from ethos_registry.capabilities.sandbox.bubblewrap import find_bubblewrap
from ethos_registry.capabilities.sandbox.command_sandbox import CommandSandbox, UnconfinedError
from ethos_registry.capabilities.sandbox.policy import (
    PreparedCommand,
    SandboxPolicy,
    system_paths,
)
from ethos_registry.capabilities.sandbox.seatbelt import seatbelt_profile
from ethos_registry.processes import restrictions, supervisor

SECRET = "the secret of another process"
LEVELS = ("namespaces", "landlock")
IS_CI = bool(os.environ.get("CI"))


def sandbox_of(level: str) -> CommandSandbox:
    """The level, or a skip by name; in CI one of the two must be there."""
    sandbox = CommandSandbox((level,))  # type: ignore[arg-type]
    support = sandbox.probe()
    if support.level == level:
        return sandbox
    other = CommandSandbox().probe().level
    if IS_CI and sys.platform == "linux" and (level == "landlock" or other == "none"):
        pytest.fail(f"{level} must work in CI: {support.reason}")
    pytest.skip(f"no {level} here: {support.reason}")


class Place:
    """A working directory that may be written, and a directory that may not be seen."""

    def __init__(self, base: Path) -> None:
        self.inside = base / "inside"
        self.outside = base / "outside"
        self.inside.mkdir()
        self.outside.mkdir()
        self.secret = self.outside / "secret.txt"
        self.secret.write_text(SECRET)
        (self.outside / "empty").mkdir()

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
                done = subprocess.run(
                    prepared.argv,
                    env=prepared.environment,
                    cwd=self.inside,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    timeout=60,
                    check=False,
                )
                return done.returncode, done.stdout.decode(errors="replace")
            return output_of(prepared, str(self.inside))
        finally:
            prepared.clean_up()

    def state(self) -> dict[str, tuple[int, bytes | None]]:
        """Mode and content of everything outside."""
        return {
            str(path): (path.lstat().st_mode, path.read_bytes() if path.is_file() else None)
            for path in sorted(self.outside.rglob("*"))
        }


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


@pytest.fixture
def place() -> Iterator[Place]:
    # Not below /tmp: that is private to a confined command anyway.
    base = Path(tempfile.mkdtemp(dir="/var/tmp")).resolve()
    yield Place(base)
    shutil.rmtree(base)


PYTHON = f"{sys.executable} -I -c"

READS = {
    "cat": "cat {secret}",
    "by dot-dot": "cat ../outside/secret.txt",
    "through a link": "ln -s {secret} l; cat l",
    "through a linked directory": "ln -s {outside} d; cat d/secret.txt",
    "through a hard link": "ln {secret} h; cat h",
    "through /proc/self/root": "cat /proc/self/root{secret}",
    "through /proc/1/root": "cat /proc/1/root{secret}",
    "through the parent's root": "cat /proc/$PPID/root{secret}",
    "through every root": "for p in /proc/[0-9]*; do cat $p/root{secret}; done",
    "through every working directory": (
        "for p in /proc/[0-9]*; do cat $p/cwd/../outside/secret.txt; done"
    ),
    "by a redirection": "cat < {secret}",
    "by copying": "cp {secret} c; cat c",
    "by a tar of the directory": "tar cf - -C {outside} . 2>&1 | cat",
    "by an interpreter": PYTHON + " \"print(open('{secret}').read())\"",
    "by a memory map": PYTHON
    + " \"import mmap,os; f=os.open('{secret}',0); print(mmap.mmap(f,0,prot=1)[:])\"",
    "as a script": "sh {secret}",
    "by sendfile": PYTHON + " \"import os; f=os.open('{secret}',0); os.sendfile(1,f,0,100)\"",
    "by a mount": "mkdir m; mount --bind {outside} m; cat m/secret.txt",
    "in a namespace of its own": "unshare -Urm sh -c 'mount --bind {outside} .; cat secret.txt'",
    "by chroot": "mkdir r; chroot / cat {secret}",
    "by a setuid program": "su root -c 'cat {secret}' < /dev/null",
    "by the environment of others": (
        "cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep SECRET_OF_HOST"
    ),
}

WRITES = {
    "a new file": "echo x > {outside}/new",
    "over the secret": "echo x > {secret}",
    "appending": "echo x >> {secret}",
    "through a link": "ln -s {outside} d; echo x > d/new",
    "truncating": "truncate -s 0 {secret}",
    "deleting": "rm -f {secret}",
    "renaming": "mv {secret} {outside}/moved",
    "moving in": "mv {secret} here",
    "moving out": "echo x > mine; mv mine {outside}/mine",
    "linking out": "echo x > mine; ln mine {outside}/mine",
    "a symbolic link outside": "ln -s / {outside}/l",
    "a directory": "mkdir {outside}/folder",
    "removing a directory": "rmdir {outside}/empty",
    "a FIFO": "mkfifo {outside}/fifo",
    "a device": "mknod {outside}/device c 1 3",
    "through /proc/1/root": "echo x > /proc/1/root{outside}/new",
    "through every root": "for p in /proc/[0-9]*; do echo x > $p/root{outside}/new; done",
    "by an interpreter": PYTHON + " \"open('{outside}/new','w').write('x')\"",
    "by a daemon": "setsid sh -c 'sleep 0.3; echo x > {outside}/new' & sleep 0.6",
}

METADATA = {
    "mode": "chmod 777 {secret}",
    "mode of the directory": "chmod 700 {outside}",
}
"""Not covered by Landlock, as the documentation says."""


def filled(script: str, place: Place) -> str:
    return script.replace("{secret}", str(place.secret)).replace("{outside}", str(place.outside))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("attack", READS)
def test_a_confined_command_reads_nothing_outside(place, level, attack, monkeypatch):
    monkeypatch.setenv("SECRET_OF_HOST", SECRET)
    _, output = place.run(sandbox_of(level), filled(READS[attack], place))
    assert SECRET not in output


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("attack", WRITES)
def test_a_confined_command_changes_nothing_outside(place, level, attack):
    before = place.state()
    place.run(sandbox_of(level), filled(WRITES[attack], place))
    assert place.state() == before


@pytest.mark.parametrize("level", LEVELS)
def test_the_command_line_is_confined_however_it_is_run(place, level, monkeypatch):
    monkeypatch.setenv("SECRET_OF_HOST", SECRET)
    before, sandbox = place.state(), sandbox_of(level)
    for script in (READS["cat"], READS["through every root"], WRITES["a new file"]):
        status, output = place.run(sandbox, filled(script, place), by="argv")
        assert SECRET not in output
        assert status != 0
    assert place.state() == before
    assert place.run(sandbox, "echo one > a && cat a", by="argv") == (0, "one\n")


def test_a_program_that_cannot_enter_its_rules_does_not_run(place, monkeypatch):
    prepared = sandbox_of("landlock").wrap(
        ["sh", "-c", "touch ran"], SandboxPolicy(write=[str(place.inside)]), directory="/"
    )
    for broken in (b"", b"\xff" * 80):
        monkeypatch.setattr(
            restrictions._core,
            "prepare_confinement",
            lambda *given, broken=broken: (os.open("/dev/null", os.O_RDONLY), broken),
        )
        process = prepared.start(directory=str(place.inside))
        with pytest.raises(OSError, match="its restrictions cannot be set"):
            process.wait_started(20)
    assert not (place.inside / "ran").exists()
    prepared.clean_up()


def test_nothing_of_the_rules_stays_open_here(place):
    before = os.listdir("/proc/self/fd")
    place.run(sandbox_of("landlock"), "true")
    assert os.listdir("/proc/self/fd") == before


def test_where_there_is_no_supervisor_the_rules_are_refused_and_the_launcher_is_used(
    place, monkeypatch
):
    sandbox = sandbox_of("landlock")
    prepared = sandbox.wrap(["true"], SandboxPolicy(), directory=str(place.inside))
    monkeypatch.setattr(supervisor, "_is_unavailable", True)
    with pytest.raises(OSError, match="need the supervisor"):
        supervisor.start_supervised(["true"], rules=prepared.rules)
    prepared.clean_up()
    _, output = place.run(sandbox, filled("echo hi; cat {secret}", place))
    assert output.startswith("hi\n")
    assert SECRET not in output


@pytest.mark.parametrize("attack", METADATA)
def test_namespaces_keep_permissions_outside_as_they_are(place, attack):
    before = place.state(), place.outside.stat().st_mode
    place.run(sandbox_of("namespaces"), filled(METADATA[attack], place))
    assert (place.state(), place.outside.stat().st_mode) == before


@pytest.mark.parametrize("attack", ["cat", "through a link", "by a redirection", "by copying"])
def test_the_reads_succeed_without_the_sandbox(place, attack):
    done = subprocess.run(
        ["sh", "-c", filled(READS[attack], place)],
        cwd=place.inside,
        capture_output=True,
        text=True,
        check=False,
    )
    assert SECRET in done.stdout


@pytest.mark.parametrize(
    "attack", [name for name in WRITES if "root" not in name and name != "a device"]
)
def test_the_writes_succeed_without_the_sandbox(place, attack):
    before = place.state()
    subprocess.run(
        ["sh", "-c", filled(WRITES[attack], place)],
        cwd=place.inside,
        capture_output=True,
        check=False,
    )
    assert place.state() != before


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "family", ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_UNIX"]
)
def test_no_socket_of_any_family_reaches_the_host(place, level, family):
    listener = socket.create_server(("127.0.0.1", 0))
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(str(place.outside / "s"))
    unix.listen()
    for one in (listener, unix):
        one.settimeout(0.2)
    port = listener.getsockname()[1]
    addresses = {
        "AF_INET": f"('127.0.0.1',{port})",
        "AF_INET6": f"('::ffff:127.0.0.1',{port})",
        "AF_NETLINK": "(0,0)",
        "AF_PACKET": "('lo',0)",
        "AF_VSOCK": "(2,1)",
        "AF_UNIX": f"'{place.outside}/s'",
    }
    kind = "SOCK_RAW" if family in ("AF_NETLINK", "AF_PACKET") else "SOCK_STREAM"
    code = (
        f"import socket; s=socket.socket(socket.{family}, socket.{kind}); "
        f"s.connect({addresses[family]}); s.send(b'out'); print('rea' + 'ched')"
    )
    status, output = place.run(sandbox_of(level), f'{PYTHON} "{code}"')
    is_own_kernel_socket = family == "AF_NETLINK" and level == "namespaces"
    assert ("reached" not in output and status != 0) or is_own_kernel_socket
    for one in (listener, unix):
        with pytest.raises(TimeoutError):
            one.accept()
        one.close()


@pytest.mark.parametrize("level", LEVELS)
def test_a_policy_with_a_network_lets_a_command_connect(place, level):
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(20)
    port = listener.getsockname()[1]
    code = f"import socket; socket.create_connection(('127.0.0.1',{port})).send(b'in')"
    status, output = place.run(sandbox_of(level), f'{PYTHON} "{code}"', network=True)
    connection, _ = listener.accept()
    assert (connection.recv(9), status, output) == (b"in", 0, "")
    connection.close()
    listener.close()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("how", ["kill -KILL {pid}", "kill -STOP {pid}", "gdb -p {pid}"])
def test_processes_of_the_host_are_out_of_reach(place, level, how):
    victim = subprocess.Popen(["sleep", "60"])
    try:
        place.run(sandbox_of(level), how.format(pid=victim.pid))
        time.sleep(0.05)
        state = Path(f"/proc/{victim.pid}/stat").read_text().rpartition(")")[2].split()[0]
        assert victim.poll() is None
        assert state == "S"
    finally:
        victim.kill()
        victim.wait()


@pytest.mark.parametrize("level", LEVELS)
def test_a_traced_process_of_the_host_is_out_of_reach(place, level):
    victim = subprocess.Popen(["sleep", "60"])
    code = (
        "import ctypes; c=ctypes.CDLL(None,use_errno=True); "
        f"print('attached' if c.ptrace(16,{victim.pid},0,0)==0 else ctypes.get_errno())"
    )
    try:
        _, output = place.run(sandbox_of(level), f'{PYTHON} "{code}"')
        assert "attached" not in output
    finally:
        victim.kill()
        victim.wait()


def test_landlock_refuses_system_calls_that_go_around_path_rules(place):
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers of the calls are those of x86_64")
    for number in (425, 428, 429, 430, 155, 161, 272, 308, 321):
        code = (
            "import ctypes; c=ctypes.CDLL(None,use_errno=True); "
            f"r=c.syscall({number},0x10000000,0,0,0,0,0); print(r, ctypes.get_errno())"
        )
        _, output = place.run(sandbox_of("landlock"), f'{PYTHON} "{code}"')
        assert output.split() == ["-1", "1"], number


@pytest.mark.parametrize("level", LEVELS)
def test_what_a_command_needs_works(place, level):
    status, output = place.run(
        sandbox_of(level),
        "echo one > a && cat a && mkdir -p d/e && mv a d/b && ls d && rm -r d && touch $TMPDIR/x "
        f"&& {PYTHON} 'import json, tempfile; tempfile.TemporaryFile(); print(json.dumps(1))' "
        "&& echo $HOME | grep -q tmp && git --version > /dev/null && echo done 2>/dev/null",
    )
    assert (status, output) == (0, "one\nb\ne\n1\ndone\n")


@pytest.mark.parametrize("level", LEVELS)
def test_a_readable_directory_cannot_be_written(place, level):
    before = place.state()
    status, output = place.run(
        sandbox_of(level),
        filled("cat {secret}; echo; echo x > {outside}/new", place),
        read=[str(place.outside)],
    )
    assert SECRET in output
    assert status != 0
    assert place.state() == before


@pytest.mark.parametrize("level", LEVELS)
def test_closed_files_within_the_reach_stay_closed(place, level):
    (place.inside / ".ssh").mkdir()
    (place.inside / ".ssh" / "id").write_text(SECRET)
    (place.inside / "key").write_text(SECRET)
    protection = Protection(closed_names=(".ssh",), closed_paths=(str(place.inside / "key"),))
    _, output = place.run(
        sandbox_of(level),
        "cat .ssh/id key; cat < key; ls .ssh",
        read=[str(place.inside)],
        write=[],
        protection=protection,
    )
    assert SECRET not in output


def test_namespaces_keep_protected_files_read_only(place):
    hooks = place.inside / ".git" / "hooks"
    hooks.mkdir(parents=True)
    (place.inside / ".git" / "config").write_text("[core]")
    (place.inside / ".envrc").write_text("export A=1")
    status, _ = place.run(
        sandbox_of("namespaces"),
        "echo x > .git/hooks/pre-commit; echo x >> .git/config; rm -f .envrc; mv .git/hooks h; "
        "echo x > .git/index",
    )
    assert status == 0
    assert list(hooks.iterdir()) == []
    assert (place.inside / ".git" / "config").read_text() == "[core]"
    assert (place.inside / ".envrc").read_text() == "export A=1"


@pytest.mark.parametrize("level", LEVELS)
def test_no_variable_of_the_host_passes_but_the_harmless_ones(place, level, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("WANTED", "yes")
    _, output = place.run(sandbox_of(level), "env", variables=["WANTED"])
    names = {line.partition("=")[0] for line in output.splitlines()}
    assert "AWS_SECRET_ACCESS_KEY" not in names
    assert {"PATH", "HOME", "TMPDIR", "WANTED"} <= names


def test_the_temporary_directory_of_a_command_is_removed(place):
    sandbox = sandbox_of("landlock")
    prepared = sandbox.wrap(["true"], SandboxPolicy(), directory=str(place.inside))
    assert [os.path.isdir(path) for path in prepared.temporary] == [True]
    prepared.clean_up()
    assert [os.path.isdir(path) for path in prepared.temporary] == [False]


def test_nothing_is_left_running_when_bubblewrap_is_killed(place):
    sandbox = sandbox_of("namespaces")
    prepared = sandbox.wrap(
        ["sh", "-c", "setsid sleep 987 & sleep 987"],
        SandboxPolicy(write=[str(place.inside)]),
        directory=str(place.inside),
    )
    process = subprocess.Popen(prepared.argv, env=prepared.environment, cwd=place.inside)
    wait_for(lambda: count_of("987") >= 2)
    process.kill()
    process.wait()
    wait_for(lambda: count_of("987") == 0)


def count_of(argument: str) -> int:
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += path.read_bytes().split(b"\0")[:2] == [b"sleep", argument.encode()]
        except OSError:
            continue
    return found


def wait_for(condition) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_without_any_level_a_command_is_refused_with_the_reason():
    with pytest.raises(UnconfinedError, match="cannot be confined here"):
        CommandSandbox(()).wrap(["true"], SandboxPolicy(), directory="/")


def test_bubblewrap_below_the_working_directory_is_not_used(place, monkeypatch):
    fake = place.inside / "bwrap"
    fake.write_text("#!/bin/sh\nexec true\n")
    fake.chmod(0o755)
    monkeypatch.chdir(place.inside)
    monkeypatch.setenv("PATH", str(place.inside))
    assert CommandSandbox(("namespaces",)).probe().level == "none"


def test_a_program_that_runs_in_the_root_directory_finds_bubblewrap(monkeypatch):
    found = find_bubblewrap()
    monkeypatch.chdir("/")
    assert find_bubblewrap() == found


def test_the_home_directory_is_no_system_path():
    home = str(Path.home())
    paths = system_paths({"PATH": f"{home}/bin:/usr/bin"})
    assert home not in paths
    assert "/" not in paths
    assert "/usr" in paths


def test_a_seatbelt_profile_denies_by_default_and_names_the_reach():
    profile = seatbelt_profile(
        SandboxPolicy(read=["/data"], write=['/work "x"']), "/private/tmp/p", ["/usr"]
    )
    assert "(deny default)" in profile
    assert '(subpath "/data")' in profile
    assert '(subpath "/work \\"x\\"")' in profile
    assert "network" not in profile
    assert "(allow network*)" in seatbelt_profile(SandboxPolicy(network=True), "/p", [])
