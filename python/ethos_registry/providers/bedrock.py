"""Bedrock Converse: `toolUse` blocks, answered in one user message of `toolResult` blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

from ethos_registry.contract.call import CallResult, MalformedCall, ToolCall
from ethos_registry.contract.errors import ConfigError
from ethos_registry.providers.schema_rules import DIALECTS
from ethos_registry.providers.shown_tool import ShownTool
from ethos_registry.providers.wire_format import WireFormat
from ethos_registry.providers.wire_types import BedrockMessage, BedrockTool
from ethos_registry.providers.wire_value import DataBlock, call_id, items, read, sent_parts, word
from ethos_registry.schema.dialect import Dialect

__all__ = ["BedrockConverse"]

_WHOLE = ("tool_use", "end_turn", "stop_sequence", None)
_FORMATS = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9 ()\[\]-]+")


class BedrockConverse(WireFormat[BedrockTool, BedrockMessage]):
    """The `converse` operation of Amazon Bedrock.

    >>> BedrockConverse().calls({"role": "assistant", "content": [
    ...     {"toolUse": {"toolUseId": "t1", "name": "stat", "input": {"path": "a"}}}]})
    [ToolCall(tool_call_id='t1', name='stat', args={'path': 'a'})]
    """

    name: ClassVar[str] = "bedrock"
    default_dialect: ClassVar[Dialect] = DIALECTS["bedrock"]

    def definition(self, tool: ShownTool) -> dict[str, Any]:
        """`{toolSpec: {name, description, inputSchema: {json}}}`."""
        sent = self.sent(tool)
        specification: dict[str, Any] = {"name": sent.name}
        if sent.description:  # an empty one is refused
            specification["description"] = sent.description
        specification["inputSchema"] = {"json": sent.parameters}
        return {"toolSpec": specification}

    def calls(self, reply: object) -> list[ToolCall | MalformedCall]:
        """The `toolUse` blocks of a response, or of its message."""
        message = read(read(reply, "output"), "message") or read(reply, "message") or reply
        blocks = items(read(message, "content"))
        if blocks is None:
            raise ConfigError(
                "a reply of `bedrock` is a response of `converse` or its message, "
                f"got {type(reply).__name__}",
                context={"field": "reply", "value": reply},
            )
        stop_reason = word(read(reply, "stopReason"))
        calls: list[ToolCall | MalformedCall] = []
        for block in blocks:
            use = read(block, "toolUse")
            if use is None or read(use, "type") == "server_tool_use":
                continue
            identifier = call_id(read(use, "toolUseId"), len(calls))
            name = read(use, "name")
            if not isinstance(name, str) or not name:
                calls.append(MalformedCall(identifier, "", "the call names no tool"))
            elif block is blocks[-1] and stop_reason not in _WHOLE:
                reason = (
                    "the reply ended before the arguments were complete "
                    f"(stopReason {stop_reason}); call the tool again"
                )
                calls.append(MalformedCall(identifier, name, reason))
            else:
                given = read(use, "input")
                calls.append(ToolCall(identifier, name, {} if given is None else given))
        return calls

    def messages(self, results: Iterable[CallResult]) -> list[BedrockMessage]:
        """One user message of `toolResult` blocks; images and PDFs are blocks beside the text."""
        blocks = [{"toolResult": _result(result)} for result in results]
        return [{"role": "user", "content": blocks}] if blocks else []


def _shows(block: DataBlock) -> bool:
    if block.kind == "document":
        return block.media_type == "application/pdf"
    return block.kind == "image" and block.media_type in _FORMATS


def _result(result: CallResult) -> dict[str, Any]:
    text, blocks = sent_parts(result, _shows)
    content: list[dict[str, Any]] = [{"text": text}]
    for position, block in enumerate(blocks):
        source = {"bytes": block.data_bytes}
        if block.kind == "image":
            image = {"format": _FORMATS[block.media_type], "source": source}
            content.append({"image": image})
        else:
            name = _NOT_IN_NAMES.sub("-", block.name or "").strip("- ")[:200]
            document = {"format": "pdf", "name": name or f"document {position}", "source": source}
            content.append({"document": document})
    return {
        "toolUseId": result.tool_call_id,
        "content": content,
        "status": "success" if result.ok else "error",
    }
