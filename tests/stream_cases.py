"""Synthetic streams: one for each habit of a provider or of a server that imitates it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call that a stream holds; an id of `None` is made up by the reader."""

    id: str | None
    name: str
    args: Any
    closed: int | None
    proven: int | None
    raw: str | None = None
    """The text of arguments that are not JSON."""


@dataclass(frozen=True)
class Case:
    """A stream and its calls."""

    name: str
    provider: str
    events: list[Any]
    calls: list[Call]


def chat(*entries: dict[str, Any], finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """A chunk of OpenAI Chat."""
    if entries:
        delta["tool_calls"] = list(entries)
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def entry(
    index: int | None, identifier: str | None, name: str | None, arguments: Any = None
) -> dict[str, Any]:
    """An entry of `tool_calls`; what is `None` is missing."""
    function = {"name": name, "arguments": arguments}
    entry: dict[str, Any] = {"index": index, "id": identifier}
    return {key: value for key, value in entry.items() if value is not None} | {
        "function": {key: value for key, value in function.items() if value is not None}
    }


USAGE = {"object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 3}}
DONE = "[DONE]"


def message_start(identifier: str = "msg_1", **fields: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"id": identifier, "type": "message", "role": "assistant"}
    message |= {"content": [], "stop_reason": None}
    return {"type": "message_start", "message": message | fields}


def block(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "content_block_start",
        "index": index,
        "content_block": {"type": kind} | fields,
    }


def tool_use(index: int, identifier: str, name: str, **fields: Any) -> dict[str, Any]:
    return block(index, "tool_use", **({"id": identifier, "name": name, "input": {}} | fields))


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind} | fields}


def json_delta(index: int, text: str) -> dict[str, Any]:
    return delta(index, "input_json_delta", partial_json=text)


def block_stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def message_delta(stop_reason: str | None) -> dict[str, Any]:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason},
        "usage": {"output_tokens": 1},
    }


MESSAGE_STOP = {"type": "message_stop"}
PING = {"type": "ping"}


def responses(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "output_index": 0} | fields


def function_call(status: str, arguments: str = "", **fields: Any) -> dict[str, Any]:
    item = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "status": status}
    return item | {"arguments": arguments} | fields


def gemini(*parts: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})]}


def gemini_call(**fields: Any) -> dict[str, Any]:
    return {"functionCall": fields}


def path(json_path: str, **fields: Any) -> dict[str, Any]:
    return {"jsonPath": json_path} | fields


