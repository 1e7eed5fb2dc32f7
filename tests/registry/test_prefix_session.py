"""A conversation's tool list stays byte for byte, and what may be called follows what was said."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ethos_registry import ConfigError, Personality, ToolRegistry, View
from ethos_registry.registry import PrefixSession
from registry_tools import EVERYTHING, made, names

SERVERS = Personality("p", mcp_servers=["s"], plugins=["p"])


def outcome(session: PrefixSession, *called: str) -> list[str | None]:
    calls = [{"id": str(index), "name": name, "args": {}} for index, name in enumerate(called)]
    results = asyncio.run(session.execute(calls))
    return [None if result.ok else result.text for result in results]


def unavailable(name: str) -> str:
    return f"Tool {name} is not currently available"


def test_a_late_server_costs_anthropic_no_byte() -> None:
    registry = ToolRegistry([made("b"), made("a")])
    session = PrefixSession(registry.view(SERVERS, allow_unmatched=True), "anthropic")
    first = session.definitions_bytes()
    assert first == registry.view(SERVERS, allow_unmatched=True).definitions_bytes("anthropic")
    assert outcome(session, "mcp__s__x") == ["Unknown tool: mcp__s__x"]
    registry.register(made("mcp__s__y"))
    registry.register(made("mcp__s__x"))
    assert outcome(session, "mcp__s__x") == ["Unknown tool: mcp__s__x"]
    messages = session.update(registry.view(SERVERS, allow_unmatched=True))
    definition = {
        "name": "mcp__s__x",
        "description": "The mcp__s__x.",
        "input_schema": {"type": "object"},
    }
    [message] = messages
    assert message["role"] == "system"
    assert message["content"][0] == {
        "type": "tool_addition",
        "tool": {"type": "tool_definition", "definition": definition},
    }
    assert session.definitions_bytes() == first
    assert outcome(session, "mcp__s__x", "mcp__s__y", "a") == [None, None, None]
    assert session.betas == ["mid-conversation-tool-changes-2026-07-01", "inline-tools-2026-09-15"]
    assert session.update(registry.view(SERVERS, allow_unmatched=True)) == []


def test_what_goes_is_removed_and_what_comes_back_is_referred_to() -> None:
    up = [True]
    registry = ToolRegistry([made("a"), made("b", is_available=lambda: up[0])])
    session = PrefixSession(registry.view(EVERYTHING), "anthropic")
    reference = {"type": "tool_reference", "name": "b"}
    assert session.betas == []
    assert session.update() == []
    up[0] = False
    assert session.update() == [
        {"role": "system", "content": [{"type": "tool_removal", "tool": reference}]}
    ]
    assert session.betas == ["mid-conversation-tool-changes-2026-07-01"]
    assert session.offered == ["a"]
    up[0] = True  # the model has not been told, so a call of it must not run
    assert outcome(session, "b", "a") == [unavailable("b"), None]
    assert session.update() == [
        {"role": "system", "content": [{"type": "tool_addition", "tool": reference}]}
    ]
    assert outcome(session, "b") == [None]


def test_a_tool_that_was_not_offered_does_not_run_although_the_view_has_it() -> None:
    up = [False]
    registry = ToolRegistry([made("a"), made("b", is_available=lambda: up[0])])
    session = PrefixSession(registry.view(EVERYTHING), "openai")
    up[0] = True
    assert outcome(session, "b") == [unavailable("b")]
    session.update()
    assert outcome(session, "b") == [None]


def test_openai_gets_additional_tools_and_answers_for_what_went() -> None:
    registry = ToolRegistry([made("a"), made("b")])
    session = PrefixSession(registry.view(EVERYTHING), "openai_responses")
    first = session.definitions_bytes()
    registry.register(made("c"))
    registry.unregister("a")
    view = registry.view(EVERYTHING)
    definitions = [tool for tool in view.definitions("openai_responses") if tool["name"] == "c"]
    assert session.update(view) == [
        {"type": "additional_tools", "role": "developer", "tools": definitions}
    ]
    assert session.definitions_bytes() == first
    assert session.betas == []
    assert outcome(session, "a", "b", "c") == [unavailable("a"), None, None]


@pytest.mark.parametrize("provider", ["openai", "gemini", "ollama", "bedrock", "cohere"])
def test_other_formats_get_new_tools_at_the_end(provider: str) -> None:
    registry = ToolRegistry([made("m"), made("z")])
    session = PrefixSession(registry.view(EVERYTHING), provider)
    first = session.definitions_bytes()
    registry.register(made("a"))
    registry.unregister("m")
    assert session.update(registry.view(EVERYTHING)) == []
    whole = session.definitions_bytes()
    remaining = first.rstrip(b"]}")
    assert whole.startswith(remaining)
    assert len(whole) > len(first)
    assert outcome(session, "a", "m", "z") == [None, unavailable("m"), None]


def test_a_model_without_changes_keeps_the_marker_where_it_was() -> None:
    registry = ToolRegistry([made("m"), made("z")])
    session = PrefixSession(registry.view(EVERYTHING), "anthropic", tool_changes=False)
    first = session.definitions_bytes()
    registry.register(made("a"))
    assert session.update(registry.view(EVERYTHING)) == []
    assert session.definitions_bytes().startswith(first[:-1])
    definitions = session.definitions()
    assert names(definitions) == ["m", "z", "a"]
    assert ["cache_control" in shown for shown in definitions] == [False, True, False]
    assert session.betas == []


def test_a_changed_definition_goes_on_as_it_was_offered() -> None:
    def answers(text: str) -> Any:
        return lambda args, context: {"ok": True, "value": text}

    registry = ToolRegistry([made("a", execute=answers("old")), made("b", execute=answers("old"))])
    session = PrefixSession(registry.view(EVERYTHING), "anthropic")
    registry.register(made("a", execute=answers("new")), overwrite=True)
    registry.register(made("b", execute=answers("new"), description="New."), overwrite=True)
    assert session.update(registry.view(EVERYTHING)) == []
    assert session.stale == ["b"]
    results = asyncio.run(session.execute([{"id": "1", "name": "a"}, {"id": "2", "name": "b"}]))
    assert [result.text for result in results] == ["new", "old"]


def test_hidden_tools_run_as_in_a_view() -> None:
    registry = ToolRegistry([made("a"), made("secret")])
    registry.hide("secret")
    session = PrefixSession(registry.view(EVERYTHING), "anthropic")
    assert session.offered == ["a"]
    assert outcome(session, "secret") == [None]
    registry.hide("a")
    session.update(registry.view(EVERYTHING))
    assert outcome(session, "a", "secret") == [unavailable("a"), None]


def test_what_is_no_session_is_refused() -> None:
    view = ToolRegistry([made("a")]).view(EVERYTHING)
    with pytest.raises(ConfigError, match="`view` must be a View, got ToolRegistry"):
        PrefixSession(ToolRegistry(), "anthropic")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="unknown provider 'x'"):
        PrefixSession(view, "x")
    with pytest.raises(ConfigError, match="`gemini` has no changes of tools"):
        PrefixSession(view, "gemini", tool_changes=True)
    with pytest.raises(ConfigError, match="`breakpoints` must be at most 2"):
        PrefixSession(view, "anthropic", breakpoints=3)


def test_results_stream_out_of_a_session() -> None:
    session = PrefixSession(ToolRegistry([made("a")]).view(EVERYTHING), "anthropic")

    async def collected() -> list[str]:
        calls = [{"id": "1", "name": "a"}, {"id": "2", "name": "b"}]
        return sorted([result.tool_call_id async for result in session.stream(calls)])

    assert asyncio.run(collected()) == ["1", "2"]


def test_streamed_calls_of_what_was_not_offered_do_not_run() -> None:
    registry = ToolRegistry([made("a"), made("b")])
    session = PrefixSession(registry.view(EVERYTHING), "openai")
    registry.unregister("b")
    session.update(registry.view(EVERYTHING))

    async def texts() -> list[str]:
        async with session.dispatch() as stream:
            for index, name in enumerate(("a", "b")):
                function = {"name": name, "arguments": "{}"}
                entry = {"index": index, "id": f"c{index}", "function": function}
                stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [entry]}}]})
            end = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
            stream.feed({"choices": [end]})
        return [result.text for result in await stream.results()]

    assert asyncio.run(texts()) == ["ran", unavailable("b")]


class SessionMachine(RuleBasedStateMachine):
    """What the model was told, folded over the messages, is what runs."""

    NAMES = ("a", "b", "c", "mcp__s__x")
    provider = "anthropic"

    def __init__(self) -> None:
        super().__init__()
        self.registry = ToolRegistry([made("a"), made("b", is_available=lambda: "b" in self.up)])
        self.up = {"b"}
        self.session = PrefixSession(self.view(), self.provider)
        self.first = self.session.definitions_bytes()
        self.reported = {shown["name"] for shown in self.session.definitions()}

    def view(self) -> View:
        return self.registry.view(SERVERS, allow_unmatched=True)

    @rule(name=st.sampled_from(NAMES), text=st.sampled_from(["one", "two"]))
    def register(self, name: str, text: str) -> None:
        self.registry.register(
            made(name, description=text, is_available=lambda: name != "b" or "b" in self.up), True
        )

    @rule(name=st.sampled_from(NAMES))
    def unregister(self, name: str) -> None:
        self.registry.unregister(name)

    @rule()
    def flap(self) -> None:
        self.up ^= {"b"}

    @rule(fresh=st.booleans())
    def update(self, fresh: bool) -> None:
        for message in self.session.update(self.view() if fresh else None):
            for block in message["content"]:
                tool = block["tool"]
                name = tool.get("name") or tool["definition"]["name"]
                if block["type"] == "tool_addition":
                    assert name not in self.reported
                    self.reported.add(name)
                else:
                    self.reported.remove(name)

    @invariant()
    def what_was_announced_is_what_runs(self) -> None:
        assert self.session.definitions_bytes() == self.first
        assert set(self.session.offered) == self.reported
        for name, problem in zip(self.NAMES, outcome(self.session, *self.NAMES), strict=True):
            if name not in self.reported:
                assert problem is not None
            elif name != "b":
                assert problem is None


TestSessionMachine = SessionMachine.TestCase
TestSessionMachine.settings = settings(max_examples=25, stateful_step_count=12, deadline=None)


@pytest.mark.parametrize(
    ("provider", "usage"),
    [
        ("anthropic", lambda read: {"cache_read_input_tokens": read}),
        ("openai", lambda read: {"prompt_tokens_details": {"cached_tokens": read}}),
        ("openai_responses", lambda read: {"input_tokens_details": {"cached_tokens": read}}),
        ("gemini", lambda read: {"cachedContentTokenCount": read} if read else {}),
        ("bedrock", lambda read: {"cacheReadInputTokens": read}),
    ],
)
def test_a_lost_cache_is_named_by_what_changed(provider: str, usage: Any) -> None:
    registry = ToolRegistry([made("a"), made("b")])
    session = PrefixSession(registry.view(EVERYTHING), provider, tool_changes=False)
    assert session.observe(usage(2_000)) is None
    assert session.observe(usage(2_400)) is None
    registry.register(made("late"))
    assert session.update(registry.view(EVERYTHING)) == []
    loss = session.observe(usage(0))
    assert loss is not None
    assert (loss.cached_tokens, loss.expected_tokens) == (0, 2_400)
    assert [(change.tool, change.kind) for change in loss.diff.changes] == [("late", "added")]
    assert "0 of 2,400 cached tokens were read" in str(loss)
    assert session.observe(usage(2_400)) is None


def test_a_cache_that_is_lost_without_a_change_of_tools_says_so() -> None:
    from types import SimpleNamespace

    session = PrefixSession(ToolRegistry([made("a")]).view(EVERYTHING), "anthropic")
    written = SimpleNamespace(cache_read_input_tokens=0, cache_creation_input_tokens=1_500)
    assert session.observe(written) is None
    loss = session.observe(written)
    assert loss is not None
    assert loss.diff.same
    assert "the system prompt, the messages or the model changed" in str(loss)
    with pytest.raises(ConfigError, match="`usage` must be the usage of a response, got str"):
        session.observe("1,500 tokens")
