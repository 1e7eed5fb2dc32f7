"""The recorder: writes each call with its arguments and output, in the background."""

from __future__ import annotations

import logging
import os
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from ethos_registry._persistence.background_writer import BackgroundWriter
from ethos_registry.recording._parquet import ParquetFileStore, ParquetFolderStore, ParquetRecording
from ethos_registry.recording._rows import RecordingError, RecordingStore
from ethos_registry.recording._sqlite import SqliteRecording, SqliteRecordingStore
from ethos_registry.types import _checks
from ethos_registry.types._closing import Closing
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._observer import Observer, RecordedCall, RecordedCalls

_logger = logging.getLogger("ethos_registry")

MAX_UNSAVED_CHARS: Final = 64 * 1024 * 1024
_HURRY_CHARS = 8 * 1024 * 1024
_SQLITE_FLUSH_SECONDS = 1.0
_PARQUET_FLUSH_SECONDS = 60.0


class TurnRecorder(Closing, Observer):
    """Records every call of a registry: arguments, output and what became of it, redacted.

    Give it to registries as an observer: `ToolRegistry(observers=[recorder])`. `place` is the path
    of a SQLite file that several processes may share; a path that ends in `.parquet`, for one
    Parquet file that is complete when the recorder is closed; or a folder, in which Parquet files
    appear from time to time (extra `parquet`). New files have mode 0600.

    Credentials that identify themselves, secrets that tools were given, and arguments under
    secret-looking keys are replaced before anything is written, whatever the registry's `redact`
    and `unredacted_tools` are.

    Redaction and writing happen on one thread of the recorder, after `flush_records` calls or
    `flush_seconds` (by default 1 for SQLite, 60 for Parquet), at `close` and at the normal end of
    the process. A process that is killed loses at most what was recorded since, and the whole of a
    single Parquet file. A file that cannot be written never disturbs calls: one warning is logged,
    up to `max_unsaved_chars` characters wait in memory, and writing is tried again; calls beyond
    are counted in `lost_calls`. Safe from threads; a child made by `fork` records its own calls.

    >>> import os, tempfile
    >>> from ethos_registry import Tool, ToolRegistry, ok
    >>> from ethos_registry.recording import read_recording
    >>> path = os.path.join(tempfile.mkdtemp(), "turns.sqlite3")
    >>> now = Tool("now", "The time.", {"type": "object"}, lambda args, context: ok("12:00"))
    >>> with TurnRecorder(path) as recorder:
    ...     registry = ToolRegistry([now], observers=[recorder])
    ...     _ = registry.execute_parallel_sync([{"id": "1", "name": "now", "args": {}}])
    >>> [(call.tool_name, call.value) for call in read_recording(path).calls()]
    [('now', '12:00')]

    Raises:
        ConfigError: A path whose folder does not exist, a Parquet file that exists already, or
            Parquet without the extra `parquet`.

    """

    def __init__(
        self,
        place: str | os.PathLike[str],
        *,
        flush_records: int = 1_000,
        flush_seconds: float | None = None,
        max_unsaved_chars: int = MAX_UNSAVED_CHARS,
    ) -> None:
        _checks.whole_count(flush_records, "flush_records")
        _checks.whole_count(max_unsaved_chars, "max_unsaved_chars")
        if flush_seconds is not None:
            _checks.finite_number(flush_seconds, "flush_seconds")
        store = _store_at(_checks.path(place, "place"))
        if flush_seconds is None:
            is_sqlite = isinstance(store, SqliteRecordingStore)
            flush_seconds = _SQLITE_FLUSH_SECONDS if is_sqlite else _PARQUET_FLUSH_SECONDS
        self._place = store.place
        self._writer = _Writer(store, flush_records, flush_seconds, max_unsaved_chars)
        self._finalizer = weakref.finalize(self, self._writer.stop)

    @property
    def place(self) -> str:
        """The path of the file or folder."""
        return self._place

    def batch_recorded(self, calls: RecordedCalls) -> None:
        """Take the calls of a batch; registries call this."""
        self._writer.add(calls)

    @property
    def unsaved_calls(self) -> int:
        """Calls that are in memory and not stored yet."""
        return self._writer.unsaved_calls

    @property
    def lost_calls(self) -> int:
        """Calls that were not recorded: the file could not be written, and memory was full."""
        return self._writer.lost_calls

    @property
    def problem(self) -> str | None:
        """Why the last write failed; `None` when it did not."""
        return self._writer.problem

    def flush(self) -> bool:
        """Write what was recorded until now, on this thread; whether all of it is stored."""
        return self._writer.flush()

    def close(self) -> None:
        """Write what was recorded, and let go of file and thread; twice is once."""
        self._finalizer()

    def __repr__(self) -> str:
        return f"<TurnRecorder at {self._place}>"


