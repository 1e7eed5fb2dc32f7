"""Attacks on the files and processes of the user, by the file tools and by commands.

Each asserts the effect, and that the attack succeeds without its guard.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import stat
import struct
import subprocess
import sys
import unicodedata

import pytest

from attack_place import PYTHON, attack_place
from capabilities.test_command_sandbox import LEVELS, sandbox_of
from ethos_registry import Personality, ToolContext, ToolRegistry
from ethos_registry.capabilities import FsReach, Protection
from ethos_registry.capabilities._files import SyncReachFiles
from ethos_registry.tools import ready_tools

pytestmark = pytest.mark.privileges
SECRET = "the secret of the agent"
UNPROTECTED = Protection()


@pytest.fixture
def place():
    with attack_place() as found:
        yield found


def call(place, name, **args):
    inside = str(place.inside)
    personality = Personality("p", fs_reach=FsReach([inside], [inside]))
    context = ToolContext(working_dir=inside)
    registry = ToolRegistry([*ready_tools()])
    return registry.view(personality).execute_sync(
        [{"id": "1", "name": name, "args": args}], context
    )[0]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("name", [".git/config", "sub/.git/config", ".GIT/config"])
def test_write_file_gives_git_nothing_to_run(place, name):
    place.run_unconfined("git init -q . && git init -q sub && ln -s .git l")
    folder = place.inside / os.path.dirname(os.path.dirname(name))
    evil = place.inside / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {place.outside}/ran\n")
    evil.chmod(0o755)
    content = f"[core]\nrepositoryformatversion = 0\nfsmonitor = {evil}\n"
    for path in (name, "l/config"):
        result = call(place, "write_file", path=path, content=content)
        assert not result.ok
        assert "PATH_NOT_REACHABLE" in result.text
        subprocess.run(["git", "status"], cwd=folder, capture_output=True, check=False)
    assert not (place.outside / "ran").exists()
    unguarded = SyncReachFiles(
        [], [str(place.inside)], working_dir=str(place.inside), protection=UNPROTECTED
    )
    unguarded.write(name.replace(".GIT", ".git"), content)
    subprocess.run(["git", "status"], cwd=folder, capture_output=True, check=False)
    assert (place.outside / "ran").exists()


@pytest.mark.parametrize("name", [".ssh/id", "sub/.ssh/id", ".aws/credentials", ".netrc"])
def test_no_file_tool_reads_keys_inside_the_reach(place, name):
    path = place.inside / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SECRET)
    (place.inside / "l").symlink_to(name)
    for read in (name, "l", name.upper()):
        assert SECRET not in call(place, "read_file", path=read).text
    assert SECRET not in call(place, "search_files", pattern="secret").text
    unguarded = SyncReachFiles(
        [str(place.inside)], working_dir=str(place.inside), protection=UNPROTECTED
    )
    assert unguarded.read(name) == SECRET


@pytest.mark.parametrize("by", ["a link", "another folder"])
def test_a_root_that_was_swapped_is_not_opened(place, by):
    root = place.inside / "root"
    root.mkdir()
    (root / "a").write_text("mine")
    (place.outside / "a").write_text(SECRET)
    files = SyncReachFiles([str(root)], [str(root)], working_dir=str(root))
    assert files.read("a") == "mine"
    root.rename(place.inside / "old")
    if by == "a link":
        root.symlink_to(place.outside)
    else:
        shutil.copytree(place.outside, root)
    for attempt in (lambda: files.read("a"), lambda: files.write("new", "x")):
        with pytest.raises((PermissionError, NotADirectoryError)):
            attempt()
    assert not (root / "new").exists()
    assert (root / "a").read_text() == SECRET  # by path it is reached


@pytest.mark.parametrize("bits", [stat.S_ISUID, stat.S_ISGID])
def test_a_replaced_file_loses_its_set_user_id_bit_and_keeps_its_mode(place, bits):
    path = place.inside / "tool"
    path.write_text("old")
    path.chmod(0o750 | bits)
    SyncReachFiles([], [str(place.inside)]).write(str(path), "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    path.chmod(0o750 | bits)
    assert call(place, "write_file", path="tool", content="newer").ok
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


def acl(reader: int) -> bytes:
    """An access list that lets one more user read."""
    entries = [(1, 6, 2**32 - 1), (2, 4, reader), (4, 4, 2**32 - 1), (16, 4, 2**32 - 1)]
    entries.append((32, 0, 2**32 - 1))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="access lists are of Linux")
def test_a_replaced_file_keeps_its_access_list_and_a_new_one_gets_none(place):
    name, path = "system.posix_acl_access", place.inside / "tool"
    path.write_text("old")
    try:
        os.setxattr(path, name, acl(1234))
    except OSError as error:
        pytest.skip(f"no access lists on this file system: {error}")
    SyncReachFiles([], [str(place.inside)]).write(str(path), "new")
    assert (path.read_text(), os.getxattr(path, name)) == ("new", acl(1234))
    assert call(place, "write_file", path="tool", content="newer").ok
    assert (path.read_text(), os.getxattr(path, name)) == ("newer", acl(1234))
    assert call(place, "write_file", path="other", content="x").ok
    assert name not in os.listxattr(place.inside / "other")


@pytest.mark.parametrize("level", LEVELS)
def test_no_command_makes_a_set_user_id_program(place, level):
    script = (
        "touch a b; chmod u+s a; chmod 2755 b; "
        f'{PYTHON} "import os; os.close(os.open(chr(99), 65, 0o4755))"; '
        "cp $(command -v id) d; chmod 6755 d"
    )
    place.run(sandbox_of(level), script)
    modes = [path.stat().st_mode & 0o6000 for path in place.inside.iterdir()]
    assert modes == [0] * len(modes)
    place.run_unconfined("touch e; chmod 6755 e")
    assert (place.inside / "e").stat().st_mode & 0o6000 == 0o6000


_AGENT = """
import os, subprocess, sys
from ethos_registry.capabilities import CommandSandbox, SandboxPolicy
level, inside, script = sys.argv[1:4]
sandbox = CommandSandbox((level,) if level != "none" else ())
argv = ["sh", "-c", script.replace("AGENT", str(os.getpid()))]
environment = dict(os.environ)
if level != "none":
    prepared = sandbox.wrap(argv, SandboxPolicy(write=[inside], read=["/"]), directory=inside)
    argv, environment = prepared.argv, prepared.environment
