"""Anthropic Messages: `tool_use` blocks, answered in one user message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ethos_registry.contract.call import CallResult, MalformedCall, ToolCall
from ethos_registry.contract.errors import ConfigError
from ethos_registry.providers.schema_rules import ANTHROPIC
from ethos_registry.providers.shown_tool import ShownTool
from ethos_registry.providers.wire_format import WireFormat
from ethos_registry.providers.wire_types import AnthropicMessage, AnthropicTool
from ethos_registry.providers.wire_value import (
    DataBlock,
    call_id,
    echoed,
    items,
    read,
    sent_parts,
)
from ethos_registry.schema.dialect import Dialect

__all__ = ["AnthropicMessages"]

_ABSENT = object()
_WHOLE = ("tool_use", "end_turn", _ABSENT)
"""Stop reasons of a reply whose last block is whole. A message kept as history has none."""

_UNFINISHED = ("pause_turn", "compaction")
"""Stop reasons of a turn that goes on when it is sent back as it is, without results."""


class AnthropicMessages(WireFormat[AnthropicTool, AnthropicMessage]):
    """The Messages API.

    >>> AnthropicMessages().calls(
    ...     {"stop_reason": "tool_use", "content": [
    ...         {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a"}}]}
    ... )
    [ToolCall(tool_call_id='t1', name='read_file', args={'path': 'a'})]
    """

    name: ClassVar[str] = "anthropic"
    default_dialect: ClassVar[Dialect] = ANTHROPIC
    has_markers: ClassVar[bool] = True

    def definition(self, tool: ShownTool) -> dict[str, Any]:
        """`{name, description, input_schema, strict?}`; a list marks its last with `cache_control`.

        That marker caches the tools only; the system block needs its own.
        """
        sent = self.sent(tool)
        definition: dict[str, Any] = {
            "name": sent.name,
            "description": sent.description,
            "input_schema": sent.parameters,
        }
        return definition | {"strict": True} if sent.is_strict else definition

    def calls(self, reply: object) -> list[ToolCall | MalformedCall]:
        """The `tool_use` blocks of a message; those of the server's own tools are none of ours.

        A block is whole when the reply went on after it or stopped on its own account; the last
        block of any other reply is cut off, and its plausible input must not run. A reply that
        pauses (`pause_turn`) has no calls yet: it is sent back as it is, and the model goes on.
        """
        if items(read(reply, "tool_calls")):
            raise ConfigError(
                "the reply has `tool_calls`, which `anthropic` does not know; "
                'read it by `provider("openai")`'
            )
        blocks = _blocks(reply)
        stop_reason = _stop_reason(reply)
        if stop_reason in _UNFINISHED:
            return []
        calls: list[ToolCall | MalformedCall] = []
        for index, block in enumerate(blocks):
            if read(block, "type") != "tool_use":
                continue
            toolset_name = read(block, "toolset_name")
            identifier = call_id(read(block, "id"), len(calls), toolset_name=toolset_name)
            name = read(block, "name")
            if not isinstance(name, str) or not name:
                calls.append(MalformedCall(identifier, "", "the call names no tool"))
            elif reason := _cut(blocks[index + 1 :], stop_reason):
                calls.append(MalformedCall(identifier, name, reason))
            else:
                given = read(block, "input")
                calls.append(ToolCall(identifier, name, {} if given is None else given))
        return calls

    def messages(self, results: Iterable[CallResult]) -> list[AnthropicMessage]:
        """One user message of `tool_result` blocks; `is_error` is there only where it is true.

        Images and PDFs are blocks beside the text. An error holds text alone: the API refuses
        other blocks there.
        """
        blocks = [_result_block(result) for result in results]
        return [{"role": "user", "content": blocks}] if blocks else []


def _blocks(reply: object) -> list[Any]:
    content = read(reply, "content")
    if isinstance(content, str):
        return []
    blocks = items(content)
    if blocks is None:
        raise ConfigError(
            "a reply of `anthropic` is a Message or a dict with `content`, "
            f"got {type(reply).__name__}",
            context={"field": "reply", "value": reply},
        )
    return list(blocks)


def _stop_reason(reply: object) -> object:
    if isinstance(reply, Mapping):
        return reply.get("stop_reason", _ABSENT)
    return getattr(reply, "stop_reason", _ABSENT)


def _cut(following: list[Any], stop_reason: object) -> str:
    """Why a block that these blocks follow is not whole; empty when it is."""
    if following:
        # The block before a `fallback` is where another model took over: it may end anywhere.
        if read(following[0], "type") != "fallback":
            return ""
        return "another model took over before the arguments were complete; call the tool again"
    if stop_reason in _WHOLE:
        return ""
    return (
        f"the reply ended before the arguments were complete (stop_reason {stop_reason}); "
        "call the tool again"
    )


_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def _shows(block: DataBlock) -> bool:
    if block.kind == "document":
        return block.media_type == "application/pdf"
    return block.kind == "image" and block.media_type in _IMAGES


def _result_block(result: CallResult) -> dict[str, Any]:
    text, blocks = sent_parts(result, _shows if result.ok else _shows_nothing)
    content: str | list[dict[str, Any]] = text
    if blocks:
        content = [{"type": "text", "text": text}, *map(_data_block, blocks)]
    block: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": str(result.tool_call_id),
        "content": content,
        **echoed(result.tool_call_id),
    }
    if not result.ok:
        block["is_error"] = True
    return block


def _shows_nothing(block: DataBlock) -> bool:
    return False


def _data_block(block: DataBlock) -> dict[str, Any]:
    source = {"type": "base64", "media_type": block.media_type, "data": block.base64_text}
    shown = {"type": block.kind, "source": source}
    return shown if block.kind == "image" or block.name is None else shown | {"title": block.name}
