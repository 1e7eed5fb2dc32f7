"""Streams that servers and proxies were reported to send: what runs and what is sent back."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import logging
import sys
from types import SimpleNamespace
from typing import Any, get_args, get_overloads

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import CallResult, Personality, Tool, ToolCall, ToolRegistry, ok
from ethos_registry.providers import _by_name
from ethos_registry.providers._by_name import PROVIDERS, STREAMS, provider, reply_parser
from ethos_registry.providers._delta_merge import DeltaMerge
from ethos_registry.types import Document, Image
from providers.server_streams import CHAT, SERVER_STREAMS, ServerStream
from providers.test_dispatch_properties import check_history
from stream_cases import DONE, chat, entry
from stream_rendering import arguments

NAMES = ("read", "write", "now", "read_file", "edit_existing_file")


def title(stream: ServerStream) -> str:
    return f"{stream.provider}: {stream.name}"


def recording_view(ran: list[Any], dispatch: Any = "confirmed") -> Any:
    def recorded(name: str) -> Tool:
        async def run(args, context):
            ran.append((name, args))
            return ok("done")

        return Tool(name, "", {"type": "object"}, run, dispatch=dispatch)

    return ToolRegistry([recorded(name) for name in NAMES]).view(Personality("all"))


def dispatched(name: str, events: list[Any], dispatch: Any = "confirmed") -> tuple[Any, Any]:
    ran: list[Any] = []

    async def feed() -> Any:
        async with recording_view(ran, dispatch).dispatch(provider=name) as turn:
            for event in events:
                turn.feed(copy.deepcopy(event))
                await asyncio.sleep(0)
        return turn

    return ran, asyncio.run(feed())


def in_any_order(calls: list[Any]) -> list[Any]:
    return sorted(calls, key=repr)


@pytest.mark.parametrize("dispatch", ["eager", "confirmed"])
@pytest.mark.parametrize("stream", SERVER_STREAMS, ids=title)
def test_whole_calls_run_once_with_their_arguments(stream, dispatch):
    ran, turn = dispatched(stream.provider, stream.events, dispatch)
    assert in_any_order(ran) == in_any_order(stream.runs)
    assert turn.is_complete is stream.is_complete
    check_history(provider(stream.provider).name, turn)
    json.dumps(turn.messages())


@pytest.mark.parametrize(
    "stream", [stream for stream in SERVER_STREAMS if stream.reply or stream.calls], ids=title
)
def test_what_the_next_request_needs_comes_back(stream):
    _, turn = dispatched(stream.provider, stream.events)
    reply = turn.reply()
    assert turn.messages()[0] == reply
    assert {name: reply[name] for name in stream.reply} == stream.reply
    for sent, expected in zip(
        reply["tool_calls"], stream.calls or reply["tool_calls"], strict=True
    ):
        assert {name: sent[name] for name in expected} == expected


def as_object(value: Any) -> Any:
    """The value as the objects of an SDK."""
    if isinstance(value, dict):
        return SimpleNamespace(**{name: as_object(item) for name, item in value.items()})
    return [as_object(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("stream", [each for each in CHAT if not each.reply], ids=title)
def test_objects_of_an_sdk_run_the_same_calls(stream):
    events = [event if event == DONE else as_object(event) for event in stream.events]
    ran, turn = dispatched(stream.provider, events)
    assert in_any_order(ran) == in_any_order(stream.runs)
    assert turn.is_complete is stream.is_complete


def test_each_stream_has_its_public_source():
    assert all("/" in stream.source for stream in SERVER_STREAMS)
    assert sum(not stream.source.startswith("after ") for stream in SERVER_STREAMS) >= 40


# A stream of another provider


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_without_a_known_event_is_reported_with_its_provider(name, caplog):
    dispatched(name, [{"kind": "hello"}])
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert f"no event of provider `{name}`" in record.getMessage()


@pytest.mark.parametrize("stream", SERVER_STREAMS, ids=title)
def test_a_known_stream_is_not_reported(stream, caplog):
    dispatched(stream.provider, stream.events)
    assert not caplog.records


# `null`


@pytest.mark.parametrize("text", [None, "null", " null ", ""])
def test_no_arguments_are_an_empty_object_in_a_batch_too(text):
    ran: list[Any] = []
    [result] = asyncio.run(recording_view(ran).execute([ToolCall("1", "now", text)]))
    assert result.ok
    assert ran == [("now", {})]


# Splitting and merging

CALLS = st.lists(st.tuples(st.sampled_from(NAMES), arguments), min_size=1, max_size=4)


@st.composite
def interleaved(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    """Calls and their chunks: pieces of arguments and names in any order that keeps each call's."""
    calls = draw(CALLS)
    queues: list[list[Any]] = []
    for index, (name, args) in enumerate(calls):
        text = json.dumps(args)
        cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        repeats = draw(st.booleans())
        repeated = (f"c{index}", name) if repeats else (None, None)
        queues.append([entry(index, f"c{index}", name, "")])
        queues[-1] += [entry(index, *repeated, piece) for piece in pieces]
    events: list[Any] = [chat(*(queue.pop(0) for queue in queues))]
    while queues := [queue for queue in queues if queue]:
        count = draw(st.integers(1, len(queues)))
        chosen = draw(st.permutations(queues))[:count]
        events.append(chat(*(queue.pop(0) for queue in chosen)))
    return calls, [*events, chat(finish="tool_calls"), DONE]


