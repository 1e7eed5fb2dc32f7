"""Scoped files: nothing outside the reach is read, written or changed."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethos_registry.capabilities import Protection, ReachFiles
from ethos_registry.capabilities._files import DEFAULT_PROTECTION, FileEntry, SyncReachFiles
from scoped_attacks import READS, SECRET, SPECIAL, WRITES, Tree, make_tree

pytestmark = [
    pytest.mark.every_python,
    pytest.mark.privileges,
    pytest.mark.skipif(os.name != "posix", reason="needs directory descriptors"),
]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return make_tree(tmp_path)


def files_of(tree: Tree, **options: object) -> SyncReachFiles:
    settings = {"read": [str(tree.inside)], "write": [str(tree.inside)]} | options
    return SyncReachFiles(**settings, working_dir=str(tree.inside))  # type: ignore[arg-type]


def snapshot(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    """Every path below a directory with its mode and content."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.read_bytes() if path.is_file() and not path.is_symlink() else None,
        )
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("attack", READS)
def test_no_read_leaves_the_reach(tree, attack):
    path = READS[attack](tree)
    files = files_of(tree)
    for operation in (files.read, files.exists, files.mtime, files.list, files.list_entries):
        try:
            found = operation(path)
        except OSError:
            continue
        assert not found, f"{operation.__name__}: {found!r}"


@pytest.mark.parametrize("attack", READS)
def test_each_read_attack_succeeds_without_the_guard(tree, attack):
    path = READS[attack](tree)
    assert SECRET in (tree.inside / path).read_text()


@pytest.mark.parametrize("attack", SPECIAL)
def test_what_is_no_regular_file_is_refused_at_once(tree, attack):
    path = SPECIAL[attack](tree)
    with pytest.raises((PermissionError, IsADirectoryError, NotADirectoryError)):
        files_of(tree, read=["/dev", str(tree.inside)]).read(path, limit_bytes=1_000)


@pytest.mark.parametrize("attack", WRITES)
def test_no_write_leaves_the_reach(tree, attack):
    path = WRITES[attack](tree)
    before = snapshot(tree.outside), snapshot(tree.base / "inside2"), set(os.listdir("/"))
    with pytest.raises(PermissionError, match="PATH_NOT_REACHABLE"):
        files_of(tree).write(path, "mine now")
    after = snapshot(tree.outside), snapshot(tree.base / "inside2"), set(os.listdir("/"))
    assert before == after
    assert not [name for name in os.listdir(tree.base) if name.endswith(".tmp")]


@pytest.mark.parametrize("attack", WRITES)
def test_no_directory_is_made_outside_the_reach(tree, attack):
    path = WRITES[attack](tree)
    before = snapshot(tree.outside)
    with pytest.raises(PermissionError, match="PATH_NOT_REACHABLE"):
        files_of(tree).mkdir(f"{path}/folder")
    assert snapshot(tree.outside) == before


@pytest.mark.parametrize("attack", [name for name in WRITES if "root directory" not in name])
def test_each_write_attack_succeeds_without_the_guard(tree, attack):
    path = WRITES[attack](tree)
    before = snapshot(tree.base)
    (tree.inside / path).write_text("mine now")
    after = snapshot(tree.base)
    changed = {name for name in after if before.get(name) != after[name]}
    assert any(not name.startswith("inside/") for name in changed)


@pytest.mark.parametrize("name", [".git/hooks/pre-commit", ".git/config", ".envrc", ".mcp.json"])
def test_what_other_programs_execute_is_never_written(tree, name):
    (tree.inside / name).parent.mkdir(parents=True, exist_ok=True)
    (tree.inside / name).write_text("before")
    files = files_of(tree)
    with pytest.raises(PermissionError, match="always denied"):
        files.write(name, "after")
    assert files.read(name) == "before"


def test_protected_names_bind_in_any_case_and_through_links(tree):
    (tree.inside / ".GIT" / "Hooks").mkdir(parents=True)
    (tree.inside / ".git" / "hooks").mkdir(parents=True)
    tree.link("hooks", ".git/hooks")
    files = files_of(tree)
    for path in (".GIT/Hooks/x", "hooks/x", "sub/../.git/hooks/x", "./.git//hooks/x"):
        with pytest.raises(PermissionError):
            files.write(path, "x")
    assert list((tree.inside / ".git" / "hooks").iterdir()) == []


