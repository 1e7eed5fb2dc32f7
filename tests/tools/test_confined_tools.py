"""Ready tools under a personality that states a reach or a network policy."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ethos_registry import ConfigError, Personality, Tool, ToolContext, ToolRegistry, tool
from ethos_registry.capabilities import (
    CommandPolicy,
    CommandSandbox,
    FsReach,
    NetworkPolicy,
    ToolCapabilities,
    UnconfinedError,
    sandbox_support,
    standard_backends,
)
from ethos_registry.capabilities._protected_paths import ProtectedPaths
from ethos_registry.capabilities._sandbox import SandboxPolicy, Support
from ethos_registry.tools import ready_tools, run_tests_tool, terminal_tool
from ethos_registry.tools._command import blocked_note

pytestmark = [pytest.mark.every_python, pytest.mark.privileges]

needs_sandbox = pytest.mark.skipif(sandbox_support().level == "none", reason="no sandbox here")


@pytest.fixture
def folder() -> Iterator[Path]:
    # Not below /tmp: that is private to a confined command anyway.
    base = Path(tempfile.mkdtemp(dir="/var/tmp" if os.path.isdir("/var/tmp") else None)).resolve()
    for name in ("work/src", "work/secret", "other"):
        (base / name).mkdir(parents=True)
        (base / name / "f.txt").write_text(f"text of {name}")
    yield base
    shutil.rmtree(base)


async def call(folder, name, args, personality, *tools):
    registry = ToolRegistry(tools or ready_tools())
    context = ToolContext(working_dir=folder / "work")
    [result] = await registry.view(personality).execute(
        [{"id": "1", "name": name, "args": args}], context
    )
    return result


def reach(folder, read=(), write=()) -> Personality:
    return Personality(
        "p",
        fs_reach=FsReach(
            [str(folder / path) for path in read], [str(folder / path) for path in write]
        ),
    )


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("write_file", {"path": "src/new.txt", "content": "x"}),
        ("write_file", {"path": "src/f.txt", "content": "x"}),
        ("patch_file", {"path": "src/f.txt", "old": "text", "new": "x"}),
        ("read_file", {"path": "src/f.txt"}),
        ("list_files", {"path": "src"}),
        ("search_files", {"pattern": "text", "path": "src"}),
    ],
)
async def test_no_file_tool_goes_beyond_the_reach(folder, name, args):
    before = (
        sorted(path.name for path in folder.rglob("*")),
        (folder / "work/src/f.txt").read_text(),
    )
    result = await call(folder, name, args, reach(folder, read=["/nowhere"]))
    assert "PATH_NOT_REACHABLE" in result.text
    assert "text of" not in result.text
    after = sorted(path.name for path in folder.rglob("*")), (folder / "work/src/f.txt").read_text()
    assert before == after


async def test_file_tools_work_within_the_reach(folder):
    personality = reach(folder, read=["work/src"], write=["work/src"])
    assert (await call(folder, "read_file", {"path": "src/f.txt"}, personality)).ok
    assert (
        await call(folder, "write_file", {"path": "src/new.txt", "content": "x"}, personality)
    ).ok
    refused = await call(folder, "read_file", {"path": "secret/f.txt"}, personality)
    assert "permitted: " in refused.text


async def test_a_link_does_not_lead_a_file_tool_out_of_the_reach(folder):
    (folder / "work/src/l").symlink_to("../secret/f.txt")
    result = await call(folder, "read_file", {"path": "src/l"}, reach(folder, read=["work/src"]))
    assert "PATH_NOT_REACHABLE" in result.text


@needs_sandbox
async def test_a_command_is_confined_to_the_reach_and_the_blocked_path_is_named(folder):
    personality = reach(folder, read=["work"], write=["work/src"])
    command = (
        f"cat src/f.txt; echo; echo new > src/n.txt; cat {folder}/other/f.txt; "
        f"echo x > {folder}/work/secret/n.txt"
    )
    result = await call(folder, "terminal", {"command": command}, personality)
    assert "text of work/src" in result.text
    assert "text of other" not in result.text
    assert (folder / "work/src/n.txt").read_text() == "new\n"
    assert not (folder / "work/secret/n.txt").exists()
    # Landlock refuses to open `other/f.txt`; in a mount namespace it does not exist.
    [note] = [line for line in result.text.splitlines() if "The sandbox blocked " in line]
    assert f"{folder}/work/secret/n.txt." in note
    assert f"{folder}/work/src" not in note


def test_the_note_names_each_blocked_path_once_and_at_most_three():
    lines = [
        "cat: /a/1: Permission denied",
        "PermissionError: [Errno 13] Permission denied: '/a/2'",
        "bash: line 1: /a/1: Permission denied",
    ]
    note = blocked_note("\n".join(lines), SandboxPolicy())
    assert note == "The sandbox blocked /a/1, /a/2."
    lines += [f"touch: cannot touch '/a/{number}': Read-only file system" for number in (3, 4, 5)]
    note = blocked_note("\n".join(lines), SandboxPolicy())
    assert note == "The sandbox blocked /a/1, /a/2, /a/3 and 2 more."
    assert blocked_note("cat: /a/1: No such file or directory", SandboxPolicy()) == ""


@needs_sandbox
async def test_a_command_has_no_network_unless_the_policy_allows_everything(folder):
    import socket

    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.3)
    port = listener.getsockname()[1]
    connect = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached"
    for network, is_open in (
        (NetworkPolicy(allow=["example.com"]), False),
        (NetworkPolicy(allow=[]), False),
        (NetworkPolicy(deny=["example.com"]), False),
        (NetworkPolicy(allow=["*"], allow_private_urls=True), True),
        (None, True),
    ):
        personality = Personality("p", network=network)
        result = await call(folder, "terminal", {"command": connect}, personality)
        assert ("reached" in result.text) == is_open, (network, result.text)
    listener.close()


class NoSandbox:
    """A machine without any sandbox."""

    def probe(self):
        return Support("none", "bubblewrap is missing (apt install bubblewrap)")

    def wrap(self, argv, policy, *, directory, environment):
        raise UnconfinedError("not asked")


RESTRICTED = (
    {"fs_reach": FsReach()},
    {"network": NetworkPolicy(allow=[])},
    {"network": NetworkPolicy(allow=["example.com"])},
)


@pytest.mark.parametrize("policy", RESTRICTED)
@pytest.mark.parametrize("make", [terminal_tool, run_tests_tool])
async def test_a_tool_whose_commands_cannot_be_confined_is_hidden_and_refused_with_the_way_out(
    folder, policy, make
):
    tool = make(sandbox=NoSandbox())
    registry = ToolRegistry([tool])
    personality = Personality("p", **policy)
    args = {"command": "touch ran"} if tool.name == "terminal" else {}
    (folder / "work/Makefile").write_text("test:\n\ttouch ran\n")
    result = await call(folder, tool.name, args, personality, tool)
    reason = (
        f"{tool.name} cannot be confined here, as the policy of `p` requires: "
        "bubblewrap is missing (apt install bubblewrap)"
    )
    assert result.text == f"Tool {tool.name} is not currently available: {reason}"
    assert (result.result.code, result.result.reason) == ("not_available", "unavailable")
    assert not (folder / "work/ran").exists()
    view = registry.view(personality)
    assert view.definitions() == view.definitions("anthropic") == []
    assert registry.view(personality, freeze_availability=True).definitions() == []
    assert view.fingerprint == ToolRegistry([]).view(personality).fingerprint
    assert registry.freeze().view(personality).definitions() == []
    explained = registry.explain(tool.name, personality)
    assert (explained.outcome, explained.callable) == ("unavailable", False)
    assert explained.text == f"`{tool.name}` is permitted, but refused: {reason}"
    [finding] = registry.validate_for(personality)
    assert (finding.kind, finding.message) == (
        "not_bindable",
        f"`{tool.name}` is refused: {reason}",
    )


async def test_without_a_restriction_such_a_tool_is_shown_and_runs(folder):
    tool = terminal_tool(sandbox=NoSandbox())
    registry = ToolRegistry([tool])
    for personality in (
        Personality("free"),
        Personality("open", network=NetworkPolicy(allow=["*"], allow_private_urls=True)),
    ):
        assert len(registry.view(personality).definitions()) == 1
        assert registry.explain("terminal", personality).visible
        result = await call(folder, "terminal", {"command": "echo hi"}, personality, tool)
        assert result.text == "hi\n"
    assert len(registry.to_definitions()) == 1
    required = ToolRegistry([terminal_tool(sandbox="off")])
    assert len(required.view(Personality("p", fs_reach=FsReach())).definitions()) == 1


def test_a_sandbox_that_raises_hides_the_tool(caplog):
    class Broken(NoSandbox):
        def probe(self):
            raise RuntimeError("broken")

    registry = ToolRegistry([terminal_tool(sandbox=Broken())])
    personality = Personality("p", fs_reach=FsReach())
    assert registry.view(personality).definitions() == []
    assert "its sandbox raised RuntimeError" in registry.explain("terminal", personality).text


async def test_the_sandbox_is_asked_at_each_list_and_each_batch(folder):
    class Changing(NoSandbox):
        works = False

        def probe(self):
            return Support("landlock") if self.works else super().probe()

    sandbox = Changing()
    view = ToolRegistry([terminal_tool(sandbox=sandbox)]).view(Personality("p", fs_reach=FsReach()))
    assert view.definitions() == []
    sandbox.works = True
    assert len(view.definitions()) == 1


async def test_declared_programs_that_cannot_be_confined_are_found_before_any_call(folder):
    @tool(capabilities=ToolCapabilities(process={"allowedBinaries": ["touch"]}))
    async def touch(context: ToolContext) -> str:
        """Touch a file."""
        await context.scoped_process.run("touch", ["ran"])
        return "ran"

    registry = ToolRegistry([touch], capability_backends=standard_backends(sandbox=NoSandbox()))
    personality = Personality("p", fs_reach=FsReach())
    [finding] = registry.validate_for(personality)
    assert (finding.tool, finding.kind, finding.capability) == ("touch", "not_bindable", "process")
    assert "bubblewrap is missing" in finding.message
    assert registry.validate_for(Personality("free")) == []
    [result] = await registry.view(personality).execute(
        [{"id": "1", "name": "touch", "args": {}}], ToolContext(working_dir=folder / "work")
    )
    assert result.result.code == "not_available"
    assert "bubblewrap is missing (apt install bubblewrap)" in result.text
    assert not (folder / "work/ran").exists()


def test_check_names_the_tools_that_no_policy_binds():
    @tool
    def plain() -> str:
        """Touch nothing."""
        return ""

    registry = ToolRegistry([plain, terminal_tool(), terminal_off()])
    assert registry.check(Personality("p", fs_reach=FsReach())) == {
        "undeclared": ["plain", "unconfined"]
    }
    assert registry.check(Personality("free")) == {}


def terminal_off():
    off = terminal_tool(sandbox="off")
    return Tool("unconfined", off.description, off.schema, off.execute)


async def test_off_confines_no_command(folder):
    terminal = terminal_tool(sandbox="off")
    result = await call(
        folder,
        "terminal",
        {"command": f"cat {folder}/other/f.txt"},
        reach(folder, read=["work"]),
        terminal,
    )
    assert "text of other" in result.text


@needs_sandbox
async def test_required_confines_to_the_working_directory_without_a_policy(folder):
    terminal = terminal_tool(sandbox="required")
    command = {"command": f"echo x > new.txt; cat {folder}/other/f.txt"}
    result = await call(folder, "terminal", command, Personality("p"), terminal)
    assert (folder / "work/new.txt").exists()
    assert "text of other" not in result.text


@needs_sandbox
async def test_the_tests_of_a_project_run_confined(folder):
    (folder / "work/Makefile").write_text(f"test:\n\tcat {folder}/other/f.txt\n")
    personality = reach(folder, read=["work"], write=["work"])
    result = await call(folder, "run_tests", {}, personality, run_tests_tool())
    assert "text of other" not in result.text
    assert "make" in result.text


@pytest.mark.parametrize("choice", ["on", None, 1, True])
def test_an_unknown_sandbox_is_refused(choice):
    with pytest.raises(ValueError, match="`sandbox` must be"):
        terminal_tool(sandbox=choice)


def test_what_a_personality_does_not_cover_is_found_before_any_call(folder):
    @tool(capabilities=ToolCapabilities(fs_reach={"read": [str(folder / "other")]}))
    def wide() -> str:
        """Read."""
        return ""

    @tool(capabilities=ToolCapabilities(network={"allowedHosts": ["a.com", "*.b.com"]}))
    def web() -> str:
        """Fetch."""
        return ""

    @tool(capabilities=ToolCapabilities(secrets=["x"]))
    def secret() -> str:
        """Use a secret."""
        return ""

    @tool
    def plain() -> str:
        """Touch nothing."""
        return ""

    registry = ToolRegistry([wide, web, secret, plain], capability_backends=standard_backends())
    personality = Personality(
        "p", fs_reach=FsReach([str(folder / "work")]), network=NetworkPolicy(allow=["x.b.com"])
    )
    found = {(item.tool, item.kind, item.capability) for item in registry.validate_for(personality)}
    assert found == {
        ("wide", "not_covered", "fs_reach.read"),
        ("web", "not_covered", "network"),
        ("secret", "no_backend", "secrets"),
        ("plain", "undeclared", ""),
    }
    free = {(item.tool, item.kind) for item in registry.validate_for(Personality("free"))}
    assert free == {("secret", "no_backend")}


def test_ready_tools_follow_the_policy_and_off_is_named(folder):
    policy = Personality("p", fs_reach=FsReach([str(folder / "work")]))
    registry = ToolRegistry([*ready_tools()], capability_backends=standard_backends())
    bound = {"terminal", "read_file", "write_file", "patch_file", "list_files", "search_files"}
    assert not bound & {finding.tool for finding in registry.validate_for(policy)}
    assert registry.explain("terminal", policy).text == "`terminal` is visible to `p`"

    unconfined = ToolRegistry([terminal_tool(sandbox="off")])
    note = 'runs commands unconfined (sandbox="off"): the policy of `p` does not bind them'
    assert unconfined.explain("terminal", policy).text == f"`terminal` is visible to `p`; it {note}"
    [finding] = unconfined.validate_for(policy)
    assert (finding.kind, finding.message) == ("undeclared", f"`terminal` {note}")
    assert unconfined.validate_for(Personality("free")) == []


def test_a_tool_that_declares_nothing_is_named_by_explain(folder):
    @tool
    def plain() -> str:
        """Touch nothing."""
        return ""

    registry = ToolRegistry([plain])
    restricted = Personality("p", network=NetworkPolicy(allow=[]))
    assert registry.explain("plain", restricted).text == (
        "`plain` is visible to `p`; it declares no capability: it runs, and the policy of `p` "
        "does not bind it"
    )
    assert registry.explain("plain", Personality("q")).text == "`plain` is visible to `q`"


# Limits and the required level: `Personality(commands=…)`.

SLEEPS = "for i in $(seq 300); do sleep 62.3 & done; echo started; wait"


@pytest.mark.skipif(sys.platform != "linux", reason="counts processes on Linux")
@pytest.mark.parametrize("is_confined", [False, True])
@pytest.mark.parametrize(
    ("name", "args"), [("terminal", {"command": SLEEPS}), ("run_tests", {})], ids=["shell", "tests"]
)
async def test_a_command_ends_at_the_processes_of_its_personality(folder, name, args, is_confined):
    if is_confined and sandbox_support().level == "none":
        pytest.skip("no sandbox here")
    (folder / "work/Makefile").write_text(f"test:\n\t@{SLEEPS.replace('$', '$$')}\n")
    personality = Personality(
        "p",
        fs_reach=FsReach(write=[str(folder / "work")]) if is_confined else None,
        commands=CommandPolicy(processes=100),
    )
    result = await call(folder, name, args, personality)
    assert "Command was ended: it exceeded the limit processes (100)." in result.text
    assert not result.ok
    assert (result.result.extra["limit"], result.result.extra["exit_code"]) == ("processes", None)


async def test_the_smaller_limit_of_tool_and_personality_holds(folder):
    terminal = terminal_tool(commands=CommandPolicy(output_bytes=10_000))
    for stated, limit in ((None, "10,000"), (5_000, "5,000"), (20_000, "10,000")):
        personality = Personality("p", commands=CommandPolicy(output_bytes=stated))
        result = await call(folder, "terminal", {"command": "yes"}, personality, terminal)
        assert f"it exceeded the limit output_bytes ({limit})." in result.text
    short = await call(folder, "terminal", {"command": "yes | head -c 4000"}, personality, terminal)
    assert short.ok


async def test_a_personality_can_require_a_level(folder):
    only_landlock = CommandSandbox(("landlock",))
    if only_landlock.probe().level == "none":
        pytest.skip("no Landlock here")
    terminal = terminal_tool(sandbox=only_landlock)
    args = {"command": "echo hello"}
    for reach in (None, FsReach(write=[str(folder / "work")])):
        needed = Personality("p", fs_reach=reach, commands=CommandPolicy(sandbox="namespaces"))
        result = await call(folder, "terminal", args, needed, terminal)
        assert result.result.code == "not_available"
        assert "the level `namespaces` is required, and this machine has `landlock`" in result.text
    has = Personality("p", fs_reach=reach, commands=CommandPolicy(sandbox="landlock"))
    assert (await call(folder, "terminal", args, has, terminal)).ok
    registry = ToolRegistry(
        [_ls_tool()], capability_backends=standard_backends(sandbox=only_landlock)
    )
    [refused] = registry.view(needed).execute_sync([{"id": "1", "name": "ls", "args": {}}])
    assert "the level `namespaces` is required" in refused.text


def _ls_tool() -> Tool:
    @tool(capabilities=ToolCapabilities(process={"allowedBinaries": ["ls"]}))
    async def ls(context: ToolContext) -> str:
        """List."""
        return (await context.scoped_process.run("ls")).stdout

    return ls


def test_a_command_policy_is_read_and_written_as_json():
    wire = {"id": "p", "commands": {"sandbox": "namespaces", "processes": 9, "output_bytes": 1}}
    assert Personality.from_wire(wire).to_wire() == wire
    for bad in ({"sandbox": "docker"}, {"processes": 0}, {"process": 1}, {"output_bytes": "1"}):
        with pytest.raises(ConfigError):
            Personality("p", commands=bad)


@needs_sandbox
async def test_the_search_for_protected_files_does_not_block_the_loop(folder):
    for number in range(400):
        (folder / f"work/d{number}/e").mkdir(parents=True)
    gaps, is_done = [], False

    async def watch() -> None:
        while not is_done:
            start = time.monotonic()
            await asyncio.sleep(0)
            gaps.append(time.monotonic() - start)

    searches = []
    find = ProtectedPaths.find.__func__

    def slow(cls, roots, protection):
        searches.append(threading.current_thread() is threading.main_thread())
        time.sleep(0.3)
        return find(cls, roots, protection)

    watching = asyncio.create_task(watch())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProtectedPaths, "find", classmethod(slow))
        assert (await call(folder, "terminal", {"command": "true"}, reach(folder, [], ["work"]))).ok
    is_done = True
    await watching
    assert searches
    assert not any(searches)
    assert max(gaps) < 0.25


def test_validation_names_writable_places_from_which_code_runs_later(folder, monkeypatch):
    programs = folder / "work/bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{programs}")
    monkeypatch.setenv("HOME", str(folder))
    (folder / ".config/autostart").mkdir(parents=True)
    registry = ToolRegistry(ready_tools())

    def named(*write):
        found = registry.validate_for(reach(folder, write=write))
        return [each.message.split()[4] for each in found if each.kind == "runs_later"]

    assert named("work") == [str(programs)]
    assert named("work/src") == []
    assert named(".") == [str(programs), str(folder / ".config/autostart")]
    assert sys.prefix not in named("/")  # read-only in every reach
