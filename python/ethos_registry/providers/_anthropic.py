"""Anthropic Messages: `tool_use` blocks, answered in one user message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from ethos_registry.providers._delta_merge import DeltaMerge, fields_of
from ethos_registry.providers._schema_rules import ANTHROPIC
from ethos_registry.providers._stream_parser import (
    ReplyParser,
    StreamedArguments,
    StreamedCall,
    json_text,
    listed,
    plain,
    read_field,
    sendable_name,
    text_of,
)
from ethos_registry.providers._wire_format import (
    DataBlock,
    ProviderDefinition,
    WireFormat,
    call_entries,
    call_id,
    cut_off,
    echoed,
    ended_well,
    items,
    named_call,
    no_reply,
    read,
    sent_parts,
)
from ethos_registry.providers._wire_types import AnthropicMessage
from ethos_registry.schema._dialect import Dialect
from ethos_registry.types._call import CallResult, MalformedCall, ToolCall
from ethos_registry.types._content import MAX_CONTENT_BYTES
from ethos_registry.types._errors import ConfigError

_ABSENT = object()
"""The stop reason of a message that is kept as history: its last block is whole."""

_TAKEN_OVER = "another model took over before the arguments were complete; call the tool again"

_UNFINISHED = ("pause_turn", "compaction")
"""Stop reasons of a turn that goes on when it is sent back as it is, without results."""


class AnthropicMessages(WireFormat[AnthropicMessage]):
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

    def definition(self, tool: ProviderDefinition) -> dict[str, Any]:
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
        if call_entries(reply):
            raise ConfigError(
                "the reply has `tool_calls`, which `anthropic` does not know; "
                'read it by `provider("openai")`'
            )
        blocks = self.elements(reply)
        stop_reason = _stop_reason(reply)
        if stop_reason in _UNFINISHED:
            return []
        calls: list[ToolCall | MalformedCall] = []
        for index, block in enumerate(blocks):
            if read(block, "type") != "tool_use":
                continue
            toolset_name = read(block, "toolset_name")
            identifier = call_id(read(block, "id"), len(calls), toolset_name=toolset_name)
            problem = _cut(blocks[index + 1 :], stop_reason)
            given = read(block, "input")
            calls.append(named_call(identifier, read(block, "name"), given, {}, problem))
        return calls

    def elements(self, reply: object) -> Sequence[Any]:
        """The content blocks of a message."""
        content = read(reply, "content")
        blocks = () if isinstance(content, str) else items(content)
        if blocks is None:
            raise no_reply("anthropic", "a Message or a dict with `content`", reply)
        return blocks

    def messages(self, results: Iterable[CallResult]) -> list[AnthropicMessage]:
        """One user message of `tool_result` blocks; `is_error` is there only where it is true.

        Images and PDFs are blocks beside the text. An error holds text alone: the API refuses
        other blocks there.
        """
        blocks = [_result_block(result) for result in results]
        return [{"role": "user", "content": blocks}] if blocks else []


def _stop_reason(reply: object) -> object:
    if isinstance(reply, Mapping):
        return reply.get("stop_reason", _ABSENT)
    return getattr(reply, "stop_reason", _ABSENT)


def _cut(following: Sequence[Any], stop_reason: object) -> str:
    """Why a block that these blocks follow is not whole; empty when it is."""
    if following:
        # The block before a `fallback` is where another model took over: it may end anywhere.
        if read(following[0], "type") != "fallback":
            return ""
        return _TAKEN_OVER
    if stop_reason is _ABSENT or ended_well(stop_reason):
        return ""
    return cut_off(f"stop_reason {stop_reason}")


MEDIA_BYTES = {
    "image/gif": 3_932_160,
    "image/jpeg": 3_932_160,
    "image/png": 3_932_160,
    "image/webp": 3_932_160,
    "application/pdf": MAX_CONTENT_BYTES,
}
"""What is sent, with the most bytes: an image may have 5 MiB in base64."""


def _result_block(result: CallResult) -> dict[str, Any]:
    text, blocks = sent_parts(result, MEDIA_BYTES if result.ok else {})
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


def _data_block(block: DataBlock) -> dict[str, Any]:
    source = {"type": "base64", "media_type": block.media_type, "data": block.base64_text}
    shown = {"type": block.kind, "source": source}
    return shown if block.kind == "image" or block.name is None else shown | {"title": block.name}


# Anthropic Messages: content blocks.


class _Block:
    """One content block: its start, what came for its fields, and a server's input."""

    __slots__ = ("call", "deltas", "input", "is_open", "start")

    def __init__(self, start: dict[str, Any], call: StreamedCall | None) -> None:
        self.start = start
        self.call = call
        self.deltas = DeltaMerge()
        self.input = StreamedArguments()
        self.is_open = True


