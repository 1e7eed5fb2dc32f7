"""What the parsers of all providers share: calls, their ids, and the end of the reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ethos_registry.providers.stream.call import (
    ArgumentsGrew,
    CallClosed,
    CallOpened,
    CallProven,
    Fact,
    ReplyBroken,
    ReplyEnded,
    StreamedCall,
)

__all__ = ["ReplyParser"]

_CUT = "the reply ended before the arguments were complete"
_AGAIN = "call the tool again"
_REASON_CHARS = 120


class ReplyParser:
    """Reads the events of one reply: which calls it has, when each may run, and its message.

    A pure state machine: it starts nothing and waits for nothing. `feed` returns what an event has
    shown, in order.
    """

    provider: ClassVar[str]
    """The name of the provider whose messages answer the calls."""

    def __init__(self) -> None:
        self.calls: list[StreamedCall] = []
        """The calls in the order of the reply."""
        self.end: ReplyEnded | ReplyBroken | None = None
        """How the reply ended; `None` while it goes on."""
        self.reports_arguments = False
        """Whether each piece of arguments is reported."""
        self._used_ids: set[str] = set()
        self._facts: list[Fact] = []

    def feed(self, event: Any) -> Sequence[Fact]:
        """Read one event: a dict, an SDK's object, or a string that is not JSON (`[DONE]`)."""
        if type(self.end) is ReplyBroken:
            return ()
        self._read(event)
        return self._taken()

    def finish(self) -> Sequence[Fact]:
        """The stream is over. A reply that has not ended by then was cut off."""
        if self.end is None:
            self._break("the stream ended early")
        return self._taken()

    def fail(self, reason: str) -> Sequence[Fact]:
        """The stream has failed: nothing that comes later counts."""
        if self.end is None:
            self._break(reason)
        return self._taken()

    def reply(self) -> dict[str, Any]:
        """The assistant message so far, in the provider's own shape, fit to be sent back."""
        raise NotImplementedError

    def reply_messages(self) -> list[dict[str, Any]]:
        """The messages of the history that hold the reply; none if there is nothing to send."""
        raise NotImplementedError

    def answers(self, messages: Sequence[Any]) -> Sequence[Any]:
        """The messages that answer the calls, as this reply needs them."""
        return messages

    def problem_of(self, call: StreamedCall) -> str:
        """Why a call that was not proven cannot run."""
        if call.problem is not None:
            return call.problem
        reason = "" if self.end is None else self.end.reason
        return f"{_CUT} ({reason}); {_AGAIN}" if reason else f"{_CUT}; {_AGAIN}"

    @property
    def is_cut(self) -> bool:
        """Whether the reply did not end, or not on its own account."""
        return type(self.end) is not ReplyEnded or any(
            not call.is_proven and call.problem is None for call in self.calls
        )

    def _read(self, event: Any) -> None:
        raise NotImplementedError

    def _taken(self) -> Sequence[Fact]:
        facts = self._facts
        if not facts:
            return ()
        self._facts = []
        return facts

    # What the parsers of providers report

    def _open(self, given_id: Any, name: Any) -> StreamedCall:
        position = len(self.calls)
        given = given_id if isinstance(given_id, str) and given_id else None
        tool_call_id = given
        if tool_call_id is None or tool_call_id in self._used_ids:
            tool_call_id = f"call_{position}"
            while tool_call_id in self._used_ids:
                tool_call_id += "_"
        self._used_ids.add(tool_call_id)
        call = StreamedCall(position, tool_call_id, name if isinstance(name, str) else "", given)
        self.calls.append(call)
        self._facts.append(CallOpened(call))
        return call

    @staticmethod
    def _is_repeated(call: StreamedCall | None, given_id: Any) -> bool:
        """Whether the start of a call at the place of `call` is that of `call` once more."""
        return (
            call is not None
            and call.given_id is not None
            and call.given_id == given_id
            and not call.is_closed
        )

    def _add(self, call: StreamedCall, text: str) -> None:
        """Append arguments; those of a call that was handed over are only recorded."""
        if call.is_started or call.is_proven:
            call.late_text += text
            return
        call.arguments.add(text)
        if self.reports_arguments:
            self._facts.append(ArgumentsGrew(call))

    def _close(self, call: StreamedCall) -> None:
        if not call.is_closed:
            call.is_closed = True
            self._facts.append(CallClosed(call))

    def _prove(self, call: StreamedCall) -> None:
        if call.is_proven or call.problem is not None:
            return
        self._close(call)
        call.is_proven = True
        if not call.name:
            call.problem = "the call names no tool"
        self._facts.append(CallProven(call))

    def _end(self, reason: str | None) -> None:
        if self.end is None:
            self.end = ReplyEnded((reason or "")[:_REASON_CHARS])
            self._facts.append(self.end)

    def _break(self, reason: str) -> None:
        if type(self.end) is not ReplyBroken:
            self.end = ReplyBroken(reason[:_REASON_CHARS])
            self._facts.append(self.end)
