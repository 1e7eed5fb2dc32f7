"""OpenAI Chat Completions: `tool_calls`, answered by one `tool` message each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from ethos_registry.providers._delta_merge import DeltaMerge, fields_of
from ethos_registry.providers._schema_rules import OPENAI
from ethos_registry.providers._stream_parser import (
    ReplyParser,
    StreamedCall,
    extra_field,
    json_text,
    listed,
    read_field,
    sendable_name,
    starts_object,
    text_of,
)
from ethos_registry.providers._wire_format import (
    ProviderDefinition,
    WireFormat,
    call_entries,
    cut_last,
    ended_well,
    function_entry,
    items,
    no_reply,
    read,
    sent_call_id,
    tool_messages,
)
from ethos_registry.providers._wire_types import OpenAIChatMessage
from ethos_registry.schema._dialect import Dialect
from ethos_registry.types._call import CallResult, MalformedCall, ToolCall
from ethos_registry.types._errors import ConfigError


class OpenAIChat(WireFormat[OpenAIChatMessage]):
    """The Chat Completions API, and the many servers that speak it.

    >>> OpenAIChat().calls(
    ...     {"role": "assistant", "tool_calls": [
    ...         {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}]}
    ... )
    [ToolCall(tool_call_id='c1', name='now', args='{}')]
    """

    name: ClassVar[str] = "openai_chat"
    default_dialect: ClassVar[Dialect] = OPENAI

    def definition(self, tool: ProviderDefinition) -> dict[str, Any]:
        """`{type: "function", function: {name, description, parameters, strict?}}`.

        The format has no cache marker: the provider caches the longest prefix by itself.
        """
        sent = self.sent(tool)
        function = sent.function()
        if sent.is_strict:
            function["strict"] = True
        return {"type": "function", "function": function}

    def calls(self, reply: object) -> list[ToolCall | MalformedCall]:
        """The calls of a completion, of one choice or of a message; arguments stay JSON text.

        Of several choices the first counts. The last call of a reply that ended for any other
        reason than its own (`length`, `content_filter`) is cut off. The legacy `function_call`
        is read too; it has no id, so that its answer is for the caller to put in that form.
        """
        message, finish_reason = _message(reply)
        entries = list(call_entries(message))
        if not entries and (legacy := read(message, "function_call")) is not None:
            entries = [{"function": legacy}]
        if not entries:
            _refuse_blocks(message)
        calls = [_call(entry, position) for position, entry in enumerate(entries)]
        if calls and finish_reason is not None and not ended_well(finish_reason):
            cut_last(calls, f"finish_reason {finish_reason}")
        return calls

    def messages(self, results: Iterable[CallResult]) -> list[OpenAIChatMessage]:
        """One `{role: "tool", tool_call_id, content}` a result.

        The format has no flag for errors, so the text of one starts with `Error: `, unless it
        does already. A `tool` message holds text alone: images and files are
        named in it. They are not sent as a user's message, which would make the output of a tool
        speak for the user.
        """
        return tool_messages(results)


_MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")


class MistralChat(OpenAIChat):
    """The same for Mistral, which takes ids of 9 letters or digits alone (langchain#24668)."""

    def messages(self, results: Iterable[CallResult]) -> list[OpenAIChatMessage]:
        """The same, under ids that Mistral takes."""
        return [_with_mistral_id(message) for message in super().messages(results)]


def _with_mistral_id(message: OpenAIChatMessage) -> OpenAIChatMessage:
    identifier = sent_call_id(message["tool_call_id"], _MISTRAL_ID, "", 9)
    return {**message, "tool_call_id": identifier}


def _message(reply: object) -> tuple[object, object]:
    """The message of a reply, and why it ended."""
    choices = items(read(reply, "choices"))
    choice = reply if choices is None else (choices[0] if choices else None)
    message = read(choice, "message")
    if message is not None:
        return message, read(choice, "finish_reason")
    if choices is None and read(reply, "role") == "assistant":
        return reply, None
    expected = "a whole ChatCompletion, a choice or an assistant message"
    raise no_reply("openai_chat", expected, reply)


def _refuse_blocks(message: object) -> None:
    """`ConfigError` for calls in Anthropic's form: none would be read, and none would run."""
    blocks = items(read(message, "content")) or ()
    if any(read(block, "type") == "tool_use" for block in blocks):
        raise ConfigError(
            "the reply has `tool_use` blocks, which `openai_chat` does not know; "
            'read it by `provider("anthropic")`'
        )


def _call(entry: object, position: int) -> ToolCall | MalformedCall:
    call = function_entry(entry, position, "")
    if isinstance(call, MalformedCall) and (custom := read(entry, "custom")) is not None:
        reason = "a call of a custom tool has no JSON arguments; call a function"
        return MalformedCall(call.tool_call_id, str(read(custom, "name") or ""), reason)
    return call


# OpenAI Chat Completions, and the many servers that speak it.

_OF_CALLS = ("role", "tool_calls", "function_call")
"""Fields of a delta that the message does not take as they are."""

_NO_IDS = ("null",)
"""What the `mistralai` SDK has for an id that was not sent."""


class OpenAIChatStream(ReplyParser):
    """A call is closed by the first delta of another call, and proven by one that comes later.

    The format has no closing event. A call whose arguments parse is proven by a delta for another
    call, and every call by a finish reason of a whole reply or by `[DONE]`. Servers differ: an
    index may be missing, reused or the same for all calls, an id may be missing, late, repeated,
    changing or empty, a name may come in pieces. A delta without id and name goes on with the open
    call, and a finish reason beside the deltas of a call proves what is whole by then. A call
    without any arguments is proven at the end of the stream.
    """

    provider = "openai_chat"

    def __init__(self) -> None:
        super().__init__()
        self._by_index: dict[Any, StreamedCall] = {}
        self._by_id: dict[str, StreamedCall] = {}
        self._message = DeltaMerge()
        self._custom: set[int] = set()
        """Positions of calls of custom tools, whose input is not JSON."""
        self._opened_with_braces: set[int] = set()
        """Positions of calls that opened with `{}`, which may be a placeholder."""
        self._resending: set[int] = set()
        """Positions of calls whose deltas repeat all arguments so far."""
        self._has_placeholders = False
        self._ids_change = False
        self._finishes_early = False
        """Whether a finish reason came beside the deltas of a call, so that it ends no reply."""
        self._touched: dict[int, StreamedCall] = {}
        """The calls of this event."""
        self._waiting: dict[int, StreamedCall] = {}
        """The calls of the events before that the next call proves if they are whole."""
        self._unfinished: dict[int, StreamedCall] = {}
        """The calls that had a delta since the last finish reason."""
        self._last: StreamedCall | None = None

    def _is_known(self, event: Any) -> bool:
        return event == "[DONE]" or read_field(_chunk(event), "choices") is not None

    def _read(self, event: Any) -> None:
        if event == "[DONE]":
            self._end(self._finish_reason, self.calls)
            return
        event = _chunk(event)
        error = extra_field(event, "error")
        if error is not None and not isinstance(error, bool):
            self._break(text_of(error, "message") or "an error event")
            return
        for choice in listed(read_field(event, "choices")):
            if read_field(choice, "index") not in (0, "0", None):
                continue
            self._touched = {}
            delta = read_field(choice, "delta")
            self._delta(read_field(choice, "message") if delta is None else delta)
            reason = read_field(choice, "finish_reason")
            if reason is not None and reason != "":  # some servers send "" in every chunk
                self._finished(reason)

    def _delta(self, delta: Any) -> None:
        if delta is None:
            return
        for name, value in fields_of(delta).items():
            if value is not None and name not in _OF_CALLS:
                self._message.add_field(name, value)
        entries = read_field(delta, "tool_calls")
        legacy = read_field(delta, "function_call")
        if legacy is not None:
            entries = [*listed(entries), {"index": "function_call", "function": legacy}]
        if not entries or self.end is not None:
            return
        is_named = False
        for entry in listed(entries):
            is_named |= self._call_delta(entry)
        self._settle(is_named=is_named)

    def _call_delta(self, entry: Any) -> bool:
        """Read a delta of a call; whether it states which call it is of."""
        function = read_field(entry, "function")
        custom = read_field(entry, "custom")
        of = function if custom is None else custom
        arguments = read_field(of, "arguments" if custom is None else "input")
        text = arguments if type(arguments) is str else json_text(arguments)
        identifier, name = text_of(entry, "id"), text_of(of, "name")
        if identifier in _NO_IDS:
            identifier = ""
        call, is_new = self._call_of(read_field(entry, "index"), identifier, name, text)
        self._last = self._touched[call.position] = self._unfinished[call.position] = call
        self._keep_others(call, entry)
        if custom is not None and is_new:
            self._custom.add(call.position)
            call.problem = "a call of a custom tool has no JSON arguments; call a function"
        if not is_new:
            self._take_id(call, identifier)
            self._take_name(call, name)
        if is_new:
            if text.strip() == "{}":
                self._opened_with_braces.add(call.position)
        elif (
            call.position in self._opened_with_braces
            and not call.is_started
            and starts_object(text)
            and call.arguments.is_placeholder
        ):
            self._has_placeholders = True
        elif call.arguments.is_object and text == json.dumps(call.arguments.text):
            return True  # the whole arguments once more, as JSON text of JSON text
        elif starts_object(text):
            whole = call.arguments.text
            if text == whole and call.arguments.is_object:
                return True  # the whole call once more: it must not run twice
            is_fixed = call.is_started or call.is_proven
            if not is_fixed and text.startswith(whole) and self._resends(call, whole):
                call.arguments.reset()
        if text and (text.strip() or not (call.is_started or call.is_proven)):
            self._add(call, text)
        return bool(identifier or name)

    def _resends(self, call: StreamedCall, whole: str) -> bool:
        """Whether a delta that starts with all arguments so far replaces them."""
        if whole and not whole.rstrip().endswith((":", ",", "[")):  # no object can start there
            self._resending.add(call.position)
        return call.position in self._resending

    def _call_of(
        self, index: Any, identifier: str, name: str, text: str
    ) -> tuple[StreamedCall, bool]:
        """The call that a delta belongs to, and whether it is new."""
        known = None if index is None else self._by_index.get(index)
        by_id = self._by_id.get(identifier) if identifier else None
        last, call = self._last, known or by_id
        if known is not None:
            if by_id is not None and not name and known.given_id != identifier:
                call = by_id
        elif by_id is not None:
            is_repeated = text == by_id.arguments.text
            is_whole = not is_repeated and by_id.arguments.is_object
            if index is not None and name and (not text.strip() or is_whole):
                call = None  # a server that gives one id to all calls
        elif not name:
            if index is None or not identifier or self._goes_on(text):
                call = last
        elif last is not None and name == last.name and self._goes_on(text):
            call = None if starts_object(text) else last
        elif last is not None and index is None and not identifier:
            is_open = last.position not in self._touched and not last.arguments.is_object
            call = last if is_open else None
        is_new = call is None or self._begins_another(call, identifier, name, text)
        if call is None or is_new:
            call, is_new = self._open(identifier, name), True
        if identifier and (is_new or by_id is None):
            self._by_id[identifier] = call
        if index is not None:
            self._by_index[index] = call
        return call, is_new

    def _goes_on(self, text: str) -> bool:
        """Whether arguments can only be those of the call that is open."""
        last = self._last
        return last is not None and bool(text.strip()) and not last.arguments.is_object

    def _begins_another(self, call: StreamedCall, identifier: str, name: str, text: str) -> bool:
        """Whether a delta at the place of `call` is the start of another call."""
        if not name or not call.name:
            return False
        is_other_id = bool(identifier and call.given_id and identifier != call.given_id)
        if name != call.name:
            return is_other_id or not self._goes_on_with_name(call, name)
        arguments = call.arguments
        if arguments.is_object:
            if is_other_id:
                return starts_object(text) or not self._ids_change
            # Servers that repeat id and name in every delta do not start a second object.
            is_repeated = bool(identifier) and text == arguments.text
            return starts_object(text) and not arguments.is_placeholder and not is_repeated
        if not is_other_id or (starts_object(text) and not arguments.is_blank):
            return is_other_id
        self._ids_change = True
        return False

    def _settle(self, *, is_named: bool) -> None:
        """Prove the calls before this event that are whole, and close those that others follow."""
        touched, waiting = self._touched, self._waiting
        if len(waiting) > 1 or not touched.keys() >= waiting.keys():
            for position, call in waiting.items():
                if position in touched or not call.arguments.is_object:
                    continue
                if not self._may_be_placeholder(call) or (is_named and not self._has_placeholders):
                    self._prove(call)
        if len(touched) > 1:
            last = self._last
            for call in touched.values():
                may_close = call is not last and call.arguments.is_object
                if may_close and not self._may_be_placeholder(call):
                    self._close(call)
        self._waiting = touched

    def _may_be_placeholder(self, call: StreamedCall) -> bool:
        return call.position in self._opened_with_braces and call.arguments.is_placeholder

    def _finished(self, reason: Any) -> None:
        if self.end is not None:
            return
        if reason == "error":
            self._break("finish_reason error")
            return
        if not ended_well(reason):
            self._cut(f"finish_reason {reason}")
            return
        self._finishes_early |= bool(self._touched)
        unfinished, self._unfinished = self._unfinished, {}
        self._stop(
            reason,
            (
                call
                for call in unfinished.values()
                if self._has_whole_arguments(call)
                or not (self._finishes_early or call.arguments.is_blank)
            ),
        )

    def _has_whole_arguments(self, call: StreamedCall) -> bool:
        return call.arguments.is_object and not self._may_be_placeholder(call)

    def _proven_at_the_end(self) -> Iterable[StreamedCall]:
        """All, but for those that went on after the last finish reason and are not whole."""
        return (
            call
            for call in self.calls
            if call.position not in self._unfinished or self._has_whole_arguments(call)
        )

    # The message

    def reply(self) -> dict[str, Any]:
        """`{role, content, tool_calls?}`, and what else the deltas had, merged.

        Arguments that are not an object are made valid JSON.
        """
        merged = self._message.value()
        reply: dict[str, Any] = {
            "role": "assistant",
            "content": merged.pop("content", None) or None,
        }
        reply |= {name: value for name, value in merged.items() if value not in ("", [], {})}
        if self.calls:
            reply["tool_calls"] = [self._sent(call) for call in self.calls]
        return reply

    def reply_messages(self) -> list[dict[str, Any]]:
        """The reply, unless it has neither text nor calls."""
        reply = self.reply()
        return [reply] if reply["content"] or self.calls or reply.get("refusal") else []

    def _sent(self, call: StreamedCall) -> dict[str, Any]:
        others = call.others.value()
        kind = "custom" if call.position in self._custom else "function"
        inner: dict[str, Any] = {"name": sendable_name(call.name)}
        if kind == "custom":
            inner["input"] = call.arguments.text
        else:
            inner["arguments"] = call.arguments.text_for_reply()
        inner |= others.pop("function", {})
        return {"id": self._sent_id(call.tool_call_id), "type": kind, kind: inner, **others}

    def _sent_id(self, identifier: str) -> str:
        return identifier


class MistralStream(OpenAIChatStream):
    """The same for Mistral, which takes ids of 9 letters or digits alone."""

    def _sent_id(self, identifier: str) -> str:
        return sent_call_id(identifier, _MISTRAL_ID, "", 9)

    def answers(self, messages: Sequence[Any]) -> Sequence[Any]:
        """The same under the ids that the reply has."""
        return [_with_mistral_id(message) for message in messages]


def _chunk(event: Any) -> Any:
    """The chunk in an event of a stream helper of the `openai` SDK or of the `mistralai` SDK."""
    if read_field(event, "choices") is not None:
        return event
    for name in ("chunk", "data"):
        wrapped = read_field(event, name)
        if read_field(wrapped, "choices") is not None:
            return wrapped
    return event
