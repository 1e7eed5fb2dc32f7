"""Progress text that waits, because it may be the start of a secret that was handed out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ethos_registry.capabilities.handed_out import HandedOutSecrets
from ethos_registry.capabilities.secret_stream import SecretStream
from ethos_registry.contract.progress import Audience, ToolProgressEvent

__all__ = ["HeldProgress"]


class HeldProgress:
    """The progress of one call: each audience's messages are read as one stream of text.

    No text is lost or reordered within an audience. Text that waited is an event of its own, with
    the details of the event that it belongs to, unless the next message completed a value.
    """

    __slots__ = ("_handed_out", "_last", "_streams")

    def __init__(self, handed_out: HandedOutSecrets) -> None:
        self._handed_out = handed_out
        self._streams: dict[Audience, SecretStream] = {}
        self._last: dict[Audience, ToolProgressEvent] = {}

    def passed(self, event: ToolProgressEvent) -> Iterator[ToolProgressEvent]:
        """The events to deliver now: `event` without what must wait, after what waited."""
        audience = event.audience
        stream = self._streams.get(audience)
        if stream is None:
            stream = self._streams[audience] = SecretStream(self._handed_out)
        if not event.message:
            yield from self._flushed(audience, stream)
            yield event
            return
        waited = stream.waiting
        ready = stream.add(event.message)
        if waited:
            if ready.startswith(waited):
                yield dataclasses.replace(self._last[audience], message=waited)
                ready = ready[len(waited) :]
            elif ready and waited.startswith(ready):
                yield dataclasses.replace(self._last[audience], message=ready)
                ready = ""
        self._last[audience] = event
        if ready is event.message:
            yield event
        elif ready or event.percent is not None:
            yield dataclasses.replace(event, message=ready)

    def flush(self) -> Iterator[ToolProgressEvent]:
        """What still waits, at the end of the call."""
        for audience, stream in self._streams.items():
            yield from self._flushed(audience, stream)

    def _flushed(self, audience: Audience, stream: SecretStream) -> Iterator[ToolProgressEvent]:
        if stream.waiting:
            yield dataclasses.replace(self._last[audience], message=stream.flush())
