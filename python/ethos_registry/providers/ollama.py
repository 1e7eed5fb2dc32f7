"""Ollama: `tool_calls` with arguments as objects, answered by one `tool` message each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ethos_registry.contract.call import CallResult, MalformedCall, ToolCall
from ethos_registry.contract.errors import ConfigError
from ethos_registry.providers.openai_chat import error_text
from ethos_registry.providers.schema_rules import DIALECTS
from ethos_registry.providers.shown_tool import ShownTool
from ethos_registry.providers.wire_format import WireFormat
from ethos_registry.providers.wire_types import OllamaMessage, OllamaTool
from ethos_registry.providers.wire_value import DataBlock, call_id, items, read, sent_parts, word
from ethos_registry.schema.dialect import Dialect

__all__ = ["Ollama"]


class Ollama(WireFormat[OllamaTool, OllamaMessage]):
    """`/api/chat`.

    >>> Ollama().calls({"message": {"role": "assistant", "tool_calls": [
    ...     {"function": {"name": "stat", "arguments": {"path": "a"}}}]}})
    [ToolCall(tool_call_id='call_0', name='stat', args={'path': 'a'})]
    """

    name: ClassVar[str] = "ollama"
    default_dialect: ClassVar[Dialect] = DIALECTS["ollama"]

    def definition(self, tool: ShownTool) -> dict[str, Any]:
        """`{type: "function", function: {name, description, parameters}}`.

        Of a property Ollama's SDK and server keep `type`, `items`, `description` and `enum` alone.
        Everything else in the schema moves into the descriptions, so that the model reads it.
        """
        sent = self.sent(tool)
        function = {
            "name": sent.name,
            "description": sent.description,
            "parameters": sent.parameters,
        }
        return {"type": "function", "function": function}

    def calls(self, reply: object) -> list[ToolCall | MalformedCall]:
        """The calls of a response or of a message; most servers give no ids."""
        message = read(reply, "message")
        if message is None:
            if read(reply, "role") != "assistant":
                raise ConfigError(
                    "a reply of `ollama` is a ChatResponse or an assistant message, "
                    f"got {type(reply).__name__}",
                    context={"field": "reply", "value": reply},
                )
            message = reply
        entries = items(read(message, "tool_calls")) or ()
        calls = [_call(entry, position) for position, entry in enumerate(entries)]
        if calls and word(read(reply, "done_reason")) == "length":
            last = calls[-1]
            reason = (
                "the reply ended before the arguments were complete (done_reason length); "
                "call the tool again"
            )
            calls[-1] = MalformedCall(last.tool_call_id, last.name, reason)
        return calls

    def messages(self, results: Iterable[CallResult]) -> list[OllamaMessage]:
        """One `{role: "tool", content, images?, tool_name}` a result, in the order of the calls.

        The format has neither ids nor a flag for errors, so the text states an error.
        """
        return [_message(result) for result in results]


def _call(entry: object, position: int) -> ToolCall | MalformedCall:
    identifier = call_id(read(entry, "id"), position)
    function = read(entry, "function")
    name = read(function, "name")
    if not isinstance(name, str) or not name:
        return MalformedCall(identifier, "", "the call names no tool")
    arguments = read(function, "arguments")
    return ToolCall(identifier, name, {} if arguments is None else arguments)


_IMAGES = frozenset({"image/png", "image/jpeg", "image/webp"})


def _shows(block: DataBlock) -> bool:
    return block.kind == "image" and block.media_type in _IMAGES


def _message(result: CallResult) -> OllamaMessage:
    text, blocks = sent_parts(result, _shows)
    text = text if result.ok else error_text(text)
    if not blocks:
        return {"role": "tool", "content": text, "tool_name": result.name}
    images = [block.base64_text for block in blocks]
    return {"role": "tool", "content": text, "images": images, "tool_name": result.name}
