"""Anthropic Messages: content blocks."""

from __future__ import annotations

from typing import Any

from ethos_registry.providers.stream.arguments import StreamedArguments
from ethos_registry.providers.stream.call import StreamedCall
from ethos_registry.providers.stream.fields import (
    field,
    json_text,
    listed,
    plain,
    sendable_name,
    text_of,
)
from ethos_registry.providers.stream.parser import ReplyParser

__all__ = ["AnthropicStream"]

_WHOLE = ("tool_use", "end_turn")
"""Stop reasons that prove that the last call is whole."""

_TEXT_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""Deltas that are appended to a string of the block, by the name of that string."""


class _Block:
    """One content block: its start, and the pieces that came for its strings."""

    __slots__ = ("call", "citations", "is_open", "pieces", "start")

    def __init__(self, start: dict[str, Any], call: StreamedCall | None) -> None:
        self.start = start
        self.call = call
        self.pieces: dict[str, list[str]] = {}
        self.citations: list[Any] = []
        self.is_open = True


class AnthropicStream(ReplyParser):
    """A call is closed by its `content_block_stop` and proven by the next block.

    A reply that is cut off closes its last call too, so its stop proves nothing; the next
    `content_block_start` or `stop_reason: "tool_use"` is. After a `fallback` block calls wait for
    the end of the message. Blocks of server tools are not calls.
    """

    provider = "anthropic"

    def __init__(self) -> None:
        super().__init__()
        self._message_id: str | None = None
        self._blocks: dict[Any, _Block] = {}
        """The last block of each index."""
        self._in_order: list[_Block] = []
        self._stop_reason: str | None = None
        self._fallback_at: int | None = None
        """How many calls there were at the last `fallback` block."""
        self._awaits_proof: list[StreamedCall] = []

    def _read(self, event: Any) -> None:
        kind = field(event, "type")
        if kind == "content_block_delta":
            self._delta(event)
        elif kind == "content_block_start":
            self._start(field(event, "index"), field(event, "content_block"))
        elif kind == "content_block_stop":
            self._stop(field(event, "index"))
        elif kind == "message_start":
            self._message(field(event, "message"))
        elif kind == "message_delta":
            self._stopped(field(field(event, "delta"), "stop_reason"))
        elif kind == "message_stop":
            if self._fallback_at is not None and self._stop_reason in _WHOLE:
                self._prove_closed()
            self._end(self._stop_reason)
        elif kind == "error":
            error = field(event, "error")
            self._break(text_of(error, "message") or text_of(error, "type") or "an error event")

    def _message(self, message: Any) -> None:
        identifier = field(message, "id")
        if self._message_id is not None or self._blocks:
            if identifier != self._message_id:
                self._break("another message began inside this one")
            return
        self._message_id = identifier if isinstance(identifier, str) else ""
        for index, block in enumerate(listed(field(message, "content"))):
            self._start(index, block)
            self._stop(index)
        self._stopped(field(message, "stop_reason"))

    def _start(self, index: Any, content_block: Any) -> None:
        if self.end is not None:
            return
        start = plain(content_block)
        kind = text_of(start, "type")
        known = self._blocks.get(index)
        if known is not None and self._is_repeated(known.call, field(start, "id")):
            return
        if kind == "fallback":
            self._fallback_at = len(self.calls)
            for earlier in self.calls:
                if not earlier.is_proven:
                    earlier.problem = (
                        "another model took over before the arguments were complete; "
                        "call the tool again"
                    )
            self._awaits_proof.clear()
        elif self._fallback_at is None:
            self._prove_closed()
        call: StreamedCall | None = None
        if kind == "tool_use":
            call = self._open(start.get("id"), start.get("name"))
            given = start.get("input")
            if given and isinstance(given, dict):  # a programmatic call comes whole
                call.arguments.set_value(given)
            elif isinstance(given, str) and given.strip() != "{}":
                call.arguments.reset(given)
        block = self._blocks[index] = _Block(dict(start) if isinstance(start, dict) else {}, call)
        self._in_order.append(block)

    def _delta(self, event: Any) -> None:
        block = self._blocks.get(field(event, "index"))
        if block is None:
            return
        delta = field(event, "delta")
        kind = field(delta, "type")
        name = _TEXT_DELTAS.get(kind)
        if name is not None:
            text = field(delta, name)
            if isinstance(text, str):
                pieces = block.pieces.get(name)
                if pieces is None:
                    pieces = block.pieces[name] = []
                pieces.append(text)
        elif kind == "input_json_delta":
            text = field(delta, "partial_json")
            if type(text) is not str:
                text = json_text(text)
            if not text:
                return
            if block.call is None:
                block.pieces.setdefault("input", []).append(text)
            elif block.is_open:
                if block.call.arguments.came_whole:
                    block.call.arguments.reset()
                self._add(block.call, text)
            else:
                block.call.late_text += text
        elif kind == "citations_delta":
            block.citations.append(plain(field(delta, "citation")))

    def _stop(self, index: Any) -> None:
        block = self._blocks.get(index)
        if block is None or not block.is_open:
            return
        block.is_open = False
        call = block.call
        if call is None or call.problem is not None:
            return
        self._awaits_proof.append(call)
        if self._fallback_at is None:
            self._close(call)

    def _prove_closed(self) -> None:
        for call in self._awaits_proof:
            self._prove(call)
        self._awaits_proof.clear()

    def _stopped(self, reason: Any) -> None:
        if not isinstance(reason, str) or not reason:
            return
        self._stop_reason = reason
        if reason not in _WHOLE:
            self._end(reason)
            return
        if self._fallback_at is not None:
            return
        for block in self._in_order:  # a proxy may forget the stop of a block
            call = block.call
            if block.is_open and call is not None and call.arguments.is_object:
                self._awaits_proof.append(call)
        self._prove_closed()
        self._end(reason)

    # The message

    def reply(self) -> dict[str, Any]:
        """`{role, content}`; blocks that the API would refuse in a cut reply are left out."""
        is_cut = self.is_cut and self._stop_reason != "pause_turn"
        blocks = self._in_order
        answered = {block.start.get("tool_use_id") for block in blocks}
        callers = {
            field(block.start.get("caller"), "tool_id")
            for block in blocks
            if block.call is not None
        }
        content = []
        for block in blocks:
            sent = self._sent(block)
            kind = text_of(sent, "type")
            if not kind or (kind == "text" and not text_of(sent, "text").strip()):
                continue
            if is_cut:
                if kind == "thinking" and not sent.get("signature"):
                    continue
                identifier = sent.get("id")
                if (
                    kind in ("server_tool_use", "mcp_tool_use")
                    and identifier not in answered
                    and (block.is_open or identifier not in callers)
                ):
                    continue
            content.append(sent)
        return {"role": "assistant", "content": content}

    def reply_messages(self) -> list[dict[str, Any]]:
        """The reply, unless it has no content."""
        reply = self.reply()
        return [reply] if reply["content"] else []

    def _sent(self, block: _Block) -> dict[str, Any]:
        sent = dict(block.start)
        for name, pieces in block.pieces.items():
            if name == "input":
                arguments = StreamedArguments()
                arguments.reset("".join(pieces))
                sent["input"] = arguments.for_reply()
            else:
                sent[name] = text_of(sent, name) + "".join(pieces)
        if block.citations:
            sent["citations"] = [*listed(sent.get("citations")), *block.citations]
        call = block.call
        if call is not None:
            sent["id"] = call.tool_call_id
            sent["name"] = sendable_name(call.name)
            sent["input"] = call.arguments.for_reply()
        return sent
