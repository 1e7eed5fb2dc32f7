"""Ways out of a permitted directory, each as a function that prepares the tree.

`inside` is permitted for reading and writing; `outside` holds `secret.txt`, which nobody may reach.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SECRET = "the secret of another"


@dataclass(frozen=True)
class Tree:
    """The two directories of an attack."""

    base: Path

    @property
    def inside(self) -> Path:
        return self.base / "inside"

    @property
    def outside(self) -> Path:
        return self.base / "outside"

    @property
    def secret(self) -> Path:
        return self.outside / "secret.txt"

    def link(self, name: str, target: str | Path) -> None:
        path = self.inside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)


def make_tree(base: Path) -> Tree:
    """A fresh tree; the base has no symbolic link in its path."""
    tree = Tree(Path(os.path.realpath(base)))
    (tree.inside / "sub" / "deep").mkdir(parents=True)
    (tree.inside / "a.txt").write_text("mine")
    (tree.base / "inside2").mkdir()
    (tree.base / "inside2" / "secret.txt").write_text(SECRET)
    (tree.outside / "deep").mkdir(parents=True)
    tree.secret.write_text(SECRET)
    (tree.outside / "a.txt").write_text(SECRET)
    return tree


Attack = Callable[[Tree], str]
"""Prepares the tree; returns the path that the tool asks for."""


def _plain(path: str) -> Attack:
    def prepare(tree: Tree) -> str:
        return path.format(base=tree.base, inside=tree.inside, outside=tree.outside)

    return prepare


def _linked(links: dict[str, str], path: str) -> Attack:
    def prepare(tree: Tree) -> str:
        names = {"base": tree.base, "inside": tree.inside, "outside": tree.outside}
        for name, target in links.items():
            tree.link(name, target.format(**names))
        return path.format(**names)

    return prepare


def _chain(length: int) -> Attack:
    def prepare(tree: Tree) -> str:
        for number in range(length):
            tree.link(f"c{number}", f"c{number + 1}")
        tree.link(f"c{length}", tree.secret)
        return "c0"

    return prepare


READS: dict[str, Attack] = {
    "absolute path": _plain("{outside}/secret.txt"),
    "dot-dot from the working directory": _plain("../outside/secret.txt"),
    "dot-dot inside an absolute path": _plain("{inside}/../outside/secret.txt"),
    "dot-dot through a real directory": _plain("sub/../../outside/secret.txt"),
    "many dot-dots": _plain("sub/deep/../../../outside/secret.txt"),
    "dot-dot with dots and double slashes": _plain(".//sub/./..//..///outside/secret.txt"),
    "sibling with the same prefix": _plain("{base}/inside2/secret.txt"),
    "sibling by dot-dot": _plain("../inside2/secret.txt"),
    "absolute link to the file": _linked({"l": "{outside}/secret.txt"}, "l"),
    "relative link to the file": _linked({"l": "../outside/secret.txt"}, "l"),
    "absolute link to the directory": _linked({"d": "{outside}"}, "d/secret.txt"),
    "relative link to the directory": _linked({"d": "../outside"}, "d/secret.txt"),
    "link to the base": _linked({"d": ".."}, "d/outside/secret.txt"),
    "link to the base by its absolute path": _linked({"d": "{base}"}, "d/outside/secret.txt"),
    "link to the root directory": _linked({"d": "/"}, "d{outside}/secret.txt"),
    "link, then dot-dot": _linked({"d": "{outside}/deep"}, "d/../secret.txt"),
    "link to a directory whose parent has the name": _linked({"d": "{outside}/deep"}, "d/../a.txt"),
    "link behind a link": _linked({"one": "two", "two": "{outside}/secret.txt"}, "one"),
    "link in a subdirectory": _linked({"sub/l": "../../outside/secret.txt"}, "sub/l"),
    "link to a link in another directory": _linked(
        {"one": "sub/two", "sub/two": "../../outside/secret.txt"}, "one"
    ),
    "link with dots in its target": _linked({"l": "./sub/../../outside/./secret.txt"}, "l"),
    "link to a sibling with the same prefix": _linked({"l": "../inside2/secret.txt"}, "l"),
    "link that goes in and out": _linked({"l": "{inside}/../outside/secret.txt"}, "l"),
    "link that goes out and in and out": _linked(
        {"back": "../inside/out", "out": "../outside/secret.txt"}, "back"
    ),
    "chain of five links": _chain(5),
    "chain of thirty links": _chain(30),
    "link through /proc/self/root": _linked({"p": "/proc/self/root"}, "p{outside}/secret.txt"),
    "link through /proc/self/cwd": _linked(
        {"p": "/proc/self/cwd"}, "p" + "/.." * 20 + "{outside}/secret.txt"
    ),
    "link through /proc and a process id": _linked(
        {"p": f"/proc/{os.getpid()}/root"}, "p{outside}/secret.txt"
    ),
    "path through /proc/self/root": _plain("/proc/self/root{outside}/secret.txt"),
    "trailing slash and dot": _linked({"d": "../outside"}, "d/./secret.txt"),
    "link as the permitted directory's child with a slash": _linked(
        {"d": "../outside/"}, "d//secret.txt"
    ),
}
"""Reads of `secret.txt` by another name."""


def _descriptor(tree: Tree) -> str:
    descriptor = os.open(tree.outside, os.O_RDONLY | os.O_DIRECTORY)
    return f"/proc/self/fd/{descriptor}/secret.txt"


def _descriptor_link(tree: Tree) -> str:
    descriptor = os.open(tree.outside, os.O_RDONLY | os.O_DIRECTORY)
    tree.link("fd", f"/proc/self/fd/{descriptor}")
    return "fd/secret.txt"


READS["an open descriptor below /proc"] = _descriptor
READS["a link to an open descriptor"] = _descriptor_link


def _fifo(tree: Tree) -> str:
    os.mkfifo(tree.inside / "fifo")
    return "fifo"


def _socket(tree: Tree) -> str:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tree.inside / "s"))
    listener.close()
    return "s"


SPECIAL: dict[str, Attack] = {
    "a FIFO that would hang": _fifo,
    "a socket": _socket,
    "a device by a link": _linked({"zero": "/dev/zero"}, "zero"),
    "a NUL byte": _plain("a.txt\0.png"),
    "an empty path": _plain(""),
    "a path that is too long": _plain("x/" * 3_000),
    "a loop of links": _linked({"one": "two", "two": "one"}, "one"),
    "a link to itself": _linked({"one": "one"}, "one"),
    "a chain of a hundred links": _chain(100),
    "a directory": _plain("sub"),
    "a file as a directory": _plain("a.txt/x"),
}
"""Reads that must fail at once, without hanging or exhausting memory."""

WRITES: dict[str, Attack] = {
    "absolute path": _plain("{outside}/new.txt"),
    "over the secret": _plain("{outside}/secret.txt"),
    "dot-dot": _plain("../outside/new.txt"),
    "dot-dot through a directory": _plain("sub/../../outside/new.txt"),
    "sibling with the same prefix": _plain("{base}/inside2/new.txt"),
    "link to the secret": _linked({"l": "{outside}/secret.txt"}, "l"),
    "dangling link": _linked({"l": "{outside}/new.txt"}, "l"),
    "relative dangling link": _linked({"l": "../outside/new.txt"}, "l"),
    "through a linked directory": _linked({"d": "../outside"}, "d/new.txt"),
    "through an absolute linked directory": _linked({"d": "{outside}"}, "d/new.txt"),
    "link, then dot-dot": _linked({"d": "{outside}/deep"}, "d/../new.txt"),
    "link to the root directory": _linked({"d": "/"}, "d{outside}/new.txt"),
    "link chain": _linked({"one": "two", "two": "../outside/new.txt"}, "one"),
    "through /proc/self/root": _linked({"p": "/proc/self/root"}, "p{outside}/new.txt"),
    "the base itself": _plain("../new.txt"),
    "a file in the root directory": _plain("/ethos-registry-attack.txt"),
}
"""Writes that would change something outside."""
