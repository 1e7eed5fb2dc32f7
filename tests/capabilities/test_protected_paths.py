"""Git folders and protected names below what a command may write, at each level."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
import time

import pytest

from attack_place import attack_place
from capabilities.test_command_sandbox import LEVELS, sandbox_of
from ethos_registry import Personality, ToolContext, ToolRegistry
from ethos_registry.capabilities import CommandSandbox, FsReach, SandboxPolicy
from ethos_registry.capabilities._protected_paths import ProtectedPaths
from ethos_registry.tools import terminal_tool

pytestmark = [
    pytest.mark.privileges,
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]

_CONFIG = "git config user.name n && git config user.email e@example.com"
_COMMIT = "git -c user.name=n -c user.email=e@example.com commit -q"
NEW_REPOSITORY = (
    f"git init -q -b main . && {_CONFIG} && echo 1 > a && git add a && git commit -qm one"
)
EVERYDAY = (
    "echo 2 > b && git add b && git commit -qm two && git switch -q -c other && "
    "git switch -q main && echo 3 >> a && git stash -q && git stash pop -q && "
    "git worktree list && git status --short && git log --oneline | wc -l && git gc -q"
)


@pytest.fixture
def place():
    with attack_place() as found:
        yield found


@pytest.fixture
def repository(place):
    assert place.run_unconfined(NEW_REPOSITORY)[0] == 0
    return place


def run(place, level, script, before_it_starts=lambda: None):
    """The exit status, the output and the restored files, named below the directory."""
    prepared = sandbox_of(level).wrap(
        ["sh", "-c", script], SandboxPolicy(write=[str(place.inside)]), directory=str(place.inside)
    )
    before_it_starts()
    done = subprocess.run(
        prepared.argv,
        env=prepared.environment,
        cwd=place.inside,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        check=False,
    )
    restored = [os.path.relpath(path, place.inside) for path in prepared.clean_up()]
    return done.returncode, done.stdout.decode(), restored


@pytest.mark.parametrize("level", LEVELS)
def test_everyday_commands_of_git_work(repository, level):
    status, output, restored = run(repository, level, EVERYDAY)
    assert (status, restored) == (0, []), output
    assert output.splitlines()[1:] == [" M a", "2"]


@pytest.mark.parametrize("level", LEVELS)
def test_a_root_may_be_a_file(place, level):
    note = place.outside / "note.txt"
    note.write_text("old")
    policy = {"read": [str(place.inside)], "write": [str(note)]}
    script = f"echo new > {note} && cat {note}; echo x > {place.inside}/new"
    _, output = place.run(sandbox_of(level), script, **policy)
    assert output.startswith("new\n")
    assert note.read_text() == "new\n"
    assert not (place.inside / "new").exists()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("gone", [".git", ".git/hooks", ".git/config"])
def test_what_another_program_removes_stops_no_command(repository, level, gone):
    def remove():
        (repository.inside / gone).rename(repository.outside / "removed")

    status, output, _ = run(repository, level, "echo works", remove)
    assert (status, output) == (0, "works\n")


@pytest.mark.skipif("namespaces" not in LEVELS, reason="no bubblewrap here")
@pytest.mark.parametrize("gone", ["sub", "sub/.ssh", "sub/.netrc", ".ssh"])
def test_what_another_program_removes_is_not_made_again(place, gone):
    for folder in (place.inside, place.inside / "sub"):
        (folder / ".ssh").mkdir(parents=True)
        (folder / ".ssh" / "id").write_text("a key")
        (folder / ".netrc").write_text("a password")
    before = files_below(place.inside)

    def remove():
        (place.inside / gone).rename(place.outside / "removed")

    status, _, restored = run(place, "namespaces", "cat .netrc sub/.netrc; true", remove)
    assert (status, restored) == (0, [])
    expected = {path for path in before if not f"{path}/".startswith(f"{gone}/")}
    assert set(files_below(place.inside)) == expected


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


CHANGES_OF_OTHERS = {
    "in its place": "printf '[user]\\nname = other\\n' >> .git/config; echo export A=1 >> .envrc",
    "removed": "rm .git/config .envrc",
    "by git": "git config user.name other; git config branch.main.remote origin",
    "a hook": "printf '#!/bin/sh\\n' > .git/hooks/pre-push; mkdir .vscode/deep",
    "a key": "echo other > .netrc; rm -r .ssh",
}


@pytest.mark.skipif("namespaces" not in LEVELS, reason="no bubblewrap here")
@pytest.mark.parametrize("change", CHANGES_OF_OTHERS)
def test_what_another_program_changes_meanwhile_stays(repository, change):
    """A command cannot have changed it: in namespaces the kernel keeps what exists."""
    assert (
        repository.run_unconfined("touch .envrc .netrc; mkdir .vscode .ssh; echo 1 > .ssh/id")[0]
        == 0
    )

    def make_change():
        assert repository.run_unconfined(CHANGES_OF_OTHERS[change])[0] == 0

    command = "echo started > started; while [ ! -e go ]; do sleep 0.02; done; rm started go"
    with changed_when_started(repository, make_change):
        status, output, restored = run(repository, "namespaces", command)
    assert (status, restored) == (0, []), output
    assert contents_below(repository.inside) == contents_below(repository.outside / "expected")


@contextlib.contextmanager
def changed_when_started(place, make_change):
    """Runs it while a command waits for `go`; what there was then is kept outside."""

    def wait():
        while not (place.inside / "started").exists():
            time.sleep(0.02)
        make_change()
        ignored = shutil.ignore_patterns("started")
        shutil.copytree(place.inside, place.outside / "expected", symlinks=True, ignore=ignored)
        (place.inside / "go").touch()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    yield
    thread.join(60)


def contents_below(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.mark.skipif("namespaces" not in LEVELS, reason="no bubblewrap here")
def test_a_configuration_that_was_replaced_meanwhile_runs_nothing(repository):
    """Where another program replaces a file, the mount over it is gone."""
    command = (
        "echo started > started; while [ ! -e go ]; do sleep 0.02; done; "
        f"touch evil; printf '[core]\\nfsmonitor = {repository.inside}/evil\\n' >> .git/config"
    )
    with changed_when_started(
        repository, lambda: repository.run_unconfined("git config user.name other")
    ):
        _, _, restored = run(repository, "namespaces", command)
    assert restored == [".git/config"]
    assert "fsmonitor" not in (repository.inside / ".git" / "config").read_text()


@pytest.mark.parametrize("level", LEVELS)
def test_a_repository_that_a_command_makes_stays(place, level):
    script = f"git init -q . && echo 1 > a && git add a && {_COMMIT} -m one && git log --oneline"
    status, output, restored = run(place, level, script)
    assert (status, restored) == (0, []), output
    assert place.run_unconfined("git status --short") == (0, "")


_RUNS = "printf '#!/bin/sh\\ntouch {outside}/ran\\n' > evil; chmod +x evil; "
_FSMONITOR = "'[core]\\nfsmonitor = {inside}/evil\\n'"
ATTACKS = {
    "the configuration": f"printf {_FSMONITOR} >> .git/config",
    "a replaced configuration": f"printf {_FSMONITOR} > c; mv -f c .git/config",
    "git config": "git config core.fsmonitor {inside}/evil",
    "a hook": "mkdir -p .git/hooks; cp evil .git/hooks/post-index-change; "
    "cp evil .git/hooks/pre-commit",
    "a moved folder": "mv .git g; cp -r g .git; " + f"printf {_FSMONITOR} >> .git/config",
    "a folder of another repository": "git init -q o; "
    f"printf {_FSMONITOR} >> o/.git/config; mv .git g; mv o/.git .git",
    "a link in its place": f"cp -r .git g; printf {_FSMONITOR} >> g/config; "
    "rm -rf .git; ln -s g .git",
    "a file in its place": f"cp -r .git g; printf {_FSMONITOR} >> g/config; "
    "rm -rf .git; echo 'gitdir: g' > .git",
    "a common directory": f"cp -r .git g; printf {_FSMONITOR} >> g/config; "
    "echo {inside}/g > .git/commondir",
    "a repository that the command made": "git init -q new; "
    f"printf {_FSMONITOR} >> new/.git/config",
    "a nested repository": f"printf {_FSMONITOR} >> sub/.git/config",
    "a nested folder moved": f"mv sub s; cp -r s sub; printf {_FSMONITOR} >> sub/.git/config",
    "a link on the way": "mv .git/info i; ln -s {outside} .git/info; echo x > {outside}/attributes",
}
USER = (
    "for d in . sub new; do (cd $d 2>/dev/null && git status; git add a; "
    f"{_COMMIT} --allow-empty -m user); done"
)


def attack(place, name):
    script = _RUNS + ATTACKS[name]
    script = script.replace("{inside}", str(place.inside)).replace("{outside}", str(place.outside))
    assert place.run_unconfined(f"git init -q sub && cd sub && {_CONFIG}")[0] == 0
    return script


@pytest.mark.parametrize("name", [name for name in ATTACKS if name != "a link on the way"])
def test_each_attack_on_git_runs_code_without_the_sandbox(repository, name):
    repository.run_unconfined(attack(repository, name))
    repository.run_unconfined(USER)
    assert (repository.outside / "ran").exists()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_on_git_runs_code_afterwards(repository, level, name):
    script = attack(repository, name)
    config = (repository.inside / ".git" / "config").read_bytes()
    run(repository, level, script)
    repository.run_unconfined(USER)
    assert not (repository.outside / "ran").exists()
    assert not (repository.outside / "attributes").exists()
    assert (repository.inside / ".git" / "config").read_bytes() == config


def test_without_the_comparison_landlock_lets_a_command_change_the_configuration(
    repository, monkeypatch
):
    monkeypatch.setattr(ProtectedPaths, "restore", lambda self, protection: [])
    run(repository, "landlock", attack(repository, "the configuration"))
    repository.run_unconfined(USER)
    assert (repository.outside / "ran").exists()


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_deleted_with_its_folder_is_not_put_back(place, level):
    assert place.run_unconfined("mkdir d && touch d/.envrc")[0] == 0
    run(place, level, "rm -rf d")
    assert (place.inside / "d").exists() == (level == "namespaces")  # a mount point stays


@pytest.mark.parametrize("level", LEVELS)
def test_protected_names_are_as_before_at_any_depth(place, level):
    (place.inside / "deep" / "er" / ".vscode").mkdir(parents=True)
    tasks = place.inside / "deep" / "er" / ".vscode" / "tasks.json"
    tasks.write_text("{}")
    tasks.chmod(0o640)
    _, _, restored = run(
        place, level, "echo x > deep/er/.vscode/tasks.json; echo x > .envrc; echo x > free"
    )
    assert (tasks.read_text(), tasks.stat().st_mode & 0o777) == ("{}", 0o640)
    assert not (place.inside / ".envrc").exists()
    assert (place.inside / "free").read_text() == "x\n"
    assert ".envrc" in restored
    assert ("deep/er/.vscode/tasks.json" in str(restored) or "deep/er/.vscode" in restored) == (
        level == "landlock"
    )


def test_the_limit_of_landlock_that_is_listed_is_one(place):
    (place.inside / "sub" / ".ssh").mkdir(parents=True)
    (place.inside / "sub" / ".ssh" / "id").write_text("a key")
    for level, is_read in (("landlock", True), ("namespaces", False)):
        if CommandSandbox((level,)).probe().level == level:
            limits = CommandSandbox((level,)).probe().limits
            assert ("a closed name below a writable directory can be read" in limits) == is_read
            assert ("a key" in run(place, level, "cat sub/.ssh/id")[1]) == is_read


async def test_the_result_of_a_command_says_what_was_put_back(repository):
    inside = str(repository.inside)
    personality = Personality("p", fs_reach=FsReach([inside], [inside]))
    terminal = terminal_tool(sandbox=sandbox_of("landlock"))
    [result] = (
        await ToolRegistry([terminal])
        .view(personality)
        .execute(
            [{"id": "1", "name": "terminal", "args": {"command": "echo x >> .git/config"}}],
            ToolContext(working_dir=inside),
        )
    )
    assert result.result.structured["restored_files"] == [f"{inside}/.git/config"]
    assert f"[The sandbox put protected files back: {inside}/.git/config]" in result.text
