"""A research assistant: it searches the web, reads pages, greps long ones, and takes notes.

    pip install '.[web]'
    python examples/research.py

The model and the web are scripted: a small web server runs on this machine. With ANTHROPIC_API_KEY
in the environment (and `pip install anthropic`) a real model does the research in that small web;
with SEARCH_BRAVE or SEARCH_TAVILY as well, the key of a search service, it does so in the real one.
"""

import asyncio
import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ethos_registry import Personality, ToolContext, ToolRegistry, provider
from ethos_registry.artifacts import MemoryArtifactStore
from ethos_registry.capabilities import EnvironmentSecrets, NetworkPolicy, standard_backends
from ethos_registry.registry import DispatchContext
from ethos_registry.tools import (
    ArtifactReaders,
    BraveSearch,
    TavilySearch,
    fetch_url_tool,
    memory_tools,
    read_attachment_tool,
    web_search_tool,
)
from ethos_registry.types import Attachment

QUESTION = "When does the first ferry to Gull Island leave, and is the pier open?"
NOTE = Attachment.from_bytes("a0", "file", b"Please quote your sources.", name="wishes.txt")
ISLANDS = ("Gull", "Seal", "Puffin")
TIMETABLE = "".join(
    f"<tr><td>{minutes // 60:02}:{minutes % 60:02}</td>"
    f"<td>{ISLANDS[minutes // 15 % 3]} Island</td><td>{100 + minutes // 15} seats</td></tr>"
    for minutes in range(7 * 60, 22 * 60, 15)
)
PAGES = {
    "/ferries": "<title>Ferries</title><nav><a href='/'>Home</a></nav><article><h1>Timetable</h1>"
    "<p>All ferries of the harbour, from the first in the morning to the last at night.</p>"
    f"<table><tr><th>Time</th><th>To</th><th>Size</th></tr>{TIMETABLE}</table></article>",
    "/news": "<title>News</title><aside>Buy a boat!</aside><article><h1>The pier is open again</h1>"
    "<p>After two years of work the pier opened on Friday; ferries leave from its end.</p>"
    "</article>",
}


@contextmanager
def small_web() -> Iterator[str]:
    """Two pages and a search service on this machine; the address of the server."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            base = f"http://{self.headers['Host']}"
            kind, body = "text/html", PAGES.get(path, "")
            if path == "/res/v1/web/search":
                found = [{"title": page.strip("/"), "url": f"{base}{page}"} for page in PAGES]
                kind, body = "application/json", json.dumps({"web": {"results": found}})
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def research_registry(base_url: str) -> tuple[ToolRegistry, Personality]:
    """The tools, and a personality that limits where they go."""
    secrets, policy = EnvironmentSecrets(), None
    if os.environ.get("SEARCH_TAVILY"):
        search: Any = TavilySearch()
    elif os.environ.get("SEARCH_BRAVE"):
        search = BraveSearch()
    else:
        search = BraveSearch(base_url=base_url)
        secrets = EnvironmentSecrets(environ={"SEARCH_BRAVE": "key-of-the-small-web"})
        # Addresses of this machine are closed unless a policy opens them.
        policy = NetworkPolicy(allow=["127.0.0.1"], allow_private_urls=True)
    registry = ToolRegistry(
        [
            fetch_url_tool(),
            read_attachment_tool(),
            web_search_tool(search),
            *memory_tools("research.sqlite3"),
        ],
        capability_backends=standard_backends(secrets=secrets),
    )
    return registry, Personality("researcher", network=policy)


def script(messages: list[Any]) -> dict[str, Any]:
    """What the scripted model answers: search, read, look something up, conclude."""
    last = messages[-1]["content"]
    results = "\n".join(str(block["content"]) for block in last if "content" in block)
    match len(messages):
        case 1:
            return calling(
                ("web_search", {"query": "ferry timetable Gull Island"}),
                ("read_attachment", {"ref": "a0"}),
            )
        case 3:
            pages = re.findall(r"^ +(http://\S+)", results, re.MULTILINE)
            # A page may ask for anything; the policy holds.
            pages.append("http://169.254.169.254/latest/meta-data/")
            return calling(*(("fetch_url", {"url": url}) for url in pages))
        case 5:
            artifact = re.search(r"\[artifact (\S+):", results)
            assert artifact is not None
            pattern = {"artifact_id": artifact[1], "pattern": "Gull Island", "max_matches": 1}
            return calling(("artifact_grep", pattern))
        case 7:
            first = re.search(r"\d\d:\d\d", results)
            assert first is not None
            note = f"The first ferry to Gull Island leaves at {first[0]} (ferries)."
            return calling(("memory_write", {"name": "ferries", "content": note}))
        case 9:
            return calling(("memory_read", {"name": "ferries"}))
    [note] = re.findall(r"^The first ferry.*", results, re.MULTILINE)
    text = f"{note} The pier is open (news)."
    return {"stop_reason": "end_turn", "content": [{"type": "text", "text": text}]}


def calling(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """A reply that calls tools."""
    blocks = [
        {"type": "tool_use", "id": f"call_{place}", "name": name, "input": args}
        for place, (name, args) in enumerate(calls)
    ]
    return {"stop_reason": "tool_use", "content": blocks}


async def ask_model(tools: list[Any], messages: list[Any]) -> dict[str, Any]:
    """The reply of the scripted model, or of a real one where there is a key."""
    if not os.environ.get("ANTHROPIC_API_KEY"):
        return script(messages)
    import anthropic

    reply = await anthropic.AsyncAnthropic().messages.create(
        model=os.environ.get("RESEARCH_MODEL", "claude-sonnet-4-5"),
        max_tokens=1_000,
        system="You research questions with your tools. Be brief and name your sources.",
        tools=tools,
        messages=messages,
    )
    return dict(reply.model_dump())


async def research(question: str, base_url: str) -> str:
    """One turn: from the question to the answer."""
    registry, personality = research_registry(base_url)
    anthropic = provider("anthropic")
    messages: list[Any] = [{"role": "user", "content": question}]
    store = MemoryArtifactStore()
    with registry.turn(DispatchContext(), ArtifactReaders(store)) as turn:
        while True:
            view = turn.registry.view(personality)
            reply = await ask_model(view.definitions("anthropic"), messages)
            messages.append({"role": "assistant", "content": reply["content"]})
            if reply["stop_reason"] != "tool_use":
                return "".join(block.get("text", "") for block in reply["content"])
            # A large page is cut to its share; its full text stays readable for the turn.
            results = await view.execute(
                anthropic.calls(reply),
                ToolContext(result_budget_chars=3_000, artifact_store=store, memory_scope="global"),
                turn_attachments=[NOTE],
                untrusted="wrap",
            )
            for result in results:
                note = " (cut, stored)" if result.truncated_from else ""
                outcome = "ok" if result.ok else " ".join(re.findall("HOST_[^;]*", result.text))
                print(f"{result.name}: {outcome}{note}")
            messages.extend(results.to_messages("anthropic"))
            turn.begin_iteration()


if __name__ == "__main__":
    with small_web() as address:
        print(asyncio.run(research(" ".join(sys.argv[1:]) or QUESTION, address)))
