"""`scoped_fs`, the file tools and a confined shell answer as one plain model of a reach does."""

from __future__ import annotations

import asyncio
import posixpath
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ethos_registry import Personality, ToolContext, ToolRegistry
from ethos_registry.capabilities import CommandSandbox, FsReach, ReachFiles
from ethos_registry.tools import ready_tools, terminal_tool
from long_counts import counts

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the model is of POSIX paths"),
]
SANDBOX = CommandSandbox(("namespaces",))
FOLDERS = ("one", "one/deep", "two", "two/deep", "out", "out/deep")
NAMES = ("f.txt", "deep", "new.txt", "l1", "l2", "..", "one", "two", "out", ".")
Kind = Literal["read", "list", "write"]


Nodes = dict[str, "str | list[str] | None"]
"""`None` for a folder; the target of a link; the content of a file, shared by its hard links."""


@dataclass
class Model:
    """A tree of files as a dictionary, and the rules of a reach, in as few words as possible."""

    read: Sequence[str]
    write: Sequence[str]
    nodes: Nodes = field(default_factory=dict)
    replaces: bool = True
    """Whether a write makes a new file in the place of the old one, or changes the old one."""

    def real(self, path: str, links: int = 8) -> str | None:
        """The real path; `None` if there is none, or the way leads out of what may be seen."""
        parts, at = [part for part in path.split("/") if part not in ("", ".")], ""
        while parts:
            part = parts.pop(0)
            if part == "..":
                if not at:
                    return None
                at = at.rpartition("/")[0]
                continue
            at = f"{at}/{part}" if at else part
            node = self.nodes.get(at, "" if not parts else "missing")
            if isinstance(node, str) and node not in ("", "missing"):
                if not self.is_visible(at) or not links:
                    return None
                links -= 1
                parts = node.split("/") + parts
                at = at.rpartition("/")[0]
            elif parts and (node is not None or not self.is_visible(at)):
                return None
        return at

    def is_visible(self, path: str) -> bool:
        """Whether it is in the reach, or a folder on the way to it."""
        return self.reads(path) or any(root.startswith(f"{path}/") for root in self.read)

    def reads(self, path: str) -> bool:
        return any(path == root or path.startswith(f"{root}/") for root in self.read)

    def writes(self, path: str) -> bool:
        """Below a root, or a root that is a file; a confined command cannot make a missing one."""
        if any(path.startswith(f"{root}/") for root in self.write):
            return True
        return path in self.write and (self.replaces or path in self.nodes)

    def answer(self, kind: Kind, path: str) -> str | None:
        """Content, names, or `written`; `None` for a refusal."""
        real = self.real(path)
        if real is None or not self.reads(real):
            return None
        node = self.nodes.get(real, "absent")
        if kind == "read":
            return node[0] if isinstance(node, list) else None
        if kind == "list":
            if node is not None:
                return None
            names = {name.removeprefix(f"{real}/").split("/")[0] for name in self.below(real)}
            return " ".join(sorted(names))
        is_written = node is not None and self.writes(real) and self.has_folder(path)
        if self.replaces:  # the name is judged too: a link below another root is not enough
            spelled = path.replace("/./", "/")
            is_written &= self.writes(spelled) or self.writes(posixpath.normpath(path))
        if not is_written:
            return None
        if self.replaces or not isinstance(node, list):
            self.nodes[real] = ["new"]
        else:
            node[0] = "new"
        return "written"

    def change(self, base: Path, kind: str, source: str, target: str) -> None:
        """What another program does to the tree, here and on the disk, if it is possible."""
        if kind == "swap":
            self.change(base, "rename", source, "aside")
            self.change(base, "rename", target, source)
            self.change(base, "rename", "aside", target)
        elif target in self.nodes or not self.is_folder(target.rpartition("/")[0]):
            return
        elif kind == "symlink":
            (base / target).symlink_to(source)
            self.nodes[target] = source
        elif source not in self.nodes or f"{target}/".startswith(f"{source}/"):
            return
        elif kind == "rename":
            (base / source).rename(base / target)
            for name in [source, *self.below(source)]:
                self.nodes[target + name.removeprefix(source)] = self.nodes.pop(name)
        elif isinstance(self.nodes[source], list):
            (base / target).hardlink_to(base / source)
            self.nodes[target] = self.nodes[source]

    def is_folder(self, path: str) -> bool:
        return not path or self.nodes.get(path, "absent") is None

    def has_folder(self, path: str) -> bool:
        real = self.real(path)
        return real is not None and self.is_folder(real.rpartition("/")[0])

    def below(self, folder: str) -> list[str]:
        return [name for name in self.nodes if name.startswith(f"{folder}/")]


