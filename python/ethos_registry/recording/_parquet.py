"""A recording in Parquet files (extra `parquet`)."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from ethos_registry._persistence.files import make_private_file, make_private_folder
from ethos_registry.recording._rows import (
    COLUMNS,
    SCHEMA,
    RecordingError,
    RecordingStore,
    call_of,
    row_of,
)
from ethos_registry.types._extras import missing_extra
from ethos_registry.types._observer import RecordedCall

_DICTIONARIES = [each.name for each in SCHEMA if each.parquet == "dictionary"]
_BATCH_ROWS = 1_000
_MAX_GROUP_CHARS = 8 * 1024 * 1024


class ParquetFolderStore(RecordingStore):
    """Writes each group of calls as a file of its own in a folder, whole or not at all."""

    def __init__(self, folder: str) -> None:
        _pyarrow()
        self.place = folder

    def write(self, calls: Sequence[RecordedCall]) -> None:
        """Store all of the calls, or none."""
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{os.getpid()}-{secrets.token_hex(4)}"
        problem = f"the recording {self.place} cannot be written"
        with _failures(problem):
            make_private_folder(self.place)
        file = _NewFile(os.path.join(self.place, f"{name}.parquet"), problem)
        file.write(calls)
        file.complete()


class ParquetFileStore(RecordingStore):
    """Writes one file, which gets its name when it is complete: at `close`.

    A child made by `fork` writes a file of its own, with its process id in the name.
    """

    def __init__(self, path: str) -> None:
        _pyarrow()
        self.place = path
        self._file: _NewFile | None = None
        self._is_complete = False

    def write(self, calls: Sequence[RecordedCall]) -> None:
        """Store all of the calls, or none."""
        if self._is_complete:
            raise RecordingError(f"the recording {self.place} is complete; it was closed")
        problem = f"the recording {self.place} cannot be written"
        file, self._file = self._file or _NewFile(self.place, problem), None
        try:
            file.write(calls)
        except RecordingError as error:
            if not file.call_count:
                raise
            raise RecordingError(f"{error}; {file.call_count} calls before are lost") from error
        self._file = file

    def close(self) -> None:
        """Complete the file."""
        file, self._file = self._file, None
        if file is not None:
            self._is_complete = True
            file.complete()

    def after_fork_in_child(self) -> object:
        """In a child after `fork`: the parent's file."""
        file, self._file = self._file, None
        stem, ending = os.path.splitext(self.place)
        self.place = f"{stem}-{os.getpid()}{ending}"
        self._is_complete = False
        return file


class _NewFile:
    """A file beside its place, which it takes when it is complete; readable by its owner only."""

    def __init__(self, target: str, problem: str) -> None:
        self._target = target
        self._problem = problem
        """What a failure means, for its message."""
        folder, name = os.path.split(target)
        self._part = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.part")
        self._writer: Any = None
        self.call_count = 0

    def write(self, calls: Sequence[RecordedCall]) -> None:
        pa, parquet = _pyarrow()
        schema = _schema(pa)
        columns = [list(values) for values in zip(*map(row_of, calls), strict=True)]
        with self._removed_on_failure():
            table = pa.table(columns, schema=schema)
            if self._writer is None:
                make_private_file(self._part, is_new=True)
                self._writer = parquet.ParquetWriter(
                    self._part, schema, compression="zstd", use_dictionary=_DICTIONARIES
                )
            for part in _groups(table, calls):
                self._writer.write_table(part)
        self.call_count += len(calls)

    def complete(self) -> None:
        with self._removed_on_failure():
            self._writer.close()
            os.replace(self._part, self._target)

    @contextlib.contextmanager
    def _removed_on_failure(self) -> Iterator[None]:
        try:
            with _failures(self._problem):
                yield
        except BaseException:
            with contextlib.suppress(Exception):
                self._writer.close()
            with contextlib.suppress(OSError):
                os.unlink(self._part)
            raise


class ParquetRecording:
    """Reads a recording; see `Recording`."""

    def __init__(self, place: str) -> None:
        _pyarrow()
        self.place = place

    def calls(
        self, *, session_id: str | None = None, turn: int | None = None, tool: str | None = None
    ) -> Iterator[RecordedCall]:
        """The calls in the order in which they were stored; those of a session, turn or tool."""
        for call in self._all():
            if (
                session_id in (None, call.session_id)
                and turn in (None, call.turn)
                and tool in (None, call.tool_name)
            ):
                yield call

    def call(self, number: int) -> RecordedCall | None:
        """The call with this number; `None` if there is none."""
        return next((call for call in self._all() if call.number == number), None)

    def _all(self) -> Iterator[RecordedCall]:
        _, parquet = _pyarrow()
        number = 0
        for path in parquet_files(self.place):
            with _failures(f"{path} cannot be read"), parquet.ParquetFile(path) as file:
                if missing := set(COLUMNS) - set(file.schema_arrow.names):
                    raise RecordingError(
                        f"{path} is not a recording: it has no column `{min(missing)}`"
                    )
                for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=list(COLUMNS)):
                    for row in batch.select(list(COLUMNS)).to_pylist():
                        number += 1
                        yield call_of([row[name] for name in COLUMNS], number)


def parquet_files(place: str) -> list[str]:
    """The file, or the files of a folder in the order in which they were written."""
    if not os.path.isdir(place):
        return [place]
    names = sorted(
        name for name in os.listdir(place) if name.endswith(".parquet") and not name.startswith(".")
    )
    return [os.path.join(place, name) for name in names]


def _schema(pa: Any) -> Any:
    special = {
        "timestamp": pa.timestamp("us", tz="UTC"),
        "dictionary": pa.dictionary(pa.int32(), pa.string()),
    }
    return pa.schema(
        [
            (name, special[kind] if kind in special else pa.type_for_alias(kind))
            for name, _, kind in SCHEMA
        ]
    )


def _groups(table: Any, calls: Sequence[RecordedCall]) -> Iterator[Any]:
    """Slices of about 8 MB, so that a reader skips the ones that it does not need."""
    start = chars = 0
    for position, call in enumerate(calls):
        chars += len(call.value) + len(call.raw or "") + len(call.args)
        if chars >= _MAX_GROUP_CHARS:
            yield table.slice(start, position + 1 - start)
            start, chars = position + 1, 0
    if start < len(calls):
        yield table.slice(start)


def _pyarrow() -> tuple[Any, Any]:
    # The last write may come while the interpreter ends. If pandas is installed, pyarrow imports it
    # then, and pandas this module, which can no longer be imported for the first time.
    import concurrent.futures.thread  # noqa: F401

    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise missing_extra("Parquet", "parquet") from None
    return pa, parquet


@contextlib.contextmanager
def _failures(problem: str) -> Iterator[None]:
    pa, _ = _pyarrow()
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise RecordingError(f"{problem}: {reason}") from error