class _Writer(BackgroundWriter):
    """Batches that wait, and the calls that could not be written."""

    _store: RecordingStore

    def __init__(
        self, store: RecordingStore, flush_records: int, flush_seconds: float, max_chars: int
    ) -> None:
        self._flush_records = flush_records
        self._max_chars = max_chars
        super().__init__(store, flush_seconds, "ethos-registry-recording")

    def _reset(self) -> None:
        super()._reset()
        self.problem: str | None = None
        self.lost_calls = 0
        self._batches: deque[RecordedCalls] = deque()
        self._call_count = 0
        self._chars = 0
        self._failed: list[RecordedCall] = []
        """Calls of a write that failed, which is tried again."""
        self._failed_chars = 0

    def add(self, batch: RecordedCalls) -> None:
        """A batch to be written soon."""
        with self.lock:
            unsaved = self._chars + self._failed_chars
            is_lost = unsaved > 0 and unsaved + batch.size_chars > self._max_chars
            if is_lost:
                is_first = self.lost_calls == 0
                self.lost_calls += len(batch)
            else:
                self._batches.append(batch)
                self._call_count += len(batch)
                self._chars += batch.size_chars
                hurries = self._call_count >= self._flush_records or self._chars >= _HURRY_CHARS
        if is_lost:
            if is_first:
                _logger.warning(
                    "calls are not recorded: %s characters wait to be written to %s",
                    f"{unsaved:,}",
                    self._store.place,
                )
            return
        if not self._is_armed:
            self.arm()
        if hurries:
            self._hurry.set()

    @property
    def unsaved_calls(self) -> int:
        """Calls that are in memory and not stored yet."""
        with self.lock:
            return self._call_count + len(self._failed)

    def flush(self) -> bool:
        """Write all batches until now; whether they are stored."""
        with self._writing:
            while calls := self._next_calls():
                try:
                    self._store.write(calls)
                except RecordingError as error:
                    self._report(str(error))
                    return False
                except Exception as error:  # not the file: the same calls would fail again
                    _logger.debug("a write of recorded calls failed", exc_info=error)
                    _logger.warning("%d calls could not be recorded", len(calls))
                    self._lose(len(calls))
                with self.lock:
                    self._failed, self._failed_chars = [], 0
                if self.problem is not None:
                    self.problem = None
                    _logger.info("calls are recorded again in %s", self._store.place)
            return True

    def _next_calls(self) -> list[RecordedCall]:
        """The calls that could not be written, else those of the next batches, redacted here."""
        if self._failed:
            return self._failed
        with self.lock:
            self._is_armed = False
            batches: list[RecordedCalls] = []
            chars = count = 0
            while self._batches and (not batches or chars < _HURRY_CHARS):
                batch = self._batches.popleft()
                batches.append(batch)
                chars += batch.size_chars
                count += len(batch)
            # From here on they count as calls of a write that may fail.
            self._chars -= chars
            self._failed_chars = chars
        calls: list[RecordedCall] = []
        for batch in batches:
            try:
                calls.extend(batch.calls())
            except Exception as error:
                _logger.debug("a batch could not be recorded", exc_info=error)
                _logger.warning("a batch of %d calls could not be recorded", len(batch))
                self._lose(len(batch))
        with self.lock:
            self._call_count -= count
            self._failed = calls
            if not calls:
                self._failed_chars = 0
        return calls

    def _lose(self, count: int) -> None:
        with self.lock:
            self.lost_calls += count

    def _report(self, problem: str) -> None:
        if self.problem is None:
            _logger.warning("%s; calls go on, they wait in memory and are written later", problem)
        self.problem = problem

    def close_store(self) -> None:
        """Complete and close the file."""
        try:
            super().close_store()
        except RecordingError as error:
            self._report(str(error))


