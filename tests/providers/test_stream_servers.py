"""Streams of servers and proxies that deviate from the documented shapes."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from ethos_registry import Personality, Tool, ToolCall, ToolRegistry, ok
from ethos_registry.providers._by_name import provider, reply_parser
from ethos_registry.providers._stream_parser import CallProven
from ethos_registry.types._call import MalformedCall
from stream_cases import (
    DONE,
    MESSAGE_STOP,
    block,
    block_stop,
    chat,
    delta,
    entry,
    gemini,
    json_delta,
    message_delta,
    message_start,
    responses,
    tool_use,
)

READ, WRITE = {"path": "a"}, {"path": "b"}


def proven_calls(provider: str, events: list[Any]) -> list[tuple[str, Any]]:
    """The calls that may run; every call of the reply must be one of them."""
    parser = reply_parser(provider)
    facts = [fact for event in events for fact in parser.feed(event)]
    parser.finish()
    proven = [fact.call for fact in facts if isinstance(fact, CallProven)]
    assert proven == parser.calls
    return [(call.name, call.arguments.for_call()) for call in proven]


def item(call_id: str | None, name: str, arguments: Any = "", **fields: Any) -> dict[str, Any]:
    given = {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}
    return {key: value for key, value in given.items() if value is not None} | fields


def added(value: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return responses("output_item.added", item=value, **fields)


def done(value: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return responses("output_item.done", item=value, **fields)


def completed(*output: dict[str, Any]) -> dict[str, Any]:
    return responses("completed", response={"output": list(output)})


def bedrock(kind: str, index: int, **fields: Any) -> dict[str, Any]:
    return {f"contentBlock{kind}": {"contentBlockIndex": index, **fields}}


def cohere(kind: str, index: int, **entry: Any) -> dict[str, Any]:
    return {
        "type": f"tool-call-{kind}",
        "index": index,
        "delta": {"message": {"tool_calls": entry}},
    }


BEDROCK_START = bedrock("Start", 0, start={"toolUse": {"toolUseId": "t1", "name": "read"}})
BEDROCK_END = [bedrock("Stop", 0), {"messageStop": {"stopReason": "tool_use"}}]
COHERE_END = [
    cohere("end", 0),
    {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
]


def cohere_start(arguments: Any) -> dict[str, Any]:
    return cohere("start", 0, id="t1", function={"name": "read", "arguments": arguments})


def test_an_empty_finish_reason_in_every_chunk_does_not_end_a_chat_reply():
    events = [
        chat(content="I will look.", finish=""),
        chat(entry(0, "c1", "read", ""), finish=""),
        chat(entry(0, None, None, json.dumps(READ)), finish=""),
        chat(finish="tool_calls"),
        DONE,
    ]
    assert proven_calls("openai", events) == [("read", READ)]


@pytest.mark.parametrize("reason", ["", "FINISH_REASON_UNSPECIFIED"])
def test_an_unspecified_finish_reason_does_not_end_a_gemini_reply(reason):
    call = {"functionCall": {"name": "read", "args": READ}}
    events = [gemini({"text": "x"}, finish=reason), gemini(call, finish="STOP")]
    assert proven_calls("gemini", events) == [("read", READ)]


def test_an_empty_stop_reason_does_not_end_an_anthropic_reply():
    call = [tool_use(0, "t1", "read"), json_delta(0, json.dumps(READ)), block_stop(0)]
    events = [message_start(), message_delta(""), *call, message_delta("tool_use"), MESSAGE_STOP]
    assert proven_calls("anthropic", events) == [("read", READ)]


@pytest.mark.parametrize(
    ("provider", "events"),
    [
        pytest.param(
            "anthropic",
            [
                message_start(),
                tool_use(0, "t1", "read"),
                json_delta(0, READ),  # type: ignore[arg-type]
                block_stop(0),
                message_delta("tool_use"),
            ],
            id="anthropic delta",
        ),
        pytest.param(
            "anthropic",
            [
                message_start(),
                tool_use(0, "t1", "read", input=json.dumps(READ)),
                block_stop(0),
                message_delta("tool_use"),
            ],
            id="anthropic start, as text",
        ),
        pytest.param(
            "openai_responses",
            [added(item("c1", "read")), done(item("c1", "read", READ)), completed()],
            id="responses item",
        ),
        pytest.param(
            "openai_responses",
            [
                added(item("c1", "read"), output_index=0),
                responses("function_call_arguments.delta", output_index=0, delta=READ),
                done(item("c1", "read"), output_index=0),
                completed(),
            ],
            id="responses delta",
        ),
        pytest.param(
            "openai_responses", [completed(item("c1", "read", READ))], id="responses whole"
        ),
        pytest.param(
            "bedrock",
            [BEDROCK_START, bedrock("Delta", 0, delta={"toolUse": {"input": READ}}), *BEDROCK_END],
            id="bedrock delta",
        ),
        pytest.param("cohere", [cohere_start(READ), *COHERE_END], id="cohere start"),
        pytest.param(
            "cohere",
            [cohere_start({}), cohere("delta", 0, function={"arguments": READ}), *COHERE_END],
            id="cohere delta",
        ),
        pytest.param(
            "gemini",
            [gemini({"functionCall": {"name": "read", "args": json.dumps(READ)}}, finish="STOP")],
            id="gemini, as text",
        ),
    ],
)
def test_arguments_of_another_form_are_never_replaced_by_an_empty_object(provider, events):
    assert proven_calls(provider, events) == [("read", READ)]


FIRST, SECOND = item("c1", "read", json.dumps(READ)), item("c2", "write", json.dumps(WRITE))


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            [added(FIRST), done(FIRST), added(SECOND), done(SECOND), completed(FIRST, SECOND)],
            id="no places",
        ),
        pytest.param(
            [
                done(FIRST, output_index=1),
                done(SECOND, output_index=2),
                completed(FIRST, SECOND),
            ],
            id="places from 1",
        ),
        pytest.param(
            [
                added(FIRST, output_index=0),
                done(FIRST, output_index=0),
                added(SECOND, output_index=0),
                done(SECOND, output_index=0),
                completed(FIRST, SECOND),
            ],
            id="one place for all",
        ),
        pytest.param(
            [done(FIRST, output_index=0), done(SECOND, output_index=0), completed(FIRST, SECOND)],
            id="one place for all, ends only",
        ),
        pytest.param(
            [
                done(FIRST, output_index=1),
                done(SECOND, output_index=2),
                completed(FIRST | {"call_id": "x1"}, SECOND | {"call_id": "x2"}),
            ],
            id="ids made anew",
        ),
        pytest.param(
            [
                done(FIRST | {"call_id": None}, output_index=1),
                done(SECOND | {"call_id": None}, output_index=2),
                completed(FIRST | {"call_id": None}, SECOND | {"call_id": None}),
            ],
            id="no ids",
        ),
        pytest.param([done(FIRST, output_index=0), completed(FIRST, SECOND)], id="second at end"),
    ],
)
def test_calls_of_the_completed_response_run_once(events):
    parser = reply_parser("openai_responses")
    assert proven_calls("openai_responses", events) == [("read", READ), ("write", WRITE)]
    for event in [*events, events[0], completed(FIRST, SECOND)]:
        parser.feed(event)
    sent = [part["call_id"] for part in parser.reply_messages()]
    assert sent == [call.tool_call_id for call in parser.calls]
    assert len(sent) == 2


def test_a_call_that_only_the_completed_response_has_runs_beside_one_of_the_same_name():
    first, second = item("c1", "read", json.dumps(READ)), item("c2", "read", json.dumps(WRITE))
    events = [done(second, output_index=1), completed(first, second)]
    assert proven_calls("openai_responses", events) == [("read", WRITE), ("read", READ)]


@pytest.mark.parametrize(
    ("provider", "start", "rest"),
    [
        (
            "anthropic",
            tool_use(0, "t1", "read"),
            [json_delta(0, json.dumps(READ)), block_stop(0), message_delta("tool_use")],
        ),
        (
            "bedrock",
            BEDROCK_START,
            [
                bedrock("Delta", 0, delta={"toolUse": {"input": json.dumps(READ)}}),
                *BEDROCK_END,
            ],
        ),
        (
            "cohere",
            cohere_start(""),
            [cohere("delta", 0, function={"arguments": json.dumps(READ)}), *COHERE_END],
        ),
        (
            "openai_responses",
            added(item("c1", "read"), output_index=0),
            [done(item("c1", "read", json.dumps(READ)), output_index=0), completed()],
        ),
    ],
)
def test_the_start_of_a_call_may_be_repeated(provider, start, rest):
    assert proven_calls(provider, [start, start, *rest]) == [("read", READ)]


@pytest.mark.parametrize("is_own_event", [False, True])
def test_only_the_first_candidate_of_gemini_is_the_reply(is_own_event):
    other = {"functionCall": {"name": "write", "args": WRITE}}
    call = {"functionCall": {"name": "read", "args": READ}}
    candidates = [
        {"index": 1, "content": {"parts": [other]}, "finishReason": "STOP"},
        {"index": 0, "content": {"parts": [call]}, "finishReason": "STOP"},
    ]
    events = (
        [{"candidates": [candidate]} for candidate in candidates]
        if is_own_event
        else [{"candidates": candidates}]
    )
    assert proven_calls("gemini", events) == [("read", READ)]


def test_a_call_after_the_end_of_the_reply_does_not_run():
    late = [tool_use(1, "t2", "write"), json_delta(1, "{}"), block_stop(1)]
    call = [tool_use(0, "t1", "read"), json_delta(0, json.dumps(READ)), block_stop(0)]
    end = [message_delta("tool_use"), MESSAGE_STOP]
    assert proven_calls("anthropic", [message_start(), *call, *end, *late, *end]) == [
        ("read", READ)
    ]
    assert proven_calls("openai_responses", [completed(FIRST), done(SECOND)]) == [("read", READ)]


def test_blocks_that_share_an_index_are_all_sent_back():
    parser = reply_parser("anthropic")
    parser.feed(message_start())
    for identifier in ("t1", "t2"):
        for event in (tool_use(0, identifier, "read"), json_delta(0, "{}"), block_stop(0)):
            parser.feed(event)
    parser.feed(message_delta("tool_use"))
    assert [sent["id"] for sent in parser.reply()["content"]] == ["t1", "t2"]
    parser = reply_parser("bedrock")
    for identifier in ("t1", "t2"):
        parser.feed(
            bedrock("Start", 0, start={"toolUse": {"toolUseId": identifier, "name": "read"}})
        )
        parser.feed(bedrock("Stop", 0))
    parser.feed(BEDROCK_END[1])
    sent = [each["toolUse"]["toolUseId"] for each in parser.reply()["content"]]
    assert sent == ["t1", "t2"]


async def ran_in(*bodies: bytes) -> tuple[list[Any], Any]:
    ran: list[Any] = []

    def run(args: Any, context: Any) -> Any:
        ran.append(dict(args))
        return ok("")

    view = ToolRegistry([Tool("read", "", {"type": "object"}, run)]).view(Personality("all"))
    async with view.dispatch(provider="openai") as turn:
        for body in bodies:
            turn.feed(body)
    return ran, turn


CALL = b"data: " + json.dumps(chat(entry(0, "c1", "read", json.dumps(READ)))).encode() + b"\n\n"


@pytest.mark.parametrize("done", [b"data: [DONE]", b"data:[DONE]", b"data:  [DONE] "])
@pytest.mark.parametrize("keepalive", [b"", b"data:\n\n", b"data: \r\n\r\n", b"data:   \n\n"])
async def test_blank_data_keeps_the_connection_open_and_means_nothing(keepalive, done):
    ran, turn = await ran_in(keepalive, CALL, keepalive, done + b"\n\n")
    assert ran == [READ]
    assert turn.is_complete


@pytest.mark.parametrize("event", [b"[" * 100_000, b'{"a":' * 100_000])
async def test_an_event_that_is_nested_without_end_ends_the_reply_and_not_the_program(event):
    ran, turn = await ran_in(CALL, b"data: " + event + b"\n\n", b"data: [DONE]\n\n")
    assert ran == []
    assert not turn.is_complete
    [result] = await turn.results()
    assert "an event is not valid JSON" in result.result.error


LIMITED = {
    "openai": [chat(content="So"), chat(finish="length"), DONE],
    "anthropic": [
        message_start(),
        block(0, "text", text="So"),
        block_stop(0),
        message_delta("max_tokens"),
        MESSAGE_STOP,
    ],
    "bedrock": [
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "So"}}},
        {"messageStop": {"stopReason": "max_tokens"}},
        {"metadata": {}},
    ],
    "gemini": [gemini({"text": "So"}, finish="MAX_TOKENS")],
    "ollama": [{"message": {"content": "So"}, "done": True, "done_reason": "length"}],
    "cohere": [
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "So"}}}},
        {"type": "message-end", "delta": {"finish_reason": "MAX_TOKENS"}},
    ],
    "openai_responses": [
        added({"type": "message", "id": "m1", "content": []}),
        responses("output_text.delta", delta="So", content_index=0),
        responses("incomplete", response={"incomplete_details": {"reason": "max_output_tokens"}}),
    ],
}


@pytest.mark.parametrize("provider", LIMITED)
def test_a_reply_of_text_that_a_limit_cuts_is_not_complete(provider):
    parser = reply_parser(provider)
    for event in LIMITED[provider]:
        parser.feed(event)
    parser.finish()
    assert parser.is_cut
    assert "So" in json.dumps(parser.reply())


def test_thinking_that_a_limit_cuts_is_not_sent_back_without_its_signature():
    parser = reply_parser("anthropic")
    for event in (
        message_start(),
        block(0, "thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="Let me"),
        message_delta("max_tokens"),
        MESSAGE_STOP,
    ):
        parser.feed(event)
    assert parser.reply()["content"] == []


def ended_by(provider: str, reason: str) -> list[Any]:
    """One whole call, and a reason for the end of the reply."""
    whole = json.dumps(READ)
    return {
        "openai": [chat(entry(0, "t1", "read", whole)), chat(finish=reason), DONE],
        "anthropic": [
            message_start(),
            tool_use(0, "t1", "read"),
            json_delta(0, whole),
            block_stop(0),
            message_delta(reason),
            MESSAGE_STOP,
        ],
        "bedrock": [
            BEDROCK_START,
            bedrock("Delta", 0, delta={"toolUse": {"input": whole}}),
            bedrock("Stop", 0),
            {"messageStop": {"stopReason": reason}},
        ],
        "cohere": [
            cohere_start(whole),
            {"type": "message-end", "delta": {"finish_reason": reason}},
        ],
        "gemini": [gemini({"functionCall": {"name": "read", "args": READ}}, finish=reason)],
        "ollama": [
            {"message": {"tool_calls": [{"function": {"name": "read", "arguments": whole}}]}},
            {"message": {}, "done": True, "done_reason": reason},
        ],
    }[provider]


@pytest.mark.parametrize("reason", ["stop", "STOP", "tool_calls", "tool_use", "end_turn", "eos"])
@pytest.mark.parametrize(
    "provider", ["openai", "anthropic", "bedrock", "cohere", "gemini", "ollama"]
)
def test_a_reason_of_another_format_ends_a_reply_well(provider, reason):
    assert proven_calls(provider, ended_by(provider, reason)) == [("read", READ)]


@pytest.mark.parametrize(
    "reason", ["length", "max_tokens", "MAX_TOKENS", "content_filter", "other"]
)
@pytest.mark.parametrize("provider", ["openai", "anthropic", "bedrock", "gemini"])
def test_a_reason_that_no_format_has_for_a_good_end_cuts_the_reply(provider, reason):
    parser = reply_parser(provider)
    for event in ended_by(provider, reason):
        parser.feed(event)
    parser.finish()
    assert parser.is_cut
    assert not any(call.is_proven for call in parser.calls)


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("openai", {"choices": [{"message": {"tool_calls": [entry(0, "t1", "read", "{}")]}}]}),
        ("anthropic", {"content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {}}]}),
        ("bedrock", {"content": [{"toolUse": {"toolUseId": "t1", "name": "read", "input": {}}}]}),
        ("gemini", {"candidates": [{"content": {"parts": [{"functionCall": {"name": "read"}}]}}]}),
    ],
)
def test_a_whole_reply_knows_the_same_reasons(name, reply):
    for reason, kind in (("end_turn", ToolCall), ("stop", ToolCall), ("length", MalformedCall)):
        whole = copy.deepcopy(reply)
        holder = (whole.get("choices") or whole.get("candidates") or [whole])[0]
        holder |= {"finish_reason": reason, "stop_reason": reason, "stopReason": reason}
        [call] = provider(name).calls(whole)
        assert type(call) is kind, reason
