"""OpenAI Chat Completions: `tool_calls`, answered by one `tool` message each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

from ethos_registry.providers._schema_rules import OPENAI
from ethos_registry.providers._stream_parser import (
    ReplyParser,
    StreamedCall,
    extra_field,
    json_text,
    listed,
    plain,
    read_field,
    sendable_name,
    text_of,
)
from ethos_registry.providers._wire_format import (
    DataBlock,
    ProviderDefinition,
    WireFormat,
    call_id,
    items,
    read,
    sent_parts,
)
from ethos_registry.providers._wire_types import OpenAIChatMessage, OpenAIChatTool
from ethos_registry.schema._dialect import Dialect
from ethos_registry.types._call import CallResult, MalformedCall, ToolCall
from ethos_registry.types._errors import ConfigError

__all__ = ["OpenAIChat", "OpenAIChatStream", "error_text"]


_COMPLETE = ("tool_calls", "stop", "function_call", None)
"""Finish reasons of a reply whose last call is whole; some servers give none, or `stop`."""

_SAYS_ERROR = re.compile(r"\s*error\b", re.IGNORECASE)


class OpenAIChat(WireFormat[OpenAIChatTool, OpenAIChatMessage]):
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
        function: dict[str, Any] = {
            "name": sent.name,
            "description": sent.description,
            "parameters": sent.parameters,
        }
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
        entries = list(items(read(message, "tool_calls")) or ())
        if not entries and (legacy := read(message, "function_call")) is not None:
            entries = [{"function": legacy}]
        if not entries:
            _refuse_blocks(message)
        calls = [_call(entry, position) for position, entry in enumerate(entries)]
        if calls and finish_reason not in _COMPLETE:
            last = calls[-1]
            calls[-1] = MalformedCall(
                last.tool_call_id,
                last.name,
                "the reply ended before the arguments were complete "
                f"(finish_reason {finish_reason}); call the tool again",
            )
        return calls

    def messages(self, results: Iterable[CallResult]) -> list[OpenAIChatMessage]:
        """One `{role: "tool", tool_call_id, content}` a result.

        The format has no flag for errors, so the text of one starts with `Error: `, unless it
        does already. A `tool` message holds text alone: images and files are
        named in it. They are not sent as a user's message, which would make the output of a tool
        speak for the user.
        """
        return [
            {"role": "tool", "tool_call_id": result.tool_call_id, "content": _content(result)}
            for result in results
        ]


def _message(reply: object) -> tuple[object, object]:
    """The message of a reply, and why it ended."""
    choices = items(read(reply, "choices"))
    choice = reply if choices is None else (choices[0] if choices else None)
    message = read(choice, "message")
    if message is not None:
        return message, read(choice, "finish_reason")
    if choices is None and read(reply, "role") == "assistant":
        return reply, None
    raise ConfigError(
        "a reply of `openai_chat` is a whole ChatCompletion, a choice or an assistant message, "
        f"got {type(reply).__name__}",
        context={"field": "reply", "value": reply},
    )


def _refuse_blocks(message: object) -> None:
    """`ConfigError` for calls in Anthropic's form: none would be read, and none would run."""
    blocks = items(read(message, "content")) or ()
    if any(read(block, "type") == "tool_use" for block in blocks):
        raise ConfigError(
            "the reply has `tool_use` blocks, which `openai_chat` does not know; "
            'read it by `provider("anthropic")`'
        )


def _call(entry: object, position: int) -> ToolCall | MalformedCall:
    identifier = call_id(read(entry, "id"), position)
    function = read(entry, "function")
    name = read(function, "name")
    if isinstance(name, str) and name:
        arguments = read(function, "arguments")
        return ToolCall(identifier, name, "" if arguments is None else arguments)
    if (custom := read(entry, "custom")) is not None:
        reason = "a call of a custom tool has no JSON arguments; call a function"
        return MalformedCall(identifier, str(read(custom, "name") or ""), reason)
    return MalformedCall(identifier, "", "the call names no tool")


def error_text(text: str) -> str:
    """The text of an error, for formats without a flag for errors."""
    return text if _SAYS_ERROR.match(text) else f"Error: {text}"


