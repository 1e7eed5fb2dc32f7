"""Random replies as the events of each provider, with the event that proves each call."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

import stream_cases as wire

PROVIDERS = (
    "anthropic",
    "openai_chat",
    "openai_responses",
    "gemini",
    "ollama",
    "bedrock",
    "cohere",
)

_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)
arguments = st.dictionaries(st.text(max_size=4), _values, max_size=3)


@dataclass(frozen=True)
class Said:
    """What the model says: a text, or a call in some pieces."""

    text: str = ""
    name: str = ""
    args: dict[str, Any] | None = None
    pieces: tuple[str, ...] = ()


@st.composite
def calls(draw: st.DrawFn) -> Said:
    args = draw(arguments)
    written = json.dumps(args, ensure_ascii=draw(st.booleans()))
    cuts = sorted(draw(st.lists(st.integers(0, len(written)), max_size=4)))
    pieces = [
        written[start:end] for start, end in zip([0, *cuts], [*cuts, len(written)], strict=True)
    ]
    return Said(name=draw(st.sampled_from("fgh")), args=args, pieces=tuple(pieces))


texts = st.text(min_size=1, max_size=10).map(Said)
replies = st.lists(texts | calls(), max_size=5)


@dataclass(frozen=True)
class Rendered:
    """A reply as events; for each call by which event it is proven, and its arguments."""

    events: list[Any]
    proven: list[int]
    args: list[dict[str, Any]]


def rendered(provider: str, reply: list[Said]) -> Rendered:
    """The events of a whole reply that ended well."""
    events, proven = _RENDERERS[provider](reply)
    return Rendered(events, proven, [said.args for said in reply if said.args is not None])


Events = tuple[list[Any], list[int]]


def _blocks(reply: list[Said], start: Any, piece: Any, stop: Any, end: list[Any]) -> Events:
    """Formats with content blocks: a call is proven by the next block or by the end."""
    events: list[Any] = []
    proven: list[int] = []
    open_calls = 0
    for index, said in enumerate(reply):
        proven += [len(events)] * open_calls
        open_calls = 0
        events.append(start(index, said))
        events.extend(piece(index, said, text) for text in (said.pieces or (said.text,)))
        events.append(stop(index))
        open_calls += said.args is not None
    proven += [len(events)] * open_calls
    return [*events, *end], proven


def _anthropic(reply: list[Said]) -> Events:
    events, proven = _blocks(
        reply,
        lambda index, said: (
            wire.block(index, "text", text="")
            if said.args is None
            else wire.tool_use(index, f"t{index}", said.name)
        ),
        lambda index, said, text: (
            wire.delta(index, "text_delta", text=text)
            if said.args is None
            else wire.json_delta(index, text)
        ),
        wire.block_stop,
        [wire.message_delta("tool_use"), wire.MESSAGE_STOP],
    )
    start = wire.message_start(model="m", usage={"input_tokens": 1, "output_tokens": 1})
    return [start, *events], [number + 1 for number in proven]


def _bedrock(reply: list[Said]) -> Events:
    def start(index: int, said: Said) -> Any:
        use = {"toolUse": {"toolUseId": f"t{index}", "name": said.name}}
        return {
            "contentBlockStart": {
                "contentBlockIndex": index,
                "start": {} if said.args is None else use,
            }
        }

    def piece(index: int, said: Said, text: str) -> Any:
        delta = {"text": text} if said.args is None else {"toolUse": {"input": text}}
        return {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}

    return _blocks(
        reply,
        start,
        piece,
        lambda index: {"contentBlockStop": {"contentBlockIndex": index}},
        [{"messageStop": {"stopReason": "tool_use"}}, {"metadata": {}}],
    )


def _openai_chat(reply: list[Said]) -> Events:
    events: list[Any] = []
    proven: list[int] = []
    open_calls = position = 0
    for said in reply:
        if said.args is None:
            events.append(wire.chat(content=said.text))
            continue
        proven += [len(events)] * open_calls
        open_calls = 1
        events.append(wire.chat(wire.entry(position, f"t{position}", said.name, "")))
        events += [wire.chat(wire.entry(position, None, None, text)) for text in said.pieces]
        position += 1
    proven += [len(events)] * open_calls
    return [*events, wire.chat(finish="tool_calls"), wire.USAGE, wire.DONE], proven


def _openai_responses(reply: list[Said]) -> Events:
    events: list[Any] = [wire.responses("created", response={})]
    proven = []
    for index, said in enumerate(reply):
        place = {"output_index": index, "item_id": f"i{index}"}
        if said.args is None:
            item = {"type": "message", "role": "assistant", "content": []}
            events.append(wire.responses("output_item.added", item=item, **place))
            events.append(
                wire.responses("output_text.delta", delta=said.text, content_index=0, **place)
            )
            part = {"type": "output_text", "text": said.text, "annotations": []}
            events.append(
                wire.responses("output_item.done", item=item | {"content": [part]}, **place)
            )
            continue
        call = {"call_id": f"t{index}", "name": said.name}
        written = "".join(said.pieces)
        events.append(
            wire.responses(
                "output_item.added", item=wire.function_call("in_progress", **call), **place
            )
        )
        events += [
            wire.responses("function_call_arguments.delta", delta=text, **place)
            for text in said.pieces
        ]
        events.append(wire.responses("function_call_arguments.done", arguments=written, **place))
        proven.append(len(events))
        events.append(
            wire.responses(
                "output_item.done", item=wire.function_call("completed", written, **call), **place
            )
        )
    return [*events, wire.responses("completed", response={"output": []})], proven


def _gemini(reply: list[Said]) -> Events:
    events = []
    proven = []
    for said in reply:
        if said.args is None:
            events.append(wire.gemini({"text": said.text}))
        else:
            proven.append(len(events))
            events.append(wire.gemini(wire.gemini_call(name=said.name, args=said.args)))
    return [*events, wire.gemini({"text": ""}, finish="STOP")], proven


def _ollama(reply: list[Said]) -> Events:
    events: list[Any] = []
    proven = []
    for said in reply:
        message: dict[str, Any] = {"role": "assistant", "content": said.text}
        if said.args is not None:
            proven.append(len(events))
            message["tool_calls"] = [{"function": {"name": said.name, "arguments": said.args}}]
        events.append({"message": message, "done": False})
    end = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    return [*events, end], proven


def _cohere(reply: list[Said]) -> Events:
    def event(kind: str, index: int, **message: Any) -> dict[str, Any]:
        return {"type": kind, "index": index, "delta": {"message": message}}

    events: list[Any] = []
    proven = []
    for index, said in enumerate(reply):
        if said.args is None:
            events.append(event("content-delta", index, content={"text": said.text}))
            continue
        function = {"name": said.name, "arguments": ""}
        call = {"id": f"t{index}", "type": "function", "function": function}
        events.append(event("tool-call-start", index, tool_calls=call))
        events += [
            event("tool-call-delta", index, tool_calls={"function": {"arguments": text}})
            for text in said.pieces
        ]
        proven.append(len(events))
        events.append({"type": "tool-call-end", "index": index})
    return [*events, {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}}], proven


_RENDERERS = {
    "anthropic": _anthropic,
    "openai_chat": _openai_chat,
    "openai_responses": _openai_responses,
    "gemini": _gemini,
    "ollama": _ollama,
    "bedrock": _bedrock,
    "cohere": _cohere,
}
