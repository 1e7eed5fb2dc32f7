"""Anthropic Messages: `tool_use` blocks, answered in one user message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ethos_registry.contract.call import CallResult, MalformedCall, ToolCall
from ethos_registry.contract.errors import ConfigError
from ethos_registry.providers.shown_tool import (
    DefinitionOrder,
    ShownTool,
    breakpoint_positions,
    ordered,
)
from ethos_registry.providers.strict_subset import ANTHROPIC_SUBSET
from ethos_registry.providers.wire_value import call_id, items, read, sent_text

__all__ = ["AnthropicMessages"]

_ABSENT = object()
_WHOLE = ("tool_use", "end_turn", _ABSENT)
"""Stop reasons of a reply whose last block is whole. A message kept as history has none."""

_UNFINISHED = ("pause_turn", "compaction")
"""Stop reasons of a turn that goes on when it is sent back as it is, without results."""


class AnthropicMessages:
    """The Messages API.

    >>> AnthropicMessages().calls(
    ...     {"stop_reason": "tool_use", "content": [
    ...         {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a"}}]}
    ... )
    [ToolCall(tool_call_id='t1', name='read_file', args={'path': 'a'})]
    """

    name = "anthropic"

    def __repr__(self) -> str:
        return f"provider({self.name!r})"

    def definitions(
        self,
        tools: Iterable[ShownTool],
        *,
        order: DefinitionOrder = "segments",
        breakpoints: int = 1,
    ) -> list[dict[str, Any]]:
        """`{name, description, input_schema, strict?, cache_control?}` a tool.

        The marker on the last tool caches the tools only; the system block needs its own.
        """
        shown = ordered(tools, order)
        marked = breakpoint_positions(shown, breakpoints)
        return [_definition(tool, position in marked) for position, tool in enumerate(shown)]

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
            identifier = call_id(read(block, "id"), len(calls))
            name = read(block, "name")
            if not isinstance(name, str) or not name:
                calls.append(MalformedCall(identifier, "", "the call names no tool"))
            elif reason := _cut(blocks[index + 1 :], stop_reason):
                calls.append(MalformedCall(identifier, name, reason))
            else:
                given = read(block, "input")
                calls.append(ToolCall(identifier, name, {} if given is None else given))
        return calls

    def messages(self, results: Iterable[CallResult]) -> list[dict[str, Any]]:
        """One user message of `tool_result` blocks; `is_error` stands only where it is true."""
        blocks = [_result_block(result) for result in results]
        return [{"role": "user", "content": blocks}] if blocks else []


def _definition(tool: ShownTool, marked: bool) -> dict[str, Any]:
    definition: dict[str, Any] = {
        "name": tool.definition["name"],
        "description": tool.definition["description"],
        "input_schema": tool.definition["parameters"],
    }
    if tool.strict and ANTHROPIC_SUBSET.holds(tool.definition["parameters"]):
        definition["strict"] = True
    if marked:
        definition["cache_control"] = {"type": "ephemeral"}
    return definition


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


def _result_block(result: CallResult) -> dict[str, Any]:
    block: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": result.tool_call_id,
        "content": sent_text(result),
    }
    if not result.ok:
        block["is_error"] = True
    return block
