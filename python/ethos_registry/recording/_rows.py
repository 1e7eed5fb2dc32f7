"""The columns of a recording, and a call as a row of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final

from ethos_registry.types._errors import EthosRegistryError
from ethos_registry.types._observer import RecordedCall

# What fails where calls are recorded.


class RecordingError(EthosRegistryError):
    """A recording cannot be read or written; the message states which one and why."""

    __module__ = "ethos_registry.recording"

    code: ClassVar[str] = "E_RECORDING"


SCHEMA_VERSION: Final = 1

COLUMNS: Final = (
    "ts",
    "session",
    "turn",
    "batch",
    "call_id",
    "tool",
    "agent",
    "args",
    "ok",
    "code",
    "reason",
    "raw",
    "value",
    "raw_chars",
    "reduced_chars",
    "sent_chars",
    "exit_code",
    "duration_s",
    "schema_version",
    "cost_usd",
)
"""The same in SQLite and Parquet, in this order; docs/concepts/recordings.md explains them."""

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
