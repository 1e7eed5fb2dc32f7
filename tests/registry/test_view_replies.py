"""`view.execute` takes calls, content blocks and whole replies of every provider."""

import asyncio

import pytest

from ethos_registry import ConfigError, Personality, ToolCall, ToolRegistry, provider
from ethos_registry.agents import AgentCatalog
from wire_clients import sdk_objects

TEXT = {"type": "text", "text": "I look it up."}
CHAT_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'},
}
ARGUMENTS = {"a": 2, "b": 3}
MESSAGE = {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}
OLLAMA_CALL = {"function": {"name": "add", "arguments": ARGUMENTS}}
USE = {"type": "tool_use", "id": "c1", "name": "add", "input": ARGUMENTS}
FUNCTION_CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "add",
    "arguments": '{"a": 2, "b": 3}',
}
BEDROCK_USE = {"toolUse": {"toolUseId": "c1", "name": "add", "input": ARGUMENTS}}
GEMINI_CALL = {"functionCall": {"id": "c1", "name": "add", "args": ARGUMENTS}}

REPLIES = {
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "stop_reason": "tool_use",
        "content": [{"type": "thinking", "thinking": "…", "signature": "s"}, TEXT, USE],
    },
    "openai": {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": MESSAGE}]},
    "openai message": MESSAGE,
    "openai choice": {"index": 0, "finish_reason": "tool_calls", "message": MESSAGE},
    "openai_responses": {
        "status": "completed",
        "output": [{"type": "reasoning", "id": "rs_1", "summary": []}, FUNCTION_CALL],
    },
    "gemini": {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "I look"}, GEMINI_CALL]},
                "finishReason": "STOP",
            }
        ]
    },
    "gemini content": {"role": "model", "parts": [{"text": "I look"}, GEMINI_CALL]},
    "ollama": {
        "model": "m",
        "done": True,
        "message": {"role": "assistant", "content": "", "tool_calls": [OLLAMA_CALL]},
    },
    "bedrock": {
        "output": {"message": {"role": "assistant", "content": [{"text": "I look"}, BEDROCK_USE]}},
        "stopReason": "tool_use",
    },
    "cohere": {
        "id": "x",
        "finish_reason": "TOOL_CALL",
        "message": {"role": "assistant", "tool_plan": "I look", "tool_calls": [CHAT_CALL]},
    },
}
ANSWERS = {
    "anthropic": {**REPLIES["anthropic"], "content": [TEXT], "stop_reason": "end_turn"},
    "anthropic text": {"role": "assistant", "content": "done"},
    "openai": {"choices": [{"message": {"role": "assistant", "content": "done"}}]},
    "openai message": {"role": "assistant", "content": "done", "tool_calls": None},
    "openai_responses": {
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text"}]}]
    },
    "gemini": {"candidates": [{"content": {"parts": [{"text": "done"}]}}]},
    "gemini blocked": {"candidates": [{"finishReason": "SAFETY"}]},
    "ollama": {"done": True, "message": {"role": "assistant", "content": "done"}},
    "bedrock": {
        "output": {"message": {"role": "assistant", "content": [{"text": "done"}]}},
        "stopReason": "end_turn",
    },
    "cohere": {
        "finish_reason": "COMPLETE",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
    },
    "no blocks": [],
    "text blocks": [TEXT, {"type": "refusal", "refusal": "no"}],
}


def view():
    registry = ToolRegistry()

    @registry.tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    return registry.view(Personality("p"))


def executed(reply, shown=None):
    return asyncio.run((shown or view()).execute(reply))


@pytest.mark.parametrize("name", REPLIES)
def test_a_whole_reply_runs_its_calls(name, caplog):
    results = executed(REPLIES[name])
    assert [(each.name, each.text) for each in results] == [("add", "5")]
    if not name.startswith("ollama"):
        assert results[0].tool_call_id == "c1"
    assert caplog.records == []


@pytest.mark.parametrize("name", ANSWERS)
def test_a_reply_without_calls_gives_no_results(name, caplog):
    results = executed(ANSWERS[name])
    assert not results
    assert results.to_messages("anthropic") == []
    assert caplog.records == []


@pytest.mark.parametrize("name", sdk_objects(REPLIES))
def test_sdk_objects_are_read_like_dicts(name, caplog):
    reply = sdk_objects(REPLIES)[name]
    results = executed(reply)
    assert [(each.name, each.text) for each in results] == [("add", "5")]
    assert caplog.records == []


@pytest.mark.parametrize("name", sdk_objects(ANSWERS))
def test_sdk_objects_without_calls_give_no_results(name, caplog):
    assert not executed(sdk_objects(ANSWERS)[name])
    assert caplog.records == []


def test_content_blocks_may_be_sdk_objects():
    message = sdk_objects(REPLIES)["anthropic"]
    results = executed(message.content)
    assert [each.tool_call_id for each in results] == ["c1"]
    assert results.to_messages("anthropic")[0]["content"][0]["tool_use_id"] == "c1"
    response = sdk_objects(REPLIES)["openai_responses"]
    assert [each.text for each in executed(response.output)] == ["5"]


