"""The content blocks of a result whose text is cut stay with its artifact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ethos_registry import Tool, ToolContext, ToolRegistry, ok
from ethos_registry.artifacts import (
    ArtifactGoneError,
    ArtifactOrigin,
    MemoryArtifactStore,
    SpooledArtifactStore,
)
from ethos_registry.tools import ArtifactReaders
from ethos_registry.types import Audio, Document, Image, Link

PNG = b"\x89PNG\r\n\x1a\nsome pixels"
BLOCKS = (
    Image(PNG, name="chart.png"),
    Document(b"%PDF-1.7 page"),
    Audio(b"RIFF....WAVE"),
    Link("https://example.com/a", "A"),
)
ORIGIN = ArtifactOrigin("chart", "1")


def stores(folder: Path) -> list[MemoryArtifactStore]:
    return [MemoryArtifactStore(), SpooledArtifactStore(folder, memory_bytes=4)]


def cut(store: MemoryArtifactStore, **options: Any) -> Any:
    """The result of one call whose text does not fit."""
    tool = Tool(
        "chart",
        "A chart.",
        {"type": "object"},
        lambda args, context: ok("\n".join(map(str, range(999))), content=BLOCKS),
        **options,
    )
    context = ToolContext(result_budget_chars=100, artifact_store=store)
    [result] = ToolRegistry([tool]).execute_parallel_sync([{"id": "1", "name": "chart"}], context)
    return result.result


@pytest.mark.parametrize("kind", [0, 1], ids=["memory", "files"])
def test_the_blocks_of_a_cut_result_are_sent_and_kept(kind: int, tmp_path: Path) -> None:
    with stores(tmp_path)[kind] as store:
        sent = cut(store)
        assert sent.content == BLOCKS
        [artifact] = store.artifacts()
        assert artifact.content == BLOCKS
        assert artifact.content_count == 4
        assert artifact.line_count() == 999
    with pytest.raises(ArtifactGoneError):
        _ = artifact.content
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("untrusted", [False, True])
def test_the_model_reads_them_back_with_a_tool(untrusted: bool) -> None:
    store = MemoryArtifactStore()
    cut(store, output_is_untrusted=untrusted)
    [artifact] = store.artifacts()
    registry = ToolRegistry(ArtifactReaders(store).forge_tools())
    answers = registry.execute_parallel_sync(
        [
            {"id": str(number), "name": "artifact_content", "input": {"artifact_id": artifact.id}}
            | ({} if index is None else {"input": {"artifact_id": artifact.id, "index": index}})
            for number, index in enumerate((None, 1, 4))
        ],
        ToolContext(artifact_store=store),
    )
    everything, document, missing = (answer.result for answer in answers)
    assert everything.content == BLOCKS
    assert "0: image (image/png, 19 bytes)" in everything.text
    assert document.content == BLOCKS[1:2]
    assert "index: the result has 4 content blocks, counted from 0" in missing.text
    assert not missing.ok
    assert len(store.artifacts()) == 1
    assert answers[0].untrusted is untrusted


def test_without_blocks_there_is_no_tool_for_them() -> None:
    store = MemoryArtifactStore()
    store.spool(store.reserve(), "text", ORIGIN)
    assert "artifact_content" not in [tool.name for tool in ArtifactReaders(store).forge_tools()]
    [artifact] = store.artifacts()
    assert artifact.content == ()


def test_blocks_count_towards_the_size_of_the_store_and_give_way_to_text() -> None:
    store = MemoryArtifactStore(max_bytes=60)
    for text, blocks, remaining in (
        ("x" * 10, [Image(PNG)], 1),  # 29 of 60 bytes
        ("x" * 10, [Image(PNG * 2)], 0),  # the text only: 39
        ("x" * 2, [Image(PNG)], 1),  # 60
    ):
        artifact_id = store.reserve()
        store.spool(artifact_id, text, ORIGIN, blocks)
        artifact = store.get(artifact_id)
        assert artifact is not None
        assert (artifact.read_all(), artifact.content_count) == (text, remaining)


def test_an_expired_artifact_gives_the_room_of_its_blocks_back() -> None:
    store = MemoryArtifactStore(max_bytes=20, time_to_live_seconds=0.0)
    for _ in range(3):
        artifact_id = store.reserve()
        store.spool(artifact_id, "x", ORIGIN, [Image(PNG)])


def test_a_store_of_the_host_that_takes_text_only_is_not_given_an_empty_content() -> None:
    given: list[tuple[Any, ...]] = []

    class Store:
        reader_names = ()

        def reserve(self) -> str:
            return "a"

        def spool(self, *values: Any) -> None:
            given.append(values)

    for content in ((), BLOCKS):
        tool = Tool(
            "long",
            "",
            {"type": "object"},
            lambda args, context, content=content: ok("x" * 999, content=content),
        )
        context = ToolContext(result_budget_chars=100, artifact_store=Store())
        ToolRegistry([tool]).execute_parallel_sync([{"id": "1", "name": "long"}], context)
    assert [len(values) for values in given] == [3, 4]
    assert given[1][3] == BLOCKS
