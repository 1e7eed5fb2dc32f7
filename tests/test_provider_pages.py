"""The turn on each provider's page runs as it is, with the real client where there is one."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import providers.test_wire_clients as wire
from loopback import loopback
from stream_rendering import Said, rendered

PAGES = Path(__file__).parent.parent / "docs" / "providers"
TURN = re.compile(r"^```py\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
CALL = [("weather", {"city": "Oslo"})]
EXPECTED = f"{wire.ANSWER}\n"


def blocks_of(name: str) -> list[str]:
    return TURN.findall((PAGES / f"{name}.md").read_text(encoding="utf-8"))


def run_page(name: str, *more: int) -> str:
    """Run the page's turn, or its definitions and one of its further loops."""
    blocks = blocks_of(name)
    printed = io.StringIO()
    names = {"__name__": "__main__"}
    code = blocks[0] if not more else blocks[0][: blocks[0].rindex("print(")]
    with contextlib.redirect_stdout(printed):
        for block in (code, *(blocks[index] for index in more)):
            exec(compile(block, f"{name}.md", "exec"), names)
    return printed.getvalue()


REPLIES: dict[str, Any] = {
    "anthropic": wire.anthropic_reply,
    "openai": wire.chat_reply,
    "openai-responses": wire.responses_reply,
    "gemini": wire.gemini_reply,
    "ollama": wire.ollama_reply,
}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", REPLIES)
def test_the_turn_of_a_page_runs_with_the_real_client(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with loopback(REPLIES[name](CALL, 1), REPLIES[name]([], 2)) as server:
        for variable, value in {
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": server.url,
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": server.url,
            "GEMINI_API_KEY": "k",
            "GOOGLE_GEMINI_BASE_URL": server.url,
            "OLLAMA_HOST": server.url,
        }.items():
            monkeypatch.setenv(variable, value)
        assert run_page(name) == EXPECTED
    assert len(server.requests) == 2
    assert "Oslo: 21 °C and sunny".encode() in server.requests[1] or (
        b"Oslo: 21 \\u00b0C and sunny" in server.requests[1]
    )


LOOPS = {"anthropic": "anthropic", "openai": "openai_chat"}


def streamed_parts(name: str, said: list[Said]) -> bytes:
    events = rendered(LOOPS[name], said).events
    if name == "anthropic":
        return b"".join(
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
        )
    return b"".join(
        b"data: " + (event if isinstance(event, str) else json.dumps(event)).encode() + b"\n\n"
        for event in events
    )


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("block", [1, 2, 3])
@pytest.mark.parametrize("name", LOOPS)
def test_the_other_loops_of_a_page_run_with_the_real_client(
    name: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Said(name="weather", args={"city": "Oslo"}, pieces=('{"city": "Oslo"}',))
    replies: list[Any] = [REPLIES[name](CALL, 1), REPLIES[name]([], 2)]
    if block > 1:
        replies = [streamed_parts(name, [call]), streamed_parts(name, [Said(wire.ANSWER)])]
    with loopback(*replies) as server:
        variable = name.upper()
        monkeypatch.setenv(f"{variable}_API_KEY", "k")
        monkeypatch.setenv(f"{variable}_BASE_URL", server.url)
        assert run_page(name, block) == EXPECTED
    assert len(server.requests) == 2
    assert b"21 " in server.requests[1]


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_has_at_most_fifteen_lines(name: str) -> None:
    for block in blocks_of(name):
        tree = ast.parse(block)
        functions = [
            each
            for each in tree.body
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name != "weather"
        ]
        [loop] = functions
        assert loop.end_lineno - loop.lineno + 1 <= 15


def test_the_turn_for_bedrock_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    use = {"toolUse": {"toolUseId": "t1", "name": "weather", "input": {"city": "Oslo"}}}
    replies = [([use], "tool_use"), ([{"text": wire.ANSWER}], "end_turn")]
    requests: list[dict[str, Any]] = []

    class Client:
        def converse(self, **request: Any) -> dict[str, Any]:
            requests.append(request | {"messages": list(request["messages"])})
            content, reason = replies.pop(0)
            message = {"role": "assistant", "content": content}
            return {"output": {"message": message}, "stopReason": reason}

    module: Any = types.ModuleType("boto3")
    module.client = lambda name: Client()
    monkeypatch.setitem(sys.modules, "boto3", module)
    assert run_page("bedrock") == EXPECTED
    [block] = requests[1]["messages"][-1]["content"]
    assert block["toolResult"]["status"] == "success"
    assert requests[0]["toolConfig"]["tools"][0]["toolSpec"]["name"] == "weather"


def test_the_turn_for_cohere_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def namespace(**fields: Any) -> types.SimpleNamespace:
        return types.SimpleNamespace(**fields)

    function = namespace(name="weather", arguments='{"city": "Oslo"}')
    call = namespace(id="c1", type="function", function=function)
    replies = [
        namespace(finish_reason="TOOL_CALL", message=namespace(tool_calls=[call], content=None)),
        namespace(
            finish_reason="COMPLETE",
            message=namespace(tool_calls=None, content=[namespace(text=wire.ANSWER)]),
        ),
    ]
    requests: list[Any] = []

    class Client:
        def chat(self, **request: Any) -> Any:
            requests.append(list(request["messages"]))
            return replies.pop(0)

    module: Any = types.ModuleType("cohere")
    module.ClientV2 = Client
    monkeypatch.setitem(sys.modules, "cohere", module)
    assert run_page("cohere") == EXPECTED
    assert requests[1][-1] == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "Oslo: 21 °C and sunny",
    }


def test_every_page_has_one_turn() -> None:
    names = {path.stem for path in PAGES.glob("*.md")}
    assert names == {*REPLIES, "bedrock", "cohere"}