def _content(result: CallResult) -> str:
    text, _ = sent_parts(result, _shows_nothing)
    return text if result.ok else error_text(text)


def _shows_nothing(block: DataBlock) -> bool:
    return False


# OpenAI Chat Completions, and the many servers that speak it.

_WHOLE = ("tool_calls", "stop", "function_call")
"""Finish reasons that prove that the last call is whole."""

_OTHER_TEXTS = ("refusal", "reasoning_content", "reasoning")


class OpenAIChatStream(ReplyParser):
    """A call is closed by the first delta of another call, and proven by one that comes later.

    The format has no closing event. A call whose arguments parse is proven by a delta for another
    call, and every call by a finish reason of a whole reply or by `[DONE]`. Servers differ: an
    index may be missing, reused or the same for all calls, an id may be missing, repeated or empty.
    """

    provider = "openai_chat"

    def __init__(self) -> None:
        super().__init__()
        self._by_index: dict[Any, StreamedCall] = {}
        self._by_id: dict[str, StreamedCall] = {}
        self._content: list[str] = []
        self._texts: dict[str, list[str]] = {}
        self._reasoning_details: list[Any] = []
        self._custom: set[int] = set()
        """Positions of calls of custom tools, whose input is not JSON."""
        self._opened_with_braces: set[int] = set()
        """Positions of calls that opened with `{}`, which may be a placeholder."""
        self._has_placeholders = False
        self._touched: list[StreamedCall] = []
        self._unproven: list[StreamedCall] = []

    def _read(self, event: Any) -> None:
        if event == "[DONE]":
            self._finished(None)
            return
        choices = read_field(event, "choices")
        if choices is None and read_field(event, "type") == "chunk":  # of the SDK's stream helper
            event = read_field(event, "chunk")
            choices = read_field(event, "choices")
        error = extra_field(event, "error")
        if error is not None and not isinstance(error, bool):
            self._break(text_of(error, "message") or "an error event")
            return
        for choice in listed(choices):
            if read_field(choice, "index") not in (0, None):
                continue
            self._delta(read_field(choice, "delta"))
            reason = read_field(choice, "finish_reason")
            if reason is not None and reason != "":  # some servers send "" in every chunk
                self._finished(reason)

    def _delta(self, delta: Any) -> None:
        if delta is None:
            return
        text = read_field(delta, "content")
        if text and isinstance(text, str):
            self._content.append(text)
        for name in _OTHER_TEXTS:
            text = extra_field(delta, name)
            if text and isinstance(text, str):
                self._texts.setdefault(name, []).append(text)
        details = extra_field(delta, "reasoning_details")
        if details:
            self._reasoning_details.extend(map(plain, listed(details)))
        entries = read_field(delta, "tool_calls")
        legacy = read_field(delta, "function_call")
        if legacy is not None:
            entries = [*listed(entries), {"index": "function_call", "function": legacy}]
        if not entries or self.end is not None:
            return
        self._touched = []
        for entry in listed(entries):
            self._call_delta(entry)
        self._close_others()

    def _call_delta(self, entry: Any) -> None:
        function = read_field(entry, "function")
        custom = read_field(entry, "custom")
        of = function if custom is None else custom
        arguments = read_field(of, "arguments" if custom is None else "input")
        text = arguments if type(arguments) is str else json_text(arguments)
        call, is_new = self._call_of(entry, text_of(of, "name"), text)
        if custom is not None and is_new:
            self._custom.add(call.position)
            call.problem = "a call of a custom tool has no JSON arguments; call a function"
        if not call.name:
            call.name = text_of(of, "name")
        if is_new:
            if text.strip() == "{}":
                self._opened_with_braces.add(call.position)
        elif (
            call.position in self._opened_with_braces
            and not call.is_started
            and text.lstrip().startswith("{")
            and call.arguments.is_empty_object
        ):
            self._has_placeholders = True
            call.arguments.reset()
        elif _is_repeated(call, entry, text):
            return
        if text and (text.strip() or not (call.is_started or call.is_proven)):
            self._add(call, text)
        if call not in self._touched:
            self._touched.append(call)

    def _call_of(self, entry: Any, name: str, text: str) -> tuple[StreamedCall, bool]:
        """The call that a delta belongs to, and whether it is new."""
        index, identifier = read_field(entry, "index"), text_of(entry, "id")
        if index is not None:
            call = self._by_index.get(index)
            is_new = call is None or self._begins_another(call, identifier, name, text)
        else:
            call = self._by_id.get(identifier) if identifier else None
            if call is None and not (identifier and name) and self.calls:
                call = self.calls[-1]
                is_new = bool(name) and self._is_whole(call)
            else:
                is_new = call is None or self._begins_another(call, identifier, name, text)
        if call is None or is_new:
            call = self._open(identifier, name)
            self._unproven.append(call)
            is_new = True
            if identifier:
                self._by_id[identifier] = call
        if index is not None:
            self._by_index[index] = call
        return call, is_new

    def _begins_another(self, call: StreamedCall, identifier: str, name: str, text: str) -> bool:
        """Whether a delta at the place of `call` is the start of another call."""
        if not name or not call.name:
            return False
        if (identifier and identifier != call.given_id) or name != call.name:
            return True
        # Servers that repeat id and name in every delta do not start a second object.
        return (
            text.lstrip().startswith("{")
            and not call.arguments.is_empty_object
            and call.arguments.is_object
            and not (identifier and text == call.arguments.text)
        )

    def _is_whole(self, call: StreamedCall) -> bool:
        return bool(call.name) and (call.arguments.is_object or call in self._touched)

    def _close_others(self) -> None:
        """Close the calls that are whole and are not the last of this event.

        Those that the event did not touch are proven.
        """
        last = self._touched[-1] if self._touched else None
        if len(self._unproven) == 1 and self._unproven[0] is last:
            return
        for call in self._unproven:
            if call is last or not call.arguments.is_object:
                continue
            may_be_placeholder = (
                call.position in self._opened_with_braces and call.arguments.is_empty_object
            )
            if call in self._touched:
                if not may_be_placeholder:
                    self._close(call)
            elif not (may_be_placeholder and self._has_placeholders):
                self._prove(call)
        self._unproven = [call for call in self._unproven if not call.is_proven]

    def _finished(self, reason: Any) -> None:
        if self.end is not None:
            return
        if reason is None or reason in _WHOLE:
            for call in self.calls:
                self._prove(call)
            self._end(reason)
        elif reason == "error":
            self._break("finish_reason error")
        else:
            self._end(f"finish_reason {reason}")

    # The message

    def reply(self) -> dict[str, Any]:
        """`{role, content, tool_calls?}`; arguments that are not an object are made valid JSON."""
        reply: dict[str, Any] = {"role": "assistant", "content": "".join(self._content) or None}
        reply |= {name: "".join(pieces) for name, pieces in self._texts.items()}
        if self._reasoning_details:
            reply["reasoning_details"] = list(self._reasoning_details)
        if self.calls:
            reply["tool_calls"] = [self._sent(call) for call in self.calls]
        return reply

    def reply_messages(self) -> list[dict[str, Any]]:
        """The reply, unless it has neither text nor calls."""
        reply = self.reply()
        return [reply] if reply["content"] or self.calls or reply.get("refusal") else []

    def _sent(self, call: StreamedCall) -> dict[str, Any]:
        name = sendable_name(call.name)
        if call.position in self._custom:
            inner = {"name": name, "input": call.arguments.text}
            return {"id": call.tool_call_id, "type": "custom", "custom": inner}
        function = {"name": name, "arguments": call.arguments.text_for_reply()}
        return {"id": call.tool_call_id, "type": "function", "function": function}


def _is_repeated(call: StreamedCall, entry: Any, text: str) -> bool:
    """Whether a delta is the whole call once more, under its id: it must not run twice."""
    identifier = text_of(entry, "id")
    return (
        bool(identifier)
        and identifier == call.given_id
        and text.lstrip().startswith("{")
        and text == call.arguments.text
        and call.arguments.is_object
    )