Links = Sequence[tuple[str, str, str]]
Queries = Sequence[tuple[Kind, str]]


def build(base: Path, links: Links) -> Nodes:
    """The tree on disk, and as nodes."""
    shutil.rmtree(base, ignore_errors=True)
    nodes: Nodes = {}
    for folder in FOLDERS:
        (base / folder).mkdir(parents=True)
        nodes[folder] = None
        (base / folder / "f.txt").write_text(f"content of {folder}")
        nodes[f"{folder}/f.txt"] = [f"content of {folder}"]
    for folder, name, target in links:
        if f"{folder}/{name}" not in nodes:
            (base / folder / name).symlink_to(target)
            nodes[f"{folder}/{name}"] = target
    return nodes


def by_scoped_files(base: Path, personality: Personality, queries: Queries) -> list[str | None]:
    assert personality.fs_reach is not None
    reach = personality.fs_reach
    files = ReachFiles(reach.read, reach.write, working_dir=str(base)).sync

    def answer(kind: Kind, path: str) -> str | None:
        try:
            if kind == "read":
                return files.read(path)
            if kind == "list":
                return " ".join(sorted(files.list(path)))
            files.write(path, "new")
        except OSError:
            return None
        return "written"

    return [answer(*query) for query in queries]


def by_file_tools(base: Path, personality: Personality, queries: Queries) -> list[str | None]:
    view = ToolRegistry(ready_tools()).view(personality)
    tools = {"read": "read_file", "list": "list_files", "write": "write_file"}

    async def answer(kind: Kind, path: str) -> str | None:
        args = {"path": path} | ({"content": "new"} if kind == "write" else {})
        if kind == "write":
            await view.execute(
                [{"id": "0", "name": "read_file", "args": {"path": path}}], context
            )  # it is read before it is replaced
        call = {"id": "1", "name": tools[kind], "args": args}
        [result] = await view.execute([call], context)
        if not result.ok:
            return None
        return "written" if kind == "write" else result.text

    async def answers() -> list[str | None]:
        return [await answer(*query) for query in queries]

    context = ToolContext(working_dir=base, read_mtimes={})
    return asyncio.run(answers())


def by_shell(base: Path, personality: Personality, queries: Queries) -> list[str | None]:
    commands = {"read": "cat {0}", "list": "ls -1a {0}/", "write": "printf new > {0}"}
    lines = [
        f"(cd {shlex.quote(str(base))} && {commands[kind].format(shlex.quote(path))} "
        "&& echo ' [ok]') 2>/dev/null; echo ==="
        for kind, path in queries
    ]
    view = ToolRegistry([terminal_tool(sandbox=SANDBOX)]).view(personality)
    call = {"id": "1", "name": "terminal", "args": {"command": "\n".join(lines)}}
    roots = personality.fs_reach.read  # type: ignore[union-attr]
    root = next((root for root in roots if Path(root).is_dir()), None)
    if root is None:  # nothing is left to run in
        return [None for _ in queries]
    [result] = asyncio.run(view.execute([call], ToolContext(working_dir=root)))
    found: list[str | None] = []
    pieces = result.text.split("===\n")
    for (kind, _), piece in zip(queries, pieces, strict=False):
        text, is_ok, _ = piece.partition(" [ok]")
        if kind == "list":
            text = " ".join(sorted(name for name in text.split() if name not in (".", "..")))
        found.append(("written" if kind == "write" else text) if is_ok else None)
    assert len(found) == len(queries), result.text
    return found