@pytest.mark.parametrize(
    "call",
    [
        USE,
        CHAT_CALL,
        FUNCTION_CALL,
        BEDROCK_USE,
        GEMINI_CALL,
        ToolCall("c1", "add", ARGUMENTS),
        {"id": "c1", "name": "add", "args": ARGUMENTS},
        {"toolCallId": "c1", "name": "add", "args": ARGUMENTS},
        {"type": "a_later_call", "id": "c1", "name": "add", "input": ARGUMENTS},
    ],
)
def test_a_call_is_taken_alone_and_among_blocks(call, caplog):
    for reply in (
        [call],
        call,
        (call,),
        [TEXT, call, {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}],
    ):
        [result] = executed(reply)
        assert (result.tool_call_id, result.text) == ("c1", "5")
    assert caplog.records == []


OTHERS = [
    TEXT,
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
    {"type": "mcp_tool_use", "id": "m1", "name": "read", "input": {}, "server_name": "s"},
    {"type": "mcp_call", "id": "m1", "name": "read", "arguments": "{}", "server_label": "s"},
    {"type": "mcp_approval_request", "id": "m1", "name": "read", "arguments": "{}"},
    {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
    {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    {"type": "computer_call", "id": "cu", "call_id": "c", "action": {}},
    {"type": "redacted_thinking", "data": "x"},
    {"type": "image", "source": {}},
    {"text": "hello", "thoughtSignature": "x"},
    {"inlineData": {"mimeType": "image/png", "data": ""}},
    {"reasoningContent": {"text": "x"}},
    {"toolUse": {"toolUseId": "s", "name": "search", "input": {}, "type": "server_tool_use"}},
]


@pytest.mark.parametrize("element", OTHERS)
def test_what_is_no_call_is_skipped_silently(element, caplog):
    assert [each.text for each in executed([element, USE])] == ["5"]
    assert not executed([element])
    assert caplog.records == []


def test_an_unknown_type_is_skipped_with_one_warning(caplog):
    shown = view()
    unknown = {"type": "hologram", "data": "x"}
    for _ in range(3):
        assert [each.text for each in executed([unknown, USE, unknown], shown)] == ["5"]
        assert [
            each.text
            for each in executed({**REPLIES["anthropic"], "content": [unknown, USE]}, shown)
        ] == ["5"]
    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert "'hologram'" in record.getMessage()


@pytest.mark.parametrize(
    "call",
    [
        {"type": "tool_use", "id": "c1"},
        {"type": "tool_use", "id": "c1", "name": "add", "input": "no JSON"},
        {"type": "tool_use", "id": 5, "name": "add", "input": ARGUMENTS},
        {"type": "tool_use", "id": "c1", "name": None, "input": ARGUMENTS},
        {"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{"},
        {"type": "function", "id": "c1"},
        {"id": "c1", "name": 5, "args": {}},
        {"id": None, "name": "add", "args": ARGUMENTS},
        {"name": "add", "args": ARGUMENTS},
        {"toolUse": {"toolUseId": "c1"}},
    ],
)
def test_a_malformed_call_is_answered(call):
    [first, second] = executed([call, {**USE, "id": "c2"}])
    assert first.result.code == "input_invalid"
    assert (second.tool_call_id, second.text) == ("c2", "5")


@pytest.mark.parametrize(
    "reply", [None, 5, "text", b"text", {}, {"a": 1}, object(), {"role": "user", "content": "x"}]
)
def test_any_other_container_is_refused_before_a_tool_starts(reply):
    with pytest.raises(ConfigError, match="expected calls, content blocks or a provider's reply"):
        executed(reply)


def test_calls_that_were_cut_off_do_not_run():
    reply = {**REPLIES["anthropic"], "stop_reason": "max_tokens"}
    [result] = executed(reply)
    assert result.result.code == "input_invalid"


def test_the_loop_of_a_conversation_ends():
    shown, turns = view(), [REPLIES["anthropic"], ANSWERS["anthropic"]]
    history = []
    for reply in turns:
        results = executed(reply, shown)
        if not results:
            break
        history += results.to_messages("anthropic")
    assert len(history) == 1


def test_catalogues_streams_and_searches_take_replies_too():
    class Owner:
        id = "owner"

        def register_tools(self, catalog):
            @catalog.tool
            def add(a: int, b: int) -> int:
                """Add two numbers."""
                return a + b

    catalog = AgentCatalog([Owner()])
    catalog.start()
    assert [each.text for each in executed(REPLIES["openai"], catalog.view("owner"))] == ["5"]

    async def streamed():
        return [each.text async for each in view().stream(REPLIES["gemini"])]

    assert asyncio.run(streamed()) == ["5"]


def test_fields_that_an_answer_repeats_survive_a_list_of_items():
    item = {**FUNCTION_CALL, "namespace": "math"}
    results = executed([item])
    expected = asyncio.run(view().execute(provider("openai_responses").calls([item])))
    assert results.to_messages("openai_responses") == expected.to_messages("openai_responses")
