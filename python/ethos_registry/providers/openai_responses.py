"""OpenAI Responses: `function_call` items, answered by one `function_call_output` item each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, cast

from ethos_registry.contract.call import CallResult, MalformedCall, ToolCall
from ethos_registry.contract.errors import ConfigError
from ethos_registry.providers.openai_chat import error_text
from ethos_registry.providers.schema_rules import OPENAI
from ethos_registry.providers.shown_tool import ShownTool
from ethos_registry.providers.wire_format import WireFormat
from ethos_registry.providers.wire_types import OpenAIResponsesItem, OpenAIResponsesTool
from ethos_registry.providers.wire_value import (
    DataBlock,
    call_id,
    echoed,
    items,
    read,
    sent_parts,
    word,
)
from ethos_registry.schema.dialect import Dialect

__all__ = ["OpenAIResponses"]

_CUT = "incomplete"


class OpenAIResponses(WireFormat[OpenAIResponsesTool, OpenAIResponsesItem]):
    """The Responses API.

    >>> OpenAIResponses().calls({"status": "completed", "output": [
    ...     {"type": "function_call", "call_id": "c1", "name": "now", "arguments": "{}"}]})
    [ToolCall(tool_call_id='c1', name='now', args='{}')]
    """

    name: ClassVar[str] = "openai_responses"
    default_dialect: ClassVar[Dialect] = OPENAI

    def definition(self, tool: ShownTool) -> dict[str, Any]:
        """`{type: "function", name, description, parameters, strict}`.

        `strict` is always there, because the API takes its absence for `true`.
        """
        sent = self.sent(tool)
        return {
            "type": "function",
            "name": sent.name,
            "description": sent.description,
            "parameters": sent.parameters,
            "strict": sent.is_strict,
        }

    def calls(self, reply: object) -> list[ToolCall | MalformedCall]:
        """The `function_call` items of a response, or of its `output`; arguments stay JSON text.

        An item whose status is `incomplete` is cut off, and so is the last one of a response that
        is; it must not run.
        """
        output = items(reply)
        if output is None:
            output = items(read(reply, "output"))
        if output is None:
            raise ConfigError(
                "a reply of `openai_responses` is a Response, or a dict or list with its output "
                f"items, got {type(reply).__name__}",
                context={"field": "reply", "value": reply},
            )
        is_cut = items(reply) is None and word(read(reply, "status")) in (_CUT, "failed")
        entries = [item for item in output if word(read(item, "type")) == "function_call"]
        return [
            _call(
                item,
                position,
                is_cut=word(read(item, "status")) == _CUT or (is_cut and item is output[-1]),
            )
            for position, item in enumerate(entries)
        ]

    def messages(self, results: Iterable[CallResult]) -> list[OpenAIResponsesItem]:
        """One `{type: "function_call_output", call_id, output}` a result, for `input`.

        `output` is text, or a list with the images and files beside it. The format has no flag for
        errors, so the text of one states it. `caller` and `namespace` of a call that came out of
        `calls` are repeated, as the API demands.
        """
        return [_message(result) for result in results]


def _message(result: CallResult) -> OpenAIResponsesItem:
    message: dict[str, Any] = {
        "type": "function_call_output",
        "call_id": str(result.tool_call_id),
        "output": _output(result),
    }
    return cast("OpenAIResponsesItem", message | echoed(result.tool_call_id))


def _call(item: object, position: int, *, is_cut: bool) -> ToolCall | MalformedCall:
    identifier = call_id(
        read(item, "call_id", "id"),
        position,
        caller=read(item, "caller"),
        namespace=read(item, "namespace"),
    )
    name = read(item, "name")
    if not isinstance(name, str) or not name:
        return MalformedCall(identifier, "", "the call names no tool")
    if is_cut:
        reason = "the reply ended before the arguments were complete; call the tool again"
        return MalformedCall(identifier, name, reason)
    arguments = read(item, "arguments")
    return ToolCall(identifier, name, "" if arguments is None else arguments)


_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def _shows(block: DataBlock) -> bool:
    if block.kind == "document":
        return block.media_type == "application/pdf"
    return block.kind == "image" and block.media_type in _IMAGES


def _output(result: CallResult) -> str | list[dict[str, Any]]:
    text, blocks = sent_parts(result, _shows)
    if not result.ok:
        text = error_text(text)
    if not blocks:
        return text
    return [{"type": "input_text", "text": text}, *map(_part, blocks)]


def _part(block: DataBlock) -> dict[str, Any]:
    if block.kind == "image":
        return {"type": "input_image", "image_url": block.data_url}
    name = block.name or "document.pdf"
    return {"type": "input_file", "filename": name, "file_data": block.data_url}