def _store_at(text: str) -> RecordingStore:
    if text == ":memory:" or "://" in text:
        raise ConfigError(f"`place` must be a path, got {_checks.brief(text)}")
    path = Path(text).absolute()
    if path.is_dir() or text.endswith(os.sep):
        return ParquetFolderStore(str(path))
    if not path.parent.is_dir():
        raise ConfigError(
            f"`place` is in a folder that does not exist: {_checks.brief(str(path.parent))}; "
            "make it first"
        )
    if path.suffix != ".parquet":
        return SqliteRecordingStore(str(path))
    if path.exists():
        raise ConfigError(
            f"`place` exists already: {_checks.brief(str(path))}; name another file, or a folder "
            "for several Parquet files"
        )
    return ParquetFileStore(str(path))


# Reading what was recorded.


class Recording(Protocol):
    """Calls that a `TurnRecorder` wrote; every failure is a `RecordingError`."""

    place: str
    """The path."""

    def calls(
        self, *, session_id: str | None = None, turn: int | None = None, tool: str | None = None
    ) -> Iterator[RecordedCall]:
        """The calls in the order in which they were stored; those of a session, turn or tool."""

    def call(self, number: int) -> RecordedCall | None:
        """The call with this number; `None` if there is none."""


@dataclass(slots=True)
class RecordedTurn:
    """The calls of one turn of a session, summed up."""

    session_id: str
    turn: int
    started_at_seconds: float
    """Unix time of its first call."""
    first_number: int
    last_number: int
    calls: int = 0
    failed_calls: int = 0
    raw_chars: int = 0
    sent_chars: int = 0
    cost_usd: float = 0.0


def read_recording(place: str | os.PathLike[str]) -> Recording:
    """The recording at a path: a SQLite file, a Parquet file or a folder of them.

    Calls that a recorder still has in memory are not in it; `TurnRecorder.flush` writes them.

    Raises:
        RecordingError: There is no recording at the path, or it cannot be read.
        ConfigError: Parquet without the extra `parquet`.

    """
    path = _checks.path(place, "place")
    if os.path.isdir(path):
        return ParquetRecording(path)
    try:
        with open(path, "rb") as file:
            start = file.read(16)
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror or error}") from None
    if start.startswith(b"PAR1"):
        return ParquetRecording(path)
    if start.startswith(b"SQLite format 3\0"):
        return SqliteRecording(path)
    raise RecordingError(f"{path} is not a recording: it is neither SQLite nor Parquet")


def recorded_turns(calls: Iterable[RecordedCall]) -> list[RecordedTurn]:
    """Sum up calls by session and turn, in the order of their first calls."""
    turns: dict[tuple[str, int], RecordedTurn] = {}
    for call in calls:
        if not isinstance(call, RecordedCall):
            raise ConfigError(
                f"`calls` must hold RecordedCall values, got {type(call).__name__}; "
                "`read_recording(path)` returns them"
            )
        turn = turns.get((call.session_id, call.turn))
        if turn is None:
            turn = turns[call.session_id, call.turn] = RecordedTurn(
                call.session_id, call.turn, call.started_at_seconds, call.number, call.number
            )
        turn.started_at_seconds = min(turn.started_at_seconds, call.started_at_seconds)
        turn.last_number = call.number
        turn.calls += 1
        turn.failed_calls += not call.ok
        turn.raw_chars += call.raw_chars
        turn.sent_chars += call.sent_chars
        turn.cost_usd += call.cost_usd or 0.0
    return list(turns.values())
