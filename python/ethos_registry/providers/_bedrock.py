"""Bedrock Converse: `toolUse` blocks, answered in one user message of `toolResult` blocks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from ethos_registry.providers._delta_merge import DeltaMerge, fields_of
from ethos_registry.providers._schema_rules import DIALECTS
from ethos_registry.providers._stream_parser import (
    ReplyParser,
    StreamedCall,
    json_text,
    read_field,
    sendable_name,
    text_of,
)
from ethos_registry.providers._wire_format import (
    ProviderDefinition,
    WireFormat,
    call_id,
    cut_off,
    ended_well,
    items,
    named_call,
    no_reply,
    read,
    sent_call_id,
    sent_parts,
    word,
)
from ethos_registry.providers._wire_types import BedrockMessage
from ethos_registry.schema._dialect import Dialect
from ethos_registry.types._call import CallResult, MalformedCall, ToolCall

_COMPLETE = ("stop_sequence", None)
_FORMATS = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
_MEDIA_BYTES = dict.fromkeys(_FORMATS, 3_932_160) | {"application/pdf": 4_718_592}
"""What is sent, with the most bytes (API_runtime_Message: 3.75 MB an image, 4.5 MB a document)."""
_MAX_DOCUMENTS = 5
"""The most in a request (aws-samples/generative-ai-use-cases#1685)."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9()\[\]-]+")
_MAX_NAME_CHARS = 64
_CALL_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_DIGEST_CHARS = 8


class BedrockConverse(WireFormat[BedrockMessage]):
    """The `converse` operation of Amazon Bedrock.

    >>> BedrockConverse().calls({"role": "assistant", "content": [
    ...     {"toolUse": {"toolUseId": "t1", "name": "stat", "input": {"path": "a"}}}]})
    [ToolCall(tool_call_id='t1', name='stat', args={'path': 'a'})]
    """

    name: ClassVar[str] = "bedrock"
    default_dialect: ClassVar[Dialect] = DIALECTS["bedrock"]

    def definition(self, tool: ProviderDefinition) -> dict[str, Any]:
        """`{toolSpec: {name, description, inputSchema: {json}}}`."""
        sent = self.sent(tool)
        specification: dict[str, Any] = {"name": sent.name}
        if sent.description:  # an empty one is refused
            specification["description"] = sent.description
        specification["inputSchema"] = {"json": sent.parameters}
        return {"toolSpec": specification}

    def calls(self, reply: object) -> list[ToolCall | MalformedCall]:
        """The `toolUse` blocks of a response, or of its message."""
        blocks = self.elements(reply)
        stop_reason = word(read(reply, "stopReason"))
        calls: list[ToolCall | MalformedCall] = []
        for block in blocks:
            use = read(block, "toolUse")
            if use is None or read(use, "type") == "server_tool_use":
                continue
            identifier = call_id(read(use, "toolUseId"), len(calls))
            is_whole = stop_reason in _COMPLETE or ended_well(stop_reason)
            is_cut = block is blocks[-1] and not is_whole
            problem = cut_off(f"stopReason {stop_reason}") if is_cut else ""
            given = read(use, "input")
            calls.append(named_call(identifier, read(use, "name"), given, {}, problem))
        return calls

    def elements(self, reply: object) -> Sequence[Any]:
        """The content blocks of a response, or of its message."""
        message = read(read(reply, "output"), "message") or read(reply, "message") or reply
        blocks = items(read(message, "content"))
        if blocks is None:
            raise no_reply("bedrock", "a response of `converse` or its message", reply)
        return blocks

    def messages(self, results: Iterable[CallResult]) -> list[BedrockMessage]:
        """One user message of `toolResult` blocks; images and PDFs are blocks beside the text.

        The API takes at most 5 documents in a request; more are named in the text.
        """
        documents = 0
        blocks = []
        for result in results:
            sent = _result(result, _MAX_DOCUMENTS - documents)
            documents += sum("document" in block for block in sent["content"])
            blocks.append({"toolResult": sent})
        return [{"role": "user", "content": blocks}] if blocks else []


def _sent_id(identifier: str) -> str:
    return sent_call_id(identifier, _CALL_ID, "call_", 32)


def _document_name(name: str | None, call_id: str, position: int) -> str:
    """A name that the API takes, and that no other document of the request has.

    Documents of one name, in earlier turns too, make it refuse the request.
    """
    place = f"{call_id}/{position}".encode("utf-8", "replace")
    digest = hashlib.sha256(place).hexdigest()[:_DIGEST_CHARS]
    begin = _NOT_IN_NAMES.sub(" ", name or "").strip()[: _MAX_NAME_CHARS - _DIGEST_CHARS - 1]
    return f"{begin.strip() or 'document'} {digest}"


def _result(result: CallResult, max_documents: int) -> dict[str, Any]:
    text, blocks = sent_parts(result, _MEDIA_BYTES)
    shown, documents = [], 0
    for block in blocks:
        documents += block.kind != "image"
        if block.kind == "image" or documents <= max_documents:
            shown.append(block)
        else:
            text += (
                f"\n[not shown: {block.describe()}; at most {_MAX_DOCUMENTS} documents are sent]"
            )
    content: list[dict[str, Any]] = [{"text": text}]
    for position, block in enumerate(shown):
        source = {"bytes": block.data_bytes}
        if block.kind == "image":
            image = {"format": _FORMATS[block.media_type], "source": source}
            content.append({"image": image})
        else:
            name = _document_name(block.name, result.tool_call_id, position)
            document = {"format": "pdf", "name": name, "source": source}
            content.append({"document": document})
    return {
        "toolUseId": _sent_id(result.tool_call_id),
        "content": content,
        "status": "success" if result.ok else "error",
    }


# Bedrock Converse: content blocks, as the AWS SDK has decoded them.

_ERROR_SUFFIX = "Exception"


class _Block:
    __slots__ = ("call", "deltas", "is_open", "is_servers")

    def __init__(self, call: StreamedCall | None, *, is_servers: bool) -> None:
        self.call = call
        self.is_servers = is_servers
        """Whether the server runs the tool."""
        self.is_open = True
        self.deltas = DeltaMerge()


class BedrockStream(ReplyParser):
    """A call is closed by its `contentBlockStop` and proven by the next block or the stop reason.

    The reply is over at the end of the stream: metadata may come before or after `messageStop`, and
    a proxy may stop after each call. Tools that the server runs are not calls.
    """

    provider = "bedrock"

    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[Any, _Block] = {}
        """The last block of each index."""
        self._in_order: list[_Block] = []

    def _is_known(self, event: Any) -> bool:
        return isinstance(event, dict) and any(
            str(name).startswith(("contentBlock", "message", "metadata"))
            or str(name).endswith(_ERROR_SUFFIX)
            for name in event
        )

    def _read(self, event: Any) -> None:
        if not isinstance(event, dict):
            return
        if (delta := event.get("contentBlockDelta")) is not None:
            self._delta(read_field(delta, "contentBlockIndex"), read_field(delta, "delta"))
        elif (start := event.get("contentBlockStart")) is not None:
            tool_use = read_field(read_field(start, "start"), "toolUse")
            self._start(read_field(start, "contentBlockIndex"), tool_use)
        elif (stop := event.get("contentBlockStop")) is not None:
            self._stop_block(read_field(stop, "contentBlockIndex"))
        elif (end := event.get("messageStop")) is not None:
            reason = text_of(end, "stopReason")
            if ended_well(reason):
                self._stop(reason, self._closed_or_whole())
            else:
                self._cut(reason)
        else:
            for name, problem in event.items():
                if isinstance(name, str) and name.endswith(_ERROR_SUFFIX):
                    self._break(text_of(problem, "message") or name)

    def _start(self, index: Any, tool_use: Any) -> _Block:
        known = self._blocks.get(index)
        if known is not None and self._is_repeated(
            known.call, read_field(tool_use, "toolUseId"), read_field(tool_use, "name")
        ):
            return known
        self._prove_closed()
        call = None
        is_servers = read_field(tool_use, "type") == "server_tool_use"
        if tool_use is not None and not is_servers and self.end is None:
            call = self._open(read_field(tool_use, "toolUseId"), read_field(tool_use, "name"))
            self._take_whole(call, read_field(tool_use, "input"))
        block = self._blocks[index] = _Block(call, is_servers=is_servers)
        self._in_order.append(block)
        return block

    def _delta(self, index: Any, delta: Any) -> None:
        block = self._blocks.get(index)
        tool_use = read_field(delta, "toolUse")
        if tool_use is not None:
            is_servers = block is not None and block.is_servers
            call = self._call_to_go_on(None if block is None else block.call)
            text = json_text(read_field(tool_use, "input"))
            if call is not None and text and not is_servers:
                self._add_to_open(call, text)
            return
        if block is None:  # a block of text has no start
            block = self._start(index, None)
        block.deltas.add(fields_of(delta))

    def _stop_block(self, index: Any) -> None:
        block = self._blocks.get(index)
        if block is None or not block.is_open:
            return
        block.is_open = False
        if block.call is not None:
            self._awaits_proof.append(block.call)
            self._close(block.call)

    def reply(self) -> dict[str, Any]:
        """`{role, content}`; blank text and reasoning without its signature are left out."""
        content = [sent for block in self._in_order if (sent := _sent(block))]
        return {"role": "assistant", "content": content}


def _sent(block: _Block) -> dict[str, Any] | None:
    call = block.call
    if call is not None:
        return {
            "toolUse": {
                "toolUseId": _sent_id(call.tool_call_id),
                "name": sendable_name(call.name),
                "input": call.arguments.for_reply(),
            }
        }
    fields = block.deltas.value()
    reasoning = fields.get("reasoningContent")
    redacted = read_field(reasoning, "redactedContent")
    if redacted is not None:
        return {"reasoningContent": {"redactedContent": redacted}}
    signature, text = text_of(reasoning, "signature"), text_of(fields, "text")
    if signature:
        signed = {"text": text_of(reasoning, "text"), "signature": signature}
        return {"reasoningContent": {"reasoningText": signed}}
    return {"text": text} if text.strip() else None
