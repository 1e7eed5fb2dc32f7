"""Tools that use the objects of their capabilities, and the backends behind these objects."""

from __future__ import annotations

import asyncio
import os
import tempfile

from ethos_registry import ToolContext, ToolRegistry, tool
from ethos_registry.capabilities import (
    EnvironmentSecrets,
    KeyValueDatabase,
    KeyValueStore,
    ProgramRunner,
    ReachFiles,
    ScopedFs,
    ScopedProcess,
    Storage,
    ToolCapabilities,
    folder_storage,
    standard_backends,
)

folder = os.path.realpath(tempfile.mkdtemp())
files: ScopedFs = ReachFiles(read=[folder])
storage: Storage = folder_storage(folder)
programs: ScopedProcess = ProgramRunner(["echo"], working_dir=folder)
values: KeyValueStore = KeyValueDatabase(":memory:").scope("tool:notes")

capabilities = ToolCapabilities(
    fs_reach={"read": [folder], "write": [folder]},
    storage={"scope": "tool"},
    secrets=["search/key"],
    process={"allowedBinaries": ["echo"]},
)


@tool(capabilities=capabilities)
async def note(text: str, context: ToolContext) -> str:
    """Keep a note."""
    reach, store, resolver = context.scoped_fs, context.kv_store, context.secrets_resolver
    program, own = context.scoped_process, context.storage
    assert reach is not None
    assert store is not None
    assert resolver is not None
    assert program is not None
    assert own is not None
    await reach.write("note.txt", text)
    await own.write("copy.txt", (await reach.read_bytes("note.txt")) + b"!")
    await store.set("note", {"text": await reach.read("note.txt")}, ttl_seconds=60)
    secret: str = await resolver.get("search/key")
    done = await program.run("echo", [secret], timeout_seconds=10)
    sizes: list[int] = [entry.size_bytes for entry in await reach.list_entries(".")]
    modified: float | None = await own.mtime("copy.txt")
    there: bool = await own.exists("note.txt")
    listed: list[str] = [*own.sync.list(".")]
    return f"{sizes} {modified is not None} {there} {listed} {await store.list()} {done.stdout}"


backends = standard_backends(
    key_values=KeyValueDatabase(":memory:"),
    secrets=EnvironmentSecrets(environ={"SEARCH_KEY": "correct-horse"}),
)
registry = ToolRegistry([note], capability_backends=backends)
context = ToolContext(working_dir=folder, storage=storage)
calls = [{"id": "1", "name": "note", "args": {"text": "tea"}}]
[result] = asyncio.run(registry.execute_parallel(calls, context))
assert result.ok, result.text
print(result.text)