paths = st.builds(
    "/".join,
    st.tuples(st.sampled_from(FOLDERS), st.lists(st.sampled_from(NAMES), max_size=3)).map(
        lambda found: [found[0], *found[1]]
    ),
)
targets = st.sampled_from(
    ["f.txt", "deep", "../two", "../two/f.txt", "../out/f.txt", "../out", "l1", "l2", "..", "../.."]
)
links = st.lists(
    st.tuples(st.sampled_from(FOLDERS), st.sampled_from(["l1", "l2"]), targets), max_size=4
)
queries = st.lists(
    st.tuples(st.sampled_from(["read", "read", "list", "write"]), paths), min_size=1, max_size=8
)
inner = st.builds(
    "{}/{}".format, st.sampled_from(FOLDERS), st.sampled_from(["f.txt", "new.txt", "l1", "moved"])
)
places = st.one_of(inner, st.sampled_from(FOLDERS))
changes = st.one_of(
    st.tuples(st.just("rename"), places, places),
    st.tuples(st.just("hard link"), inner, inner),
    st.tuples(st.just("symlink"), targets, inner),
    st.tuples(st.just("swap"), st.sampled_from(FOLDERS), st.sampled_from(FOLDERS)),
)
programs = st.lists(st.tuples(st.lists(changes, max_size=3), queries), min_size=1, max_size=3)
roots = st.lists(st.sampled_from(FOLDERS[:4]), min_size=1, max_size=3, unique=True)
WAYS: dict[str, Callable[[Path, Personality, Queries], list[str | None]]] = {
    "scoped_fs": by_scoped_files,
    "file tools": by_file_tools,
    "shell": by_shell,
}


def agrees(way: str, base: Path, kind: Kind, expected: str | None, found: str | None) -> bool:
    if kind == "list" and expected is None and found is not None:
        # `scoped_fs` lists a missing folder as empty; a shell sees the way to the reach.
        names = {name for root in FOLDERS[:4] for name in root.split("/")} | {*base.parts}
        return found == "" if way == "scoped_fs" else way == "shell" and {*found.split()} <= names
    if expected is None or found is None or way != "file tools":
        return expected == found
    return all(word in found for word in expected.split())


@counts("examples", 25, 2_000)
@pytest.mark.parametrize("way", WAYS)
def test_a_reach_means_the_same_everywhere(way, examples):
    if way == "shell" and SANDBOX.probe().level != "namespaces":
        pytest.skip("no bubblewrap here")

    @settings(max_examples=examples, deadline=None)
    @given(read=roots, write=roots, links=links, program=programs)
    @example(
        read=["one"],
        write=["one", "two/deep"],
        links=[("one", "l1", "../two/../one/f.txt"), ("one", "l2", "../two/l1")],
        program=[
            (
                [],
                [
                    ("read", "two/../one/f.txt"),
                    ("read", "one/l1"),
                    ("read", "one/l2"),
                    ("read", "two/f.txt"),
                    ("read", "two/f.txt/../../one/f.txt"),
                    ("read", "two/missing/../../one/f.txt"),
                    ("read", "out/../one/f.txt"),
                    ("list", "two/../one/deep"),
                    ("list", "two/../two"),
                    ("write", "two/../one/new.txt"),
                ],
            )
        ],
    )
    @example(
        read=["one"],
        write=["two"],
        links=[("one", "l1", "../two")],
        program=[
            ([], [("write", "one/../two/f.txt"), ("write", "one/deep/../../two/new.txt")]),
            ([], [("write", "one/../one/f.txt"), ("write", "two/../one/new.txt")]),
        ],
    )
    def check(read, write, links, program):
        compare(way, read, write, links, program)

    check()


def compare(way, read, write, links, program):
    base = Path(tempfile.mkdtemp(dir="/var/tmp")).resolve()
    try:
        readable = list(dict.fromkeys([*write, *read]))
        model = Model(readable, write, build(base, links), replaces=way != "shell")
        reach = FsReach(
            [str(base / root) for root in readable], [str(base / root) for root in write]
        )
        for changes, queries in program:
            for change in changes:
                model.change(base, *change)
            if "one" not in model.nodes:
                (base / "one").mkdir()
                model.nodes["one"] = None
            ask(way, base, model, Personality("p", fs_reach=reach), queries)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def ask(way, base, model, personality, queries):
    expected = []
    for kind, path in [*queries]:
        if way == "file tools" and kind == "write" and not model.has_folder(path):
            queries.remove((kind, path))  # this tool creates the folder
            continue
        if kind != "list" and path.endswith("/."):
            queries.remove((kind, path))  # a file to some, a folder to others
            continue
        expected.append(model.answer(kind, path))
    found = WAYS[way](base, personality, queries)
    for query, wanted, got in zip(queries, expected, found, strict=True):
        assert agrees(way, base, query[0], wanted, got), (query, wanted, got)
    for name, node in model.nodes.items():
        if isinstance(node, list):
            assert (base / name).read_text() == node[0], name
