"""Files of ours are for their owner, whatever the umask is."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ethos_registry import ToolRegistry
from ethos_registry._persistence.files import make_private_file, make_private_folder
from ethos_registry.artifacts import SpooledArtifactStore
from ethos_registry.capabilities import KeyValueDatabase
from ethos_registry.execution import FileApprovalStore
from ethos_registry.mcp._stdio import LogFile
from ethos_registry.tools import kanban_tools
from ethos_registry.usage import UsageLedger

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")


@pytest.fixture(params=[0, 0o022, 0o277], ids=oct)
def umask(request, tmp_path) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def artifacts(folder: Path) -> SpooledArtifactStore:
    store = SpooledArtifactStore(folder, memory_bytes=0)
    assert store.share() is not None
    return store  # its files end with it


def approvals(folder: Path) -> None:
    assert FileApprovalStore(folder).claim("one", None)


def key_values(folder: Path) -> None:
    make_private_folder(folder)
    database = KeyValueDatabase(folder / "values.sqlite")
    database.scope("tool:t").sync.set("a", 1)


def ledger(folder: Path) -> None:
    make_private_folder(folder)
    usage = UsageLedger(folder / "usage.sqlite")
    registry = ToolRegistry(observers=[usage])
    asyncio.run(registry.execute_parallel([{"id": "1", "name": "none", "args": {}}]))
    usage.flush()


def board(folder: Path) -> None:
    registry = ToolRegistry(kanban_tools(folder / "board.sqlite"))
    call = {"id": "1", "name": "kanban_create", "args": {"title": "a"}}
    [result] = asyncio.run(registry.execute_parallel([call]))
    assert result.ok, result.text


def server_log(folder: Path) -> None:
    make_private_folder(folder)
    log = LogFile(str(folder / "server.log"))
    log.write(b"a line\n")
    (folder / "server.log").unlink()
    log.write(b"another\n")
    assert (folder / "server.log").read_bytes() == b"another\n"


@pytest.mark.parametrize(
    "write",
    [artifacts, approvals, key_values, ledger, board, server_log],
    ids=lambda each: each.__name__,
)
def test_folders_and_files_are_for_their_owner_only(write, umask, tmp_path):
    folder = tmp_path / "new" / "folder"
    open_store = write(folder)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    for each in (folder, folder.parent):
        assert stat.S_IMODE(each.stat().st_mode) == 0o700
    del open_store


def test_what_exists_stays_as_it_is(umask, tmp_path):
    make_private_file(tmp_path / "f")
    (tmp_path / "f").write_text("text")
    (tmp_path / "f").chmod(0o640)
    make_private_file(tmp_path / "f")
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path)
    assert (tmp_path / "f").read_text() == "text"
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o640
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    with pytest.raises(FileExistsError):
        make_private_file(tmp_path / "f", is_new=True)
