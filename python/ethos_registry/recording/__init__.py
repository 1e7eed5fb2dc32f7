"""Calls with arguments and output in a file, after redaction, and reading them back."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.recording._recorder import (
        RecordedTurn,
        Recording,
        TurnRecorder,
        read_recording,
        recorded_turns,
    )
    from ethos_registry.recording._rows import RecordingError
    from ethos_registry.recording._sqlite import FoundCall, SqliteRecording
    from ethos_registry.types._observer import RecordedCall, RecordedCalls

__all__ = [
    "FoundCall",
    "RecordedCall",
    "RecordedCalls",
    "RecordedTurn",
    "Recording",
    "RecordingError",
    "SqliteRecording",
    "TurnRecorder",
    "read_recording",
    "recorded_turns",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "recording._recorder": (
                "RecordedTurn Recording TurnRecorder read_recording recorded_turns"
            ),
            "recording._rows": "RecordingError",
            "recording._sqlite": "FoundCall SqliteRecording",
            "types._observer": "RecordedCall RecordedCalls",
        },
    )