class AnthropicStream(ReplyParser):
    """A call is closed by its `content_block_stop` and proven by the next block.

    A reply that is cut off closes its last call too, so its stop proves nothing; the next
    `content_block_start` or `stop_reason: "tool_use"` is. The reply is over at `message_stop` or at
    the end of the stream, since a proxy may give a stop reason after each call. After a `fallback`
    block calls wait for the end of the message. Blocks of server tools are not calls.
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

    def _is_known(self, event: Any) -> bool:
        return text_of(event, "type").startswith(("message_", "content_block_", "error", "ping"))

    def _read(self, event: Any) -> None:
        kind = read_field(event, "type")
        if kind == "content_block_delta":
            self._delta(event)
        elif kind == "content_block_start":
            self._start(read_field(event, "index"), read_field(event, "content_block"))
        elif kind == "content_block_stop":
            self._stop_block(read_field(event, "index"))
        elif kind == "message_start":
            self._message(read_field(event, "message"))
        elif kind == "message_delta":
            self._stopped(read_field(read_field(event, "delta"), "stop_reason"))
        elif kind == "message_stop":
            is_whole = ended_well(self._stop_reason)
            self._end(self._stop_reason, self._closed() if is_whole else ())
        elif kind == "error":
            error = read_field(event, "error")
            self._break(text_of(error, "message") or text_of(error, "type") or "an error event")

    def _message(self, message: Any) -> None:
        identifier = read_field(message, "id")
        if self._message_id is not None or self._blocks:
            if identifier != self._message_id:
                self._break("another message began inside this one")
            return
        self._message_id = identifier if isinstance(identifier, str) else ""
        for index, block in enumerate(listed(read_field(message, "content"))):
            self._start(index, block)
            self._stop_block(index)
        self._stopped(read_field(message, "stop_reason"))

    def _start(self, index: Any, content_block: Any) -> None:
        if self.end is not None:
            return
        start = plain(content_block)
        kind = text_of(start, "type")
        known = self._blocks.get(index)
        if known is not None and self._is_repeated(
            known.call, read_field(start, "id"), read_field(start, "name")
        ):
            return
        if kind == "fallback":
            self._fallback_at = len(self.calls)
            for earlier in self.calls:
                if not earlier.is_proven:
                    earlier.problem = _TAKEN_OVER
            self._awaits_proof.clear()
        elif self._fallback_at is None:
            self._prove_closed()
        call: StreamedCall | None = None
        if kind == "tool_use":
            call = self._open(start.get("id"), start.get("name"))
            self._take_whole(call, start.get("input"))  # a programmatic call comes so
        block = self._blocks[index] = _Block(dict(start) if isinstance(start, dict) else {}, call)
        self._in_order.append(block)

    def _delta(self, event: Any) -> None:
        block = self._blocks.get(read_field(event, "index"))
        delta = read_field(event, "delta")
        kind = read_field(delta, "type")
        if kind == "input_json_delta":
            self._arguments(block, read_field(delta, "partial_json"))
        elif block is None:
            return
        elif kind == "citations_delta":
            block.deltas.add_field("citations", [plain(read_field(delta, "citation"))])
        else:
            for name, value in fields_of(delta).items():
                if name != "type":
                    block.deltas.add_field(name, value)

    def _arguments(self, block: _Block | None, partial_json: Any) -> None:
        text = partial_json if type(partial_json) is str else json_text(partial_json)
        if not text:
            return
        if block is not None and block.call is None and "input" in block.start:
            block.input.add(text)
            return
        call = self._call_to_go_on(None if block is None else block.call)
        if call is None:
            return
        if call.arguments.came_whole and not call.is_closed:
            call.arguments.reset()
        self._add_to_open(call, text)

    def _stop_block(self, index: Any) -> None:
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

    def _stopped(self, reason: Any) -> None:
        if not isinstance(reason, str) or not reason:
            return
        self._stop_reason = reason
        if not ended_well(reason):
            self._cut(reason)
            return
        if self._fallback_at is not None:
            return
        self._stop(reason, self._closed_or_whole())

    # The message

    def reply(self) -> dict[str, Any]:
        """`{role, content}`; blocks that the API would refuse in a cut reply are left out."""
        is_cut = self.is_cut and self._stop_reason != "pause_turn"
        blocks = self._in_order
        answered = {block.start.get("tool_use_id") for block in blocks}
        callers = {
            read_field(block.start.get("caller"), "tool_id")
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

    def _sent(self, block: _Block) -> dict[str, Any]:
        sent = dict(block.start)
        for name, value in block.deltas.value().items():
            known = sent.get(name)
            is_longer = type(known) is type(value) and isinstance(value, str | list)
            sent[name] = known + value if is_longer else value
        if not block.input.is_blank:
            sent["input"] = block.input.for_reply()
        call = block.call
        if call is not None:
            sent["id"] = call.tool_call_id
            sent["name"] = sendable_name(call.name)
            sent["input"] = call.arguments.for_reply()
        return sent