@given(interleaved())
def test_interleaved_calls_run_with_their_own_arguments(case):
    calls, events = case
    ran, turn = dispatched("openai", events)
    assert in_any_order(ran) == in_any_order(calls)
    sent = [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in turn.reply()["tool_calls"]
    ]
    assert sent == calls


@given(CALLS, st.data())
def test_an_index_of_its_own_for_each_delta_changes_nothing(calls, data):
    events, index = [], 0
    for number, (name, args) in enumerate(calls):
        text = json.dumps(args)
        cut = data.draw(st.integers(1, len(text)))
        events.append(chat(entry(index, f"c{number}", name, "")))
        for piece in (text[:cut], text[cut:]):
            index += 1
            events.append(chat(entry(index, None, None, piece)))
        index += 1
    ran, turn = dispatched("openai", [*events, chat(finish="tool_calls")])
    assert ran == calls
    assert turn.is_complete


@given(CALLS, st.data())
def test_a_finish_reason_on_any_chunk_loses_no_call(calls, data):
    events = []
    for index, (name, args) in enumerate(calls):
        text = json.dumps(args)
        cut = data.draw(st.integers(0, len(text)))
        finishes = data.draw(st.lists(st.sampled_from([None, "stop", "tool_calls"]), min_size=2))
        events.append(chat(entry(index, f"c{index}", name, text[:cut]), finish=finishes[0]))
        events.append(chat(entry(index, None, None, text[cut:]), finish=finishes[1]))
    ran, turn = dispatched("openai", [*events, DONE])
    assert in_any_order(ran) == in_any_order(calls)
    assert turn.is_complete


texts = st.text(min_size=1, max_size=12)


@given(texts, st.lists(texts, min_size=1, max_size=3), st.data())
def test_deltas_merge_to_the_value_that_was_split(content, details, data):
    def pieces(text: str) -> list[str]:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=3)))
        return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    merge = DeltaMerge()
    for piece in pieces(content):
        merge.add({"content": piece, "refusal": None})
    for index, text in enumerate(details):
        for piece in pieces(text):
            merge.add({"details": [{"type": "a", "index": index, "text": piece}]})
    assert merge.value() == {
        "content": content,
        "details": [
            {"type": "a", "index": index, "text": text} for index, text in enumerate(details)
        ],
    }


# Cost: counted in calls of functions, which are the same on every machine

PIECES = ('{"path"', ': "a', '"}')


def anthropic_calls(count: int) -> list[Any]:
    events: list[Any] = [{"type": "message_start", "message": {"id": "m", "content": []}}]
    for index in range(count):
        block = {"type": "tool_use", "id": f"t{index}", "name": "read", "input": {}}
        start = {"type": "content_block_start", "index": index, "content_block": block}
        events.append(start)
    for piece in PIECES:
        for index in range(count):
            delta = {"type": "input_json_delta", "partial_json": piece}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
    events += [{"type": "content_block_stop", "index": index} for index in range(count)]
    events.append({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})
    return [*events, {"type": "message_stop"}]


def chat_calls(count: int) -> list[Any]:
    events = [chat(*[entry(index, f"c{index}", "read", "") for index in range(count)])]
    for piece in PIECES:
        events += [chat(entry(index, None, None, piece)) for index in range(count)]
    return [*events, chat(finish="tool_calls")]


def responses_calls(count: int) -> list[Any]:
    def item(index: int, text: str) -> dict[str, Any]:
        names = {"id": f"fc_{index}", "call_id": f"c{index}", "name": "read"}
        return {"type": "function_call", "arguments": text} | names

    events: list[Any] = [
        {"type": "response.output_item.added", "output_index": index, "item": item(index, "")}
        for index in range(count)
    ]
    for piece in PIECES:
        events += [
            {
                "type": "response.function_call_arguments.delta",
                "output_index": index,
                "item_id": f"fc_{index}",
                "delta": piece,
            }
            for index in range(count)
        ]
    for index in range(count):
        done = item(index, "".join(PIECES)) | {"status": "completed"}
        events.append({"type": "response.output_item.done", "output_index": index, "item": done})
    return [*events, {"type": "response.completed", "response": {"status": "completed"}}]


