"""What the parsers of all providers share: calls, their ids, and the end of the reply."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias

import pydantic_core

from ethos_registry import _core
from ethos_registry.providers._delta_merge import DeltaMerge, fields_of
from ethos_registry.providers._portable_name import FOREIGN, MAX_NAME_CHARS
from ethos_registry.providers._wire_format import cut_off

# The arguments of one call while they arrive.

_INVALID_JSON = "INVALID_JSON"
_PARTIAL_EVERY_CHARS = 4_096
"""Up to this length every piece gives a partial value; beyond, see `partial`."""
_PARTIAL_GROWTH = 16
_PLACEHOLDER_CHARS = 16
"""The longest `{}` or `null`, with white space around it, that may be replaced."""


def _is_high_surrogate(character: str) -> bool:
    return "\ud800" <= character <= "\udbff"


class StreamedArguments:
    """JSON text in pieces: collected, scanned once, and parsed once at the end.

    Pieces wait in a list until somebody asks, and cross into the native scanner together.

    >>> arguments = StreamedArguments()
    >>> arguments.add('{"path": "a.t'), arguments.is_object, arguments.partial()
    (None, False, {'path': 'a.t'})
    >>> arguments.add('xt"}'), arguments.is_object, arguments.for_call()
    (None, True, {'path': 'a.txt'})
    """

    __slots__ = ("_json", "_shown_chars", "_value", "_waiting", "add")

    def __init__(self) -> None:
        self.reset()

    def reset(self, text: str = "") -> None:
        """Start again with this text."""
        self._json = _core.JsonStream()
        self._waiting: list[str] = [text] if text else []
        self._shown_chars = 0
        self._value: dict[str, Any] | None = None
        self.add = self._waiting.append
        """Append a piece; it must be a string."""

    def set_value(self, value: dict[str, Any]) -> None:
        """Take an object that came whole."""
        self.reset()
        self._value = value

    @property
    def came_whole(self) -> bool:
        """Whether the arguments came as one object."""
        return self._value is not None

    def _scanned(self, *, is_end: bool = True) -> _core.JsonStream:
        waiting = self._waiting
        if waiting:
            text = "".join(waiting)
            waiting.clear()
            if not text.isascii():
                # A provider that cuts by UTF-16 units may split a pair between two events.
                if not is_end and _is_high_surrogate(text[-1]):
                    waiting.append(text[-1])
                    text = text[:-1]
                text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            self._json.push(text)
        return self._json

    @property
    def is_blank(self) -> bool:
        """Whether nothing but white space has come."""
        return self._value is None and self._scanned(is_end=False).is_blank()

    @property
    def is_object(self) -> bool:
        """Whether the text is one whole JSON object, without duplicate keys."""
        return self._value is not None or self._scanned(is_end=False).is_object()

    @property
    def is_placeholder(self) -> bool:
        """Whether the text is `{}` or `null`."""
        if self._value is not None:
            return not self._value
        scanned = self._scanned(is_end=False)
        is_short = scanned.length() <= _PLACEHOLDER_CHARS
        return is_short and scanned.text().strip() in ("{}", "null")

    @property
    def has_keys(self) -> bool:
        """Whether the text is one whole JSON object, but not `{}`, which may be a placeholder."""
        return self.is_object and not self.is_placeholder

    @property
    def text(self) -> str:
        """The whole text so far."""
        if self._value is not None:
            return json.dumps(self._value, ensure_ascii=False)
        return self._scanned().text()

    def for_call(self) -> Any:
        """What the call gets: the value, `{}` for blank text and `null`, text that is not JSON."""
        if self._value is not None:
            return self._value
        scanned = self._scanned()
        if scanned.is_blank():
            return {}
        text = scanned.text()
        if scanned.is_invalid():
            return text
        try:
            value = pydantic_core.from_json(text, allow_inf_nan=False)
        except ValueError:
            return text
        return {} if value is None else value

    def for_reply(self) -> dict[str, Any]:
        """The object as it may be sent back; anything else under the key `INVALID_JSON`."""
        value = self.for_call()
        return value if isinstance(value, dict) else {_INVALID_JSON: self.text}

    def text_for_reply(self) -> str:
        """The same as JSON text; valid text is unchanged."""
        if self._value is not None:
            return self.text
        scanned = self._scanned()
        if scanned.is_object():
            return scanned.text()
        return "{}" if scanned.is_blank() else json.dumps(self.for_reply(), ensure_ascii=False)

    def partial(self, *, is_end: bool = False) -> Any:
        """The longest valid partial value, or `None` when there is nothing new to show.

        Strings show what they have so far; a key without a value and an unfinished number or
        literal are left out. Beyond 4,096 characters a value is given each time that the text has
        grown by a sixteenth, so that all values together cost linear time.
        """
        if self._value is not None:
            return self._value if is_end else None
        scanned = self._scanned(is_end=is_end)
        chars = scanned.length()
        if chars == self._shown_chars and chars:
            return None
        step = chars // _PARTIAL_GROWTH if chars > _PARTIAL_EVERY_CHARS else 1
        if not is_end and chars - self._shown_chars < step:
            return None
        text = scanned.partial()
        if text is None:
            return {} if is_end and scanned.is_blank() else None
        self._shown_chars = chars
        return pydantic_core.from_json(text)


# Reading events, whether they are plain dicts or an SDK's objects.

_NO_NAME = "unknown_tool"


def read_field(value: Any, name: str) -> Any:
    """A field of a dict or of an SDK's object; `None` when there is none."""
    if type(value) is dict:
        return value.get(name)
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def extra_field(value: Any, name: str) -> Any:
    """A field that the SDK does not declare; asking a pydantic object for a missing one is slow."""
    if isinstance(value, Mapping):
        return value.get(name)
    extra = getattr(value, "model_extra", None)
    if isinstance(extra, dict):
        return extra.get(name) or value.__dict__.get(name)
    return getattr(value, name, None)


