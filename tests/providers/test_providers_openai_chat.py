"""OpenAI Chat Completions: the shapes of the wire, held against what the SDK sends and returns."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from ethos_registry import (
    CallResult,
    ConfigError,
    Personality,
    ToolCall,
    ToolRegistry,
    err,
    ok,
    provider,
)
from ethos_registry.providers._wire_format import ProviderDefinition
from ethos_registry.types import MalformedCall
from ethos_registry.types._json_values import freeze
from registry_tools import EVERYTHING, made

pytestmark = pytest.mark.every_python

OPENAI = provider("openai")
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}


def shown(name: str, strict: bool = False) -> ProviderDefinition:
    definition = {"name": name, "description": f"Do {name}.", "parameters": SCHEMA}
    return ProviderDefinition(freeze(definition, "definition"), strict=strict)


def plain(value: Any) -> Any:
    """The objects of an SDK, as far as attributes go."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: plain(item) for key, item in value.items()})
    return [plain(item) for item in value] if isinstance(value, list) else value


def call(identifier: str, name: str = "read", arguments: Any = "{}") -> dict[str, Any]:
    return {
        "id": identifier,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def message(*tool_calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "tool_calls": list(tool_calls),
    } | fields


def completion(*tool_calls: dict[str, Any], finish_reason: Any = "tool_calls") -> dict[str, Any]:
    choice = {
        "index": 0,
        "finish_reason": finish_reason,
        "logprobs": None,
        "message": message(*tool_calls),
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": None,
    }


def test_a_definition_has_exactly_the_fields_of_the_wire() -> None:
    assert [OPENAI.definition(tool) for tool in (shown("read"), shown("zip", strict=True))] == [
        {
            "type": "function",
            "function": {"name": "read", "description": "Do read.", "parameters": SCHEMA},
        },
        {
            "type": "function",
            "function": {
                "name": "zip",
                "description": "Do zip.",
                "parameters": SCHEMA,
                "strict": True,
            },
        },
    ]


def test_the_order_is_by_name_within_segments_and_there_is_no_marker() -> None:
    registry = ToolRegistry([made("mcp__x__a"), made("b"), made("a")])
    registry.register(made("p"), plugin_id="p")
    view = registry.view(Personality("all", plugins=["p"], mcp_servers=["x"]))
    definitions = view.definitions("openai", breakpoints=2)
    assert [each["function"]["name"] for each in definitions] == ["a", "b", "p", "mcp__x__a"]
    assert "cache_control" not in json.dumps(definitions)
    flat = view.definitions("openai", order="name")
    assert [each["function"]["name"] for each in flat] == ["a", "b", "mcp__x__a", "p"]


def test_wrong_options_are_refused_though_they_change_nothing() -> None:
    with pytest.raises(ConfigError, match="breakpoints"):
        ToolRegistry([made("a")]).view(EVERYTHING).definitions("openai", breakpoints=5)


def test_a_definition_is_made_of_fresh_plain_dicts() -> None:
    tool = shown("read")
    first = OPENAI.definition(tool)
    assert type(first) is dict
    assert type(first["function"]) is dict
    first["function"]["name"] = "changed"
    assert OPENAI.definition(tool)["function"]["name"] == "read"
    assert tool.definition["name"] == "read"


@pytest.mark.parametrize("wrap", [plain, lambda reply: reply], ids=["objects", "dicts"])
def test_a_completion_a_choice_and_a_message_give_the_same_calls(wrap: Any) -> None:
    reply = completion(call("c1", arguments='{"path": "é'), call("c2", "write", '{"n":1}'))
    expected = [ToolCall("c1", "read", '{"path": "é'), ToolCall("c2", "write", '{"n":1}')]
    assert OPENAI.calls(wrap(reply)) == expected
    assert OPENAI.calls(wrap(reply["choices"][0])) == expected
    assert OPENAI.calls(wrap(reply["choices"][0]["message"])) == expected


def test_of_several_choices_the_first_counts() -> None:
    reply = completion(call("c1"))
    reply["choices"].append(completion(call("other"))["choices"][0])
    assert OPENAI.calls(reply) == [ToolCall("c1", "read", "{}")]


@pytest.mark.parametrize("reason", ["length", "content_filter", "other", "error"])
def test_the_last_call_of_a_reply_that_was_cut_off_never_runs(reason: str) -> None:
    cut = OPENAI.calls(completion(call("c1"), call("c2", "write"), finish_reason=reason))
    assert cut[0] == ToolCall("c1", "read", "{}")
    assert isinstance(cut[1], MalformedCall)
    assert (cut[1].tool_call_id, cut[1].name) == ("c2", "write")
    assert f"finish_reason {reason}" in cut[1].problem


@pytest.mark.parametrize("reason", ["tool_calls", "stop", "function_call", None])
def test_a_reply_that_ended_by_itself_runs_all(reason: str | None) -> None:
    assert OPENAI.calls(completion(call("c1"), finish_reason=reason)) == [
        ToolCall("c1", "read", "{}")
    ]


def test_ids_are_kept_and_missing_ones_counted() -> None:
    calls = [call("same"), call("same"), call(""), {"function": {"name": "read"}}]
    assert OPENAI.calls(completion(*calls)) == [
        ToolCall("same", "read", "{}"),
        ToolCall("same", "read", "{}"),
        ToolCall("call_2", "read", "{}"),
        ToolCall("call_3", "read", ""),
    ]


def test_arguments_that_a_server_sends_as_an_object_stay_one() -> None:
    assert OPENAI.calls(completion(call("c1", arguments={"path": "a"}))) == [
        ToolCall("c1", "read", {"path": "a"})
    ]


def test_a_call_that_cannot_be_run_is_answered_all_the_same() -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "grammar", "input": "{}"}}
    first, second = OPENAI.calls(plain(completion(custom, call("c2", name=""))))
    assert isinstance(first, MalformedCall)
    assert (first.tool_call_id, first.name) == ("c1", "grammar")
    assert second == MalformedCall("c2", "", "the call names no tool")


