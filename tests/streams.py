"""Reading streams in tests, and the recorded ones beside the repository if they are there."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ethos_registry.providers._by_name import reply_parser
from ethos_registry.providers._sse import EventDecoder
from ethos_registry.providers._stream_parser import CallClosed, CallProven

if TYPE_CHECKING:
    from collections.abc import Iterable

_REPOSITORY = Path(__file__).parents[1]
RECORDED = next(
    (
        folder
        for parent in _REPOSITORY.parents  # a worktree may lie deeper than the repository
        if (folder := parent / "shared" / "streams").is_dir()
    ),
    _REPOSITORY.parent / "shared" / "streams",
)
MANIFEST: list[dict[str, Any]] = (
    json.loads((RECORDED / "manifest.json").read_text())["streams"]
    if (RECORDED / "manifest.json").exists()
    else []
)
needs_recordings = pytest.mark.skipif(not MANIFEST, reason="the recorded streams are not here")


def name_of(stream: dict[str, Any]) -> str:
    return str(stream["file"])


def raw_of(stream: dict[str, Any]) -> bytes:
    """The bytes of a stream; one that was trimmed gets its last blank line back."""
    raw = (RECORDED / stream["file"]).read_bytes()
    return raw if raw.endswith(b"\n\n") or raw.startswith(b"{") else raw + b"\n\n"


def events_of(raw: bytes) -> list[Any]:
    """The parsed events of a stream, `[DONE]` as a string."""
    decoder = EventDecoder()
    payloads = [*decoder.feed(raw), *decoder.end()]
    return [
        "[DONE]" if payload.strip() == b"[DONE]" else json.loads(payload) for payload in payloads
    ]


def in_chunks(raw: bytes, places: Iterable[int]) -> list[bytes]:
    """The bytes cut at these places."""
    cuts = [0, *sorted(set(places)), len(raw)]
    return [raw[start:end] for start, end in itertools.pairwise(cuts) if start < end]


class Outcome:
    """What a parser makes of one call: the events by which it was closed and proven."""

    def __init__(self, call: Any, opened: int) -> None:
        self.call = call
        self.opened = opened
        self.closed: int | None = None
        self.proven: int | None = None


def outcomes_of(provider: str, events: Iterable[Any]) -> list[Outcome]:
    """Every call of a reply with the numbers of its events."""
    parser = reply_parser(provider)
    outcomes: list[Outcome] = []
    for number, event in enumerate(events):
        for fact in parser.feed(event):
            if isinstance(fact, CallClosed) and outcomes[fact.call.position].closed is None:
                outcomes[fact.call.position].closed = number
            if isinstance(fact, CallProven):
                assert outcomes[fact.call.position].proven is None
                outcomes[fact.call.position].proven = number
            if type(fact).__name__ == "CallOpened":
                outcomes.append(Outcome(fact.call, number))
    parser.finish()
    return outcomes
