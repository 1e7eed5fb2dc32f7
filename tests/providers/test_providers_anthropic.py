"""Anthropic Messages: the shapes of the wire, held against what the SDK sends and returns."""

import copy
import json
from collections.abc import Iterable
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
from registry_tools import EVERYTHING, made, names

pytestmark = pytest.mark.every_python

ANTHROPIC = provider("anthropic")
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string", "enum": ["b", "a", "é"]}},
    "required": ["path"],
    "additionalProperties": False,
}
EPHEMERAL = {"type": "ephemeral"}


def shown(name: str, strict: bool = False) -> ProviderDefinition:
    definition = {"name": name, "description": f"Do {name}.", "parameters": SCHEMA}
    return ProviderDefinition(freeze(definition, "definition"), strict=strict)


MIXED = ["mcp__x__a", "write", "Zoom", "mcp__a__z", "alarm", "Bash"]
OF_A_PLUGIN = ("Zoom", "alarm")


def definitions(tools: Iterable[str], **options: Any) -> list[dict[str, Any]]:
    """What a view of tools of these names shows."""
    registry = ToolRegistry()
    for name in tools:
        registry.register(made(name), plugin_id="p" if name in OF_A_PLUGIN else None)
    personality = Personality("all", plugins=["p"], mcp_servers=["a", "x"])
    view = registry.view(personality, allow_unmatched=True)
    return view.definitions("anthropic", **options)


def plain(value: Any) -> Any:
    """The objects of an SDK, as far as attributes go."""
    if isinstance(value, dict):
        # `input` is a plain dict in the SDK's blocks too.
        return SimpleNamespace(
            **{key: item if key == "input" else plain(item) for key, item in value.items()}
        )
    return [plain(item) for item in value] if isinstance(value, list) else value


def message(*content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    } | fields


def use(identifier: str, name: str = "read", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identifier, "name": name, "input": given}


TEXT = {"type": "text", "text": "I will look"}


def test_a_definition_has_exactly_the_fields_of_the_wire() -> None:
    plain_fields = {"name": "read", "description": "Do read.", "input_schema": SCHEMA}
    assert ANTHROPIC.definition(shown("read")) == plain_fields
    assert ANTHROPIC.definition(shown("read", strict=True)) == plain_fields | {"strict": True}
    strict = made("read", description="Do read.", schema=SCHEMA, strict=True)
    assert ToolRegistry([strict]).view(EVERYTHING).definitions("anthropic") == [
        plain_fields | {"strict": True, "cache_control": EPHEMERAL}
    ]


def test_the_bytes_are_the_author_s_key_order() -> None:
    assert json.dumps(ANTHROPIC.definition(shown("read"))).startswith(
        '{"name": "read", "description": "Do read.", "input_schema": {"type": "object", '
        '"properties": {"path": {"type": "string", "enum": ["b", "a"'
    )


def test_the_order_is_by_name_within_built_in_plugin_mcp() -> None:
    expected = ["Bash", "write", "Zoom", "alarm", "mcp__a__z", "mcp__x__a"]
    assert names(definitions(MIXED)) == expected
    assert names(definitions(reversed(MIXED))) == expected


def test_one_flat_list_and_the_order_of_registration_can_be_asked_for() -> None:
    assert names(definitions(MIXED, order="name")) == [
        "Bash",
        "Zoom",
        "alarm",
        "mcp__a__z",
        "mcp__x__a",
        "write",
    ]
    assert names(definitions(MIXED, order="registration")) == MIXED


def marked(definitions: list[dict[str, Any]]) -> list[str]:
    return [each["name"] for each in definitions if each.get("cache_control") == EPHEMERAL]


@pytest.mark.parametrize(
    ("breakpoints", "expected"), [(0, []), (1, ["mcp__x__a"]), (2, ["write", "mcp__x__a"])]
)
def test_markers_stand_on_the_last_tool_and_at_the_end_of_the_built_in_ones(
    breakpoints: int, expected: list[str]
) -> None:
    assert marked(definitions(MIXED, breakpoints=breakpoints)) == expected


