"""OpenAI Responses: `function_call` items, answered by one `function_call_output` item each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, cast

from ethos_registry.providers._schema_rules import OPENAI
from ethos_registry.providers._stream_parser import (
    ReplyParser,
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
    call_id,
    cut_off,
    echoed,
    items,
    named_call,
    no_reply,
    read,
    stated_parts,
    word,
)
from ethos_registry.providers._wire_types import OpenAIResponsesItem
from ethos_registry.schema._dialect import Dialect
from ethos_registry.types._call import CallResult, MalformedCall, ToolCall
from ethos_registry.types._content import MAX_CONTENT_BYTES

_CUT = "incomplete"


class OpenAIResponses(WireFormat[OpenAIResponsesItem]):
    """The Responses API.

    >>> OpenAIResponses().calls({"status": "completed", "output": [
    ...     {"type": "function_call", "call_id": "c1", "name": "now", "arguments": "{}"}]})
    [ToolCall(tool_call_id='c1', name='now', args='{}')]
    """

    name: ClassVar[str] = "openai_responses"
    default_dialect: ClassVar[Dialect] = OPENAI

    def definition(self, tool: ProviderDefinition) -> dict[str, Any]:
        """`{type: "function", name, description, parameters, strict}`.

        `strict` is always there, because the API takes its absence for `true`.
        """
        sent = self.sent(tool)
        return {"type": "function", **sent.function(), "strict": sent.is_strict}

    def calls(self, reply: object) -> list[ToolCall | MalformedCall]:
        """The `function_call` items of a response, or of its `output`; arguments stay JSON text.

        An item whose status is `incomplete` is cut off, and so is the last one of a response that
        is; it must not run.
        """
        output = self.elements(reply)
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

    def elements(self, reply: object) -> Sequence[Any]:
        """The output items of a response, or its `output` itself."""
        output = items(reply)
        if output is None:
            output = items(read(reply, "output"))
        if output is None:
            expected = "a Response, or a dict or list with its output items"
            raise no_reply("openai_responses", expected, reply)
        return output

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
    problem = cut_off() if is_cut else ""
    return named_call(identifier, read(item, "name"), read(item, "arguments"), "", problem)


_MEDIA_BYTES = dict.fromkeys(
    ("image/gif", "image/jpeg", "image/png", "image/webp", "application/pdf"), MAX_CONTENT_BYTES
)
"""What is sent, with the most bytes."""


def _output(result: CallResult) -> str | list[dict[str, Any]]:
    text, blocks = stated_parts(result, _MEDIA_BYTES)
    if not blocks:
        return text
    return [{"type": "input_text", "text": text}, *map(_part, blocks)]


def _part(block: DataBlock) -> dict[str, Any]:
    if block.kind == "image":
        return {"type": "input_image", "image_url": block.data_url}
    name = block.name or "document.pdf"
    return {"type": "input_file", "filename": name, "file_data": block.data_url}


# OpenAI Responses: output items.

_CALL_TYPES = ("function_call", "custom_tool_call")
_TEXT_DELTAS = {
    "response.output_text.delta": ("output_text", "text"),
    "response.refusal.delta": ("refusal", "refusal"),
}


class _Item:
    """One output item: as it was last reported, and the pieces of its text."""

    __slots__ = ("call", "is_done", "item", "parts")

    def __init__(self, item: dict[str, Any], call: StreamedCall | None) -> None:
        self.item = item
        self.call = call
        self.is_done = False
        self.parts: dict[tuple[Any, str, str], list[str]] = {}


class OpenAIResponsesStream(ReplyParser):
    """A call is closed by `function_call_arguments.done` and proven by `output_item.done`.

    The status of the item may be `in_progress` then (a programmatic call); only `incomplete` is a
    cut. Items of server tools are not calls.
    """

    provider = "openai_responses"

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[Any, _Item] = {}
        """The last item of each place."""
        self._in_order: list[_Item] = []

    def _is_known(self, event: Any) -> bool:
        return text_of(event, "type").startswith(("response.", "error"))

    def _read(self, event: Any) -> None:
        kind = read_field(event, "type")
        if not isinstance(kind, str):
            return
        if self.end is not None and kind != "error":
            return
        if kind in _TEXT_DELTAS:
            self._text(event, *_TEXT_DELTAS[kind])
        elif kind == "response.function_call_arguments.delta":
            self._arguments(event)
        elif kind == "response.output_item.added":
            item = plain(read_field(event, "item"))
            place = _place_of(event, read_field(item, "id"))
            if not self._is_added(self._items.get(place), item):
                self._added(place, item)
        elif kind == "response.function_call_arguments.done":
            known = self._item_of(event)
            arguments = read_field(event, "arguments")
            if known is None or not _has_arguments(known, arguments):
                known = self._call_item_of(event)
            if known is not None and known.call is not None:
                self._take_whole_name(known.call, read_field(event, "name"))
                self._take_arguments(known.call, arguments)
                self._close(known.call)
        elif kind == "response.output_item.done":
            item = plain(read_field(event, "item"))
            self._done(_place_of(event, read_field(item, "id")), item)
        elif kind in ("response.completed", "response.done"):
            self._completed(listed(read_field(read_field(event, "response"), "output")))
            self._end(None, self._closed_or_whole())
        elif kind == "response.incomplete":
            details = read_field(read_field(event, "response"), "incomplete_details")
            self._cut(text_of(details, "reason") or "incomplete")
        elif kind == "response.failed":
            error = read_field(read_field(event, "response"), "error")
            self._break(text_of(error, "message") or "the response failed")
        elif kind == "error":
            self._break(text_of(event, "message") or "an error event")

    def _is_added(self, known: _Item | None, item: Any) -> bool:
        """Whether the start of an item is that of the item at its place once more."""
        if known is None or known.call is None:
            return False
        call_id = read_field(item, "call_id")
        if self._is_repeated(known.call, call_id, read_field(item, "name")):
            return True
        return not known.is_done and bool(call_id) and call_id == known.call.given_id

    def _item_of(self, event: Any) -> _Item | None:
        return self._items.get(_place_of(event, read_field(event, "item_id")))

    def _call_item_of(self, event: Any) -> _Item | None:
        """The same for arguments: those of no known place belong to the call that is open."""
        known = self._item_of(event)
        last = self._in_order[-1] if self._in_order else None
        is_open = last is not None and last.call is not None and not last.is_done
        return last if is_open and (known is None or known.call is None or known.is_done) else known

    def _added(self, index: Any, item: Any) -> _Item:
        kind = text_of(item, "type")
        call = None
        self._prove_closed()
        if kind in _CALL_TYPES:
            call = self._open(item.get("call_id"), item.get("name"))
            if kind == "custom_tool_call":
                call.problem = "a call of a custom tool has no JSON arguments; call a function"
            call.arguments.reset(json_text(read_field(item, "arguments") or None))
        known = self._items[index] = _Item(dict(item) if isinstance(item, dict) else {}, call)
        self._in_order.append(known)
        return known

    def _arguments(self, event: Any) -> None:
        known = self._call_item_of(event)
        text = read_field(event, "delta")
        if type(text) is not str:
            text = json_text(text)
        if known is not None and known.call is not None and text:
            self._add(known.call, text)

    def _take_arguments(self, call: StreamedCall, arguments: Any) -> None:
        """The whole text, which counts more than its deltas."""
        arguments = json_text(arguments)
        if arguments == call.arguments.text or (
            arguments.strip() == "{}" and not call.arguments.is_blank
        ):
            return
        if call.is_started or call.is_proven:
            call.late_text += arguments
        elif arguments:
            call.arguments.reset(arguments)

    @staticmethod
    def _take_whole_name(call: StreamedCall, name: Any) -> None:
        """Take the name that a call has at its end; its start may have had a piece of it."""
        is_fixed = call.is_started or call.is_proven
        if isinstance(name, str) and name.startswith(call.name) and not is_fixed:
            call.name = name

    def _done(self, index: Any, item: Any) -> None:
        known = self._items.get(index)
        if known is not None and known.is_done and not _is_another_call(known.item, item):
            return
        if known is None or known.is_done or text_of(known.item, "type") != text_of(item, "type"):
            known = self._added(index, item)
        self._finish(known, item)

    def _finish(self, known: _Item, item: Any) -> None:
        """Take the item as it is at its end."""
        known.is_done = True
        if isinstance(item, dict):
            known.item = dict(item)
        call = known.call
        if call is None:
            return
        self._take_arguments(call, read_field(item, "arguments"))
        if not _is_another_call({"call_id": call.given_id}, item):
            self._take_whole_name(call, read_field(item, "name"))
            self._take_id(call, read_field(item, "call_id"))
        if text_of(item, "status") == "incomplete":
            call.problem = cut_off("status incomplete")
        elif call.arguments.is_blank:
            self._awaits_proof.append(call)
        else:
            self._prove(call)

    def _completed(self, output: list[Any]) -> None:
        """The items of the whole response; some servers report an item here only.

        Places may differ from those of the stream, and ids may be missing or made again.
        """
        items = [plain(item) for item in output]
        named = {text_of(item, "call_id") for item in items if _is_call(item)}
        streamed: dict[tuple[str, str], _Item] = {}
        for known in self._in_order:
            streamed.setdefault(_identity(known.item), known)
        unnamed = [
            known
            for known in self._in_order
            if known.call is not None and text_of(known.item, "call_id") not in named - {""}
        ]
        for index, item in enumerate(items):
            kind, identifier = _identity(item)
            found = streamed.get((kind, identifier)) if identifier else None
            if found is None and _is_call(item):
                if unnamed and unnamed[0].item.get("name") == text_of(item, "name"):
                    found = unnamed.pop(0)
            elif found is None:
                found = self._items.get(index)
                if found is not None and text_of(found.item, "type") != kind:
                    found = None
            if found is None:
                found = self._added(index if index not in self._items else ("whole", index), item)
            if not found.is_done:
                self._finish(found, item)

    def _text(self, event: Any, kind: str, name: str) -> None:
        known = self._item_of(event)
        text = read_field(event, "delta")
        if known is not None and isinstance(text, str):
            key = (read_field(event, "content_index"), kind, name)
            known.parts.setdefault(key, []).append(text)

    # The items

    def reply(self) -> dict[str, Any]:
        """`{output: [items]}`. Of a reply that was cut, what the API would refuse is left out."""
        return {"output": self.reply_messages()}

    def reply_messages(self) -> list[dict[str, Any]]:
        """The output items, which are items of the next input."""
        is_cut = self.is_cut
        items = []
        for known in self._in_order:
            sent = self._sent(known, is_cut=is_cut)
            if sent is not None:
                items.append(sent)
        return items

    def answers(self, messages: Sequence[Any]) -> Sequence[Any]:
        """The output items; a call of a custom tool has a type of its own."""
        custom = {
            known.call.tool_call_id
            for known in self._in_order
            if known.call is not None and known.item.get("type") == "custom_tool_call"
        }
        own_type = {"type": "custom_tool_call_output"}
        return [
            message | own_type if message["call_id"] in custom else message for message in messages
        ]

    def _sent(self, known: _Item, *, is_cut: bool) -> dict[str, Any] | None:
        sent = dict(known.item)
        kind = text_of(sent, "type")
        if not kind:
            return None
        call = known.call
        if call is not None:
            sent["call_id"] = call.tool_call_id
            sent["name"] = sendable_name(call.name)
            if kind == "function_call":
                sent["arguments"] = call.arguments.text_for_reply()
        elif not known.is_done and kind == "message":
            sent["content"] = [
                {"type": part_kind, name: "".join(pieces)}
                | ({"annotations": []} if part_kind == "output_text" else {})
                for (_, part_kind, name), pieces in known.parts.items()
            ]
            if not sent["content"]:
                return None
        if not is_cut:
            return sent
        if call is None and not known.is_done and kind != "message":
            return None
        if kind == "reasoning" and not sent.get("encrypted_content"):
            return None
        # A cut response is not stored: its items cannot be referred to by their ids.
        sent.pop("id", None)
        sent.pop("status", None)
        return sent


def _is_call(item: Any) -> bool:
    return text_of(item, "type") in _CALL_TYPES


def _identity(item: Any) -> tuple[str, str]:
    """The type of an item and what identifies it: the id of a call, or else its own."""
    return text_of(item, "type"), text_of(item, "call_id" if _is_call(item) else "id")


def _has_arguments(item: _Item, arguments: Any) -> bool:
    """Whether the call of an item has exactly these arguments already."""
    return item.call is not None and item.call.arguments.text == json_text(arguments)


def _is_another_call(known: Any, item: Any) -> bool:
    """Whether an item at the place of one that has ended is a call of its own."""
    ids = (text_of(known, "call_id"), text_of(item, "call_id"))
    return _is_call(item) and all(ids) and ids[0] != ids[1]


def _place_of(event: Any, item_id: Any) -> Any:
    """What the events of one item have in common: its index, or its id if a server sends none."""
    index = read_field(event, "output_index")
    return item_id if index is None else index
