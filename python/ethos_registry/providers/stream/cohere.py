"""Cohere v2 chat."""

from __future__ import annotations

from typing import Any

from ethos_registry.providers.stream.call import StreamedCall
from ethos_registry.providers.stream.fields import field, json_text, sendable_name, text_of
from ethos_registry.providers.stream.parser import ReplyParser

__all__ = ["CohereStream"]

_WHOLE = ("TOOL_CALL", "COMPLETE", "STOP_SEQUENCE")


class CohereStream(ReplyParser):
    """A call is closed and proven by its `tool-call-end`."""

    provider = "cohere"

    def __init__(self) -> None:
        super().__init__()
        self._by_index: dict[Any, StreamedCall] = {}
        self._plan: list[str] = []
        self._content: dict[Any, dict[str, list[str]]] = {}

    def _read(self, event: Any) -> None:
        kind = field(event, "type")
        index = field(event, "index")
        delta = field(event, "delta")
        message = field(delta, "message")
        if kind in ("content-delta", "content-start"):
            self._text(index, field(message, "content"))
        elif kind == "tool-plan-delta":
            self._plan.append(text_of(message, "tool_plan"))
        elif kind == "tool-call-delta":
            call = self._by_index.get(index)
            function = field(_one(field(message, "tool_calls")), "function")
            text = json_text(field(function, "arguments"))
            if call is not None and text:
                self._add(call, text)
        elif kind == "tool-call-start" and self.end is None:
            entry = _one(field(message, "tool_calls"))
            if self._is_repeated(self._by_index.get(index), field(entry, "id")):
                return
            function = field(entry, "function")
            call = self._open(field(entry, "id"), field(function, "name"))
            call.arguments.reset(json_text(field(function, "arguments") or None))
            self._by_index[index] = call
        elif kind == "tool-call-end":
            call = self._by_index.get(index)
            if call is not None:
                self._prove(call)
        elif kind == "message-end":
            self._ended(text_of(delta, "finish_reason"), text_of(delta, "error"))

    def _ended(self, reason: str, error: str) -> None:
        if reason == "ERROR":
            self._break(error or "finish_reason ERROR")
            return
        if reason in _WHOLE:
            for call in self.calls:
                if call.arguments.is_object:
                    self._prove(call)
        self._end(reason)

    def _text(self, index: Any, content: Any) -> None:
        content = _one(content)
        for name in ("text", "thinking"):
            text = text_of(content, name)
            if text:
                self._content.setdefault(index, {}).setdefault(name, []).append(text)

    def reply(self) -> dict[str, Any]:
        """`{role, tool_plan?, tool_calls?, content?}`."""
        reply: dict[str, Any] = {"role": "assistant"}
        plan = "".join(self._plan)
        if plan:
            reply["tool_plan"] = plan
        if self.calls:
            reply["tool_calls"] = [
                {
                    "id": call.tool_call_id,
                    "type": "function",
                    "function": {
                        "name": sendable_name(call.name),
                        "arguments": call.arguments.text_for_reply(),
                    },
                }
                for call in self.calls
            ]
        content = [
            {"type": name, name: "".join(pieces)}
            for texts in self._content.values()
            for name, pieces in texts.items()
        ]
        if content:
            reply["content"] = content
        return reply

    def reply_messages(self) -> list[dict[str, Any]]:
        """The reply, unless it has neither content nor calls."""
        reply = self.reply()
        return [reply] if len(reply) > 1 else []


def _one(value: Any) -> Any:
    """The object, or the only one of a list."""
    return value[0] if isinstance(value, list | tuple) and value else value