done = subprocess.run(argv, env=environment, cwd=inside, capture_output=True, timeout=60)
sys.stdout.buffer.write(done.stdout + done.stderr)
"""
_LOOKS = (
    "for p in /proc/AGENT /proc/self /proc/$PPID /proc/thread-self /proc/[0-9]*; do "
    "cat $p/environ $p/cmdline $p/task/*/environ 2>/dev/null | tr '\\0' '\\n'; done"
)


def agent(place, level, script):
    """The output of a command of an agent with a secret in its environment and arguments."""
    argv = [sys.executable, "-c", _AGENT, level, str(place.inside), script, f"--key={SECRET}"]
    done = subprocess.run(
        argv,
        env={**os.environ, "API_KEY": SECRET, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("level", LEVELS)
def test_a_command_reads_neither_environment_nor_arguments_of_the_agent(place, level):
    sandbox_of(level)
    output = agent(place, level, f"{_LOOKS}; echo done")
    assert output.endswith("done\n")
    assert SECRET not in output


def test_without_a_sandbox_it_reads_both(place):
    output = agent(place, "none", _LOOKS)
    assert f"API_KEY={SECRET}" in output
    assert f"--key={SECRET}" in output


KINDS = {
    "nothing stated": {},
    "the reach": {"write": ["{inside}"]},
    "reading only": {"read": ["{inside}"], "write": []},
    "/ in the read roots": {"read": ["/"], "write": ["{inside}"]},
    "/ in the write roots": {"write": ["/"]},
    "a network": {"write": ["{inside}"], "network": True},
    "the network only, closed": {"read": ["/"], "write": ["/"], "network": False},
    "the network only, open": {"read": ["/"], "write": ["/"], "network": True},
    "the home directory": {"read": ["{home}"], "write": ["{inside}"]},
}
_WORKS = (
    "cat a > /dev/null && echo x 2> /dev/null > /dev/null && cat < /dev/null && git --version && "
    f"{PYTHON} 'print(6 * 7)' && make --version > /dev/null && "
    "cd $TMPDIR && git init -q r && "
    "git -C r -c user.name=n -c user.email=e commit -q --allow-empty -m m && "
    r"printf 'import unittest as u\nclass T(u.TestCase):\n def test(self): pass\n' > test_a.py && "
    f"{sys.executable} -m unittest test_a && "
    "node -e 'console.log(6 * 8)' && echo y > $TMPDIR/y && cat $TMPDIR/y"
)


_SETTINGS = (
    "f=/proc/sys/kernel/core_pattern; v=$(cat $f) && echo $v > $f && echo wrote;"
    "find /proc /sys -maxdepth 5 -type f -writable"
    " ! -path '/proc/[0-9]*' ! -path '/proc/self/*' ! -path '/proc/thread-self/*'"
)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("write", ["inside", "/"])
def test_no_command_changes_a_setting_of_the_kernel(place, level, write):
    """Root needs no capability for it: `core_pattern` names a program that the host runs."""
    policy = {"write": [str(place.inside if write == "inside" else write)]}
    output = place.run(sandbox_of(level), f"({_SETTINGS}) 2>/dev/null", **policy)[1]
    assert output == ""
    if os.getuid() == 0:
        assert "wrote\n" in place.run_unconfined(f"({_SETTINGS}) 2>/dev/null")[1]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_personality_works_and_holds(place, level, kind):
    if any(shutil.which(name) is None for name in ("git", "make", "node")):
        pytest.skip("git, make or node is not installed")
    sandbox = sandbox_of(level)
    (place.inside / "a").write_text("a")
    home = place.outside / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id").write_text(SECRET)
    fill = {"inside": place.inside, "home": home}
    policy = {
        name: [path.format(**fill) for path in value] if isinstance(value, list) else value
        for name, value in KINDS[kind].items()
    }
    policy = {"write": [str(place.inside)]} if kind == "nothing stated" else policy
    status, output = place.run(sandbox, _WORKS, **policy)
    assert (status, output.split()[-3:]) == (0, ["OK", "48", "y"]), output
    assert "42\n" in output
    holds = (
        f"cat {home}/.ssh/id; cat /proc/{os.getppid()}/environ; ls /run /dev; "
        "cat /etc/shadow; echo x > {outside}/new; echo done"
    ).replace("{outside}", str(place.outside))
    protection = Protection(closed_paths=(f"{home}/.ssh", "/etc/shadow"))
    before = place.state()
    status, output = place.run(sandbox, holds, protection=protection, **policy)
    assert output.endswith("done\n")
    assert SECRET not in output
    assert "root:" not in output
    if policy.get("write") != ["/"]:
        assert place.state() == before


# Sockets: those of the host are out of reach, those of the command's own world work.

_CONNECT = (
    "import socket, sys; s = socket.socket(socket.AF_UNIX); "
    "s.connect(sys.argv[1].replace('@', chr(0))); print('reached')"
)
_OWN_WORLD = """
import multiprocessing, os, socket, threading
from multiprocessing.managers import SyncManager
def square(n): return n * n
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool: print(pool.map(square, [1, 2, 3]))
    with SyncManager() as manager: print(list(manager.list([4])))
    for address in (os.environ["TMPDIR"] + "/s", chr(0) + "own-name"):
        server = socket.socket(socket.AF_UNIX); server.bind(address); server.listen()
        client = socket.socket(socket.AF_UNIX); client.connect(address)
    tcp = socket.create_server(("127.0.0.1", 0))
    socket.create_connection(tcp.getsockname())
    print("connected")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="abstract names are of Linux")
