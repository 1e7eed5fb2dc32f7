"""`scoped_fs`, the file tools and a confined shell answer as one plain model of a reach does."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
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


@dataclass
class Model:
    """A tree of files as a dictionary, and the rules of a reach, in as few words as possible."""

    read: Sequence[str]
    write: Sequence[str]
    nodes: dict[str, str | None] = field(default_factory=dict)
    """`None` for a folder; the content of a file; `-> target` for a link."""

    def real(self, path: str, links: int = 8) -> str | None:
        """The real path; `None` if there is none, or the way leads out of what may be seen."""
        parts, at = [part for part in path.split("/") if part not in ("", ".")], ""
        while parts:
            part = parts.pop(0)
            if part == "..":
                at = at.rpartition("/")[0]
                continue
            at = f"{at}/{part}" if at else part
            node = self.nodes.get(at, "" if not parts else "missing")
            if isinstance(node, str) and node.startswith("-> "):
                if not self.is_visible(at) or not links:
                    return None
                links -= 1
                parts = node[3:].split("/") + parts
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
        return any(path.startswith(f"{root}/") for root in self.write)

    def answer(self, kind: Kind, path: str) -> str | None:
        """Content, names, or `written`; `None` for a refusal."""
        real = self.real(path)
        if real is None or not self.reads(real):
            return None
        node = self.nodes.get(real, "absent")
        if kind == "read":
            return node if node is not None and node != "absent" else None
        if kind == "list":
            if node is not None:
                return None
            names = {name.removeprefix(f"{real}/").split("/")[0] for name in self.below(real)}
            return " ".join(sorted(names))
        is_written = node is not None and self.writes(real) and self.has_folder(path)
        return "written" if is_written else None

    def has_folder(self, path: str) -> bool:
        real = self.real(path)
        return real is not None and self.nodes.get(real.rpartition("/")[0], "absent") is None

    def below(self, folder: str) -> list[str]:
        return [name for name in self.nodes if name.startswith(f"{folder}/")]


Links = Sequence[tuple[str, str, str]]
Queries = Sequence[tuple[Kind, str]]


def build(base: Path, links: Links) -> dict[str, str | None]:
    """The tree on disk, and as nodes."""
    shutil.rmtree(base, ignore_errors=True)
    nodes: dict[str, str | None] = {}
    for folder in FOLDERS:
        (base / folder).mkdir(parents=True)
        nodes[folder] = None
        (base / folder / "f.txt").write_text(f"content of {folder}")
        nodes[f"{folder}/f.txt"] = f"content of {folder}"
    for folder, name, target in links:
        if f"{folder}/{name}" not in nodes:
            (base / folder / name).symlink_to(target)
            nodes[f"{folder}/{name}"] = f"-> {target}"
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
    root = personality.fs_reach.read[0]  # type: ignore[union-attr]
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
    @given(read=roots, write=roots, links=links, queries=queries)
    def check(read, write, links, queries):
        compare(way, read, write, links, queries)

    check()


def compare(way, read, write, links, queries):
    base = Path(tempfile.mkdtemp(dir="/var/tmp")).resolve()
    try:
        readable = list(dict.fromkeys([*write, *read]))
        model = Model(readable, write, build(base, links))
        expected = []
        for kind, path in [*queries]:
            if way == "file tools" and kind == "write" and not model.has_folder(path):
                queries.remove((kind, path))  # this tool creates the folder
                continue
            expected.append(model.answer(kind, path))
            if expected[-1] == "written":
                real = model.real(path)
                assert real is not None
                model.nodes[real] = "new"
        personality = Personality(
            "p",
            fs_reach=FsReach(
                [str(base / root) for root in readable], [str(base / root) for root in write]
            ),
        )
        found = WAYS[way](base, personality, queries)
        for query, wanted, got in zip(queries, expected, found, strict=True):
            assert agrees(way, base, query[0], wanted, got), (query, wanted, got)
        for name, node in model.nodes.items():
            if node is not None and not node.startswith("-> "):
                assert (base / name).read_text() == node, name
    finally:
        shutil.rmtree(base, ignore_errors=True)
