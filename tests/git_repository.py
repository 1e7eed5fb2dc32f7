"""Real git repositories in every state that `git status` speaks about."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MANY = 30
"""So many files that the output is worth reducing."""


@dataclass(frozen=True)
class Repository:
    """A repository that no configuration of the machine reaches."""

    path: Path

    def git(self, *arguments: str, may_fail: bool = False) -> str:
        """What git prints, standard error included."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_EDITOR": "true",
            **{f"GIT_{role}_NAME": "a" for role in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{role}_EMAIL": "a@example.org" for role in ("AUTHOR", "COMMITTER")},
        }
        process = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=self.path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        assert may_fail or process.returncode == 0, process.stdout
        return process.stdout

    def write(self, name: str, text: str = "text\n") -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def commit(self, message: str = "work") -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)


def start(path: Path) -> Repository:
    """A repository with some files committed on `main`."""
    path.mkdir()
    repository = Repository(path)
    repository.git("init", "--quiet", "--initial-branch=main")
    for number in range(MANY):
        repository.write(f"source/module_{number}/file with blanks.py", f"{number}\n" * 9)
    repository.write(".gitignore", "ignored*\n")
    repository.commit("first")
    return repository


def clutter(repository: Repository) -> None:
    for number in range(MANY):
        repository.write(f"notes on number {number}.txt")


def clean(repository: Repository) -> None:
    assert repository.path.exists()


def dirty(repository: Repository) -> None:
    paths = [f"source/module_{number}/file with blanks.py" for number in range(MANY)]
    for path in paths[:8]:
        repository.write(path, "changed\n")
    repository.git("add", *paths[4:6])
    for path in paths[4:5]:
        repository.write(path, "changed again\n")
    for path in paths[8:12]:
        repository.git("mv", path, path.replace("blanks", "a new name"))
    for path in paths[12:16]:
        (repository.path / path).unlink()
    for path in paths[16:18]:
        repository.git("rm", "--quiet", path)
    (repository.path / paths[18]).unlink()
    (repository.path / paths[18]).symlink_to("nowhere")
    repository.write("source/added.py")
    repository.git("add", "source/added.py")
    for unusual in (
        "ä ö ü.txt",
        "tab\tname",
        'quote".txt',
        " leading blank",
        "modified:   x",
        "漢字",
    ):
        repository.write(unusual)
    repository.write("ignored.log")
    clutter(repository)


def conflicting(repository: Repository) -> str:
    """Two branches that collide in every way; `main` is checked out, the other one is named."""
    paths = [f"source/module_{number}/file with blanks.py" for number in range(MANY)]
    repository.git("switch", "--quiet", "--create", "other")
    for path in paths[:5]:
        repository.write(path, "theirs\n")
    (repository.path / paths[5]).unlink()
    repository.write("both added.txt", "theirs\n")
    repository.git("mv", paths[7], "renamed by them.py")
    repository.commit("theirs")
    repository.git("switch", "--quiet", "main")
    for path in paths[:3]:
        repository.write(path, "ours\n")
    (repository.path / paths[3]).unlink()
    repository.write(paths[5], "ours\n")
    repository.write("both added.txt", "ours\n")
    repository.git("mv", paths[7], "renamed by us.py")
    repository.commit("ours")
    return "other"


def merging(repository: Repository) -> None:
    repository.git("merge", conflicting(repository), may_fail=True)
    clutter(repository)


def cherry_picking(repository: Repository) -> None:
    repository.git("cherry-pick", conflicting(repository), may_fail=True)
    clutter(repository)


def rebasing(repository: Repository) -> None:
    repository.git("rebase", conflicting(repository), may_fail=True)
    clutter(repository)


def reverting(repository: Repository) -> None:
    repository.write("source/module_1/file with blanks.py", "one\n")
    repository.commit("one")
    repository.write("source/module_1/file with blanks.py", "two\n")
    repository.commit("two")
    repository.git("revert", "HEAD~1", may_fail=True)
    clutter(repository)


def bisecting(repository: Repository) -> None:
    for number in range(4):
        repository.commit(f"{number}")
    repository.git("bisect", "start", "HEAD", "HEAD~4")
    clutter(repository)


def detached(repository: Repository) -> None:
    repository.commit("second")
    repository.git("switch", "--quiet", "--detach", "HEAD~1")
    clutter(repository)


def diverged(repository: Repository) -> None:
    repository.git("branch", "upstream")
    repository.git("branch", "--set-upstream-to=upstream")
    repository.commit("ours")
    repository.git("switch", "--quiet", "upstream")
    repository.commit("theirs")
    repository.commit("theirs too")
    repository.git("switch", "--quiet", "main")
    clutter(repository)


def behind(repository: Repository) -> None:
    repository.git("branch", "upstream")
    repository.git("branch", "--set-upstream-to=upstream")
    repository.git("switch", "--quiet", "upstream")
    repository.commit("theirs")
    repository.git("switch", "--quiet", "main")
    clutter(repository)


def unborn(repository: Repository) -> None:
    repository.git("switch", "--quiet", "--orphan", "empty")
    clutter(repository)


def with_submodule(repository: Repository) -> None:
    inner = start(repository.path.with_name("inner"))
    repository.git("submodule", "--quiet", "add", str(inner.path), "library")
    repository.commit("library")
    library = Repository(repository.path / "library")
    library.write("file in the library", "new\n")
    library.commit("in the library")
    library.write("untracked in the library")
    clutter(repository)


STATES: dict[str, Callable[[Repository], None]] = {
    builder.__name__: builder
    for builder in (
        clean,
        dirty,
        merging,
        cherry_picking,
        rebasing,
        reverting,
        bisecting,
        detached,
        diverged,
        behind,
        unborn,
        with_submodule,
    )
}