def test_the_legacy_function_call_is_read() -> None:
    legacy = message(function_call={"name": "read", "arguments": '{"path":"a"}'}, tool_calls=None)
    assert OPENAI.calls(legacy) == [ToolCall("call_0", "read", '{"path":"a"}')]


def test_a_reply_of_text_has_no_calls() -> None:
    assert OPENAI.calls(completion(finish_reason="stop")) == []
    assert OPENAI.calls(message(content="hello", tool_calls=None)) == []


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "text",
        [],
        {},
        {"choices": []},
        {"choices": [{"index": 0, "delta": {"tool_calls": [call("c1")]}}]},
        {"error": {"message": "overloaded"}},
        {"role": "user", "content": "hi"},
        object(),
    ],
)
def test_what_is_no_whole_reply_is_refused(reply: object) -> None:
    with pytest.raises(ConfigError, match="a reply of `openai_chat` is a whole ChatCompletion"):
        OPENAI.calls(reply)


def test_each_result_is_a_tool_message_and_an_error_says_so() -> None:
    results = [
        CallResult("c2", "read", ok("fine")),
        CallResult("c1", "write", err("no such file")),
        CallResult("c3", "write", err("ERROR: disk full")),
        CallResult("c4", "write", err("errors.log is locked")),
        CallResult("c5", "read", ok("")),
        CallResult("c6", "read", err("")),
        CallResult("c7", "read", ok("a\udfffé")),
        CallResult("c8", "read", ok("\n")),
    ]
    messages = OPENAI.messages(results)
    assert [each["content"] for each in messages] == [
        "fine",
        "Error: no such file",
        "ERROR: disk full",
        "Error: errors.log is locked",
        "(no output)",
        "Error: (no message)",
        "a\ufffdé",
        "(no output)",
    ]
    assert messages[0] == {"role": "tool", "tool_call_id": "c2", "content": "fine"}
    assert all(set(each) == {"role", "tool_call_id", "content"} for each in messages)
    assert OPENAI.messages([]) == []


def test_both_names_are_the_same_provider() -> None:
    assert provider("openai_chat") is OPENAI
    assert OPENAI.name == "openai_chat"


def test_calls_in_the_form_of_anthropic_are_reported_and_not_left_out() -> None:
    block = {"type": "tool_use", "id": "a", "name": "stat", "input": {}}
    with pytest.raises(ConfigError, match=r'read it by `provider\("anthropic"\)`'):
        provider("openai").calls({"role": "assistant", "content": [block]})
    said = {"role": "assistant", "content": [{"type": "text", "text": "Nothing to call."}]}
    assert provider("openai").calls(said) == []