def bedrock_calls(count: int) -> list[Any]:
    events: list[Any] = [{"messageStart": {"role": "assistant"}}]
    for index in range(count):
        use = {"toolUse": {"toolUseId": f"t{index}", "name": "read"}}
        events.append({"contentBlockStart": {"contentBlockIndex": index, "start": use}})
    for piece in PIECES:
        for index in range(count):
            delta = {"toolUse": {"input": piece}}
            events.append({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}})
    events += [{"contentBlockStop": {"contentBlockIndex": index}} for index in range(count)]
    return [*events, {"messageStop": {"stopReason": "tool_use"}}]


def cohere_calls(count: int) -> list[Any]:
    def event(kind: str, index: int, **call: Any) -> dict[str, Any]:
        message = {"tool_calls": call}
        return {"type": f"tool-call-{kind}", "index": index, "delta": {"message": message}}

    events = [
        event("start", index, id=f"c{index}", type="function", function={"name": "read"})
        for index in range(count)
    ]
    for piece in PIECES:
        events += [event("delta", index, function={"arguments": piece}) for index in range(count)]
    events += [{"type": "tool-call-end", "index": index} for index in range(count)]
    return [*events, {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}}]


def gemini_calls(count: int) -> list[Any]:
    parts = [{"functionCall": {"name": "read", "args": {"path": "a"}}} for _ in range(count)]
    chunks: list[Any] = [{"candidates": [{"content": {"parts": [part]}}]} for part in parts]
    return [*chunks, {"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}]


def ollama_calls(count: int) -> list[Any]:
    call = {"function": {"name": "read", "arguments": {"path": "a"}}}
    chunks: list[Any] = [{"message": {"tool_calls": [call]}, "done": False} for _ in range(count)]
    return [*chunks, {"message": {"content": ""}, "done": True, "done_reason": "stop"}]


MANY = {
    "anthropic": anthropic_calls,
    "openai": chat_calls,
    "mistral": chat_calls,
    "openai_responses": responses_calls,
    "bedrock": bedrock_calls,
    "cohere": cohere_calls,
    "gemini": gemini_calls,
    "ollama": ollama_calls,
}


def function_calls(name: str, count: int) -> int:
    """How many functions run while a reply of so many interleaved calls is read."""
    parser = reply_parser(name)
    events = MANY[name](count)
    seen = 0

    def notice(frame: Any, event: str, argument: Any) -> None:
        nonlocal seen
        seen += event in ("call", "c_call")

    sys.setprofile(notice)
    try:
        for event in events:
            parser.feed(event)
    finally:
        sys.setprofile(None)
    assert len(parser.calls) == count
    assert all(call.is_proven for call in parser.calls)
    return seen


def test_every_parser_is_counted():
    assert {STREAMS[name] for name in MANY} == set(STREAMS.values())


@pytest.mark.parametrize("name", MANY)
def test_interleaved_calls_take_linear_time(name):
    small, large = function_calls(name, 300), function_calls(name, 3_000)
    assert large < 11 * small


# What a provider takes of ids, and of documents


@pytest.mark.parametrize(
    "identifier", ["abcDEF123", "", "call_0", "chatcmpl-tool-0123456789abcdef"]
)
def test_mistral_gets_ids_of_nine_characters_in_call_and_answer(identifier):
    delta = {"index": 0, "id": identifier, "function": {"name": "now", "arguments": "{}"}}
    events = [
        {"choices": [{"index": 0, "delta": {"tool_calls": [delta]}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        DONE,
    ]
    _, turn = dispatched("mistral", events)
    reply, answer = turn.messages()
    sent = reply["tool_calls"][0]["id"]
    assert answer["tool_call_id"] == sent
    assert len(sent) == 9
    assert sent.isalnum()
    assert identifier in (sent, "") or len(identifier) != 9
    [batch] = provider("mistral").messages(asyncio.run(turn.results()))
    assert batch["tool_call_id"] == sent


def test_every_provider_name_reads_streams():
    assert PROVIDERS.keys() <= STREAMS.keys()
    annotations = [
        inspect.signature(overload).parameters["name"].annotation
        for overload in get_overloads(inspect.unwrap(provider))
    ]
    typed = [get_args(eval(annotation, vars(_by_name))) for annotation in annotations]
    assert set(PROVIDERS) == {name for names in typed for name in names}


def test_bedrock_gets_five_documents_at_most():
    pdf = Document(b"%PDF-1.7\n%%EOF", "application/pdf", "a.pdf")
    image = Image(b"\x89PNG\r\n\x1a\n" + bytes(20), "image/png")
    results = [
        CallResult(str(number), "read", ok("x", content=[pdf, image, pdf])) for number in range(4)
    ]
    [message] = provider("bedrock").messages(results)
    blocks = [block for each in message["content"] for block in each["toolResult"]["content"]]
    names = [block["document"]["name"] for block in blocks if "document" in block]
    assert len(names) == len(set(names)) == 5
    assert sum("image" in block for block in blocks) == 4
    assert sum(block.get("text", "").count("at most 5 documents") for block in blocks) == 3