def text_of(value: Any, name: str) -> str:
    """The same for a string; empty when there is none."""
    found = read_field(value, name)
    return found if isinstance(found, str) else ""


def json_text(value: Any) -> str:
    """Arguments as JSON text; some servers send the value itself."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(plain(value), ensure_ascii=False)


def listed(value: Any) -> list[Any]:
    """`value` as a list if it is a list, a tuple or one object, else empty."""
    if isinstance(value, list | tuple):
        return list(value)
    return [value] if isinstance(value, Mapping) and value else []


def plain(value: Any) -> Any:
    """An SDK's object as the plain JSON value that the wire had; other values as they are."""
    dump = getattr(value, "model_dump", None)
    if dump is None:
        return value
    return dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)


def starts_object(text: str) -> bool:
    """Whether a piece of JSON text is the start of an object."""
    return text.lstrip().startswith("{")


def sendable_name(name: str) -> str:
    """A tool name that every provider takes back in a reply, whatever the model made up.

    >>> sendable_name("read_file"), sendable_name("multi_tool_use.parallel"), sendable_name("")
    ('read_file', 'multi_tool_use_parallel', 'unknown_tool')
    """
    return FOREIGN.sub("_", name)[:MAX_NAME_CHARS] or _NO_NAME


# A call of a streamed reply, and what a parser finds out about it.


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
    others: DeltaMerge = field(default_factory=DeltaMerge)
    """What it has beside id, name and arguments."""
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
    is_whole: bool = True
    """Whether the model stopped on its own account."""


class ReplyBroken(NamedTuple):
    """The reply can no longer be trusted: nothing starts from now on."""

    reason: str


Fact: TypeAlias = CallOpened | ArgumentsGrew | CallClosed | CallProven | ReplyEnded | ReplyBroken


_ENTRY_FIELDS = ("index", "id", "type", "function", "custom")
_FUNCTION_FIELDS = ("name", "arguments", "index")

_REASON_CHARS = 120


