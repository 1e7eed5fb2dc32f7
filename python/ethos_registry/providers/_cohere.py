"""Cohere v2: `tool_calls`, answered by one `tool` message each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ethos_registry.providers._delta_merge import DeltaMerge, fields_of
from ethos_registry.providers._schema_rules import DIALECTS
from ethos_registry.providers._stream_parser import (
    ReplyParser,
    StreamedCall,
    json_text,
    read_field,
    sendable_name,
    text_of,
)
from ethos_registry.providers._wire_format import (
    ProviderDefinition,
    WireFormat,
    call_entries,
    cut_last,
    ended_well,
    function_entry,
    no_reply,
    read,
    tool_messages,
    word,
)
from ethos_registry.providers._wire_types import CohereMessage
from ethos_registry.schema._dialect import Dialect
from ethos_registry.types._call import CallResult, MalformedCall, ToolCall

_STOP_SEQUENCE = "STOP_SEQUENCE"
"""Ends a reply whose last call is whole."""


class CohereChat(WireFormat[CohereMessage]):
    """`/v2/chat`.

    >>> CohereChat().calls({"finish_reason": "TOOL_CALL", "message": {"tool_calls": [
    ...     {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}]}})
    [ToolCall(tool_call_id='c1', name='now', args='{}')]
    """

    name: ClassVar[str] = "cohere"
    default_dialect: ClassVar[Dialect] = DIALECTS["cohere"]

    def definition(self, tool: ProviderDefinition) -> dict[str, Any]:
        """`{type: "function", function: {name, description, parameters}}`."""
        return {"type": "function", "function": self.sent(tool).function()}

    def calls(self, reply: object) -> list[ToolCall | MalformedCall]:
        """The calls of a response or of a message; arguments stay JSON text."""
        message = read(reply, "message")
        if message is None:
            if read(reply, "role") != "assistant":
                expected = "a response of `/v2/chat` or an assistant message"
                raise no_reply("cohere", expected, reply)
            message = reply
        entries = enumerate(call_entries(message))
        calls = [function_entry(entry, position, "") for position, entry in entries]
        finish_reason = word(read(reply, "finish_reason"))
        is_whole = finish_reason in (_STOP_SEQUENCE, None) or ended_well(finish_reason)
        if calls and not is_whole:
            cut_last(calls, f"finish_reason {finish_reason}")
        return calls

    def messages(self, results: Iterable[CallResult]) -> list[CohereMessage]:
        """One `{role: "tool", tool_call_id, content}` a result.

        The format has neither a flag for errors nor room for images: the text states both.
        """
        return tool_messages(results)


# Cohere v2 chat.


class CohereStream(ReplyParser):
    """A call is closed and proven by its `tool-call-end`.

    The reply is over at the end of the stream: a proxy may send `message-end` after each call.
    """

    provider = "cohere"

    def __init__(self) -> None:
        super().__init__()
        self._by_index: dict[Any, StreamedCall] = {}
        self._message = DeltaMerge()

    def _is_known(self, event: Any) -> bool:
        return text_of(event, "type").startswith(("message-", "content-", "tool-", "citation-"))

    def _read(self, event: Any) -> None:
        kind = read_field(event, "type")
        index = read_field(event, "index")
        delta = read_field(event, "delta")
        message = read_field(delta, "message")
        for name, value in fields_of(message or {}).items():
            if name == "content":
                self._message.add_field(name, [{"index": index, **fields_of(_one(value) or {})}])
            elif name == "citations":
                self._message.add_field(name, value if isinstance(value, list) else [value])
            elif name not in ("role", "tool_calls"):
                self._message.add_field(name, value)
        if kind == "tool-call-delta":
            call = self._call_to_go_on(self._by_index.get(index))
            entry = _one(read_field(message, "tool_calls"))
            text = json_text(read_field(read_field(entry, "function"), "arguments"))
            if call is not None:
                self._keep_others(call, entry or {})
                name = text_of(read_field(entry, "function"), "name")
                if self._goes_on_with_name(call, name):
                    self._take_name(call, name)
                if text:
                    self._add(call, text)
        elif kind == "tool-call-start" and self.end is None:
            entry = _one(read_field(message, "tool_calls"))
            function = read_field(entry, "function")
            identifier, name = read_field(entry, "id"), read_field(function, "name")
            if self._is_repeated(self._by_index.get(index), identifier, name):
                return
            self._prove_closed()
            call = self._open(identifier, name)
            self._keep_others(call, entry or {})
            call.arguments.reset(json_text(read_field(function, "arguments") or None))
            self._by_index[index] = call
        elif kind == "tool-call-end":
            # The end of a call that was closed before shows nothing about the open one.
            call = self._by_index.get(index) or self._call_to_go_on(None)
            if call is not None and call.arguments.is_blank:
                self._awaits_proof.append(call)
            elif call is not None:
                self._prove(call)
        elif kind == "message-end":
            self._ended(text_of(delta, "finish_reason"), text_of(delta, "error"))

    def _ended(self, reason: str, error: str) -> None:
        if reason == "ERROR":
            self._break(error or "finish_reason ERROR")
            return
        if reason == _STOP_SEQUENCE or ended_well(reason):
            self._stop(reason, self._closed_or_whole())
        else:
            self._cut(reason)

    def reply(self) -> dict[str, Any]:
        """`{role, tool_plan?, tool_calls?, content?}`."""
        merged = self._message.value()
        content = [
            {name: value for name, value in item.items() if name != "index"}
            for item in merged.pop("content", ())
            if any(item.get(name) for name in item if name not in ("type", "index"))
        ]
        calls = [self._sent(call) for call in self.calls]
        reply = {"role": "assistant", **{name: value for name, value in merged.items() if value}}
        if calls:
            reply["tool_calls"] = calls
        if content:
            reply["content"] = content
        return reply

    def _sent(self, call: StreamedCall) -> dict[str, Any]:
        others = call.others.value()
        function = {"name": sendable_name(call.name), "arguments": call.arguments.text_for_reply()}
        function |= others.pop("function", {})
        return {"id": call.tool_call_id, "type": "function", "function": function, **others}


def _one(value: Any) -> Any:
    """The object, or the only one of a list."""
    return value[0] if isinstance(value, list | tuple) and value else value
