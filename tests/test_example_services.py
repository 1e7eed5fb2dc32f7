"""The examples that need a model, a web server or a cluster, with real libraries."""

import importlib
import json
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from usage_tools import is_installed, missing

EXAMPLES = Path(__file__).parent.parent / "examples"
BUSY = re.compile(r"^tool `terminal` blocked the event loop for 0\.\d s;")
"""On a busy machine the system takes its time to start a program."""


def use(tool_id, name, **arguments):
    return {"type": "tool_use", "id": tool_id, "name": name, "input": arguments}


@contextmanager
def messages_api(replies, usage=100):
    """A server with the Messages API that sends these contents; the requests that it got."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append(body)
            content = replies[min(len(requests), len(replies)) - 1]
            reply = {
                "id": f"msg_{len(requests)}",
                "type": "message",
                "role": "assistant",
                "model": body["model"],
                "content": content,
                "stop_reason": "tool_use" if content[0]["type"] == "tool_use" else "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": usage, "output_tokens": 0},
            }
            sent = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def run(name, *arguments, cwd, answers="", **env):
    return subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        input=answers,
        env={**os.environ, **env},
        timeout=300,
    )


@pytest.fixture
def anthropic_sdk():
    if not is_installed("anthropic"):
        missing("frameworks", "anthropic is not installed")


def results_of(request):
    """The last results that the model was sent, by id of the call."""
    return {block["tool_use_id"]: block for block in request["messages"][-1]["content"]}


def text_of(block):
    content = block["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@pytest.mark.usefixtures("anthropic_sdk")
def test_the_coding_agent_works_in_its_folder_and_asks_before_commands(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "add.py").write_text("def add(a, b):\n    return a - b\n")
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    replies = [
        [
            use("1", "read_file", path="add.py"),
            use("2", "terminal", command="ls"),
            use("3", "read_file", path=str(outside)),
        ],
        [
            use("4", "patch_file", path="add.py", old="a - b", new="a + b"),
            use("5", "terminal", command="cat add.py; echo gone > add.py"),
        ],
        [
            use("6", "terminal", command=f"echo gone > {outside}"),
            use("7", "terminal", command=f"{sys.executable} -c 'import add; print(add.add(2, 3))'"),
        ],
        [{"type": "text", "text": "add works now"}],
    ]
    with messages_api(replies) as (url, requests):
        done = run(
            "coding_agent.py", "fix add", "--folder", folder, cwd=tmp_path,
            answers="n\ny\ny\n", ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="none",
        )  # fmt: skip
    if requests and "terminal" not in {tool["name"] for tool in requests[0]["tools"]}:
        pytest.skip("commands cannot be confined on this machine")
    warnings = [line for line in done.stderr.splitlines() if not BUSY.search(line)]
    assert (done.returncode, warnings) == (0, [])
    assert done.stdout.endswith("add works now\n")
    assert done.stdout.count("[y/N]") == 3
    assert len(requests) == 4
    assert {"read_file", "terminal"} <= {tool["name"] for tool in requests[0]["tools"]}
    first, second, third = map(results_of, requests[1:])
    assert "return a - b" in text_of(first["1"])
    assert text_of(first["2"]).split() == ["add.py"]
    assert first["3"]["is_error"]
    assert "is not below the working directory" in text_of(first["3"])
    assert "declined" in text_of(second["5"])
    assert "6" in third
    assert text_of(third["7"]).strip() == "5"
    assert outside.read_text() == "untouched"


@pytest.mark.usefixtures("anthropic_sdk")
def test_the_coding_agent_stops_at_its_budget_and_without_a_key(tmp_path):
    with messages_api([[use("1", "list_files")]], usage=40) as (url, requests):
        done = run(
            "coding_agent.py", "look", "--budget", "100", cwd=tmp_path,
            ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="none",
        )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.endswith("Stopped: 120 tokens are used, the budget is 100.\n")
    assert len(requests) == 3
    keyless = {name: value for name, value in os.environ.items() if name != "ANTHROPIC_API_KEY"}
    done = subprocess.run([sys.executable, EXAMPLES / "coding_agent.py", "look"], cwd=tmp_path,
                          capture_output=True, text=True, env=keyless, timeout=300)  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "set ANTHROPIC_API_KEY to a key of the Anthropic API\n"


def test_the_coding_agent_has_150_lines():
    text = (EXAMPLES / "coding_agent.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150


def test_the_web_service_keeps_users_and_tenants_apart(tmp_path):
    if not (is_installed("starlette") and is_installed("httpx")):
        missing("frameworks", "starlette or httpx is not installed")
    done = run("web_service.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    refused = "Tool cancel_order is not available on this surface"
    assert [line.partition(": ")[2] for line in done.stdout.splitlines()] == [
        'order_state: {"ok": true, "value": "shipped"}',
        f'cancel_order: {{"ok": false, "error": "{refused}", "code": "not_available"}}',
        'order_state: {"ok": true, "value": "shipped"}',
        'cancel_order: {"ok": true, "value": "A2 of acme is cancelled for bob"}',
        'order_state: {"ok": true, "value": "cancelled"}',
        'cancel_order: {"ok": true, "value": "A2 of globex is cancelled for eve"}',
    ]


def test_the_web_service_refuses_unknown_tokens_and_shows_each_user_their_tools(monkeypatch):
    if not (is_installed("starlette") and is_installed("httpx")):
        missing("frameworks", "starlette or httpx is not installed")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    web_service = importlib.import_module("web_service")
    TestClient = importlib.import_module("starlette.testclient").TestClient
    with TestClient(web_service.app) as client:
        assert client.post("/turn", json=[]).status_code == 401
        shown = {}
        for token in ("token-ada", "token-bob"):
            answer = client.get("/definitions", headers={"Authorization": f"Bearer {token}"})
            shown[token] = [tool["function"]["name"] for tool in answer.json()["tools"]]
    assert shown == {
        "token-ada": ["order_state"],
        "token-bob": ["cancel_order", "order_state"],
    }


def test_a_batch_runs_on_a_ray_cluster(tmp_path):
    if not is_installed("ray"):
        missing("ray", "ray is not installed")
    done = run(
        "ray_batch.py", cwd=tmp_path,
        HOME=str(tmp_path), RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    counted, in_order, first, wrong, total = done.stdout.splitlines()
    assert counted == "{'ok': 199, 'error': 1}"
    assert in_order == "True"
    assert first == '{"first":0,"last":99,"primes":25}'
    assert "last must be at least 700, got 699" in wrong
    assert total.startswith("2248 primes, 200 calls in ")
