"""Reading what was recorded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from ethos_registry.contract import checks
from ethos_registry.contract.recorded_call import RecordedCall
from ethos_registry.recording.errors import RecordingError
from ethos_registry.recording.parquet_recording import ParquetRecording
from ethos_registry.recording.sqlite_recording import SqliteRecording

__all__ = ["RecordedTurn", "Recording", "read_recording", "recorded_turns"]


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
    path = checks.path(place, "place")
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
