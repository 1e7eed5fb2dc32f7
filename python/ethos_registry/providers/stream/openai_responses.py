"""OpenAI Responses: output items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ethos_registry.providers.stream.call import StreamedCall
from ethos_registry.providers.stream.fields import field, listed, plain, sendable_name, text_of
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

    def _read(self, event: Any) -> None:
        kind = field(event, "type")
        if not isinstance(kind, str):
            return
        if kind in _TEXT_DELTAS:
            self._text(event, *_TEXT_DELTAS[kind])
        elif kind == "response.function_call_arguments.delta":
            self._arguments(event)
        elif kind == "response.output_item.added":
            item = plain(field(event, "item"))
            self._added(_place_of(event, field(item, "id")), item)
        elif kind == "response.function_call_arguments.done":
            known = self._item_of(event)
            if known is not None and known.call is not None:
                self._take_arguments(known.call, field(event, "arguments"))
                self._close(known.call)
        elif kind == "response.output_item.done":
            item = plain(field(event, "item"))
            self._done(_place_of(event, field(item, "id")), item)
        elif kind == "response.completed":
            output = listed(field(field(event, "response"), "output"))
            for index, item in enumerate(output):  # some servers report an item here only
                place = index if index in self._items else field(item, "id")
                known = self._items.get(place)
                if known is None or not known.is_done:
                    self._done(index if known is None else place, plain(item))
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
            call.arguments.reset(text_of(item, "arguments"))
        known = self._items[index] = _Item(dict(item) if isinstance(item, dict) else {}, call)
        return known

    def _arguments(self, event: Any) -> None:
        known = self._item_of(event)
        text = field(event, "delta")
        if known is not None and known.call is not None and isinstance(text, str) and text:
            self._add(known.call, text)

    def _take_arguments(self, call: StreamedCall, arguments: Any) -> None:
        """The whole text, which counts more than its deltas."""
        if not isinstance(arguments, str) or arguments == call.arguments.text:
            return
        if call.is_started or call.is_proven:
            call.late_text += arguments
        elif arguments:
            call.arguments.reset(arguments)

    def _done(self, index: Any, item: Any) -> None:
        known = self._items.get(index)
        if known is not None and known.is_done:
            return
        if known is None or text_of(known.item, "type") != text_of(item, "type"):
            known = self._added(index, item)
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
        for known in self._items.values():
            sent = self._sent(known, is_cut=is_cut)
            if sent is not None:
                items.append(sent)
        return items

    def answers(self, messages: Sequence[Any]) -> Sequence[Any]:
        """The output items; a call of a custom tool has a type of its own."""
        custom = {
            known.call.tool_call_id
            for known in self._items.values()
            if known.call is not None and known.item.get("type") == "custom_tool_call"
        }
        own_type = {"type": "custom_tool_call_output"}
        return [
            message | own_type if message["call_id"] in custom else message for message in messages
        ]

    def _sent(self, known: _Item, *, is_cut: bool) -> dict[str, Any] | None:
        sent = dict(known.item)
        kind = sent.get("type")
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


def _place_of(event: Any, item_id: Any) -> Any:
    """What the events of one item have in common: its index, or its id if a server sends none."""
    index = field(event, "output_index")
    return item_id if index is None else index
