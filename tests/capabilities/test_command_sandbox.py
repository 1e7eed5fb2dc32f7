"""Confined commands: what is tried from inside changes and reads nothing outside."""

from __future__ import annotations

import os
import socket
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from attack_place import PYTHON, Place, attack_place, victim_of
from command_attacks import ATTACKS, SECRET, CommandAttack, missing_for
from ethos_registry._processes import supervised_process, supervisor
from ethos_registry.capabilities import CommandSandbox, Protection, SandboxPolicy, UnconfinedError
from ethos_registry.capabilities._sandbox import find_bubblewrap, seatbelt_profile, system_paths
from started import no_descriptor_left, started, wait_until
from usage_tools import missing

pytestmark = pytest.mark.privileges

LEVELS = ("namespaces", "landlock")


def sandbox_of(level: str) -> CommandSandbox:
    """The level, or a skip."""
    sandbox = CommandSandbox((level,))  # type: ignore[arg-type]
    support = sandbox.probe()
    if support.level != level:
        missing(level, f"no {level} here: {support.reason}")
    return sandbox


@pytest.fixture
def place() -> Iterator[Place]:
    with attack_place() as found:
        yield found


def possible(attack: CommandAttack) -> None:
    """Skip what this user cannot try."""
    if problem := missing_for(attack):
        pytest.skip(problem)


@pytest.mark.parametrize("name", ATTACKS)
def test_each_attack_succeeds_without_the_sandbox(place, name):
    attack = ATTACKS[name]
    possible(attack)
    with victim_of(place):
        assert place.succeeds(attack, place.run_unconfined, patience_seconds=10)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_succeeds_from_a_confined_command(place, level, name):
    attack, sandbox = ATTACKS[name], sandbox_of(level)
    if attack.metadata and level == "landlock":
        pytest.skip("Landlock does not cover metadata, as the documentation states")
    possible(attack)
    with victim_of(place):
        assert not place.succeeds(attack, lambda script: place.run(sandbox, script))


@pytest.mark.parametrize("level", LEVELS)
def test_the_command_line_is_confined_however_it_is_run(place, level, monkeypatch):
    monkeypatch.setenv("SECRET_OF_HOST", SECRET)
    before, sandbox = place.state(), sandbox_of(level)
    for name in ("cat", "through every root", "a new file"):
        script = place.filled(ATTACKS[name].script)
        status, output = place.run(sandbox, script, by="argv")
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
            supervised_process._core,
            "prepare_confinement",
            lambda *given, broken=broken: (os.open("/dev/null", os.O_RDONLY), broken),
        )
        process = prepared.start(directory=str(place.inside))
        with pytest.raises(OSError, match="its restrictions cannot be set"):
            process.wait_started(20)
    assert not (place.inside / "ran").exists()
    prepared.clean_up()


def test_nothing_of_the_rules_stays_open_here(place):
    sandbox = sandbox_of("landlock")
    place.run(sandbox, "true")  # the first run opens what later ones share
    with no_descriptor_left():
        for _ in range(3):
            place.run(sandbox, "true")


def test_where_there_is_no_supervisor_the_rules_are_refused_and_the_launcher_is_used(
    place, monkeypatch
):
    sandbox = sandbox_of("landlock")
    prepared = sandbox.wrap(["true"], SandboxPolicy(), directory=str(place.inside))
    monkeypatch.setattr(supervisor, "_is_unavailable", True)
    with pytest.raises(OSError, match="need the supervisor"):
        supervisor.start_supervised(["true"], rules=prepared.rules)
    prepared.clean_up()
    _, output = place.run(sandbox, place.filled("echo hi; cat {secret}"))
    assert output.startswith("hi\n")
    assert SECRET not in output


FAMILIES = ("AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET", "AF_VSOCK")


@pytest.fixture
def listeners(place) -> Iterator[tuple[socket.socket, socket.socket]]:
    tcp = socket.create_server(("127.0.0.1", 0))
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(str(place.outside / "s"))
    unix.listen()
    for one in (tcp, unix):
        one.settimeout(0.2)
    yield tcp, unix
    for one in (tcp, unix):
        one.close()


