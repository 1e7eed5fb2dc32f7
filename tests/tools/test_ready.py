from __future__ import annotations

from pathlib import Path

from ethos_registry import ToolCall, ToolContext, ToolRegistry
from ethos_registry.tools import ready_tools

NAMES = [
    "lint",
    "list_files",
    "patch_file",
    "read_file",
    "run_tests",
    "search_files",
    "terminal",
    "typecheck",
    "write_file",
]
"""In the order of their names."""


def test_ready_tools_are_a_fresh_list_in_the_order_of_names() -> None:
    assert [tool.name for tool in ready_tools()] == NAMES == sorted(NAMES)
    assert ready_tools() is not ready_tools()


def test_output_that_others_write_is_untrusted() -> None:
    assert [tool.name for tool in ready_tools() if not tool.output_is_untrusted] == ["write_file"]


def test_all_can_be_registered_together() -> None:
    registry = ToolRegistry(ready_tools())
    assert [definition["name"] for definition in registry.to_definitions()] == NAMES


async def test_a_batch_reads_patches_in_parallel_and_learns_of_a_stale_write(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    registry = ToolRegistry(ready_tools())
    context = ToolContext(working_dir=tmp_path, read_mtimes={})

    async def run(*calls: tuple[str, dict[str, str]]) -> list[tuple[str, str]]:
        made = [
            ToolCall(str(number), name, {"path": "a.txt"} | args)
            for number, (name, args) in enumerate(calls)
        ]
        results = await registry.execute_parallel(made, context)
        return [(getattr(result.result, "code", "ok"), result.result.text) for result in results]

    assert await run(("read_file", {})) == [("ok", "one\ntwo\n")]
    patches = await run(
        ("patch_file", {"old": "one", "new": "1"}), ("patch_file", {"old": "two", "new": "2"})
    )
    assert [code for code, _ in patches] == ["ok", "ok"]
    assert (tmp_path / "a.txt").read_text() == "1\n2\n"
    (tmp_path / "a.txt").write_text("theirs")
    ((code, text),) = await run(("write_file", {"content": "mine"}))
    assert code == "STALE_WRITE"
    assert text.endswith("read it again with read_file, then redo the change on its new text")
    assert (tmp_path / "a.txt").read_text() == "theirs"
