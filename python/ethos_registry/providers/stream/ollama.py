"""Ollama: chunks of one message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pydantic_core

from ethos_registry.providers.stream.fields import field, listed, plain, sendable_name, text_of
from ethos_registry.providers.stream.parser import ReplyParser

__all__ = ["OllamaStream"]


class OllamaStream(ReplyParser):
    """A call comes whole, with its arguments as an object: it is closed and proven at once."""

    provider = "ollama"

    def __init__(self) -> None:
        super().__init__()
        self._content: list[str] = []
        self._thinking: list[str] = []

    def _read(self, event: Any) -> None:
        if isinstance(event, dict) and event.get("error"):
            self._break(str(event["error"]))
            return
        message = field(event, "message")
        if message is not None:
            self._message(message)
        if field(event, "done") is True:
            reason = text_of(event, "done_reason")
            self._end("" if reason in ("stop", "tool_calls") else reason)

    def _message(self, message: Any) -> None:
        content = text_of(message, "content")
        if content:
            self._content.append(content)
        thinking = text_of(message, "thinking")
        if thinking:
            self._thinking.append(thinking)
        calls = field(message, "tool_calls")
        if not calls or self.end is not None:
            return
        for entry in listed(calls):
            function = field(entry, "function")
            call = self._open(field(entry, "id"), field(function, "name"))
            arguments = plain(field(function, "arguments"))
            if isinstance(arguments, str):
                call.arguments.add(arguments)
            elif isinstance(arguments, dict):
                call.arguments.set_value(arguments)
            elif arguments is not None:
                call.arguments.add(pydantic_core.to_json(arguments).decode())
            self._prove(call)

    def reply(self) -> dict[str, Any]:
        """`{role, content, thinking?, tool_calls?}`."""
        reply: dict[str, Any] = {"role": "assistant", "content": "".join(self._content)}
        if self._thinking:
            reply["thinking"] = "".join(self._thinking)
        if self.calls:
            reply["tool_calls"] = [
                ({} if call.given_id is None else {"id": call.tool_call_id})
                | {
                    "function": {
                        "name": sendable_name(call.name),
                        "arguments": call.arguments.for_reply(),
                    }
                }
                for call in self.calls
            ]
        return reply

    def reply_messages(self) -> list[dict[str, Any]]:
        """The reply, unless it is empty."""
        reply = self.reply()
        return [reply] if len(reply) > 2 or reply["content"] else []

    def answers(self, messages: Sequence[Any]) -> Sequence[Any]:
        """The same under the names that the reply has: the format knows calls by nothing else."""
        return [
            message | {"tool_name": sendable_name(message["tool_name"])} for message in messages
        ]
