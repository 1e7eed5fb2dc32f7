"""A call of a streamed reply, and what a parser finds out about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ethos_registry.providers.stream.arguments import StreamedArguments

__all__ = [
    "ArgumentsGrew",
    "CallClosed",
    "CallOpened",
    "CallProven",
    "Fact",
    "ReplyBroken",
    "ReplyEnded",
    "StreamedCall",
]


@dataclass(slots=True, eq=False)
class StreamedCall:
    """One call while its reply is being streamed."""

    position: int
    """Its place among the calls of the reply, from 0."""
    tool_call_id: str
    """The provider's id, or `call_{position}` where it gave none that is unique in the reply."""
    name: str
    given_id: str | None = None
    """The provider's id as it came."""
    arguments: StreamedArguments = field(default_factory=StreamedArguments)
    problem: str | None = None
    """Why the call can never run, if that is known."""
    is_closed: bool = False
    """The wire has closed the call; the reply may still turn out to be cut off."""
    is_proven: bool = False
    """The reply went on after the call or ended well: its arguments are what the model meant."""
    is_started: bool = False
    """The call was handed over; its arguments are fixed."""
    late_text: str = ""
    """Arguments that came after the call was handed over; they are never run."""


class CallOpened(NamedTuple):
    """A call has started to arrive."""

    call: StreamedCall


class ArgumentsGrew(NamedTuple):
    """Arguments came."""

    call: StreamedCall


class CallClosed(NamedTuple):
    """The wire has closed the call: an eager tool may start if its arguments parse."""

    call: StreamedCall


class CallProven(NamedTuple):
    """The reply went on after the call or ended well: any tool may start."""

    call: StreamedCall


class ReplyEnded(NamedTuple):
    """The reply has ended; calls that are not proven never will be."""

    reason: str
    """The provider's stop reason; empty if it gave none."""


class ReplyBroken(NamedTuple):
    """The reply can no longer be trusted: nothing starts from now on."""

    reason: str


Fact: TypeAlias = CallOpened | ArgumentsGrew | CallClosed | CallProven | ReplyEnded | ReplyBroken