@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("level", ["none", *LEVELS])
def test_no_command_reaches_a_socket_of_the_host(place, level, network):
    name = f"ethos-test-{os.getpid()}-{level}-{network}"
    places = [str(place.inside / "socket"), f"@{name}"]
    script = "; ".join(f'{PYTHON} "{_CONNECT}" {address}' for address in places)
    with contextlib.ExitStack() as servers:
        for address in places:
            server = servers.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(address.replace("@", "\0"))
            server.listen(9)
        if level == "none":
            done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
            output = done.stdout
        else:
            sandbox = sandbox_of(level)
            _, output = place.run(sandbox, script, write=[str(place.inside)], network=network)
    assert output.count("reached\n") == (2 if level == "none" else 0), output


@pytest.mark.parametrize("network", [False, True])
def test_sockets_of_the_own_world_work_in_namespaces(place, network):
    sandbox = sandbox_of("namespaces")
    (place.inside / "own.py").write_text(_OWN_WORLD)
    script = f"{sys.executable} own.py"
    status, output = place.run(sandbox, script, write=[str(place.inside)], network=network)
    assert (status, output) == (0, "[1, 4, 9]\n[4]\nconnected\n"), output


@pytest.mark.parametrize(
    "content",
    [
        b"one\r\ntwo\r\nthree\r\n",
        b"\xef\xbb\xbfone\ntwo\nthree\n",
        b"caf\xe9\ntwo\nthree\n",
        unicodedata.normalize("NFC", "caf\u00e9").encode() + b"\ntwo\nthree\n",
        unicodedata.normalize("NFD", "caf\u00e9").encode() + b"\ntwo\nthree\n",
        b"one\r\ntwo\nthree\r",
    ],
    ids=["CRLF", "BOM", "Latin-1", "NFC", "NFD", "mixed"],
)
def test_what_a_patch_does_not_change_keeps_its_bytes(place, content):
    path = place.inside / "a.txt"
    path.write_bytes(content)
    result = call(place, "patch_file", path="a.txt", old="two", new="2")
    assert result.ok, result.text
    assert path.read_bytes() == content.replace(b"two", b"2")
