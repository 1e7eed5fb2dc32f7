"""The real clients against a server on this machine: three turns each, and the bytes they send."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ethos_registry import View, provider
from ethos_registry.execution import CallResults
from loopback import loopback
from wire_tools import ASSISTANT, CALLS, PDF, PNG, TEXTS, registry

anthropic = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")
genai = pytest.importorskip("google.genai")
ollama = pytest.importorskip("ollama")

SECOND: list[tuple[str, Any]] = [
    ("map_weather", {"city": "東京"}),
    ("mcp__git__log", {"city": "x"}),
]
SECOND_TEXTS = ["東京: 21 °C", "x: 21 °C"]
QUESTION = "What is the weather?"
ANSWER = "It is sunny."


def run(view: View, calls: list[Any]) -> CallResults:
    return asyncio.run(view.execute(calls))


def tools_of(body: bytes, key: str = "tools") -> bytes:
    """The bytes of one member of a request, cut out of the body as they are."""
    document = json.loads(body)
    compact = json.dumps(document[key], ensure_ascii=False, separators=(",", ":")).encode()
    at = body.index(b'"' + key.encode() + b'":') + len(key) + 3
    found = body[at : at + len(compact)]
    assert json.loads(found) == document[key]
    return found


# Anthropic


def anthropic_reply(calls: list[tuple[str, Any]], turn: int) -> dict[str, Any]:
    blocks = [
        {"type": "tool_use", "id": f"toolu_{turn}_{index}", "name": name, "input": args}
        for index, (name, args) in enumerate(calls)
    ]
    text = {"type": "text", "text": "Let me look." if calls else ANSWER}
    return {
        "id": f"msg_{turn}",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": [text, *blocks],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


@pytest.mark.parametrize("hands_over", ["calls", "blocks"])
def test_anthropic_holds_a_conversation_of_three_turns(hands_over: str) -> None:
    view = registry().view(ASSISTANT)
    replies = [anthropic_reply(CALLS, 1), anthropic_reply(SECOND, 2), anthropic_reply([], 3)]
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    answers = []
    with (
        loopback(*replies) as server,
        anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0) as client,
    ):
        while True:
            reply = client.messages.create(
                model="claude-test",
                max_tokens=100,
                messages=messages,
                tools=view.definitions("anthropic"),
            )
            messages.append({"role": "assistant", "content": reply.content})
            if reply.stop_reason != "tool_use":
                break
            blocks = [block for block in reply.content if block.type == "tool_use"]
            calls = provider("anthropic").calls(reply) if hands_over == "calls" else blocks
            results = run(view, calls)
            answers.append(results)
            messages.extend(results.to_messages("anthropic"))
    assert [result.text for result in answers[0]] == TEXTS
    assert [result.text for result in answers[1]] == SECOND_TEXTS
    assert reply.content[0].text == ANSWER
    assert [tools_of(body) for body in server.requests] == [view.definitions_bytes("anthropic")] * 3
    [sent] = server.body(1)["messages"][2:]
    assert [block["tool_use_id"] for block in sent["content"]] == [
        f"toolu_1_{index}" for index in range(len(CALLS))
    ]
    assert [block.get("is_error", False) for block in sent["content"]] == [False] * 4 + [True] * 4
    chart, report = sent["content"][2]["content"], sent["content"][3]["content"]
    assert [block["type"] for block in chart] == ["text", "image"]
    assert [block["type"] for block in report] == ["text", "document"]
    assert "[not shown: audio (audio/wav, 44 bytes)]" in report[0]["text"]
    assert (
        server.body(2)["messages"][: len(server.body(1)["messages"])]
        == (server.body(1)["messages"])
    )


# OpenAI Chat


def chat_reply(calls: list[tuple[str, Any]], turn: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None if calls else ANSWER}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{turn}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(args)},
            }
            for index, (name, args) in enumerate(calls)
        ]
    reason = "tool_calls" if calls else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
    }


@pytest.mark.parametrize("hands_over", ["calls", "objects"])
def test_openai_chat_holds_a_conversation_of_three_turns(hands_over: str) -> None:
    view = registry().view(ASSISTANT)
    replies = [chat_reply(CALLS, 1), chat_reply(SECOND, 2), chat_reply([], 3)]
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    answers = []
    with (
        loopback(*replies) as server,
        openai.OpenAI(api_key="k", base_url=server.url, max_retries=0) as client,
    ):
        while True:
            reply = client.chat.completions.create(
                model="m", messages=messages, tools=view.definitions("openai")
            )
            message = reply.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                break
            calls = provider("openai").calls(reply)
            results = run(view, calls if hands_over == "calls" else message.tool_calls)
            answers.append(results)
            messages.extend(results.to_messages("openai"))
    assert message.content == ANSWER
    assert [result.text for result in answers[1]] == SECOND_TEXTS
    assert [tools_of(body) for body in server.requests] == [view.definitions_bytes("openai")] * 3
    sent = server.body(1)["messages"][2:]
    assert [item["tool_call_id"] for item in sent] == [f"call_1_{i}" for i in range(len(CALLS))]
    contents = [item["content"] for item in sent]
    assert contents[:2] == TEXTS[:2]
    assert "[not shown: image (image/png, 72 bytes)]" in contents[2]
    assert "https://example.com/chart" in contents[2]
    assert contents[4:] == [f"Error: {text}" for text in TEXTS[4:]]


# OpenAI Responses


def responses_reply(calls: list[tuple[str, Any]], turn: int) -> dict[str, Any]:
    output: list[dict[str, Any]] = [
        {
            "type": "function_call",
            "id": f"fc_{turn}_{index}",
            "call_id": f"call_{turn}_{index}",
            "name": name,
            "arguments": json.dumps(args),
            "status": "completed",
        }
        for index, (name, args) in enumerate(calls)
    ]
    if not calls:
        text = {"type": "output_text", "text": ANSWER, "annotations": []}
        output.append(
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [text],
            }
        )
    return {
        "id": f"resp_{turn}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


@pytest.mark.parametrize("hands_over", ["calls", "items"])
def test_openai_responses_holds_a_conversation_of_three_turns(hands_over: str) -> None:
    view = registry().view(ASSISTANT)
    replies = [responses_reply(CALLS, 1), responses_reply(SECOND, 2), responses_reply([], 3)]
    items: list[Any] = [{"role": "user", "content": QUESTION}]
    answers = []
    with (
        loopback(*replies) as server,
        openai.OpenAI(api_key="k", base_url=server.url, max_retries=0) as client,
    ):
        while True:
            reply = client.responses.create(
                model="m", input=items, tools=view.definitions("openai_responses"), store=False
            )
            items.extend(reply.output)
            calls = provider("openai_responses").calls(reply)
            if not calls:
                break
            results = run(view, calls if hands_over == "calls" else reply.output)
            answers.append(results)
            items.extend(results.to_messages("openai_responses"))
    assert reply.output_text == ANSWER
    assert [result.text for result in answers[1]] == SECOND_TEXTS
    expected = view.definitions_bytes("openai_responses")
    assert [tools_of(body) for body in server.requests] == [expected] * 3
    sent = [item for item in server.body(1)["input"] if item.get("type") == "function_call_output"]
    assert [item["call_id"] for item in sent] == [f"call_1_{i}" for i in range(len(CALLS))]
    assert [part["type"] for part in sent[2]["output"]] == ["input_text", "input_image"]
    assert [part["type"] for part in sent[3]["output"]] == ["input_text", "input_file"]
    assert [item["output"] for item in sent[4:]] == [f"Error: {text}" for text in TEXTS[4:]]


# Gemini


def gemini_reply(calls: list[tuple[str, Any]], turn: int) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [
        {"functionCall": {"name": name, "args": args}, "thoughtSignature": "AAAA"}
        for name, args in calls
    ]
    content = {"role": "model", "parts": parts or [{"text": ANSWER}]}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}


@pytest.mark.parametrize("hands_over", ["calls", "function calls", "parts"])
def test_gemini_holds_a_conversation_of_three_turns(hands_over: str) -> None:
    from google.genai import types

    view = registry().view(ASSISTANT)
    replies = [gemini_reply(CALLS, 1), gemini_reply(SECOND, 2), gemini_reply([], 3)]
    contents: list[Any] = [{"role": "user", "parts": [{"text": QUESTION}]}]
    answers = []
    with (
        loopback(*replies) as server,
        genai.Client(api_key="k", http_options={"base_url": server.url}) as client,
    ):
        while True:
            reply = client.models.generate_content(
                model="gemini-test",
                contents=contents,
                config=types.GenerateContentConfig(tools=view.definitions("gemini")),
            )
            contents.append(reply.candidates[0].content)
            if not reply.function_calls:
                break
            given: dict[str, list[Any]] = {
                "calls": provider("gemini").calls(reply),
                "function calls": reply.function_calls,
                "parts": reply.candidates[0].content.parts,
            }
            results = run(view, given[hands_over])
            answers.append(results)
            contents.extend(results.to_messages("gemini"))
    assert reply.text == ANSWER
    assert [result.tool_call_id for result in answers[0]][:2] == ["call_0", "call_1"]
    assert [result.text for result in answers[1]] == SECOND_TEXTS
    # The SDK writes its own spaces and escapes; what it sends is the same, in the same order.
    for body in server.requests:
        [tool] = json.loads(body)["tools"]
        sent_tool = {"function_declarations": tool["functionDeclarations"]}
        compact = json.dumps([sent_tool], ensure_ascii=False, separators=(",", ":"))
        assert compact.encode() == view.definitions_bytes("gemini")
    assert len({tools_text(body) for body in server.requests}) == 1
    model, answer = server.body(1)["contents"][1:]
    assert model["parts"][0]["thoughtSignature"] == "AAAA"
    responses = [part["functionResponse"] for part in answer["parts"]]
    assert [item["name"] for item in responses] == [name for name, _ in CALLS]
    assert not any("id" in item for item in responses)
    assert [next(iter(item["response"])) for item in responses] == ["output"] * 4 + ["error"] * 4
    assert [len(item.get("parts", [])) for item in responses[:4]] == [0, 0, 1, 1]


def tools_text(body: bytes) -> bytes:
    at = body.index(b'"tools":')
    return body[at : body.index(b'"generationConfig"', at)]


# Ollama


def ollama_reply(calls: list[tuple[str, Any]], turn: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "" if calls else ANSWER}
    if calls:
        message["tool_calls"] = [
            {"function": {"name": name, "arguments": args}} for name, args in calls
        ]
    return {"model": "m", "message": message, "done": True, "done_reason": "stop"}


@pytest.mark.parametrize("hands_over", ["calls", "objects"])
def test_ollama_holds_a_conversation_of_three_turns(hands_over: str) -> None:
    view = registry().view(ASSISTANT)
    replies = [ollama_reply(CALLS, 1), ollama_reply(SECOND, 2), ollama_reply([], 3)]
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    answers = []
    with loopback(*replies) as server:
        client = ollama.Client(host=server.url)
        while True:
            reply = client.chat(model="m", messages=messages, tools=view.definitions("ollama"))
            messages.append(reply.message)
            if not reply.message.tool_calls:
                break
            calls = provider("ollama").calls(reply)
            results = run(view, calls if hands_over == "calls" else reply.message.tool_calls)
            answers.append(results)
            messages.extend(results.to_messages("ollama"))
    assert reply.message.content == ANSWER
    assert [result.text for result in answers[1]] == SECOND_TEXTS
    # The client writes the keys of a schema in an order of its own.
    sent_tools = [json.loads(tools_of(body)) for body in server.requests]
    assert sent_tools == [json.loads(view.definitions_bytes("ollama"))] * 3
    sent = server.body(1)["messages"][2:]
    assert [item["tool_name"] for item in sent] == [name for name, _ in CALLS]
    assert [len(item.get("images", [])) for item in sent[:4]] == [0, 0, 1, 0]
    assert [item["content"] for item in sent[4:]] == [f"Error: {text}" for text in TEXTS[4:]]


RICH = {
    "type": "object",
    "properties": {
        "place": {
            "type": "object",
            "properties": {"lat": {"type": "number", "minimum": -90}},
            "required": ["lat"],
        },
        "count": {"type": "integer", "minimum": 1, "default": 3, "description": "How many."},
        "unit": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 4},
        "shape": {"$ref": "#/$defs/Shape"},
    },
    "required": ["place"],
    "$defs": {"Shape": {"enum": ["round", "square"]}},
}


def sent_by_ollama(tools: list[Any]) -> Any:
    with loopback(ollama_reply([], 1)) as server:
        ollama.Client(host=server.url).chat(model="m", messages=[], tools=tools)
    return server.body()["tools"][0]["function"]["parameters"]


def test_what_ollamas_sdk_drops_is_shown_and_kept_for_the_model_by_our_definitions() -> None:
    from ethos_registry import ToolRegistry
    from registry_tools import EVERYTHING, made

    view = ToolRegistry([made("t", schema=RICH)]).view(EVERYTHING)
    lost = json.dumps(sent_by_ollama(view.definitions("openai"))["properties"])
    for keyword in ("lat", "minimum", "default", "anyOf", "maxItems", "$ref"):
        assert keyword not in lost
    remaining = sent_by_ollama(view.definitions("ollama"))
    assert remaining == view.definitions("ollama")[0]["function"]["parameters"]
    assert remaining["properties"]["count"] == {
        "type": "integer",
        "description": "How many.\n\n{minimum: 1, default: 3}",
    }
    assert remaining["properties"]["unit"] == {"type": ["string", "null"]}
    assert remaining["properties"]["place"]["description"] == (
        '{properties: {"lat":{"type":"number","minimum":-90}}, required: ["lat"]}'
    )
    assert remaining["properties"]["tags"]["items"] == {"type": "string", "minLength": 1}
    assert remaining["properties"]["shape"] == RICH["$defs"]["Shape"]


# The clients' own types


def test_the_sdks_types_accept_all_definitions_and_messages() -> None:
    from anthropic.types import MessageParam, ToolParam
    from google.genai import types
    from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionToolMessageParam
    from openai.types.responses import FunctionToolParam
    from openai.types.responses.response_input_item_param import FunctionCallOutput
    from pydantic import TypeAdapter

    view = registry().view(ASSISTANT)
    calls = [{"id": f"c{i}", "name": name, "args": args} for i, (name, args) in enumerate(CALLS)]
    results = run(view, calls)
    for kind, values in (
        (ToolParam, view.definitions("anthropic", breakpoints=2)),
        (MessageParam, results.to_messages("anthropic")),
        (ChatCompletionFunctionToolParam, view.definitions("openai")),
        (ChatCompletionToolMessageParam, results.to_messages("openai")),
        (FunctionToolParam, view.definitions("openai_responses")),
        (FunctionCallOutput, results.to_messages("openai_responses")),
        (types.Tool, view.definitions("gemini")),
        (types.Content, results.to_messages("gemini")),
        (ollama.Tool, view.definitions("ollama")),
        (ollama.Message, [with_images(item) for item in results.to_messages("ollama")]),
    ):
        assert values
        adapter: Any = TypeAdapter(kind)
        for value in values:
            adapter.validate_python(json_ready(value) if kind is MessageParam else value)
    [gemini] = results.to_messages("gemini")
    content = types.Content.model_validate(gemini)
    assert [part.function_response.parts[0].inline_data.data for part in content.parts[2:4]] == [
        PNG,
        PDF,
    ]


def with_images(message: Any) -> Any:
    """As the client of Ollama wraps the images of a message before it reads it."""
    images = [ollama.Image(value=image) for image in message.get("images", [])]
    return message | {"images": images} if images else message


def json_ready(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("turns", [2])
def test_a_late_tool_is_announced_to_anthropic_without_a_change_of_the_tools(turns: int) -> None:
    from ethos_registry.registry import PrefixSession
    from registry_tools import made

    tools = registry()
    session = PrefixSession(tools.view(ASSISTANT), "anthropic")
    replies: list[dict[str, Any]] = [
        anthropic_reply([("late", {}), ("weather", {"city": "Rom"})], 1),
        anthropic_reply([], 2),
    ]
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    with (
        loopback(*replies) as server,
        anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0) as client,
    ):
        tools.register(made("late"))
        tools.unregister("weather")
        messages.extend(session.update(tools.view(ASSISTANT)))
        for _ in range(turns):
            reply = client.beta.messages.create(
                model="claude-test",
                max_tokens=100,
                messages=messages,
                tools=session.definitions(),
                betas=session.betas,
            )
            messages.append({"role": "assistant", "content": reply.content})
            calls = provider("anthropic").calls(reply)
            if calls:
                results = asyncio.run(session.execute(calls))
                messages.extend(results.to_messages("anthropic"))
    assert [result.text for result in results] == [
        "ran",
        "Tool weather is not currently available",
    ]
    assert {tools_of(body) for body in server.requests} == {session.definitions_bytes()}
    assert server.headers[0]["anthropic-beta"] == ",".join(session.betas)
    [change] = [m for m in server.body()["messages"] if m["role"] == "system"]
    assert [block["type"] for block in change["content"]] == ["tool_removal", "tool_addition"]