def test_keys_are_neither_read_nor_listed_by_name_or_by_hard_link(tree):
    keys = tree.inside / ".ssh"
    keys.mkdir()
    (keys / "id_ed25519").write_text(SECRET)
    protected = tree.inside / "token"
    protected.write_text(SECRET)
    os.link(protected, tree.inside / "other-name")
    files = files_of(
        tree,
        protection=Protection(closed_names=(".ssh",), closed_paths=(str(protected),)),
    )
    for path in (".ssh/id_ed25519", ".SSH/id_ed25519", "token", "other-name"):
        with pytest.raises((PermissionError, FileNotFoundError)):
            files.read(path)
    assert ".ssh" not in files.list(".")
    assert "token" not in files.list(".")


def test_the_default_protection_covers_the_credentials_of_the_home_directory():
    home = str(Path.home())
    assert f"{home}/.ssh" in DEFAULT_PROTECTION.closed_paths
    assert f"{home}/.aws" in DEFAULT_PROTECTION.closed_paths
    assert f"{home}/.bashrc" in DEFAULT_PROTECTION.read_only_paths


def test_links_that_stay_within_the_reach_work(tree):
    tree.link("absolute", tree.inside / "a.txt")
    tree.link("relative", "sub/../a.txt")
    tree.link("folder", "sub")
    (tree.inside / "sub" / "b.txt").write_text("b")
    files = files_of(tree)
    assert [files.read(path) for path in ("absolute", "relative", "folder/b.txt")] == [
        "mine",
        "mine",
        "b",
    ]
    files.write("absolute", "changed")
    assert (tree.inside / "a.txt").read_text() == "changed"
    assert (tree.inside / "absolute").is_symlink()


def test_a_link_from_one_permitted_directory_to_another_is_followed(tree):
    tree.link("d", tree.outside)
    files = files_of(tree, read=[str(tree.inside), str(tree.outside)])
    assert files.read("d/secret.txt") == SECRET
    with pytest.raises(PermissionError):
        files.write("d/secret.txt", "x")


def test_a_permitted_directory_may_be_named_through_a_link(tree):
    (tree.base / "alias").symlink_to(tree.inside)
    files = files_of(tree, read=[str(tree.base / "alias")], write=[])
    assert files.read(str(tree.base / "alias" / "a.txt")) == "mine"
    assert files.read(str(tree.inside / "a.txt")) == "mine"


def test_a_single_file_may_be_permitted_and_nothing_beside_it_is(tree):
    files = files_of(tree, read=[str(tree.inside / "a.txt")], write=[])
    assert files.read("a.txt") == "mine"
    with pytest.raises(PermissionError):
        files.list(".")


def test_an_empty_reach_permits_nothing(tree):
    files = files_of(tree, read=[], write=[])
    for path in ("a.txt", ".", "/", str(tree.secret)):
        with pytest.raises(PermissionError, match="PATH_NOT_REACHABLE"):
            files.exists(path)


def test_reading_needs_a_read_root_and_writing_a_write_root(tree):
    written = files_of(tree, read=[], write=[str(tree.inside)])
    written.write("new.txt", "x")
    for look in (written.read, written.list, written.exists):
        with pytest.raises(PermissionError):
            look("a.txt")
    read = files_of(tree, write=[])
    with pytest.raises(PermissionError):
        read.write("a.txt", "x")
    with pytest.raises(PermissionError):
        read.mkdir("new")


def test_a_file_keeps_its_permissions_and_is_never_open_to_others_on_the_way(tree):
    path = tree.inside / "private.txt"
    path.write_text("before")
    path.chmod(0o600)
    seen: set[int] = set()
    is_done = threading.Event()

    def watch() -> None:
        while not is_done.is_set():
            with os.scandir(tree.inside) as entries:
                for entry in entries:
                    if entry.name.endswith(".tmp"):
                        with contextlib.suppress(FileNotFoundError):  # it has its name by now
                            seen.add(stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode))

    watcher = threading.Thread(target=lambda: _quietly(watch))
    watcher.start()
    for _ in range(200):
        files_of(tree).write("private.txt", "x" * 100_000)
    is_done.set()
    watcher.join()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert seen <= {0o600}
    assert not [name for name in os.listdir(tree.inside) if name.endswith(".tmp")]