class ReplyParser:
    """Reads the events of one reply: which calls it has, when each may run, and its message.

    A pure state machine: it starts nothing and waits for nothing. `feed` returns what an event has
    shown, in order.
    """

    provider: ClassVar[str]
    """The name of the provider whose messages answer the calls."""

    def __init__(self) -> None:
        self.given_name = self.provider
        """The name of the provider that the program gave."""
        self.calls: list[StreamedCall] = []
        """The calls in the order of the reply."""
        self.end: ReplyEnded | ReplyBroken | None = None
        """How the reply ended; `None` while it goes on."""
        self.reports_arguments = False
        """Whether each piece of arguments is reported."""
        self.is_tool: Callable[[str], bool] | None = None
        """Whether a tool has that name, so that a name that comes in pieces can be joined."""
        self.has_known_event = False
        """Whether any event had the provider's shape."""
        self._finish_reason: str | None = None
        """The last reason that ends a reply well; the reply may still go on."""
        self._used_ids: set[str] = set()
        self._facts: list[Fact] = []
        self._awaits_proof: list[StreamedCall] = []
        """The calls that the wire has closed, in formats where that proves nothing."""

    def feed(self, event: Any) -> Sequence[Fact]:
        """Read one event: a dict, an SDK's object, or a string that is not JSON (`[DONE]`)."""
        if type(self.end) is ReplyBroken:
            return ()
        if not self.has_known_event:
            self.has_known_event = self._is_known(event)
        self._read(event)
        return self._taken()

    def finish(self) -> Sequence[Fact]:
        """The stream is over. A reply that has not given a reason for its end was cut off."""
        if self.end is None:
            if self._finish_reason is None:
                self._break("the stream ended early")
            else:
                self._end(self._finish_reason, self._proven_at_the_end())
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
        """The messages of the history that hold the reply; none if it has nothing but its role."""
        reply = self.reply()
        return [reply] if any(reply[name] for name in reply if name != "role") else []

    def answers(self, messages: Sequence[Any]) -> Sequence[Any]:
        """The messages that answer the calls, as this reply needs them."""
        return messages

    def problem_of(self, call: StreamedCall) -> str:
        """Why a call that was not proven cannot run."""
        if call.problem is not None:
            return call.problem
        reason = "" if self.end is None else self.end.reason
        return cut_off(reason)

    @property
    def is_cut(self) -> bool:
        """Whether the reply did not end, or not on its own account."""
        if type(self.end) is not ReplyEnded or not self.end.is_whole:
            return True
        return any(not call.is_proven and call.problem is None for call in self.calls)

    def _is_known(self, event: Any) -> bool:
        """Whether an event has the provider's shape."""
        raise NotImplementedError

    def _read(self, event: Any) -> None:
        raise NotImplementedError

    def _proven_at_the_end(self) -> Iterable[StreamedCall]:
        """The calls that the end of the stream proves if a reason for it was given."""
        return ()

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

    def _is_repeated(self, call: StreamedCall | None, given_id: Any, name: Any) -> bool:
        """Whether the start of a call at the place of `call` is that of `call` once more.

        An id that comes late is taken, and so is the next piece of a name.
        """
        if call is None or call.is_closed:
            return False
        has_ids = call.given_id is not None and bool(given_id)
        if has_ids and call.given_id != given_id:
            return False
        if self._goes_on_with_name(call, name):
            self._take_name(call, name)
        elif not has_ids and (
            name != call.name or not (given_id or call.given_id) or not call.arguments.is_blank
        ):
            return False
        self._take_id(call, given_id)
        return True

    def _goes_on_with_name(self, call: StreamedCall, name: Any) -> bool:
        """Whether a name is that of a call without one, or the next piece of its name."""
        if not isinstance(name, str) or not name or call.is_started or call.is_proven:
            return False
        if not call.name:
            return True
        is_tool = self.is_tool
        if is_tool is None or name == call.name or not call.arguments.is_blank:
            return False
        if name.startswith(call.name):
            return is_tool(name)  # the whole name so far
        return is_tool(call.name + name) or not (is_tool(call.name) or is_tool(name))

    def _call_to_go_on(self, call: StreamedCall | None) -> StreamedCall | None:
        """The call that arguments belong to: that of their place, unless only another is open."""
        if call is not None and not call.is_closed:
            return call
        last = self.calls[-1] if self.calls else None
        return call if last is None or last.is_closed else last

    @staticmethod
    def _keep_others(call: StreamedCall, entry: Any) -> None:
        """Merge the fields of a call that no other rule reads, such as signatures of thoughts."""
        fields = fields_of(entry)
        others = {name: fields[name] for name in fields if name not in _ENTRY_FIELDS}
        if function := fields.get("function"):
            of_function = fields_of(function)
            rest = {name: of_function[name] for name in of_function if name not in _FUNCTION_FIELDS}
            if rest:
                others["function"] = rest
        if others:
            call.others.add(others)

    def _take_id(self, call: StreamedCall, given_id: Any) -> None:
        """Take an id that came after the start of its call, unless the old one was reported."""
        if not isinstance(given_id, str) or not given_id:
            return
        if call.given_id is not None or call.is_started:
            return
        if given_id in self._used_ids or (self.reports_arguments and not call.arguments.is_blank):
            return
        self._used_ids.add(given_id)
        call.given_id = call.tool_call_id = given_id

    @staticmethod
    def _take_name(call: StreamedCall, name: str) -> None:
        """Take a name that came late, the next piece of one, or the whole name so far."""
        if name and name != call.name and not (call.is_started or call.is_proven):
            call.name = name if name.startswith(call.name) else call.name + name

    def _add(self, call: StreamedCall, text: str) -> None:
        """Append arguments; those of a call that was handed over are only recorded."""
        if call.is_started or call.is_proven:
            call.late_text += text
            return
        if starts_object(text) and call.arguments.is_placeholder:
            call.arguments.reset()  # it was a placeholder
        call.arguments.add(text)
        if self.reports_arguments:
            self._facts.append(ArgumentsGrew(call))

    def _add_to_open(self, call: StreamedCall, text: str) -> None:
        """The same where the format closes its calls: what comes later is only recorded.

        But a call that has nothing else takes it, since it must not run without its arguments.
        """
        if call.is_closed and call.arguments.has_keys:
            call.late_text += text
        else:
            self._add(call, text)

    def _take_whole(self, call: StreamedCall, given: Any) -> None:
        """Take arguments that came with the start of a call; `{}` is a placeholder."""
        if isinstance(given, Mapping):
            if given:
                call.arguments.set_value(dict(given))
        elif isinstance(given, str) and given.strip() != "{}":
            call.arguments.reset(given)

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

    def _closed(self) -> list[StreamedCall]:
        """The calls that wait for their proof; they wait no more."""
        closed, self._awaits_proof = self._awaits_proof, []
        return closed

    def _closed_or_whole(self) -> list[StreamedCall]:
        """The same, and the calls whose end a proxy forgot, if their arguments are whole."""
        return [*self._closed(), *(call for call in self.calls if call.arguments.is_object)]

    def _prove_closed(self) -> None:
        for call in self._closed():
            self._prove(call)

    # A reply that stops has not ended: servers report usage after it, and proxies stop after each
    # call and go on.

    def _stop(self, reason: str, proven: Iterable[StreamedCall]) -> None:
        """The model stopped on its own account: these calls are proven. More may follow."""
        if self.end is None:
            for call in proven:
                self._prove(call)
            self._finish_reason = reason

    def _end(self, reason: str | None, proven: Iterable[StreamedCall] = ()) -> None:
        """Nothing follows, and the reply is whole."""
        if self.end is None:
            for call in proven:
                self._prove(call)
            self._end_with(ReplyEnded((reason or "")[:_REASON_CHARS]))

    def _cut(self, reason: str) -> None:
        """The model was stopped: calls that are not proven never will be."""
        if self.end is None:
            self._end_with(ReplyEnded(reason[:_REASON_CHARS], is_whole=False))

    def _end_with(self, end: ReplyEnded) -> None:
        self.end = end
        self._facts.append(end)

    def _break(self, reason: str) -> None:
        if type(self.end) is not ReplyBroken:
            self.end = ReplyBroken(reason[:_REASON_CHARS])
            self._facts.append(self.end)