CHAT = [
    Case(
        "no index, whole call and finish in one chunk",
        "openai_chat",
        [chat(content=""), chat(entry(None, "c1", "f", '{"a": 1}'), finish="tool_calls")],
        [Call("c1", "f", {"a": 1}, 1, 1)],
    ),
    Case(
        "no index, ids on the first delta only",
        "openai_chat",
        [
            chat(entry(None, "c1", "f", '{"a"')),
            chat(entry(None, None, None, ": 1}")),
            chat(entry(None, "c2", "f", '{"a"')),
            chat(entry(None, None, None, ": 2}")),
            chat(finish="tool_calls"),
        ],
        [Call("c1", "f", {"a": 1}, 2, 2), Call("c2", "f", {"a": 2}, 4, 4)],
    ),
    Case(
        "neither index nor ids, whole calls in one chunk",
        "openai_chat",
        [
            chat(entry(None, None, "f", '{"a": 1}'), entry(None, None, "f", '{"a": 2}')),
            chat(finish="stop"),
        ],
        [Call(None, "f", {"a": 1}, 0, 1), Call(None, "f", {"a": 2}, 1, 1)],
    ),
    Case(
        "empty names and ids on later chunks, blank delta at the end",
        "openai_chat",
        [
            chat(entry(0, "c1", "f", "")),
            chat(entry(0, "", "", '{"a": ')),
            chat(entry(0, "", "", "1}")),
            chat(entry(0, "", "", "")),
            chat(finish="tool_calls"),
            USAGE,
            DONE,
        ],
        [Call("c1", "f", {"a": 1}, 4, 4)],
    ),
    Case(
        "id and name repeated in every delta",
        "openai_chat",
        [
            chat(entry(0, "c1", "f", '{"a"')),
            chat(entry(0, "c1", "f", ": 1}")),
            chat(finish="tool_calls"),
        ],
        [Call("c1", "f", {"a": 1}, 2, 2)],
    ),
    Case(
        "another id in every delta of one call",
        "openai_chat",
        [
            chat(entry(0, "x1", "f", "")),
            chat(entry(0, "x2", None, '{"a"')),
            chat(entry(0, "x3", None, ": 1}")),
            chat(finish="tool_calls"),
        ],
        [Call("x1", "f", {"a": 1}, 3, 3)],
    ),
    Case(
        "finish reason stop",
        "openai_chat",
        [chat(entry(0, "c1", "f", "{}")), chat(finish="stop"), DONE],
        [Call("c1", "f", {}, 1, 1)],
    ),
    Case(
        "no finish reason, then DONE",
        "openai_chat",
        [chat(entry(0, "c1", "f", '{"a": 1}')), chat(), USAGE, DONE],
        [Call("c1", "f", {"a": 1}, 3, 3)],
    ),
    Case(
        "neither finish reason nor DONE",
        "openai_chat",
        [chat(entry(0, "c1", "f", '{"a": 1}')), chat(), USAGE],
        [Call("c1", "f", {"a": 1}, None, None)],
    ),
    Case(
        "two finish chunks",
        "openai_chat",
        [
            chat(entry(0, "c1", "f", '{"a": 1}')),
            chat(finish="tool_calls"),
            chat(finish="tool_calls") | {"usage": {}},
            DONE,
        ],
        [Call("c1", "f", {"a": 1}, 1, 1)],
    ),
    Case(
        "same id and index for two calls of different tools",
        "openai_chat",
        [
            chat(entry(0, "c1", "f", '{"a": 1}')),
            chat(entry(0, "c1", "g", '{"b": 2}')),
            chat(finish="tool_calls"),
        ],
        [Call("c1", "f", {"a": 1}, 1, 1), Call(None, "g", {"b": 2}, 2, 2)],
    ),
    Case(
        "same id and index for two calls of one tool",
        "openai_chat",
        [
            chat(entry(0, "c1", "f", '{"a": 1}')),
            chat(entry(0, "c1", "f", '{"a": 2}')),
            chat(finish="tool_calls"),
        ],
        [Call("c1", "f", {"a": 1}, 1, 1), Call(None, "f", {"a": 2}, 2, 2)],
    ),
    Case(
        "the same id twice, the second under an id that would be made up",
        "openai_chat",
        [
            chat(entry(0, "call_1", "f", '{"a": 1}')),
            chat(entry(1, "call_1", "f", '{"a": 2}')),
            chat(entry(2, None, "f", '{"a": 3}')),
            chat(finish="tool_calls"),
        ],
        [
            Call("call_1", "f", {"a": 1}, 1, 1),
            Call(None, "f", {"a": 2}, 2, 2),
            Call(None, "f", {"a": 3}, 3, 3),
        ],
    ),
    Case(
        "empty ids",
        "openai_chat",
        [
            chat(entry(0, "", "f", '{"a": 1}')),
            chat(entry(1, "", "f", '{"a": 2}')),
            chat(finish="tool_calls"),
        ],
        [Call(None, "f", {"a": 1}, 1, 1), Call(None, "f", {"a": 2}, 2, 2)],
    ),
    Case(
        "interleaved calls",
        "openai_chat",
        [
            chat(entry(0, "c1", "f", ""), entry(1, "c2", "g", "")),
            chat(entry(0, None, None, '{"a"')),
            chat(entry(1, None, None, '{"b"')),
            chat(entry(0, None, None, ": 1}")),
            chat(entry(1, None, None, ": 2}")),
            chat(finish="tool_calls"),
        ],
        [Call("c1", "f", {"a": 1}, 4, 4), Call("c2", "g", {"b": 2}, 5, 5)],
    ),
    Case(
        "blank delta behind the arguments",
        "openai_chat",
        [
            chat(entry(0, "c1", "f", '{"a": 1}')),
            chat(entry(0, None, None, " ")),
            chat(finish="tool_calls"),
        ],
        [Call("c1", "f", {"a": 1}, 2, 2)],
    ),
    Case(
        "arguments that are never closed",
        "openai_chat",
        [chat(entry(0, "c1", "f", '{"a"')), chat(finish="tool_calls")],
        [Call("c1", "f", None, 1, 1, raw='{"a"')],
    ),
    Case(
        "finish reason other",
        "openai_chat",
        [chat(entry(0, "c1", "f", '{"a": 1}')), chat(finish="other"), DONE],
        [Call("c1", "f", {"a": 1}, None, None)],
    ),
    Case(
        "cut between two calls by length",
        "openai_chat",
        [
            chat(entry(0, "c1", "f", '{"a": 1}')),
            chat(entry(1, "c2", "g", '{"a": "/tm')),
            chat(finish="length"),
            DONE,
        ],
        [Call("c1", "f", {"a": 1}, 1, 1), Call("c2", "g", None, None, None, raw='{"a": "/tm')],
    ),
    Case(
        "all calls at index 0",
        "openai_chat",
        [
            chat(entry(0, "c1", "f", '{"a": 1}')),
            chat(content="\n"),
            chat(entry(0, "c2", "f", '{"a": 2}')),
            chat(finish="tool_calls"),
        ],
        [Call("c1", "f", {"a": 1}, 2, 2), Call("c2", "f", {"a": 2}, 3, 3)],
    ),
    Case(
        "indexes that start at 1 and have gaps",
        "openai_chat",
        [
            chat(entry(1, "c1", "f", '{"a": 1}')),
            chat(entry(7, "c2", "f", '{"a"')),
            chat(entry(7, None, None, ": 2}")),
            chat(finish="tool_calls"),
        ],
        [Call("c1", "f", {"a": 1}, 1, 1), Call("c2", "f", {"a": 2}, 3, 3)],
    ),
    Case(
        "arguments as an object",
        "openai_chat",
        [chat(entry(0, "c1", "f", {"a": 1})), chat(finish="tool_calls")],
        [Call("c1", "f", {"a": 1}, 1, 1)],
    ),
    Case(
        "a placeholder before the arguments",
        "openai_chat",
        [
            chat(entry(0, "c1", "f", "{}")),
            chat(entry(0, None, None, '{"a"')),
            chat(entry(0, None, None, ": 1}")),
            chat(finish="tool_calls"),
        ],
        [Call("c1", "f", {"a": 1}, 3, 3)],
    ),
    Case(
        "placeholders before the arguments of interleaved calls",
        "openai_chat",
        [
            chat(entry(0, "c1", "f", "{}"), entry(1, "c2", "g", "{}")),
            chat(entry(1, None, None, '{"b": 2}')),
            chat(entry(0, None, None, '{"a": 1}')),
            chat(finish="tool_calls"),
        ],
        [Call("c1", "f", {"a": 1}, 3, 3), Call("c2", "g", {"b": 2}, 2, 2)],
    ),
    Case(
        "the older form of one call",
        "openai_chat",
        [
            chat(function_call={"name": "f", "arguments": ""}),
            chat(function_call={"arguments": '{"a": 1}'}),
            chat(finish="function_call"),
        ],
        [Call(None, "f", {"a": 1}, 2, 2)],
    ),
    Case(
        "an error in the middle",
        "openai_chat",
        [
            chat(entry(0, "c1", "f", '{"a": 1}')),
            {"error": {"message": "overloaded"}, "choices": []},
            chat(entry(1, "c2", "f", "{}")),
            chat(finish="tool_calls"),
        ],
        [Call("c1", "f", {"a": 1}, None, None)],
    ),
]

