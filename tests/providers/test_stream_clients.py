"""The real clients stream from a server that replays replies slowly: calls overlap the stream."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import stream_cases as wire
from ethos_registry import Personality, Tool, ToolRegistry, ok
from replay_server import Replay, serving
from session_tools import until
from stream_cases import Case
from stream_rendering import Said, rendered

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


def said(name: str, **args: Any) -> Said:
    written = json.dumps(args)
    return Said(name=name, args=args, pieces=(written[:3], written[3:]))


REPLY = [
    Said("Let me look."),
    said("f", a=1),
    said("g", a=2),
    said("f", a=3),
    *[Said(word) for word in ["That", "is", "all", "that", "I", "need", "to", "know"]],
]


class Tools:
    """Two tools that take a moment, and what became of their calls."""

    def __init__(self, seconds: float = 0.03) -> None:
        self.started: list[tuple[dict[str, Any], float]] = []
        self.running = 0

        async def run(args, context):
            self.started.append((args, asyncio.get_running_loop().time()))
            self.running += 1
            try:
                await asyncio.sleep(seconds)
            finally:
                self.running -= 1
            return ok(f"got {args['a']}")

        tools = [Tool(name, "A tool.", SCHEMA, run) for name in "fg"]
        self.view = ToolRegistry(tools).view(Personality("all"))


def parts_of(provider: str) -> list[bytes]:
    events = rendered(provider, REPLY).events
    return [named(provider, event) for event in events]


def named(provider: str, event: Any) -> bytes:
    """One event as the provider sends it."""
    raw = wire.raw_of(Case("", provider, [event], []))
    if provider in ("anthropic", "openai_responses"):
        return b"event: " + event["type"].encode() + b"\n" + raw
    return raw


async def anthropic_stream(url: str) -> Any:
    anthropic = pytest.importorskip("anthropic")
    client = anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0)
    return await client.messages.create(
        model="m",
        max_tokens=100,
        stream=True,
        messages=[{"role": "user", "content": "Look."}],
    )


async def openai_chat_stream(url: str) -> Any:
    openai = pytest.importorskip("openai")
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    return await client.chat.completions.create(
        model="m", stream=True, messages=[{"role": "user", "content": "Look."}]
    )


async def openai_responses_stream(url: str) -> Any:
    openai = pytest.importorskip("openai")
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    return await client.responses.create(model="m", stream=True, input="Look.")


async def gemini_stream(url: str) -> Any:
    genai = pytest.importorskip("google.genai")
    client = genai.Client(api_key="none", http_options={"base_url": url})
    return await client.aio.models.generate_content_stream(model="m", contents="Look.")


async def ollama_stream(url: str) -> Any:
    ollama = pytest.importorskip("ollama")
    client = ollama.AsyncClient(host=url)
    return await client.chat(
        model="m", messages=[{"role": "user", "content": "Look."}], stream=True
    )


CLIENTS = {
    "anthropic": anthropic_stream,
    "openai_chat": openai_chat_stream,
    "openai_responses": openai_responses_stream,
    "gemini": gemini_stream,
    "ollama": ollama_stream,
}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize("provider", CLIENTS)
@pytest.mark.filterwarnings("ignore")
async def test_calls_of_a_real_client_start_before_the_stream_ends(provider):
    tools = Tools()
    content_type = "application/x-ndjson" if provider == "ollama" else "text/event-stream"
    async with serving(Replay(parts_of(provider), content_type)) as replay:
        stream = await CLIENTS[provider](replay.url)
        turn = tools.view.dispatching(stream, provider=provider)
        passed = [event async for event in turn]
        results = await turn.results()
    assert len(passed) >= len(REPLY)
    assert [args for args, _ in tools.started] == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert replay.ended_at is not None
    assert all(moment < replay.ended_at for _, moment in tools.started)
    assert [result.text for result in results] == ["got 1", "got 2", "got 3"]
    assert turn.is_complete


@pytest.mark.parametrize("provider", CLIENTS)
@pytest.mark.parametrize("policy", ["await", "cancel"])
@pytest.mark.filterwarnings("ignore")
async def test_a_disconnect_in_the_middle_leaves_nothing_running(provider, policy):
    tools = Tools(seconds=0.3 if policy == "await" else 300)
    parts = parts_of(provider)
    proven = rendered(provider, REPLY).proven
    content_type = "application/x-ndjson" if provider == "ollama" else "text/event-stream"
    cut_after = proven[0] + 1
    async with serving(Replay(parts, content_type, cut_after=cut_after)) as replay:
        stream = await CLIENTS[provider](replay.url)
        turn = tools.view.dispatching(stream, provider=provider, on_broken_stream=policy)
        with pytest.raises(Exception):  # noqa: B017, PT011 - each client has errors of its own
            async for _ in turn:
                pass
        assert tools.running == 0
        results = await turn.results()
    assert [args for args, _ in tools.started] == [{"a": 1}]
    assert results[0].ok is (policy == "await")
    assert all(result.result.code == "input_invalid" for result in results[1:])


@pytest.mark.parametrize("provider", CLIENTS)
@pytest.mark.filterwarnings("ignore")
async def test_a_cancelled_reader_leaves_nothing_running(provider):
    tools = Tools(seconds=300)
    content_type = "application/x-ndjson" if provider == "ollama" else "text/event-stream"
    async with serving(Replay(parts_of(provider), content_type)) as replay:

        async def read() -> None:
            stream = await CLIENTS[provider](replay.url)
            async for _ in tools.view.dispatching(
                stream, provider=provider, on_broken_stream="cancel"
            ):
                pass

        reader = asyncio.create_task(read())
        await until(lambda: tools.running)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert tools.running == 0


async def anthropic_helper(url: str) -> Any:
    anthropic = pytest.importorskip("anthropic")
    client = anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0)
    return client.messages.stream(
        model="m", max_tokens=100, messages=[{"role": "user", "content": "Look."}]
    )


async def openai_chat_helper(url: str) -> Any:
    openai = pytest.importorskip("openai")
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    return client.chat.completions.stream(
        model="m", messages=[{"role": "user", "content": "Look."}]
    )


HELPERS = {"anthropic": anthropic_helper, "openai_chat": openai_chat_helper}


@pytest.mark.parametrize("provider", HELPERS)
@pytest.mark.filterwarnings("ignore")
async def test_the_stream_helpers_of_the_clients_are_read_too(provider):
    tools = Tools()
    async with (
        serving(Replay(parts_of(provider), delay_seconds=0.002)) as replay,
        await HELPERS[provider](replay.url) as stream,
    ):
        turn = tools.view.dispatching(stream, provider=provider)
        async for _ in turn:
            pass
    assert [result.text for result in await turn.results()] == ["got 1", "got 2", "got 3"]
    assert [args for args, _ in tools.started] == [{"a": 1}, {"a": 2}, {"a": 3}]


@pytest.mark.filterwarnings("ignore")
async def test_the_raw_body_of_a_response_is_read_as_it_comes():
    httpx = pytest.importorskip("httpx")
    tools = Tools()
    async with (
        serving(Replay(parts_of("openai_chat"), delay_seconds=0.002)) as replay,
        httpx.AsyncClient(trust_env=False) as client,
        client.stream("POST", replay.url, json={}) as response,
        tools.view.dispatch(provider="openai") as turn,
    ):
        async for chunk in response.aiter_raw():
            turn.feed(chunk)
    assert [result.text for result in await turn.results()] == ["got 1", "got 2", "got 3"]
