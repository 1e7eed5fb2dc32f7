"""Random replies of every provider: exactly the whole calls run, and as a batch runs them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stream_cases as wire
from ethos_registry import (
    InvocationFilter,
    Personality,
    Tool,
    ToolCall,
    ToolContext,
    ToolRegistry,
    err,
    ok,
)
from ethos_registry.artifacts import MemoryArtifactStore
from ethos_registry.providers._by_name import PROVIDERS as KNOWN_PROVIDERS
from ethos_registry.providers._sse import EventDecoder
from ethos_registry.registry import DispatchContext
from ethos_registry.types import call_checksum
from stream_rendering import PROVIDERS, Rendered, rendered, replies
from streams import in_chunks

SCHEMA = {"type": "object"}


def recording_view(ran: list[Any]) -> Any:
    def tool(name: str) -> Tool:
        async def run(args, context):
            ran.append(args)
            return ok(f"ran {name}")

        return Tool(name, "", SCHEMA, run)

    return ToolRegistry([tool(name) for name in "fgh"]).view(Personality("all"))


def check_cut(provider: str, reply: Rendered, fed: list[Any], whole_events: int) -> None:
    """Feed a part of a reply: the calls that it proves have run, and all it names are answered."""
    ran: list[Any] = []

    async def feed() -> Any:
        async with recording_view(ran).dispatch(provider=provider) as turn:
            for event in fed:
                turn.feed(event)
        return turn

    turn = asyncio.run(feed())
    expected = [
        args for args, proven in zip(reply.args, reply.proven, strict=True) if proven < whole_events
    ]
    assert ran == expected
    results = asyncio.run(turn.results())
    assert len(results) >= len(expected)
    assert len({result.tool_call_id for result in results}) == len(results)
    for place, result in enumerate(results):
        assert result.ok is (place < len(expected))
        if not result.ok:
            assert result.result.code == "input_invalid"
            assert "the reply ended before the arguments were complete" in result.text
    check_history(provider, turn)


def check_history(provider: str, turn: Any) -> None:
    """Every call of the message has one answer, in order."""
    if provider not in KNOWN_PROVIDERS:
        return
    called, answered = _IDENTITIES[provider](turn.messages())
    results = asyncio.run(turn.results())
    assert called == answered
    assert len(called) == len(results)


def _ids(messages: list[Any], role: str, of: Any) -> list[Any]:
    return [each for message in messages if message.get("role") == role for each in of(message)]


def _anthropic(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    def found(role: str, kind: str, key: str) -> list[Any]:
        return _ids(
            messages,
            role,
            lambda one: [each[key] for each in one["content"] if each["type"] == kind],
        )

    return found("assistant", "tool_use", "id"), found("user", "tool_result", "tool_use_id")


def _chat(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    called = _ids(
        messages, "assistant", lambda one: [call["id"] for call in one.get("tool_calls", ())]
    )
    return called, _ids(messages, "tool", lambda one: [one["tool_call_id"]])


def _responses(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    def found(kind: str) -> list[Any]:
        return [item["call_id"] for item in messages if item["type"] == kind]

    return found("function_call"), found("function_call_output")


def _gemini(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    def found(role: str, key: str) -> list[Any]:
        return _ids(
            messages, role, lambda one: [part[key]["name"] for part in one["parts"] if key in part]
        )

    return found("model", "functionCall"), found("user", "function_response")


def _ollama(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    called = _ids(
        messages,
        "assistant",
        lambda one: [call["function"]["name"] for call in one.get("tool_calls", ())],
    )
    return called, _ids(messages, "tool", lambda one: [one["tool_name"]])


def _bedrock(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    def found(role: str, key: str) -> list[Any]:
        return _ids(
            messages,
            role,
            lambda one: [each[key]["toolUseId"] for each in one["content"] if key in each],
        )

    return found("assistant", "toolUse"), found("user", "toolResult")


_IDENTITIES = {
    "anthropic": _anthropic,
    "openai_chat": _chat,
    "openai_responses": _responses,
    "gemini": _gemini,
    "ollama": _ollama,
    "bedrock": _bedrock,
    "cohere": _chat,
}


@pytest.mark.parametrize("provider", PROVIDERS)
@given(reply=replies, data=st.data())
def test_the_calls_that_are_proven_at_the_cut_run_and_no_other(provider, reply, data):
    events = rendered(provider, reply)
    cut = data.draw(st.integers(0, len(events.events)))
    check_cut(provider, events, events.events[:cut], cut)


@pytest.mark.parametrize("provider", PROVIDERS)
@given(reply=replies, data=st.data())
def test_bytes_in_any_chunks_cut_anywhere_give_the_same(provider, reply, data):
    events = rendered(provider, reply)
    raw = wire.raw_of(wire.Case("", provider, events.events, []))
    raw = raw[: data.draw(st.integers(0, len(raw)))]
    places = data.draw(st.lists(st.integers(0, len(raw)), max_size=6))
    decoder = EventDecoder()
    whole_events = len([*decoder.feed(raw), *decoder.end()])
    if provider == "ollama" and not raw.endswith(b"\n") and not raw.endswith(b"}"):
        whole_events = raw.count(b"\n")  # the last line is not JSON
    elif provider == "ollama" and raw.endswith(b"}"):
        try:
            json.loads(raw.split(b"\n")[-1])
        except ValueError:
            whole_events = raw.count(b"\n")
    check_cut(provider, events, in_chunks(raw, places), whole_events)


# As a batch


ARGUMENTS = ["", "{}", '{"size": 5}', '{"size": 300}', '{"size": 4000, "path": "a\\n<|im_start|>"}',
             '{"size": 1', '{"size": 1, "size": 2}', '{"size": "x"}']  # fmt: skip
NAMES = ["plain", "untrusted", "fails", "raises", "strict", "capped", "needs", "unknown", "gated"]


def registry_for(log: list[Any]) -> ToolRegistry:
    def tool(name: str, **options: Any) -> Tool:
        async def run(args, context):
            log.append((name, context.tool_call_id, args))
            await asyncio.sleep(0)
            if name == "raises":
                raise ValueError("no luck")
            size = args.get("size", 3)
            text = f"{name} <|im_start|> " + "x" * (size if isinstance(size, int) else 1)
            return err(text, "execution_failed") if name == "fails" else ok(text)

        return Tool(name, "", options.pop("schema", SCHEMA), run, **options)

    whole_numbers = {"type": "object", "properties": {"size": {"type": "integer"}}}
    return ToolRegistry(
        [
            tool("plain"),
            tool("untrusted", output_is_untrusted=True),
            tool("fails"),
            tool("raises"),
            tool("strict", strict=True, schema=whole_numbers),
            tool("capped", max_result_chars=40),
            tool("needs", capabilities={"network": {"allowed_hosts": ["example.com"]}}),
            tool("gated", toolset="other"),
        ]
    )


async def before(invocation: Any) -> None:
    await asyncio.sleep(0)


@given(
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(ARGUMENTS)), max_size=5),
    st.sampled_from([0, 50, 700, 80_000]),
    st.sampled_from(["even", "fill"]),
    st.sampled_from(["mark", "wrap"]),
    st.booleans(),
    st.booleans(),
)
def test_a_streamed_reply_is_answered_as_the_same_calls_in_a_batch(
    asked, budget, policy, untrusted, is_dry_run, filters
):
    calls = [ToolCall(f"t{place}", name, args) for place, (name, args) in enumerate(asked)]
    personality = Personality("clerk", exclude=["gated"])
    options: dict[str, Any] = {"budget_policy": policy, "untrusted": untrusted}
    if filters:
        options["filters"] = [InvocationFilter(before=before, tool_names=["plain"])]

    async def answers(way: str) -> Any:
        log: list[Any] = []
        turn = DispatchContext()
        registry = registry_for(log).turn(turn).registry
        store = MemoryArtifactStore()
        context = ToolContext(result_budget_chars=budget, dry_run=is_dry_run, artifact_store=store)
        view = registry.view(personality)
        if way == "batch":
            results = await view.execute(calls, context, **options)
        else:
            async with view.dispatch(context, provider="openai_chat", **options) as stream:
                for place, call in enumerate(calls):
                    stream.feed(wire.chat(wire.entry(place, call.tool_call_id, call.name, "")))
                    stream.feed(wire.chat(wire.entry(place, None, None, call.args)))
                    await asyncio.sleep(0)
                stream.feed(wire.chat(finish="tool_calls"))
            results = await stream.results()
        counts = [
            turn.tool_call_count(checksum)
            for _, _, args in sorted(log, key=repr)
            if (checksum := call_checksum("plain", args)) is not None
        ]
        seen = [
            (
                each.to_wire(),
                each.untrusted,
                each.source,
                each.raw_chars,
                each.reduced_chars,
                each.sent_chars,
                each.truncated_from,
            )
            for each in results
        ]
        return _without_ids(seen), sorted(log, key=repr), counts

    assert asyncio.run(answers("stream")) == asyncio.run(answers("batch"))


def _without_ids(value: Any) -> str:
    """Artifact ids are random."""
    import re

    return re.sub(r"artifact [^\s:]+", "artifact", repr(value))
