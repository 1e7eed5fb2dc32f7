"""Whole texts: their lines, where they are kept, and when they go."""

from __future__ import annotations

import gc
import os
import pickle
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_grep
from artifact_tools import remaining
from ethos_registry import ConfigError, EthosRegistryError
from ethos_registry.artifacts import (
    ArtifactGoneError,
    ArtifactOrigin,
    ArtifactStoreError,
    MemoryArtifactStore,
    SpooledArtifact,
    SpooledArtifactStore,
)
from ethos_registry.registry import DispatchContext

pytestmark = [pytest.mark.every_python, pytest.mark.usefixtures("ids_in_order")]

TEXTS = st.lists(st.sampled_from(["a", "é", "𝄞", "\n", "\n", "\r\n", "\r", "bc"]), max_size=60).map(
    "".join
)
ORIGIN = ArtifactOrigin("make", "call-1")


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> MemoryArtifactStore:
    if request.param == "memory":
        return MemoryArtifactStore()
    return SpooledArtifactStore(tmp_path / "spool", memory_bytes=0)


class TestLines:
    @given(TEXTS, st.integers(0, 70), st.integers(0, 70))
    def test_are_those_of_posix(self, text: str, start: int, end: int) -> None:
        lines = oracle_grep.lines_of(text)
        artifact = remaining(MemoryArtifactStore(), text)
        assert artifact.line_count() == len(lines)
        assert [artifact.line(number) for number in range(len(lines))] == lines
        assert artifact.line(len(lines)) is None
        assert artifact.cat(start, end) == "\n".join(lines[start:end])
        assert artifact.head(end) == "\n".join(lines[:end])
        assert artifact.tail(end) == "\n".join(lines[max(0, len(lines) - end) :])

    def test_upstream_fault_7_a_line_end_at_the_end_begins_no_line(
        self, store: MemoryArtifactStore
    ) -> None:
        artifact = remaining(store, "a\nb\n")
        assert artifact.line_count() == 2
        assert artifact.tail(1) == "b"
        assert remaining(store, "a\r\nb\r\n").line(0) == "a"
        assert remaining(store, "").line_count() == 0

    def test_are_found_in_a_text_of_many_blocks(self, store: MemoryArtifactStore) -> None:
        lines = [f"{number} {'é' * (number % 50)}" for number in range(20_000)]
        lines[7_000] = "x" * 300_000
        artifact = remaining(store, "\n".join(lines))
        assert artifact.line_count() == len(lines)
        for start in [0, 1, 999, 6_999, 7_000, 7_001, 13_371, 19_999]:
            assert artifact.cat(start, start + 3) == "\n".join(lines[start : start + 3])
        assert artifact.grep("^13371 ").text == f"13371:{lines[13_371]}"
        assert artifact.characters(0, artifact.byte_length()) == len("\n".join(lines))

    def test_the_whole_text_comes_back_as_it_was(self, store: MemoryArtifactStore) -> None:
        text = "a\r\nü\n\n\ud800"
        artifact = remaining(store, text)
        assert artifact.read_all() == "a\r\nü\n\n\ufffd"
        assert artifact.byte_length() == len("a\r\nü\n\n\ufffd".encode())
        assert artifact.tool_call_id == "call-a1"

    def test_numbers_that_count_no_lines_are_refused(self) -> None:
        artifact = remaining(MemoryArtifactStore(), "a")
        for wrong in (-1, 1.5, "1", True):
            for ask in (artifact.line, artifact.head, artifact.tail, artifact.cat):
                with pytest.raises(ConfigError, match="must be a whole number >= 0"):
                    ask(wrong)  # type: ignore[arg-type, operator]

    def test_a_search_over_pieces_of_a_file_finds_the_same(self, tmp_path: Path) -> None:
        text = "".join(f"line {number}: {'y' * 90}\n" for number in range(100_000))
        in_file = remaining(SpooledArtifactStore(tmp_path, memory_bytes=0), text)
        in_memory = remaining(MemoryArtifactStore(), text)
        for pattern in ("line 4[0-9]{4}: y+$", "8$", "line 4177[0-9]:"):
            one, other = (
                artifact.grep(pattern, context_lines=2, max_matches=5)
                for artifact in (in_file, in_memory)
            )
            assert (one.text, one.matches) == (other.text, other.matches)


