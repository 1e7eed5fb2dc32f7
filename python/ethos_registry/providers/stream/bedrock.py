"""Bedrock Converse: content blocks, as the AWS SDK has decoded them."""

from __future__ import annotations

from typing import Any

from ethos_registry.providers.stream.call import StreamedCall
from ethos_registry.providers.stream.fields import field, json_text, sendable_name, text_of
from ethos_registry.providers.stream.parser import ReplyParser

__all__ = ["BedrockStream"]

_WHOLE = ("tool_use", "end_turn")
_ERROR_SUFFIX = "Exception"


class _Block:
    __slots__ = ("call", "is_open", "pieces", "redacted")

    def __init__(self, call: StreamedCall | None) -> None:
        self.call = call
        self.is_open = True
        self.pieces: dict[str, list[str]] = {}
        self.redacted: Any = None


class BedrockStream(ReplyParser):
    """A call is closed by its `contentBlockStop` and proven by the next block or the stop reason.

    Metadata may come before or after `messageStop`. Tools that the server runs are not calls.
    """

    provider = "bedrock"

    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[Any, _Block] = {}
        """The last block of each index."""
        self._in_order: list[_Block] = []
        self._awaits_proof: list[StreamedCall] = []

    def _read(self, event: Any) -> None:
        if not isinstance(event, dict):
            return
        if (delta := event.get("contentBlockDelta")) is not None:
            self._delta(field(delta, "contentBlockIndex"), field(delta, "delta"))
        elif (start := event.get("contentBlockStart")) is not None:
            tool_use = field(field(start, "start"), "toolUse")
            self._start(field(start, "contentBlockIndex"), tool_use)
        elif (stop := event.get("contentBlockStop")) is not None:
            self._stop(field(stop, "contentBlockIndex"))
        elif (end := event.get("messageStop")) is not None:
            reason = text_of(end, "stopReason")
            if reason in _WHOLE:
                self._prove_closed()
            self._end(reason)
        else:
            for name, problem in event.items():
                if isinstance(name, str) and name.endswith(_ERROR_SUFFIX):
                    self._break(text_of(problem, "message") or name)

    def _start(self, index: Any, tool_use: Any) -> _Block:
        known = self._blocks.get(index)
        if known is not None and self._is_repeated(known.call, field(tool_use, "toolUseId")):
            return known
        self._prove_closed()
        call = None
        is_ours = field(tool_use, "type") != "server_tool_use"
        if tool_use is not None and is_ours and self.end is None:
            call = self._open(field(tool_use, "toolUseId"), field(tool_use, "name"))
        block = self._blocks[index] = _Block(call)
        self._in_order.append(block)
        return block

    def _delta(self, index: Any, delta: Any) -> None:
        block = self._blocks.get(index)
        if block is None:  # a block of text has no start
            block = self._start(index, None)
        tool_use = field(delta, "toolUse")
        if tool_use is not None:
            text = json_text(field(tool_use, "input"))
            if block.call is not None and text:
                if block.is_open:
                    self._add(block.call, text)
                else:
                    block.call.late_text += text
            return
        reasoning = field(delta, "reasoningContent")
        if reasoning is None:
            _append(block, "text", text_of(delta, "text"))
            return
        _append(block, "reasoning", text_of(reasoning, "text"))
        _append(block, "signature", text_of(reasoning, "signature"))
        if field(reasoning, "redactedContent") is not None:
            block.redacted = field(reasoning, "redactedContent")

    def _stop(self, index: Any) -> None:
        block = self._blocks.get(index)
        if block is None or not block.is_open:
            return
        block.is_open = False
        if block.call is not None:
            self._awaits_proof.append(block.call)
            self._close(block.call)

    def _prove_closed(self) -> None:
        for call in self._awaits_proof:
            self._prove(call)
        self._awaits_proof.clear()

    def reply(self) -> dict[str, Any]:
        """`{role, content}`; blank text and reasoning without its signature are left out."""
        content = [sent for block in self._in_order if (sent := _sent(block))]
        return {"role": "assistant", "content": content}

    def reply_messages(self) -> list[dict[str, Any]]:
        """The reply, unless it has no content."""
        reply = self.reply()
        return [reply] if reply["content"] else []


def _append(block: _Block, name: str, text: str) -> None:
    if text:
        block.pieces.setdefault(name, []).append(text)


def _sent(block: _Block) -> dict[str, Any] | None:
    call = block.call
    if call is not None:
        return {
            "toolUse": {
                "toolUseId": call.tool_call_id,
                "name": sendable_name(call.name),
                "input": call.arguments.for_reply(),
            }
        }
    texts = {name: "".join(pieces) for name, pieces in block.pieces.items()}
    if block.redacted is not None:
        return {"reasoningContent": {"redactedContent": block.redacted}}
    if "signature" in texts:
        text = {"text": texts.get("reasoning", ""), "signature": texts["signature"]}
        return {"reasoningContent": {"reasoningText": text}}
    text_block = texts.get("text", "")
    return {"text": text_block} if text_block.strip() else None
