"""The columns of a recording, and a call as a row of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final, NamedTuple

from ethos_registry._persistence.background_writer import Store
from ethos_registry.types._errors import EthosRegistryError
from ethos_registry.types._observer import RecordedCall

# What fails where calls are recorded.


class RecordingError(EthosRegistryError):
    """A recording cannot be read or written; the message states which one and why."""

    __module__ = "ethos_registry.recording"

    code: ClassVar[str] = "E_RECORDING"


class RecordingStore(Store):
    """Where calls are written; every failure is a `RecordingError`."""

    place: str

    def write(self, calls: Sequence[RecordedCall]) -> None:
        """Store all of the calls, or none."""


SCHEMA_VERSION: Final = 1


class Column(NamedTuple):
    """A column of a recording."""

    name: str
    sqlite: str
    """How SQLite declares it."""
    parquet: str
    """The name of its type in Parquet; `dictionary` for text that recurs."""


SCHEMA: Final = (
    Column("ts", "TIMESTAMP NOT NULL", "timestamp"),
    Column("session", "TEXT NOT NULL", "string"),
    Column("turn", "INTEGER NOT NULL", "int32"),
    Column("batch", "TEXT NOT NULL", "string"),
    Column("call_id", "TEXT NOT NULL", "string"),
    Column("tool", "TEXT NOT NULL", "dictionary"),
    Column("agent", "TEXT NOT NULL", "dictionary"),
    Column("args", "TEXT NOT NULL", "string"),
    Column("ok", "BOOLEAN NOT NULL", "bool"),
    Column("code", "TEXT", "dictionary"),
    Column("reason", "TEXT", "dictionary"),
    Column("raw", "TEXT", "string"),
    Column("value", "TEXT NOT NULL", "large_string"),
    Column("raw_chars", "INTEGER NOT NULL", "int64"),
    Column("reduced_chars", "INTEGER NOT NULL", "int64"),
    Column("sent_chars", "INTEGER NOT NULL", "int64"),
    Column("exit_code", "INTEGER", "int32"),
    Column("duration_s", "REAL NOT NULL", "float64"),
    Column("schema_version", "INTEGER NOT NULL", "int16"),
    Column("cost_usd", "REAL", "float64"),
)
"""The same in SQLite and Parquet, in this order; docs/concepts/recordings.md explains them."""
COLUMNS: Final = tuple(each.name for each in SCHEMA)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_INT32 = 2**31 - 1


def row_of(call: RecordedCall) -> tuple[Any, ...]:
    """A call as the values of `COLUMNS`; `ts` is an aware `datetime`."""
    exit_code = call.exit_code
    if exit_code is not None and not -_MAX_INT32 <= exit_code <= _MAX_INT32:
        exit_code = None
    return (
        _EPOCH + timedelta(seconds=call.started_at_seconds),
        call.session_id,
        max(-_MAX_INT32, min(call.turn, _MAX_INT32)),
        call.batch_id,
        call.tool_call_id,
        call.tool_name,
        call.caller_id,
        call.args,
        call.ok,
        call.code,
        call.reason,
        call.raw,
        call.value,
        call.raw_chars,
        call.reduced_chars,
        call.sent_chars,
        exit_code,
        call.duration_seconds,
        SCHEMA_VERSION,
        None if call.cost_usd is None else float(call.cost_usd),
    )


def call_of(row: Sequence[Any], number: int) -> RecordedCall:
    """The call of a row; `ts` is an aware `datetime`."""
    values = dict(zip(COLUMNS, row, strict=True))
    values |= {"ts": (row[0] - _EPOCH).total_seconds(), "ok": bool(values["ok"])}
    del values["schema_version"]
    fields = [*values.values(), number]
    return RecordedCall(*fields)
