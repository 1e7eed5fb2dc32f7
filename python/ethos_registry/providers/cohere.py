"""Cohere v2: `tool_calls`, answered by one `tool` message each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ethos_registry.contract.call import CallResult, MalformedCall, ToolCall
from ethos_registry.contract.errors import ConfigError
from ethos_registry.providers.openai_chat import error_text
from ethos_registry.providers.schema_rules import DIALECTS
from ethos_registry.providers.shown_tool import ShownTool
from ethos_registry.providers.wire_format import WireFormat
from ethos_registry.providers.wire_types import CohereMessage, CohereTool
from ethos_registry.providers.wire_value import DataBlock, call_id, items, read, sent_parts, word
from ethos_registry.schema.dialect import Dialect

__all__ = ["CohereChat"]

_WHOLE = ("TOOL_CALL", "COMPLETE", "STOP_SEQUENCE", None)


class CohereChat(WireFormat[CohereTool, CohereMessage]):
    """`/v2/chat`.

    >>> CohereChat().calls({"finish_reason": "TOOL_CALL", "message": {"tool_calls": [
    ...     {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}]}})
    [ToolCall(tool_call_id='c1', name='now', args='{}')]
    """

    name: ClassVar[str] = "cohere"
    default_dialect: ClassVar[Dialect] = DIALECTS["cohere"]

    def definition(self, tool: ShownTool) -> dict[str, Any]:
        """`{type: "function", function: {name, description, parameters}}`."""
        sent = self.sent(tool)
        return {
            "type": "function",
            "function": {
                "name": sent.name,
                "description": sent.description,
                "parameters": sent.parameters,
            },
        }

    def calls(self, reply: object) -> list[ToolCall | MalformedCall]:
        """The calls of a response or of a message; arguments stay JSON text."""
        message = read(reply, "message")
        if message is None:
            if read(reply, "role") != "assistant":
                raise ConfigError(
                    "a reply of `cohere` is a response of `/v2/chat` or an assistant message, "
                    f"got {type(reply).__name__}",
                    context={"field": "reply", "value": reply},
                )
            message = reply
        calls: list[ToolCall | MalformedCall] = []
        for position, entry in enumerate(items(read(message, "tool_calls")) or ()):
            identifier = call_id(read(entry, "id"), position)
            function = read(entry, "function")
            name = read(function, "name")
            if not isinstance(name, str) or not name:
                calls.append(MalformedCall(identifier, "", "the call names no tool"))
                continue
            arguments = read(function, "arguments")
            calls.append(ToolCall(identifier, name, "" if arguments is None else arguments))
        finish_reason = word(read(reply, "finish_reason"))
        if calls and finish_reason not in _WHOLE:
            last = calls[-1]
            reason = (
                "the reply ended before the arguments were complete "
                f"(finish_reason {finish_reason}); call the tool again"
            )
            calls[-1] = MalformedCall(last.tool_call_id, last.name, reason)
        return calls

    def messages(self, results: Iterable[CallResult]) -> list[CohereMessage]:
        """One `{role: "tool", tool_call_id, content}` a result.

        The format has neither a flag for errors nor room for images: the text states both.
        """
        messages: list[CohereMessage] = []
        for result in results:
            text, _ = sent_parts(result, _shows_nothing)
            content = text if result.ok else error_text(text)
            messages.append(
                {"role": "tool", "tool_call_id": result.tool_call_id, "content": content}
            )
        return messages


def _shows_nothing(block: DataBlock) -> bool:
    return False
