"""Ollama: `tool_calls` with arguments as objects, answered by one `tool` message each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import pydantic_core

from ethos_registry.providers._delta_merge import DeltaMerge, fields_of
from ethos_registry.providers._schema_rules import DIALECTS
from ethos_registry.providers._stream_parser import (
    ReplyParser,
    StreamedCall,
    listed,
    plain,
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
    stated_parts,
    word,
)
from ethos_registry.providers._wire_types import OllamaMessage
from ethos_registry.schema._dialect import Dialect
from ethos_registry.types._call import CallResult, MalformedCall, ToolCall
from ethos_registry.types._content import MAX_CONTENT_BYTES


class Ollama(WireFormat[OllamaMessage]):
    """`/api/chat`.

    >>> Ollama().calls({"message": {"role": "assistant", "tool_calls": [
    ...     {"function": {"name": "stat", "arguments": {"path": "a"}}}]}})
    [ToolCall(tool_call_id='call_0', name='stat', args={'path': 'a'})]
    """

    name: ClassVar[str] = "ollama"
    default_dialect: ClassVar[Dialect] = DIALECTS["ollama"]

    def definition(self, tool: ProviderDefinition) -> dict[str, Any]:
        """`{type: "function", function: {name, description, parameters}}`.

        Of a property Ollama's SDK and server keep `type`, `items`, `description` and `enum` alone.
        Everything else in the schema moves into the descriptions, so that the model reads it.
        """
        return {"type": "function", "function": self.sent(tool).function()}

    def calls(self, reply: object) -> list[ToolCall | MalformedCall]:
        """The calls of a response or of a message; most servers give no ids."""
        message = read(reply, "message")
        if message is None:
            if read(reply, "role") != "assistant":
                raise no_reply("ollama", "a ChatResponse or an assistant message", reply)
            message = reply
        entries = enumerate(call_entries(message))
        calls = [function_entry(entry, position, {}) for position, entry in entries]
        if calls and word(read(reply, "done_reason")) == "length":
            cut_last(calls, "done_reason length")
        return calls

    def messages(self, results: Iterable[CallResult]) -> list[OllamaMessage]:
        """One `{role: "tool", content, images?, tool_name}` a result, in the order of the calls.

        The format has neither ids nor a flag for errors, so the text states an error.
        """
        return [_message(result) for result in results]


_MEDIA_BYTES = dict.fromkeys(("image/jpeg", "image/png", "image/webp"), MAX_CONTENT_BYTES)
"""What is sent, with the most bytes."""


def _message(result: CallResult) -> OllamaMessage:
    text, blocks = stated_parts(result, _MEDIA_BYTES)
    if not blocks:
        return {"role": "tool", "content": text, "tool_name": result.name}
    images = [block.base64_text for block in blocks]
    return {"role": "tool", "content": text, "images": images, "tool_name": result.name}


# Ollama: chunks of one message.


_WHOLE = ("", "load", "unload")
"""Reasons of a reply without calls, and of old servers, beside those that all formats know."""


class OllamaStream(ReplyParser):
    """A call comes whole, with its arguments as an object: it is closed and proven at once.

    One without arguments is so by the next call or at the end.
    """

    provider = "ollama"

    def __init__(self) -> None:
        super().__init__()
        self._merged = DeltaMerge()

    def _is_known(self, event: Any) -> bool:
        return any(read_field(event, name) is not None for name in ("message", "done", "error"))

    def _read(self, event: Any) -> None:
        if isinstance(event, dict) and event.get("error"):
            self._break(str(event["error"]))
            return
        message = read_field(event, "message")
        if message is not None:
            self._message(message)
        if read_field(event, "done") is True:
            reason = text_of(event, "done_reason")
            if reason in _WHOLE or ended_well(reason):
                self._stop(reason, self._closed_or_whole())
            else:
                self._cut(reason)

    def _message(self, message: Any) -> None:
        for name, value in fields_of(message).items():
            if name not in ("role", "tool_calls"):
                self._merged.add_field(name, value)
        calls = read_field(message, "tool_calls")
        if not calls or self.end is not None:
            return
        for entry in listed(calls):
            function = read_field(entry, "function")
            call = self._call_of(read_field(entry, "id"), read_field(function, "name"))
            self._keep_others(call, entry)
            arguments = plain(read_field(function, "arguments"))
            if isinstance(arguments, str):
                self._add(call, arguments)
            elif isinstance(arguments, dict) or arguments is None:
                call.arguments.set_value(arguments or {})
            else:
                call.arguments.add(pydantic_core.to_json(arguments).decode())
            is_whole = arguments is not None and not isinstance(arguments, str)
            if is_whole or call.arguments.has_keys:
                self._prove(call)

    def _call_of(self, given_id: Any, name: Any) -> StreamedCall:
        """The call that an entry is of: one without id and name goes on with the open call."""
        open_call = self._call_to_go_on(None)
        if open_call is None or open_call.is_closed:
            return self._open(given_id, name)
        if given_id in (None, "", open_call.given_id) and self._goes_on_with_name(open_call, name):
            self._take_name(open_call, name)
            return open_call
        if not given_id and not name:
            return open_call
        if open_call.arguments.is_object:
            self._prove(open_call)
        return self._open(given_id, name)

    def _proven_at_the_end(self) -> Iterable[StreamedCall]:
        """All that had no arguments, or got them as text."""
        return self.calls

    def reply(self) -> dict[str, Any]:
        """`{role, content, thinking?, tool_calls?}`."""
        merged = self._merged.value()
        reply: dict[str, Any] = {"role": "assistant", "content": merged.pop("content", "")}
        reply |= {name: value for name, value in merged.items() if value}
        if self.calls:
            reply["tool_calls"] = [self._sent(call) for call in self.calls]
        return reply

    def _sent(self, call: StreamedCall) -> dict[str, Any]:
        others = call.others.value()
        function = {"name": sendable_name(call.name), "arguments": call.arguments.for_reply()}
        sent = {} if call.given_id is None else {"id": call.tool_call_id}
        return sent | {"function": function | others.pop("function", {})} | others

    def answers(self, messages: Sequence[Any]) -> Sequence[Any]:
        """The same under the names that the reply has: the format knows calls by nothing else."""
        return [
            message | {"tool_name": sendable_name(message["tool_name"])} for message in messages
        ]