def socket_script(family: str, place: Place, port: int) -> str:
    """Prints `reached` when a message was sent to the host, or to the kernel."""
    uses = {
        "AF_INET": f"s.connect(('127.0.0.1',{port})); s.send(b'out')",
        "AF_INET6": f"s.connect(('::ffff:127.0.0.1',{port})); s.send(b'out')",
        "AF_UNIX": f"s.connect('{place.outside}/s'); s.send(b'out')",
        "AF_NETLINK": "s.connect((0,0)); s.send(b'out')",
        "AF_PACKET": "s.bind(('lo',3)); s.send(b'x'*60)",
        "AF_VSOCK": "s.bind((2**32-1,2**32-1))",
    }
    kind = "SOCK_RAW" if family in ("AF_NETLINK", "AF_PACKET") else "SOCK_STREAM"
    code = (
        f"import socket; s=socket.socket(socket.{family}, socket.{kind}); {uses[family]}; "
        "print('rea' + 'ched')"
    )
    return f'{PYTHON} "{code}"'


@pytest.mark.parametrize("family", FAMILIES)
def test_a_socket_of_each_family_reaches_the_host_without_the_sandbox(place, family, listeners):
    script = socket_script(family, place, listeners[0].getsockname()[1])
    _, output = place.run_unconfined(script)
    if "reached" not in output and family in ("AF_PACKET", "AF_VSOCK"):
        pytest.skip(f"this user or kernel has no {family}: {output.strip().splitlines()[-1]}")
    assert "reached" in output
    if family in ("AF_INET", "AF_INET6", "AF_UNIX"):
        connection, _ = listeners[family == "AF_UNIX"].accept()
        assert connection.recv(9) == b"out"
        connection.close()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", FAMILIES)
def test_no_socket_of_any_family_reaches_the_host(place, level, family, listeners):
    script = socket_script(family, place, listeners[0].getsockname()[1])
    status, output = place.run(sandbox_of(level), script)
    # The namespace has a netlink of its own; virtual machine sockets have no namespace.
    is_own = level == "namespaces" and family in ("AF_NETLINK", "AF_VSOCK")
    assert ("reached" not in output and status != 0) or is_own
    for one in listeners:
        with pytest.raises(TimeoutError):
            one.accept()


@pytest.mark.parametrize("level", LEVELS)
def test_a_policy_with_a_network_lets_a_command_connect(place, level):
    sandbox = sandbox_of(level)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(20)
        port = listener.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1',{port})).send(b'in')"
        status, output = place.run(sandbox, f'{PYTHON} "{code}"', network=True)
        connection, _ = listener.accept()
        with connection:
            assert (connection.recv(9), status, output) == (b"in", 0, "")


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
def test_an_environment_below_tmp_can_be_used(place, level, monkeypatch, tmp_path):
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=True)
    monkeypatch.setenv("PATH", f"{environment}/bin", prepend=os.pathsep)
    script = "python -c 'import sys; print(sys.prefix)'"
    assert place.run(sandbox_of(level), script) == (0, f"{environment}\n")


@pytest.mark.parametrize("level", LEVELS)
def test_a_readable_directory_cannot_be_written(place, level):
    before = place.state()
    status, output = place.run(
        sandbox_of(level),
        place.filled("cat {secret}; echo; echo x > {outside}/new"),
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
    seconds = f"987.{os.getpid()}"  # of this test alone
    prepared = sandbox.wrap(
        ["sh", "-c", f"setsid sleep {seconds} & sleep {seconds}"],
        SandboxPolicy(write=[str(place.inside)]),
        directory=str(place.inside),
    )
    with started(prepared.argv, env=prepared.environment, cwd=place.inside) as process:
        wait_until(lambda: count_of(seconds) >= 2)
        process.kill()
        process.wait()
    wait_until(lambda: count_of(seconds) == 0)


def count_of(argument: str) -> int:
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += path.read_bytes().split(b"\0")[:2] == [b"sleep", argument.encode()]
        except OSError:
            continue
    return found


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
    find_bubblewrap.cache_clear()
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