def test_the_default_is_one_marker() -> None:
    assert marked(definitions(MIXED)) == ["mcp__x__a"]


def test_ends_that_coincide_are_marked_once() -> None:
    assert marked(definitions(["a", "b"], breakpoints=2)) == ["b"]
    assert marked(definitions(["mcp__x__m"], breakpoints=2)) == ["mcp__x__m"]
    assert definitions([], breakpoints=2) == []


@pytest.mark.parametrize("breakpoints", [-1, 3, 1.0, True, None, "1"])
def test_other_numbers_of_markers_are_refused(breakpoints: Any) -> None:
    with pytest.raises(ConfigError, match="breakpoints"):
        definitions(MIXED, breakpoints=breakpoints)


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ConfigError, match="`order` must be one of 'segments'"):
        definitions(MIXED, order="shuffled")


def test_a_definition_is_a_fresh_plain_dict_and_the_registered_one_stays() -> None:
    tool = shown("read")
    before = copy.deepcopy(tool.definition)
    first = ANTHROPIC.definition(tool)
    assert type(first) is dict
    first["name"] = "changed"
    assert ANTHROPIC.definition(tool)["name"] == "read"
    assert tool.definition == before
    view = ToolRegistry([made("read")]).view(EVERYTHING)
    marker = view.definitions("anthropic")[0]["cache_control"]
    with pytest.raises(TypeError):
        marker["ttl"] = "1h"
    assert view.definitions("anthropic")[0]["cache_control"] == EPHEMERAL


@pytest.mark.parametrize("wrap", [plain, lambda reply: reply], ids=["objects", "dicts"])
def test_tool_use_blocks_become_calls_in_order(wrap: Any) -> None:
    reply = message(TEXT, use("t1", path="a"), use("t2", "write", text="é", deep={"x": [1]}))
    assert ANTHROPIC.calls(wrap(reply)) == [
        ToolCall("t1", "read", {"path": "a"}),
        ToolCall("t2", "write", {"text": "é", "deep": {"x": [1]}}),
    ]


def test_blocks_that_the_server_runs_are_none_of_ours() -> None:
    reply = message(
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "mcp_tool_use", "id": "m1", "name": "echo", "server_name": "s", "input": {}},
        use("t1"),
    )
    assert ANTHROPIC.calls(reply) == [ToolCall("t1", "read", {})]


@pytest.mark.parametrize(
    "reason",
    ["max_tokens", "refusal", "model_context_window_exceeded", "stop_sequence", "new_reason", None],
)
def test_the_last_call_of_a_reply_that_was_cut_off_never_runs(reason: str | None) -> None:
    cut = ANTHROPIC.calls(message(use("t1"), use("t2", "write", text="half"), stop_reason=reason))
    assert cut[0] == ToolCall("t1", "read", {})
    assert isinstance(cut[1], MalformedCall)
    assert (cut[1].tool_call_id, cut[1].name) == ("t2", "write")
    assert f"stop_reason {reason}" in cut[1].problem
    assert ANTHROPIC.calls(plain(message(use("t1"), stop_reason=reason))) == [
        MalformedCall("t1", "read", cut[1].problem)
    ]


def test_a_call_that_the_reply_went_on_after_is_whole() -> None:
    assert ANTHROPIC.calls(message(use("t1"), TEXT, stop_reason="max_tokens")) == [
        ToolCall("t1", "read", {})
    ]


def test_a_call_before_a_fallback_block_never_runs() -> None:
    reply = message(use("t1"), {"type": "fallback"}, use("t2"))
    first, second = ANTHROPIC.calls(reply)
    assert isinstance(first, MalformedCall)
    assert second == ToolCall("t2", "read", {})