def _quietly(watch) -> None:
    while True:
        try:
            watch()
        except FileNotFoundError:
            continue
        return


def test_a_failed_write_leaves_the_file_and_no_temporary(tree):
    (tree.inside / "sub" / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        files_of(tree).write("sub/folder", "x")
    assert set(os.listdir(tree.inside / "sub")) == {"deep", "folder"}


def test_a_file_larger_than_the_limit_is_refused(tree):
    (tree.inside / "large").write_bytes(b"x" * 1_001)
    with pytest.raises(OSError, match="too large"):
        files_of(tree).read("large", limit_bytes=1_000)
    assert len(files_of(tree).read_bytes("large", limit_bytes=1_001)) == 1_001


def test_the_entries_of_a_directory_have_kind_size_and_time(tree):
    tree.link("l", "a.txt")
    entries = {entry.name: entry for entry in files_of(tree).list_entries(".")}
    assert {name: entry.kind for name, entry in entries.items()} == {
        "a.txt": "file",
        "l": "symlink",
        "sub": "directory",
    }
    assert isinstance(entries["a.txt"], FileEntry)
    assert entries["a.txt"].size_bytes == 4
    assert entries["a.txt"].modified_seconds == pytest.approx(
        (tree.inside / "a.txt").stat().st_mtime, abs=1e-3
    )


def test_what_does_not_exist_is_an_empty_list_and_no_time(tree):
    files = files_of(tree)
    assert (files.list("none"), files.mtime("none"), files.exists("none")) == ([], None, False)
    with pytest.raises(FileNotFoundError):
        files.read("none")


async def test_the_async_members_do_the_same(tree):
    files = ReachFiles([str(tree.inside)], [str(tree.inside)], working_dir=str(tree.inside))
    await files.mkdir("new/folder")
    await files.write("new/folder/x.txt", "é")
    assert await files.read("new/folder/x.txt") == "é"
    assert await files.read_bytes("new/folder/x.txt") == "é".encode()
    assert await files.list("new") == ["folder"]
    assert [entry.kind for entry in await files.list_entries("new")] == ["directory"]
    assert await files.exists("new")
    assert await files.mtime("new") is not None
    with pytest.raises(PermissionError):
        await files.read("../outside/secret.txt")


ROUNDS = 10_000
SWAP = """
import os, sys
folder, target = sys.argv[1:]
os.chdir(folder)
os.rename("honest", "swap")
os.symlink(target, "link")
print(flush=True)
while True:
    os.rename("swap", "honest"); os.rename("link", "swap")
    os.rename("swap", "link"); os.rename("honest", "swap")
"""


@contextlib.contextmanager
def swapping(inside: Path, target: Path) -> Iterator[None]:
    """Another process makes `swap` in turn what is `honest` and a link to the target."""
    swapper = subprocess.Popen(
        [sys.executable, "-c", SWAP, str(inside), str(target)], stdout=subprocess.PIPE
    )
    try:
        assert swapper.stdout is not None
        swapper.stdout.readline()
        yield
    finally:
        swapper.kill()
        swapper.communicate()


@pytest.mark.parametrize("swapped", ["directory", "file"])
def test_a_link_that_is_swapped_during_the_open_never_leads_out(tree, swapped):
    inside, path = tree.inside, "swap/secret.txt" if swapped == "directory" else "swap"
    honest = inside / "honest"
    if swapped == "directory":
        honest.mkdir()
        (honest / "secret.txt").write_text("mine")
        target = tree.outside
    else:
        honest.write_text("mine")
        target = tree.secret
    with swapping(inside, target):
        files = files_of(tree)
        outcomes = set()
        for _ in range(ROUNDS):
            try:
                outcomes.add(files.read(path))
            except OSError as error:
                outcomes.add(type(error).__name__)
    assert SECRET not in outcomes
    assert "mine" in outcomes


def test_a_write_through_a_link_that_is_swapped_never_leads_out(tree):
    honest = tree.inside / "honest"
    honest.mkdir()
    before = snapshot(tree.outside)
    with swapping(tree.inside, tree.outside):
        files = files_of(tree)
        outcomes = set()
        for _ in range(ROUNDS):
            try:
                files.write("swap/new.txt", "mine now")
                outcomes.add("written")
            except OSError as error:
                outcomes.add(type(error).__name__)
    assert snapshot(tree.outside) == before
    assert "written" in outcomes


def test_without_openat2_the_walk_gives_the_same_answers(tree):
    """A seccomp filter that refuses `openat2`, as some containers have."""
    if sys.platform != "linux":
        pytest.skip("seccomp is a Linux interface")
    tree.link("ok", "sub/../a.txt")
    tree.link("bad", "../outside/secret.txt")
    program = """
import ctypes, json, struct, sys
errno = int(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
number = 437
instructions = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | errno),
                (0x06, 0, 0, 0x7FFF0000)]
code = b"".join(struct.pack("HBBI", *one) for one in instructions)
buffer = ctypes.create_string_buffer(code)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
program = Program(len(instructions), ctypes.addressof(buffer))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
from ethos_registry.capabilities._files import SyncReachFiles
files = SyncReachFiles([sys.argv[1]], [sys.argv[1]], working_dir=sys.argv[1])
answers = []
for path in ("a.txt", "ok", "bad", "../outside/secret.txt", "sub/../a.txt"):
    try:
        answers.append(files.read(path))
    except PermissionError:
        answers.append(None)
files.write("new.txt", "new")
print(json.dumps([answers, libc.syscall(number, -1, 0, 0, 0), ctypes.get_errno()]))
"""
    for errno in (1, 38):
        done = subprocess.run(
            [sys.executable, "-c", program, str(tree.inside), str(errno)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == f'[["mine", "mine", null, null, "mine"], -1, {errno}]'
        assert (tree.inside / "new.txt").read_text() == "new"


NAMES = st.sampled_from(["a", "b", "inside", "outside", "..", ".", "sub"])
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["link", "mkdir", "write", "rename", "read", "mkfiles"]), PATHS, PATHS
    ),
    max_size=12,
)


