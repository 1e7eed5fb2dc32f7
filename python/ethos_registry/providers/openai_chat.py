"""OpenAI Chat Completions: `tool_calls`, answered by one `tool` message each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

from ethos_registry.contract.call import CallResult, MalformedCall, ToolCall
from ethos_registry.contract.errors import ConfigError
from ethos_registry.providers.schema_rules import OPENAI
from ethos_registry.providers.shown_tool import ShownTool
from ethos_registry.providers.wire_format import WireFormat
from ethos_registry.providers.wire_types import OpenAIChatMessage, OpenAIChatTool
from ethos_registry.providers.wire_value import DataBlock, call_id, items, read, sent_parts
from ethos_registry.schema.dialect import Dialect

__all__ = ["OpenAIChat", "error_text"]

_WHOLE = ("tool_calls", "stop", "function_call", None)
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

    def definition(self, tool: ShownTool) -> dict[str, Any]:
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
        if calls and finish_reason not in _WHOLE:
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
