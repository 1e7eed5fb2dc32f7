"""Reading parts of an artifact of 1 and 100 MiB, in memory and in a file.

The baselines split the content into lines first; for a file they read it first. `spool` measures
storing: UTF-8, the index of lines, and the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import inputs
from beside import beside
from ethos_registry.artifacts import (
    ArtifactOrigin,
    MemoryArtifactStore,
    SpooledArtifact,
    SpooledArtifactStore,
)

ORIGIN = ArtifactOrigin("make", "call-1")
LINES = 50
PATTERN = r"[0-9]+00777 x+$"

READS: dict[str, tuple[Callable[[SpooledArtifact], str], Callable[[str], str]]] = {
    "head": (
        lambda artifact: artifact.head(LINES),
        lambda text: "\n".join(text.split("\n")[:LINES]),
    ),
    "tail": (
        lambda artifact: artifact.tail(LINES),
        lambda text: "\n".join(text.split("\n")[-LINES:]),
    ),
    "cat in the middle": (
        lambda artifact: artifact.cat(9_000, 9_000 + LINES),
        lambda text: "\n".join(text.split("\n")[9_000 : 9_000 + LINES]),
    ),
    "grep": (
        lambda artifact: artifact.grep(PATTERN, max_matches=10**6, max_chars=10**7).text,
        lambda text: "\n".join(
            f"{number}:{line}"
            for number, line in enumerate(text.split("\n"))
            if re.search(PATTERN, line)
        ),
    ),
}


@pytest.mark.parametrize("megabytes", [1, 100])
@pytest.mark.parametrize("place", ["memory", "file"])
@pytest.mark.parametrize("name", READS)
def test_read(benchmark: Any, tmp_path: Path, name: str, place: str, megabytes: int) -> None:
    text = inputs.text(megabytes)
    store = (
        MemoryArtifactStore(max_bytes=1 << 30)
        if place == "memory"
        else SpooledArtifactStore(tmp_path / "spool", memory_bytes=0)
    )
    store.spool("a1", text, ORIGIN)
    [artifact] = store.artifacts()
    ours, theirs = READS[name]
    path = tmp_path / "text.txt"
    path.write_text(text)

    def baseline() -> str:
        return theirs(text if place == "memory" else path.read_text())

    assert ours(artifact) == baseline()
    beside(
        benchmark,
        lambda: lambda: ours(artifact),
        {"split and read": lambda: baseline},
        group=f"artifact of {megabytes} MiB in {place}, {name}",
        rounds=20 if megabytes == 1 else 1,
        unit="read",
    )


@pytest.mark.parametrize("megabytes", [1, 100])
@pytest.mark.parametrize("place", ["memory", "file"])
def test_spool(benchmark: Any, tmp_path: Path, place: str, megabytes: int) -> None:
    text = inputs.text(megabytes)

    def keep() -> Callable[[], None]:
        memory_bytes = 1 << 30 if place == "memory" else 0
        store = SpooledArtifactStore(tmp_path / "spool", memory_bytes=memory_bytes)
        return lambda: store.spool("a1", text, ORIGIN)

    def write() -> Callable[[], object]:
        if place == "memory":
            return lambda: text.encode()
        return lambda: (tmp_path / "text.txt").write_text(text)

    beside(
        benchmark,
        keep,
        {"encode" if place == "memory" else "write_text": write},
        group=f"spool of {megabytes} MiB to {place}",
        rounds=20 if megabytes == 1 else 5,
        unit="text",
    )
