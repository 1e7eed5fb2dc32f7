"""OpenAI Responses: output items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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

__all__ = ["OpenAIResponsesStream"]

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

    def _read(self, event: Any) -> None:
        kind = field(event, "type")
        if not isinstance(kind, str):
            return
        if self.end is not None and kind != "error":
            return
        if kind in _TEXT_DELTAS:
            self._text(event, *_TEXT_DELTAS[kind])
        elif kind == "response.function_call_arguments.delta":
            self._arguments(event)
        elif kind == "response.output_item.added":
            item = plain(field(event, "item"))
            place = _place_of(event, field(item, "id"))
            known = self._items.get(place)
            if known is None or not self._is_repeated(known.call, field(item, "call_id")):
                self._added(place, item)
        elif kind == "response.function_call_arguments.done":
            known = self._item_of(event)
            if known is not None and known.call is not None:
                self._take_arguments(known.call, field(event, "arguments"))
                self._close(known.call)
        elif kind == "response.output_item.done":
            item = plain(field(event, "item"))
            self._done(_place_of(event, field(item, "id")), item)
        elif kind == "response.completed":
            self._completed(listed(field(field(event, "response"), "output")))
            self._end(None)
        elif kind == "response.incomplete":
            details = field(field(event, "response"), "incomplete_details")
            self._end(text_of(details, "reason") or "incomplete")
        elif kind == "response.failed":
            error = field(field(event, "response"), "error")
            self._break(text_of(error, "message") or "the response failed")
        elif kind == "error":
            self._break(text_of(event, "message") or "an error event")

    def _item_of(self, event: Any) -> _Item | None:
        return self._items.get(_place_of(event, field(event, "item_id")))

    def _added(self, index: Any, item: Any) -> _Item:
        kind = text_of(item, "type")
        call = None
        if kind in _CALL_TYPES:
            call = self._open(item.get("call_id"), item.get("name"))
            if kind == "custom_tool_call":
                call.problem = "a call of a custom tool has no JSON arguments; call a function"
            call.arguments.reset(json_text(field(item, "arguments") or None))
        known = self._items[index] = _Item(dict(item) if isinstance(item, dict) else {}, call)
        self._in_order.append(known)
        return known

    def _arguments(self, event: Any) -> None:
        known = self._item_of(event)
        text = field(event, "delta")
        if type(text) is not str:
            text = json_text(text)
        if known is not None and known.call is not None and text:
            self._add(known.call, text)

    def _take_arguments(self, call: StreamedCall, arguments: Any) -> None:
        """The whole text, which counts more than its deltas."""
        arguments = json_text(arguments)
        if arguments == call.arguments.text:
            return
        if call.is_started or call.is_proven:
            call.late_text += arguments
        elif arguments:
            call.arguments.reset(arguments)

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
        self._take_arguments(call, field(item, "arguments"))
        if not call.name:
            call.name = text_of(item, "name")
        if text_of(item, "status") == "incomplete":
            call.problem = (
                "the reply ended before the arguments were complete (status incomplete); "
                "call the tool again"
            )
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
        text = field(event, "delta")
        if known is not None and isinstance(text, str):
            key = (field(event, "content_index"), kind, name)
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


def _is_another_call(known: Any, item: Any) -> bool:
    """Whether an item at the place of one that has ended is a call of its own."""
    ids = (text_of(known, "call_id"), text_of(item, "call_id"))
    return _is_call(item) and all(ids) and ids[0] != ids[1]


def _place_of(event: Any, item_id: Any) -> Any:
    """What the events of one item have in common: its index, or its id if a server sends none."""
    index = field(event, "output_index")
    return item_id if index is None else index
