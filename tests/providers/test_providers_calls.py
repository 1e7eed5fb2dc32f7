"""Replies of the newer formats, cut ones too; calls handed over as the SDKs have them."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from types import SimpleNamespace
from typing import Any

import pytest

from ethos_registry import CallResult, ConfigError, ToolCall, ToolRegistry, err, ok, provider
from ethos_registry.providers._by_name import PROVIDERS
from ethos_registry.types import MalformedCall
from registry_tools import EVERYTHING, made

pytestmark = pytest.mark.every_python


class Reason(StrEnum):
    STOP = "STOP"
    MAX_TOKENS = "MAX_TOKENS"


def objects(value: Any) -> Any:
    """The same with attributes instead of keys, as SDKs have it."""
    if isinstance(value, dict):
        remaining = ("args", "arguments", "input")
        return SimpleNamespace(
            **{key: item if key in remaining else objects(item) for key, item in value.items()}
        )
    return [objects(item) for item in value] if isinstance(value, list) else value


def responses(*calls: dict[str, Any], status: str = "completed") -> dict[str, Any]:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    items = [{"type": "function_call", "id": "fc_1", "status": "completed"} | c for c in calls]
    return {"status": status, "output": [reasoning, *items]}


def gemini(*parts: dict[str, Any], reason: Any = "STOP") -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": "hm", "thought": True}, *parts]}
    return {"candidates": [{"content": content, "finishReason": reason}]}


def ollama(*calls: dict[str, Any], reason: str = "stop") -> dict[str, Any]:
    message = {"role": "assistant", "content": "", "tool_calls": list(calls)}
    return {"message": message, "done": True, "done_reason": reason}


def bedrock(*uses: dict[str, Any], reason: str = "tool_use") -> dict[str, Any]:
    content = [{"text": "hm"}, *({"toolUse": use} for use in uses)]
    return {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": reason}


def cohere(*calls: dict[str, Any], reason: str = "TOOL_CALL") -> dict[str, Any]:
    return {"message": {"role": "assistant", "tool_calls": list(calls)}, "finish_reason": reason}


def function(name: str, arguments: Any, **fields: Any) -> dict[str, Any]:
    return fields | {"function": {"name": name, "arguments": arguments}}


WHOLE: dict[str, tuple[Any, list[ToolCall]]] = {
    "openai_responses": (
        responses(
            {"call_id": "c1", "name": "stat", "arguments": '{"path":"a"}'},
            {"call_id": "c2", "name": "now", "arguments": ""},
        ),
        [ToolCall("c1", "stat", '{"path":"a"}'), ToolCall("c2", "now", "")],
    ),
    "gemini": (
        gemini(
            {"functionCall": {"name": "stat", "args": {"path": "a"}}},
            {"functionCall": {"name": "now", "id": "f1"}},
        ),
        [ToolCall("call_0", "stat", {"path": "a"}), ToolCall("f1", "now", {})],
    ),
    "ollama": (
        ollama(function("stat", {"path": "a"}), function("now", {}, id="o1")),
        [ToolCall("call_0", "stat", {"path": "a"}), ToolCall("o1", "now", {})],
    ),
    "bedrock": (
        bedrock(
            {"toolUseId": "t1", "name": "stat", "input": {"path": "a"}},
            {"toolUseId": "t2", "name": "now", "input": {}},
        ),
        [ToolCall("t1", "stat", {"path": "a"}), ToolCall("t2", "now", {})],
    ),
    "cohere": (
        cohere(
            function("stat", '{"path":"a"}', id="c1", type="function"),
            function("now", None, id="c2"),
        ),
        [ToolCall("c1", "stat", '{"path":"a"}'), ToolCall("c2", "now", "")],
    ),
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("shape", [dict, objects], ids=["dicts", "objects"])
def test_a_whole_reply_gives_its_calls_in_order(name: str, shape: Any) -> None:
    reply, expected = WHOLE[name]
    assert provider(name).calls(shape(reply)) == expected


CUT = {
    "openai_responses": responses(
        {"call_id": "c1", "name": "a", "arguments": "{}"},
        {"call_id": "c2", "name": "b", "arguments": '{"x":'},
        status="incomplete",
    ),
    "gemini": gemini(
        {"functionCall": {"name": "a", "args": {}, "id": "c1"}},
        {"functionCall": {"name": "b", "args": {}, "id": "c2"}},
        reason=Reason.MAX_TOKENS,
    ),
    "ollama": ollama(function("a", {}, id="c1"), function("b", {}, id="c2"), reason="length"),
    "bedrock": bedrock(
        {"toolUseId": "c1", "name": "a", "input": {}},
        {"toolUseId": "c2", "name": "b", "input": {}},
        reason="max_tokens",
    ),
    "cohere": cohere(
        function("a", "{}", id="c1"), function("b", "{", id="c2"), reason="MAX_TOKENS"
    ),
}


@pytest.mark.parametrize("name", CUT)
def test_the_last_call_of_a_cut_reply_does_not_run(name: str) -> None:
    first, last = provider(name).calls(CUT[name])
    assert isinstance(first, ToolCall)
    assert isinstance(last, MalformedCall)
    assert (last.tool_call_id, last.name) == ("c2", "b")
    assert "call the tool again" in last.problem


def test_an_item_that_says_it_is_incomplete_does_not_run() -> None:
    whole = {"call_id": "c1", "name": "a", "arguments": "{}", "status": "in_progress"}
    cut = {"call_id": "c2", "name": "b", "arguments": '{"x":1}', "status": "incomplete"}
    first, second = provider("openai_responses").calls(responses(whole, cut))
    assert first == ToolCall("c1", "a", "{}")
    assert isinstance(second, MalformedCall)
    assert provider("openai_responses").calls(responses(whole)["output"]) == [first]


@pytest.mark.parametrize("name", ["openai", "ollama", "cohere"])
def test_a_call_that_is_not_in_a_list_is_one(name: str) -> None:
    call = {"id": "c1", "function": {"name": "read", "arguments": {"path": "a"}}}
    [found] = provider(name).calls({"role": "assistant", "tool_calls": call})
    assert (found.tool_call_id, found.name) == ("c1", "read")


def test_partial_arguments_of_gemini_do_not_run() -> None:
    part = {"functionCall": {"name": "a", "args": {"x": 1}, "willContinue": True}}
    [call] = provider("gemini").calls(gemini(part))
    assert isinstance(call, MalformedCall)


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "SAFETY", "STOP"])
def test_a_candidate_without_content_has_no_calls(reason: str) -> None:
    assert provider("gemini").calls({"candidates": [{"finishReason": reason}]}) == []
    assert provider("gemini").calls({"candidates": []}) == []


@pytest.mark.parametrize("name", sorted(set(PROVIDERS)))
@pytest.mark.parametrize("reply", [None, "text", {}, {"x": 1}, 5, object()])
def test_what_is_no_reply_is_refused(name: str, reply: Any) -> None:
    with pytest.raises(ConfigError, match="a reply of"):
        provider(name).calls(reply)


@pytest.mark.parametrize("name", WHOLE)
def test_a_call_that_names_no_tool_is_answered_all_the_same(name: str) -> None:
    reply = {
        "openai_responses": responses({"call_id": "c1", "arguments": "{}"}),
        "gemini": gemini({"functionCall": {"args": {}, "id": "c1"}}),
        "ollama": ollama({"id": "c1", "function": {"arguments": {}}}),
        "bedrock": bedrock({"toolUseId": "c1", "input": {}}),
        "cohere": cohere({"id": "c1", "function": {"arguments": "{}"}}),
    }[name]
    assert provider(name).calls(reply) == [MalformedCall("c1", "", "the call names no tool")]


@pytest.mark.parametrize("name", sorted(set(PROVIDERS)))
def test_no_results_give_no_messages_and_results_keep_their_order(name: str) -> None:
    assert provider(name).messages([]) == []
    results = [
        CallResult(f"i{n}", f"n{n}", err(f"v{n}") if n == "2" else ok(f"v{n}")) for n in "123"
    ]
    written = str(provider(name).messages(results))
    assert sorted(written.index(f"v{n}") for n in "123") == [written.index(f"v{n}") for n in "123"]


@pytest.mark.parametrize("name", sorted(set(PROVIDERS)))
def test_no_message_is_blank_and_none_holds_a_lone_surrogate(name: str) -> None:
    results = [CallResult("1", "a", ok("  ")), CallResult("2", "b", ok("x\ud800y"))]
    written = str(provider(name).messages(results))
    assert "(no output)" in written
    assert "x\N{REPLACEMENT CHARACTER}y" in written


# Objects in `execute`


@dataclass
class ToolUseBlock:
    id: str
    name: str
    input: Any
    type: str = "tool_use"


@dataclass
class Function:
    name: str
    arguments: Any


@dataclass
class ChatCall:
    id: str
    function: Function
    type: str = "function"


@dataclass
class ResponseCall:
    arguments: str
    call_id: str
    name: str
    id: str = "fc_9"


@dataclass
class FunctionCall:
    name: str
    args: Any
    id: str | None = None


@dataclass
class Part:
    function_call: FunctionCall
    text: None = None


@dataclass
class OllamaCall:
    function: Function


def echo(args: Any, context: Any) -> Any:
    return {"ok": True, "value": f"{context.tool_call_id} {args}"}


@pytest.mark.parametrize(
    ("call", "expected_id"),
    [
        (ToolUseBlock("t1", "echo", {"a": 1}), "t1"),
        (ChatCall("c1", Function("echo", '{"a": 1}')), "c1"),
        (ResponseCall('{"a": 1}', "r1", "echo"), "r1"),
        (FunctionCall("echo", {"a": 1}, "f1"), "f1"),
        (FunctionCall("echo", {"a": 1}), "call_0"),
        (Part(FunctionCall("echo", {"a": 1})), "call_0"),
        (OllamaCall(Function("echo", {"a": 1})), "call_0"),
        ({"toolUse": {"toolUseId": "b1", "name": "echo", "input": {"a": 1}}}, "b1"),
        ({"toolUseId": "b2", "name": "echo", "input": {"a": 1}}, "b2"),
        ({"functionCall": {"name": "echo", "args": {"a": 1}, "id": "g1"}}, "g1"),
    ],
)
def test_calls_are_taken_as_the_sdks_have_them(call: Any, expected_id: str) -> None:
    view = ToolRegistry([made("echo", execute=echo)]).view(EVERYTHING)
    [result] = asyncio.run(view.execute([call]))
    assert result.tool_call_id == expected_id
    assert result.text == f"{expected_id} {{'a': 1}}"
    if expected_id != "call_0":
        assert ToolCall.parse(call).tool_call_id == expected_id


def test_an_sdks_own_blocks_are_answered_under_their_ids() -> None:
    types = pytest.importorskip("anthropic.types")
    block = types.ToolUseBlock(type="tool_use", id="toolu_1", name="echo", input={"a": 1})
    view = ToolRegistry([made("echo", execute=echo)]).view(EVERYTHING)
    results = asyncio.run(view.execute([block, block.model_copy(update={"id": "toolu_2"})]))
    assert [result.tool_call_id for result in results] == ["toolu_1", "toolu_2"]
    assert all(result.ok for result in results)


@pytest.mark.parametrize("call", [None, 5, "call", b"call", [1], object(), print])
def test_what_is_no_call_is_answered_by_its_position(call: Any) -> None:
    registry = ToolRegistry([made("echo", execute=echo)])
    calls = [{"id": "x", "name": "echo"}, call]
    [first, result] = registry.execute_parallel_sync(calls)
    [only] = registry.view(EVERYTHING).execute_sync(calls)
    assert only.ok
    assert first.ok
    assert result.tool_call_id == "1"
    assert getattr(result.result, "code", None) == "input_invalid"
    assert result.text.startswith("malformed call: a call")


@pytest.mark.parametrize(
    "call",
    [
        FunctionCall("echo", {}, 5),  # type: ignore[arg-type]
        FunctionCall(5, {}, "f1"),  # type: ignore[arg-type]
        SimpleNamespace(name="echo", id=["x"]),
        SimpleNamespace(function="echo", id="f1"),
    ],
)
def test_an_object_with_a_field_of_the_wrong_kind_is_answered_all_the_same(call: Any) -> None:
    view = ToolRegistry([made("echo", execute=echo)]).view(EVERYTHING)
    [result] = asyncio.run(view.execute([call]))
    assert getattr(result.result, "code", None) == "input_invalid"
    assert result.tool_call_id in ("f1", "0")


def test_an_object_whose_fields_raise_is_answered_all_the_same() -> None:
    class Hostile:
        @property
        def name(self) -> str:
            raise RuntimeError("no")

    view = ToolRegistry([made("echo", execute=echo)]).view(EVERYTHING)
    [result] = asyncio.run(view.execute([Hostile()]))
    assert getattr(result.result, "code", None) == "input_invalid"


def test_what_openai_wants_again_is_repeated_in_the_result() -> None:
    caller = {"type": "program", "caller_id": "p1"}
    item = {"call_id": "c1", "name": "echo", "arguments": "{}", "caller": caller}
    reply = responses(item | {"namespace": "crm"}, item | {"call_id": "c2", "caller": None})
    calls = provider("openai_responses").calls(reply)
    assert calls == [ToolCall("c1", "echo", "{}"), ToolCall("c2", "echo", "{}")]
    view = ToolRegistry([made("echo", execute=echo)]).view(EVERYTHING)
    first, second = asyncio.run(view.execute(calls)).to_messages("openai_responses")
    assert (first["caller"], first["namespace"]) == (caller, "crm")
    assert second.keys() == {"type", "call_id", "output"}
    items = pytest.importorskip("openai.types.responses")
    parsed = items.ResponseFunctionToolCall.model_validate(reply["output"][1])
    [call] = provider("openai_responses").calls([parsed])
    [message] = provider("openai_responses").messages([CallResult(call.tool_call_id, "e", ok("x"))])
    assert message["caller"] == caller
    assert json.dumps(message)


def test_what_anthropic_wants_again_is_repeated_in_the_result() -> None:
    block = {"type": "tool_use", "id": "t1", "name": "a", "input": {}, "toolset_name": "browser"}
    [call] = provider("anthropic").calls({"content": [block], "stop_reason": "tool_use"})
    [message] = provider("anthropic").messages([CallResult(call.tool_call_id, "a", ok("x"))])
    assert message["content"][0]["toolset_name"] == "browser"


PLAIN_BATCH = """
import sys
from ethos_registry import ToolRegistry, tool

@tool
def greet(name: str) -> str:
    "Greet."
    return f"hello {name}"

calls = [{"id": "1", "name": "greet", "args": {"name": "Ada"}}]
[result] = ToolRegistry([greet]).execute_parallel_sync(calls, None)
assert result.text == "hello Ada"
formats = "anthropic openai_chat openai_responses gemini ollama bedrock cohere".split()
print([name for name in formats if f"ethos_registry.providers._{name}" in sys.modules])
"""


def test_a_batch_of_plain_dicts_imports_no_provider() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PLAIN_BATCH], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
    assert importlib.util.find_spec("ethos_registry.providers._openai_chat") is not None