@settings(max_examples=150)
@given(STEPS)
def test_random_programs_of_paths_never_touch_what_is_outside(tmp_path_factory, steps):
    tree = make_tree(tmp_path_factory.mktemp("tree"))
    before = snapshot(tree.outside), snapshot(tree.base / "inside2")
    files = files_of(tree)
    for step, one, two in steps:
        try:
            match step:
                # What a command that runs inside could have made.
                case "link":
                    here = Path(os.path.normpath(tree.inside / one))
                    if here.parent.resolve().is_relative_to(tree.inside):
                        here.symlink_to(two)
                case "rename":
                    source, target = (
                        Path(os.path.normpath(tree.inside / name)) for name in (one, two)
                    )
                    ends = (source.parent.resolve(), target.parent.resolve())
                    if all(end.is_relative_to(tree.inside) for end in ends):
                        source.rename(target)
                case "mkdir":
                    files.mkdir(one)
                case "write":
                    files.write(one, two)
                case "mkfiles":
                    files.mkdir(one)
                    files.write(f"{one}/f", two)
                case "read":
                    assert SECRET not in files.read(one)
        except (OSError, RuntimeError):  # pathlib raises RuntimeError for a loop of links
            continue
    assert (snapshot(tree.outside), snapshot(tree.base / "inside2")) == before
    assert set(os.listdir(tree.base)) == {"inside", "inside2", "outside"}


