"""OpenAI Chat Completions, and the many servers that speak it."""

from __future__ import annotations

from typing import Any

from ethos_registry.providers.stream.call import StreamedCall
from ethos_registry.providers.stream.fields import (
    extra_field,
    field,
    json_text,
    listed,
    plain,
    sendable_name,
    text_of,
)
from ethos_registry.providers.stream.parser import ReplyParser

__all__ = ["OpenAIChatStream"]

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
        choices = field(event, "choices")
        if choices is None and field(event, "type") == "chunk":  # of the SDK's stream helper
            event = field(event, "chunk")
            choices = field(event, "choices")
        error = extra_field(event, "error")
        if error is not None and not isinstance(error, bool):
            self._break(text_of(error, "message") or "an error event")
            return
        for choice in listed(choices):
            if field(choice, "index") not in (0, None):
                continue
            self._delta(field(choice, "delta"))
            reason = field(choice, "finish_reason")
            if reason is not None and reason != "":  # some servers send "" in every chunk
                self._finished(reason)

    def _delta(self, delta: Any) -> None:
        if delta is None:
            return
        text = field(delta, "content")
        if text and isinstance(text, str):
            self._content.append(text)
        for name in _OTHER_TEXTS:
            text = extra_field(delta, name)
            if text and isinstance(text, str):
                self._texts.setdefault(name, []).append(text)
        details = extra_field(delta, "reasoning_details")
        if details:
            self._reasoning_details.extend(map(plain, listed(details)))
        entries = field(delta, "tool_calls")
        legacy = field(delta, "function_call")
        if legacy is not None:
            entries = [*listed(entries), {"index": "function_call", "function": legacy}]
        if not entries or self.end is not None:
            return
        self._touched = []
        for entry in listed(entries):
            self._call_delta(entry)
        self._close_others()

    def _call_delta(self, entry: Any) -> None:
        function = field(entry, "function")
        custom = field(entry, "custom")
        of = function if custom is None else custom
        arguments = field(of, "arguments" if custom is None else "input")
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
        index, identifier = field(entry, "index"), text_of(entry, "id")
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