class TestJson:
    @pytest.mark.parametrize(
        ("text", "is_json"),
        [
            ('{"a": [1]}', True),
            (" \n[1, 2]", True),
            ('"text"', False),
            ("12", False),
            ("{a: 1}", False),
            ("[NaN]", False),
            ("", False),
            ("[" * 5_000, False),
        ],
    )
    def test_is_an_object_or_an_array(
        self, store: MemoryArtifactStore, text: str, is_json: bool
    ) -> None:
        artifact = remaining(store, text)
        assert artifact.is_json() is is_json
        assert artifact.is_json() is is_json


class TestStore:
    def test_ids_are_given_before_and_used_once(self, store: MemoryArtifactStore) -> None:
        first, second = store.reserve(), store.reserve()
        assert first != second
        assert store.get(second) is None
        store.spool(second, "b", ORIGIN)
        store.spool(first, "a", ORIGIN)
        assert [artifact.id for artifact in store.artifacts()] == [second, first]
        with pytest.raises(ArtifactStoreError, match="is already stored"):
            store.spool(first, "again", ORIGIN)

    def test_a_closed_one_says_so_and_its_artifacts_are_gone(
        self, store: MemoryArtifactStore
    ) -> None:
        artifact, reserved = remaining(store, "a\nb\n"), store.reserve()
        store.close()
        store.close()
        assert store.is_closed
        assert store.artifacts() == []
        assert store.get(artifact.id) is None
        with pytest.raises(ArtifactGoneError, match=r"artifact `a1` is gone: its store was closed"):
            artifact.tail(1)
        with pytest.raises(ArtifactGoneError):
            artifact.grep("a")
        for use in (store.reserve, lambda: store.spool(reserved, "b", ORIGIN)):
            with pytest.raises(ArtifactStoreError, match="closed: its turn is over"):
                use()

    def test_the_turns_acknowledgement_closes_it(self, store: MemoryArtifactStore) -> None:
        turn, other = DispatchContext(), DispatchContext()
        store.bind_context(turn)
        unsubscribe = store.bind_context(other)
        unsubscribe()
        unsubscribe()
        other.ack()
        assert not store.is_closed
        turn.ack()
        assert store.is_closed

    def test_an_artifact_lives_for_its_time(self, tmp_path: Path) -> None:
        for brief in (
            MemoryArtifactStore(time_to_live_seconds=0),
            SpooledArtifactStore(tmp_path, memory_bytes=0, time_to_live_seconds=0),
        ):
            brief.spool(brief.reserve(), "a", ORIGIN)
            assert brief.artifacts() == []
            assert list(tmp_path.iterdir()) == []

    def test_more_than_it_may_hold_is_refused(self) -> None:
        store = MemoryArtifactStore(max_bytes=5)
        remaining(store, "abc")
        with pytest.raises(
            ArtifactStoreError,
            match="of 3 bytes does not fit: the store has 3 of `max_bytes` 5 in use",
        ):
            remaining(store, "def")
        remaining(store, "de")

    def test_what_it_is_given_is_checked(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="`max_bytes` must be a whole number >= 0"):
            MemoryArtifactStore(max_bytes=-1)
        for wrong in (7, None, b"spool", "", "spool\0"):
            with pytest.raises(ConfigError, match="`directory` must be a path: "):
                SpooledArtifactStore(wrong)  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match="must be an ArtifactOrigin, got str"):
            MemoryArtifactStore().spool("a1", "a", "make")  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match="`source` must be a string"):
            ArtifactOrigin("make", "1", 5)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="belongs to its process"):
            pickle.dumps(SpooledArtifactStore(tmp_path))

    def test_errors_are_of_the_packages_tree_and_can_be_sent(self) -> None:
        error = pickle.loads(pickle.dumps(ArtifactGoneError("a7")))
        assert (type(error), error.artifact_id) == (ArtifactGoneError, "a7")
        assert isinstance(error, EthosRegistryError)

    def test_threads_keep_and_close_without_losing_a_byte_or_a_file(self, tmp_path: Path) -> None:
        store = SpooledArtifactStore(tmp_path, memory_bytes=0)

        def keep() -> None:
            for _ in range(20):
                try:
                    remaining(store, "text" * 100)
                except (ArtifactStoreError, AssertionError):
                    return

        threads = [threading.Thread(target=keep) for _ in range(4)]
        for thread in threads:
            thread.start()
        store.close()
        for thread in threads:
            thread.join()
        assert list(tmp_path.iterdir()) == []