@pytest.mark.slow
class TestProtectedPathsAreResolvedForEachCall:
    """The names that folders lack are remembered until the folder changes."""

    @pytest.fixture
    def place(self, tmp_path):
        home, data = tmp_path / "home", tmp_path / "data"
        (home / ".config").mkdir(parents=True)
        data.mkdir()
        protection = Protection(
            closed_paths=(
                str(home / ".netrc"),
                str(home / ".config" / "gh" / "hosts.yml"),
                str(home / ".npmrc"),
                str(home / ".kube" / "config"),
            )
        )
        (home / ".npmrc").symlink_to(data / "npmrc")  # leads nowhere yet
        (home / ".kube").symlink_to(data / "kube")

        def files():
            reach = [str(data)]
            return SyncReachFiles(reach, working_dir=str(data), protection=protection)

        time.sleep(4.1)  # only what has not changed for three seconds is remembered
        for _ in range(2):
            files()
        return home, data, files

    def test_a_file_that_appears_is_closed_under_its_other_names(self, place):
        home, data, files = place
        for name in (".netrc", ".config/gh/hosts.yml"):
            (home / name).parent.mkdir(exist_ok=True)
            (home / name).write_text("secret")
            os.link(home / name, data / "other")
            with pytest.raises(PermissionError, match="protected"):
                files().read("other")
            (data / "other").unlink()

    def test_a_link_that_appears_closes_what_it_leads_to(self, place):
        home, data, files = place
        (data / "secret").write_text("secret")
        assert files().read("secret") == "secret"
        (home / ".netrc").symlink_to(data / "secret")
        with pytest.raises(PermissionError, match="protected"):
            files().read("secret")
        (home / ".netrc").unlink()
        assert files().read("secret") == "secret"

    def test_the_target_of_a_known_link_appears(self, place):
        _, data, files = place
        (data / "npmrc").write_text("secret")
        (data / "kube").mkdir()
        (data / "kube" / "config").write_text("secret")
        for name in ("npmrc", "kube/config"):
            with pytest.raises(PermissionError, match="protected"):
                files().read(name)

    def test_a_folder_is_replaced_by_another_one(self, place):
        home, data, files = place
        (data / "settings" / "gh").mkdir(parents=True)
        (data / "settings" / "gh" / "hosts.yml").write_text("secret")
        (home / ".config").rmdir()
        (home / ".config").symlink_to(data / "settings")
        with pytest.raises(PermissionError, match="protected"):
            files().read("settings/gh/hosts.yml")

    def test_what_was_just_missing_is_not_remembered(self, place):
        home, data, files = place
        for number in range(200):
            (home / ".netrc").write_text("secret")
            os.link(home / ".netrc", data / f"other{number}")
            with pytest.raises(PermissionError, match="protected"):
                files().read(f"other{number}")
            (home / ".netrc").unlink()
            assert files().read(f"other{number}") == "secret"


def test_a_path_that_passes_what_is_only_read_makes_no_folder_there(tmp_path):
    read, write = tmp_path / "read", tmp_path / "write"
    read.mkdir()
    write.mkdir()
    files = ReachFiles([str(read)], [str(write)], working_dir=str(tmp_path)).sync

    files.mkdir("read/../write/made")
    for path in ("read/new/../../write/other", "read/new", "write/../read/new"):
        with pytest.raises(OSError, match=r"PATH_NOT_REACHABLE|No such file"):
            files.mkdir(path)

    assert (write / "made").is_dir()
    assert not [*read.iterdir()]


@pytest.mark.parametrize("path", ["outer/inner/{}", "outer/beside/../inner/{}"])
def test_a_root_that_is_another_folder_by_now_is_not_entered_on_any_way(tmp_path, path):
    outer, other = tmp_path / "outer", tmp_path / "other"
    for folder in (outer / "inner", outer / "beside", other):
        folder.mkdir(parents=True)
    (other / "old").write_text("other")
    roots = [str(outer), str(outer / "inner")]
    files = ReachFiles(roots, roots[1:], working_dir=str(tmp_path)).sync
    files.write(path.format("new"), "own")
    assert files.read(path.format("new")) == "own"

    (outer / "inner").rename(outer / "before")
    other.rename(outer / "inner")
    with pytest.raises(PermissionError, match="outside the permitted folders"):
        files.read(path.format("old"))
    with pytest.raises(PermissionError, match="outside the permitted folders"):
        files.write(path.format("old"), "changed")
    with pytest.raises((PermissionError, FileNotFoundError)):
        files.write(path.format("made/new"), "changed")

    assert [*(outer / "inner").iterdir()] == [outer / "inner" / "old"]
    assert (outer / "inner" / "old").read_text() == "other"


def test_a_root_that_is_a_file_and_becomes_a_link_opens_nothing_beside_it(tmp_path):
    file, secret = tmp_path / "file.txt", tmp_path / "secret.txt"
    file.write_text("own")
    secret.write_text("secret")
    files = ReachFiles([str(file)], [str(file)], working_dir=str(tmp_path)).sync
    assert files.read("file.txt") == "own"

    file.unlink()
    file.symlink_to("secret.txt")
    with pytest.raises(PermissionError, match="outside the permitted folders"):
        files.read("file.txt")
    with pytest.raises(PermissionError, match="outside the permitted folders"):
        files.write("file.txt", "changed")

    assert secret.read_text() == "secret"