ANTHROPIC = [
    Case(
        "three calls, the last without arguments",
        "anthropic",
        [
            message_start(),
            block(0, "text", text=""),
            delta(0, "text_delta", text="Let me look."),
            block_stop(0),
            tool_use(1, "t1", "f"),
            json_delta(1, '{"a"'),
            json_delta(1, ": 1}"),
            block_stop(1),
            PING,
            tool_use(2, "t2", "g"),
            block_stop(2),
            tool_use(3, "t3", "g"),
            json_delta(3, ""),
            block_stop(3),
            message_delta("tool_use"),
            MESSAGE_STOP,
        ],
        [
            Call("t1", "f", {"a": 1}, 7, 9),
            Call("t2", "g", {}, 10, 11),
            Call("t3", "g", {}, 13, 14),
        ],
    ),
    Case(
        "the reply is cut off and closes its last call",
        "anthropic",
        [
            message_start(),
            tool_use(0, "t1", "f"),
            json_delta(0, '{"a": 1}'),
            block_stop(0),
            tool_use(1, "t2", "g"),
            json_delta(1, '{"b": "x"}'),
            block_stop(1),
            message_delta("max_tokens"),
            MESSAGE_STOP,
        ],
        [Call("t1", "f", {"a": 1}, 3, 4), Call("t2", "g", {"b": "x"}, 6, None)],
    ),
    Case(
        "a programmatic call with its input at the start",
        "anthropic",
        [
            message_start(),
            tool_use(0, "t1", "f", input={"a": 1}, caller={"type": "code_execution_20250825"}),
            block_stop(0),
            message_delta("tool_use"),
            MESSAGE_STOP,
        ],
        [Call("t1", "f", {"a": 1}, 2, 3)],
    ),
    Case(
        "the whole message in its start",
        "anthropic",
        [
            message_start(
                content=[{"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}],
                stop_reason="tool_use",
            ),
            MESSAGE_STOP,
        ],
        [Call("t1", "f", {"a": 1}, 0, 0)],
    ),
    Case(
        "the same message starts twice",
        "anthropic",
        [
            message_start(),
            message_start(),
            tool_use(0, "t1", "f"),
            block_stop(0),
            message_delta("tool_use"),
        ],
        [Call("t1", "f", {}, 3, 4)],
    ),
    Case(
        "another message is spliced in",
        "anthropic",
        [
            message_start(),
            tool_use(0, "t1", "f"),
            json_delta(0, '{"a": "x'),
            message_start("msg_2"),
            tool_use(0, "t2", "f"),
            block_stop(0),
            message_delta("tool_use"),
            MESSAGE_STOP,
        ],
        [Call("t1", "f", None, None, None, raw='{"a": "x')],
    ),
    Case(
        "another model takes over",
        "anthropic",
        [
            message_start(),
            tool_use(0, "t1", "f"),
            block_stop(0),
            tool_use(1, "t2", "f"),
            block_stop(1),
            block(2, "fallback", to={"model": "b"}),
            block_stop(2),
            tool_use(3, "t3", "f"),
            block_stop(3),
            tool_use(4, "t4", "f"),
            block_stop(4),
            message_delta("tool_use"),
            MESSAGE_STOP,
        ],
        [
            Call("t1", "f", {}, 2, 3),
            Call("t2", "f", {}, 4, None),
            Call("t3", "f", {}, 12, 12),
            Call("t4", "f", {}, 12, 12),
        ],
    ),
    Case(
        "a server tool is no call and proves the one before it",
        "anthropic",
        [
            message_start(),
            tool_use(0, "t1", "f"),
            block_stop(0),
            block(1, "server_tool_use", id="srv1", name="web_search", input={}),
            json_delta(1, '{"query": "x"}'),
            block_stop(1),
            block(2, "web_search_tool_result", tool_use_id="srv1", content=[]),
            block_stop(2),
            block(3, "mcp_tool_use", id="mcp1", name="list", server_name="s", input={}),
            block_stop(3),
            message_delta("pause_turn"),
        ],
        [Call("t1", "f", {}, 2, 3)],
    ),
    Case(
        "an error event",
        "anthropic",
        [
            message_start(),
            tool_use(0, "t1", "f"),
            block_stop(0),
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            tool_use(1, "t2", "f"),
            message_delta("tool_use"),
        ],
        [Call("t1", "f", {}, 2, None)],
    ),
    Case(
        "a refusal",
        "anthropic",
        [
            message_start(),
            tool_use(0, "t1", "f"),
            block_stop(0),
            message_delta("refusal"),
            MESSAGE_STOP,
        ],
        [Call("t1", "f", {}, 2, None)],
    ),
    Case(
        "arguments after the end of their block",
        "anthropic",
        [
            message_start(),
            tool_use(0, "t1", "f"),
            json_delta(0, '{"a": 1}'),
            block_stop(0),
            json_delta(0, ', "b": 2}'),
            message_delta("tool_use"),
        ],
        [Call("t1", "f", {"a": 1}, 3, 5)],
    ),
]

RESPONSES = [
    Case(
        "arguments done without a name",
        "openai_responses",
        [
            responses("created", response={}),
            responses("output_item.added", item=function_call("in_progress")),
            responses("function_call_arguments.delta", delta='{"a"', item_id="fc_1"),
            responses("function_call_arguments.delta", delta=": 1}", item_id="fc_1"),
            responses("function_call_arguments.done", arguments='{"a": 1}', item_id="fc_1"),
            responses("output_item.done", item=function_call("completed", '{"a": 1}')),
            responses("completed", response={"output": [function_call("completed", '{"a": 1}')]}),
        ],
        [Call("c1", "f", {"a": 1}, 4, 5)],
    ),
    Case(
        "a programmatic call is done while in progress",
        "openai_responses",
        [
            responses("output_item.added", item=function_call("in_progress", caller={"type": "p"})),
            responses("function_call_arguments.done", arguments="{}", item_id="fc_1"),
            responses("output_item.done", item=function_call("in_progress", "{}", caller={})),
            responses("completed", response={"output": []}),
        ],
        [Call("c1", "f", {}, 1, 2)],
    ),
    Case(
        "an item that is incomplete",
        "openai_responses",
        [
            responses("output_item.added", item=function_call("in_progress")),
            responses("function_call_arguments.delta", delta='{"a": 1}', item_id="fc_1"),
            responses("function_call_arguments.done", arguments='{"a": 1}', item_id="fc_1"),
            responses("output_item.done", item=function_call("incomplete", '{"a": 1}')),
            responses(
                "incomplete", response={"incomplete_details": {"reason": "max_output_tokens"}}
            ),
        ],
        [Call("c1", "f", {"a": 1}, 2, None)],
    ),
    Case(
        "a response that fails between done and done",
        "openai_responses",
        [
            responses("output_item.added", item=function_call("in_progress")),
            responses("function_call_arguments.done", arguments='{"a": 1}', item_id="fc_1"),
            responses("failed", response={"error": {"message": "server error"}}),
            responses("output_item.done", item=function_call("completed", '{"a": 1}')),
        ],
        [Call("c1", "f", {"a": 1}, 1, None)],
    ),
    Case(
        "an item that only the end of the response has",
        "openai_responses",
        [responses("completed", response={"output": [function_call("completed", '{"a": 1}')]})],
        [Call("c1", "f", {"a": 1}, 0, 0)],
    ),
    Case(
        "events without the index of their item",
        "openai_responses",
        [
            {
                "type": "response.output_item.added",
                "item": function_call("in_progress", id="fc_2", call_id="c2"),
            },
            {
                "type": "response.function_call_arguments.delta",
                "delta": '{"a": 1}',
                "item_id": "fc_2",
            },
            {
                "type": "response.output_item.done",
                "item": function_call("completed", '{"a": 1}', id="fc_2", call_id="c2"),
            },
            {
                "type": "response.completed",
                "response": {
                    "output": [function_call("completed", '{"a": 1}', id="fc_2", call_id="c2")]
                },
            },
        ],
        [Call("c2", "f", {"a": 1}, 2, 2)],
    ),
    Case(
        "items of server tools",
        "openai_responses",
        [
            responses("output_item.added", item={"type": "web_search_call", "id": "ws_1"}),
            responses("output_item.done", item={"type": "web_search_call", "id": "ws_1"}),
            responses("completed", response={"output": []}),
        ],
        [],
    ),
]

OTHERS = [
    Case(
        "whole calls, with and without ids",
        "gemini",
        [
            gemini({"text": "thinking", "thought": True}),
            gemini(
                {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
                {"functionCall": {"id": "g1", "name": "f", "args": {"a": 2}}},
            ),
            gemini({"functionCall": {"name": "g"}}),
            gemini({"text": ""}, finish="STOP"),
        ],
        [
            Call(None, "f", {"a": 1}, 1, 1),
            Call("g1", "f", {"a": 2}, 1, 1),
            Call(None, "g", {}, 2, 2),
        ],
    ),
    Case(
        "arguments as values of paths",
        "gemini",
        [
            gemini(gemini_call(name="f", willContinue=True)),
            gemini(
                gemini_call(
                    partialArgs=[
                        path("$.a.b[0]", stringValue="Bos", willContinue=True),
                    ],
                    willContinue=True,
                )
            ),
            gemini(
                gemini_call(
                    partialArgs=[
                        path("$.a.b[0]", stringValue="ton"),
                        path("$.a.b[1]", numberValue=2),
                        path("$['c d']", boolValue=False),
                        path("$.e", nullValue=None),
                    ],
                    willContinue=True,
                )
            ),
            gemini(gemini_call()),
            gemini(gemini_call(name="g", args={}), finish="STOP"),
        ],
        [
            Call(None, "f", {"a": {"b": ["Boston", 2]}, "c d": False, "e": None}, 3, 3),
            Call(None, "g", {}, 4, 4),
        ],
    ),
    Case(
        "arguments in parts that are never closed, and the reply goes on",
        "gemini",
        [
            gemini(gemini_call(name="f", willContinue=True)),
            gemini(gemini_call(partialArgs=[path("$.a", numberValue=1)], willContinue=True)),
            gemini(gemini_call(name="g", willContinue=True)),
            gemini(finish="STOP"),
        ],
        [Call(None, "f", {"a": 1}, 2, 2), Call(None, "g", {}, 3, 3)],
    ),
    Case(
        "arguments in parts that the stream cuts",
        "gemini",
        [
            gemini(gemini_call(name="f", willContinue=True)),
            gemini(
                gemini_call(
                    partialArgs=[path("$.a", stringValue="x", willContinue=True)],
                    willContinue=True,
                )
            ),
        ],
        [Call(None, "f", {"a": "x"}, None, None)],
    ),
    Case(
        "paths that do not fit",
        "gemini",
        [
            gemini(gemini_call(name="f", willContinue=True)),
            gemini(gemini_call(partialArgs=[path("$.a[9]", numberValue=1)], willContinue=True)),
            gemini(gemini_call()),
            gemini(finish="STOP"),
        ],
        [Call(None, "f", {"a": []}, None, None)],
    ),
    Case(
        "a malformed call",
        "gemini",
        [gemini(gemini_call(name="f", args={"a": 1}), finish="MALFORMED_FUNCTION_CALL")],
        [Call(None, "f", {"a": 1}, None, None)],
    ),
    Case(
        "whole calls without ids",
        "ollama",
        [
            {
                "message": {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {"function": {"index": 0, "name": "f", "arguments": {"a": 1}}},
                        {"function": {"index": 0, "name": "g"}},
                    ],
                },
                "done": False,
            },
            {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
        ],
        [Call(None, "f", {"a": 1}, 0, 0), Call(None, "g", {}, 1, 1)],
    ),
    Case(
        "metadata before the end",
        "bedrock",
        [
            {"messageStart": {"role": "assistant"}},
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Let me look."}}},
            {"contentBlockStop": {"contentBlockIndex": 0}},
            {
                "contentBlockStart": {
                    "contentBlockIndex": 1,
                    "start": {"toolUse": {"toolUseId": "t1", "name": "f"}},
                }
            },
            {
                "contentBlockDelta": {
                    "contentBlockIndex": 1,
                    "delta": {"toolUse": {"input": '{"a": 1}'}},
                }
            },
            {"contentBlockStop": {"contentBlockIndex": 1}},
            {
                "contentBlockStart": {
                    "contentBlockIndex": 2,
                    "start": {"toolUse": {"toolUseId": "t2", "name": "g"}},
                }
            },
            {"contentBlockDelta": {"contentBlockIndex": 2, "delta": {"toolUse": {"input": ""}}}},
            {"contentBlockStop": {"contentBlockIndex": 2}},
            {"metadata": {}},
            {"messageStop": {"stopReason": "tool_use"}},
        ],
        [Call("t1", "f", {"a": 1}, 5, 6), Call("t2", "g", {}, 8, 10)],
    ),
    Case(
        "a tool that the server runs",
        "bedrock",
        [
            {
                "contentBlockStart": {
                    "contentBlockIndex": 0,
                    "start": {
                        "toolUse": {"toolUseId": "s", "name": "search", "type": "server_tool_use"}
                    },
                }
            },
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{}"}}}},
            {"contentBlockStop": {"contentBlockIndex": 0}},
            {"messageStop": {"stopReason": "end_turn"}},
        ],
        [],
    ),
    Case(
        "cut off by the limit of tokens",
        "bedrock",
        [
            {
                "contentBlockStart": {
                    "contentBlockIndex": 0,
                    "start": {"toolUse": {"toolUseId": "t1", "name": "f"}},
                }
            },
            {"contentBlockStop": {"contentBlockIndex": 0}},
            {"messageStop": {"stopReason": "max_tokens"}},
        ],
        [Call("t1", "f", {}, 1, None)],
    ),
    Case(
        "an exception in the stream",
        "bedrock",
        [
            {
                "contentBlockStart": {
                    "contentBlockIndex": 0,
                    "start": {"toolUse": {"toolUseId": "t1", "name": "f"}},
                }
            },
            {"contentBlockStop": {"contentBlockIndex": 0}},
            {"modelStreamErrorException": {"message": "the model failed"}},
            {"messageStop": {"stopReason": "tool_use"}},
        ],
        [Call("t1", "f", {}, 1, None)],
    ),
    Case(
        "calls with their ends",
        "cohere",
        [
            {"type": "message-start", "delta": {"message": {"role": "assistant"}}},
            {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "I look."}}},
            {
                "type": "tool-call-start",
                "index": 0,
                "delta": {
                    "message": {
                        "tool_calls": {
                            "id": "t1",
                            "type": "function",
                            "function": {"name": "f", "arguments": ""},
                        }
                    }
                },
            },
            {
                "type": "tool-call-delta",
                "index": 0,
                "delta": {"message": {"tool_calls": {"function": {"arguments": '{"a": 1}'}}}},
            },
            {"type": "tool-call-end", "index": 0},
            {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
        ],
        [Call("t1", "f", {"a": 1}, 4, 4)],
    ),
    Case(
        "cut in a call",
        "cohere",
        [
            {
                "type": "tool-call-start",
                "index": 0,
                "delta": {
                    "message": {
                        "tool_calls": {"id": "t1", "function": {"name": "f", "arguments": '{"a'}}
                    }
                },
            },
            {"type": "message-end", "delta": {"finish_reason": "MAX_TOKENS"}},
        ],
        [Call("t1", "f", None, None, None, raw='{"a')],
    ),
]

CASES = [*CHAT, *ANTHROPIC, *RESPONSES, *OTHERS]


def raw_of(case: Case) -> bytes:
    """The bytes of a stream: JSON lines for Ollama, server-sent events for the others."""
    if case.provider == "ollama":
        return b"".join(json.dumps(event).encode() + b"\n" for event in case.events)
    return b"".join(
        b"data: " + (event if isinstance(event, str) else json.dumps(event)).encode() + b"\n\n"
        for event in case.events
    )