@pytest.mark.parametrize("reason", ["tool_use", "end_turn"])
def test_a_reply_that_stopped_by_itself_runs_all(reason: str) -> None:
    assert ANTHROPIC.calls(message(use("t1"), stop_reason=reason)) == [ToolCall("t1", "read", {})]


def test_a_message_of_the_history_has_no_stop_reason_and_is_whole() -> None:
    assert ANTHROPIC.calls({"role": "assistant", "content": [use("t1")]}) == [
        ToolCall("t1", "read", {})
    ]


@pytest.mark.parametrize("reason", ["pause_turn", "compaction"])
def test_a_turn_that_pauses_has_nothing_to_run_yet(reason: str) -> None:
    assert ANTHROPIC.calls(message(use("t1"), stop_reason=reason)) == []


def test_ids_are_kept_and_missing_ones_counted() -> None:
    blocks = [use("same"), use("same"), use(""), {"type": "tool_use", "name": "read"}]
    assert ANTHROPIC.calls(message(*blocks)) == [
        ToolCall("same", "read", {}),
        ToolCall("same", "read", {}),
        ToolCall("call_2", "read", {}),
        ToolCall("call_3", "read", {}),
    ]


@pytest.mark.parametrize("name", [None, "", 3])
def test_a_call_without_a_name_is_malformed(name: Any) -> None:
    assert ANTHROPIC.calls(message(use("t1") | {"name": name})) == [
        MalformedCall("t1", "", "the call names no tool")
    ]


def test_a_reply_of_text_has_no_calls() -> None:
    assert ANTHROPIC.calls(message(TEXT, stop_reason="end_turn")) == []
    assert ANTHROPIC.calls({"role": "assistant", "content": "hello"}) == []


@pytest.mark.parametrize(
    "reply", [None, "text", [], {}, {"choices": []}, {"type": "error", "error": {}}, object()]
)
def test_what_is_no_message_is_refused(reply: object) -> None:
    with pytest.raises(ConfigError, match="a reply of `anthropic` is a Message"):
        ANTHROPIC.calls(reply)


def test_results_are_the_first_blocks_of_one_user_message() -> None:
    results = [
        CallResult("t2", "read", ok("fine")),
        CallResult("t1", "write", err("no such file", "execution_failed")),
    ]
    assert ANTHROPIC.messages(results) == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t2", "content": "fine"},
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": "no such file",
                    "is_error": True,
                },
            ],
        }
    ]
    assert ANTHROPIC.messages([]) == []


def test_blank_texts_and_lone_surrogates_never_leave() -> None:
    results = [
        CallResult("t1", "read", ok("")),
        CallResult("t2", "read", err("")),
        CallResult("t3", "read", ok("a\ud800é")),
        CallResult("t4", "read", ok("\n \t\u3000\n")),
        CallResult("t5", "read", err(" ")),
        CallResult("t6", "read", ok("\n.\n")),
    ]
    (answer,) = ANTHROPIC.messages(results)
    assert [block["content"] for block in answer["content"]] == [
        "(no output)",
        "(no message)",
        "a\ufffdé",
        "(no output)",
        "(no message)",
        "\n.\n",
    ]
    json.dumps(answer, ensure_ascii=False).encode()


def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"known are `anthropic`, `openai`, `openai_chat`"):
        provider("antropic")
    with pytest.raises(ConfigError, match="unknown provider"):
        provider(["anthropic"])  # type: ignore[arg-type]
    assert ANTHROPIC.name == "anthropic"


def test_a_provider_shows_how_it_is_had() -> None:
    assert [repr(provider(name)) for name in ("anthropic", "openai")] == [
        "provider('anthropic')",
        "provider('openai_chat')",
    ]


def test_calls_in_the_form_of_openai_are_reported_and_not_left_out() -> None:
    call = {"id": "a", "function": {"name": "stat", "arguments": "{}"}}
    with pytest.raises(ConfigError, match=r'read it by `provider\("openai"\)`'):
        ANTHROPIC.calls({"role": "assistant", "content": "", "tool_calls": [call]})