class TestFiles:
    def test_hold_what_is_over_the_size_and_are_for_their_owner(self, tmp_path: Path) -> None:
        directory = tmp_path / "deep" / "spool"
        store = SpooledArtifactStore(directory, memory_bytes=4)
        remaining(store, "abcd")
        assert not directory.exists()
        remaining(store, "abcdé")
        [file] = directory.iterdir()
        assert file.read_text() == "abcdé"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        store.close()
        assert list(directory.iterdir()) == []

    def test_go_with_the_last_who_holds_store_or_artifact(self, tmp_path: Path) -> None:
        store = SpooledArtifactStore(tmp_path, memory_bytes=0)
        artifact = remaining(store, "a")
        del store
        gc.collect()
        assert artifact.read_all() == "a"
        del artifact
        gc.collect()
        assert list(tmp_path.iterdir()) == []

    def test_of_a_killed_process_are_removed_once_they_are_old(self, tmp_path: Path) -> None:
        for name, age_seconds in [
            ("ethos-artifact-old.txt", 100),
            ("ethos-artifact-new.txt", 10),
            ("other.txt", 100),
        ]:
            (tmp_path / name).write_text("a")
            moment = (tmp_path / name).stat().st_mtime - age_seconds
            os.utime(tmp_path / name, (moment, moment))
        SpooledArtifactStore(tmp_path, time_to_live_seconds=50)
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "ethos-artifact-new.txt",
            "other.txt",
        ]

    def test_that_somebody_took_away_are_gone(self, tmp_path: Path) -> None:
        store = SpooledArtifactStore(tmp_path, memory_bytes=0)
        cut, removed = remaining(store, "abc\n" * 10), remaining(store, "abc")
        first, second = sorted(tmp_path.iterdir(), key=lambda path: -path.stat().st_size)
        first.write_text("abc")
        second.unlink()
        for artifact in (cut, removed):
            with pytest.raises(ArtifactGoneError):
                artifact.read_all()
            with pytest.raises(ArtifactGoneError):
                artifact.grep("c")

    def test_that_are_read_while_the_store_closes_are_read_to_the_end(self, tmp_path: Path) -> None:
        store = SpooledArtifactStore(tmp_path, memory_bytes=0)
        artifact = remaining(store, "line\n" * 2_000_000)
        pieces = artifact._content.pieces()
        size = len(next(pieces))
        store.close()
        size += sum(map(len, pieces))
        assert size == artifact.byte_length()

    def test_that_cannot_be_written_are_reported(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("in the way")
        store = SpooledArtifactStore(tmp_path / "file" / "below", memory_bytes=0)
        with pytest.raises(ArtifactStoreError, match=r"artifact `a1` cannot be written below '/"):
            remaining(store, "a")
        assert store.artifacts() == []

    def test_that_are_too_large_for_the_disk_leave_nothing(self, tmp_path: Path) -> None:
        code = """
            import resource, sys
            from ethos_registry.artifacts import *
            resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
            store = SpooledArtifactStore(sys.argv[1], memory_bytes=0, max_bytes=100_000)
            ids = [store.reserve() for _ in range(3)]
            for artifact_id, size in zip(ids, (9_000, 90_000, 9_000)):
                try:
                    store.spool(artifact_id, "x" * size, ArtifactOrigin("make", "1"))
                except ArtifactStoreError as error:
                    print(str(error).replace(artifact_id, "ID"))
            import os
            stored = [artifact.id for artifact in store.artifacts()]
            print(stored == [ids[0], ids[2]], len(os.listdir(sys.argv[1])))
        """
        assert output_of(code, tmp_path).split("\n") == [
            f"artifact `ID` cannot be written below '{tmp_path}': File too large",
            "True 2",
        ]
        assert list(tmp_path.iterdir()) == []


def output_of(code: str, *arguments: Any) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_an_artifact_tells_what_it_is() -> None:
    artifact = remaining(MemoryArtifactStore(), "a\nb")
    assert repr(artifact) == "<SpooledArtifact a1 of make: 2 lines>"
    assert isinstance(artifact, SpooledArtifact)
