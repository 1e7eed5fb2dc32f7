"""A model on the loopback interface that has a coding agent run given commands, and nothing else.

It speaks Anthropic Messages, OpenAI Responses and Chat Completions, and Gemini. How many results of
tools a request has selects the next command, so that repeated requests do no harm.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

_SHELLS = ("Bash", "exec_command", "shell_command", "shell", "run_shell_command", "bash")
_READERS = ("Read", "read_file", "read", "view")
_PATHS = ("file_path", "filePath", "absolute_path", "path")
_TYPES = {"boolean": False, "number": 1, "integer": 1}


class FakeModel:
    """A server for as long as it is entered.

    Each step is a command line, `("read", path)`, or `("mcp", server, tool)`. After the last one
    the answer is "done".
    """

    def __init__(self, steps: Sequence[str | tuple[str, ...]]) -> None:
        self._steps = steps
        self.results: list[str] = []
        """What the model was shown of each result, as of the request with the most of them."""
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def environment(self) -> dict[str, str]:
        """Variables that point agents to this server, with keys that are none."""
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "sk-ant-none",
            "OPENAI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GEMINI_API_KEY": "none",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "NO_PROXY": "127.0.0.1,localhost",
        }

    def call(self, body: dict[str, Any]) -> ModelCall | None:
        """The next call; `None` to end the turn."""
        results = list(_results(body))
        if len(results) >= len(self.results):
            self.results = results
        tools = _tools(body)
        if not tools or len(results) >= len(self._steps):
            return None
        step = self._steps[len(results)]
        names: Sequence[str] = _SHELLS if isinstance(step, str) else _READERS
        if step[0] == "mcp":
            names = [name for name in tools if step[1] in name and name.endswith(step[2])]
            if not names and "tool_search" in tools:  # they need not be listed to be called
                return ModelCall(f"call_{len(results)}", step[2], {}, f"mcp__{step[1]}")
        name = next((name for name in names if name in tools), None)
        if name is None:
            return None
        schema = tools[name]
        properties = schema.get("properties", {})
        arguments: dict[str, Any] = {}
        if isinstance(step, str):
            key = "cmd" if "cmd" in properties else "command"
            is_list = properties.get(key, {}).get("type") == "array"
            arguments[key] = ["bash", "-c", step] if is_list else step
        elif step[0] == "read":
            arguments[next((each for each in _PATHS if each in properties), "path")] = step[1]
        for required in schema.get("required", ()):
            kind = str(properties.get(required, {}).get("type")).lower()
            arguments.setdefault(required, _TYPES.get(kind, "run a command"))
        space = str(schema.get("namespace", ""))
        return ModelCall(f"call_{len(results)}", name.removeprefix(f"{space}__"), arguments, space)


class ModelCall(NamedTuple):
    id: str
    name: str
    arguments: dict[str, Any]
    namespace: str
    """Of the Responses API; empty elsewhere."""


def _tools(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for tool in body.get("tools") or ():
        space = tool.get("name") if tool.get("type") == "namespace" else None
        inner = tool.get("functionDeclarations") or (tool.get("tools") if space else None)
        for each in inner or (tool.get("function") or tool,):
            keys = ("input_schema", "parametersJsonSchema", "parameters")
            schemas = (each.get(key) for key in keys)
            schema: dict[str, Any] = next(filter(None, schemas), {})
            if space:
                schema = schema | {"namespace": space}
            name = str(each.get("name") or each.get("type"))
            found[f"{space}__{name}" if space else name] = schema
    return found


def _results(body: dict[str, Any]) -> Iterator[str]:
    for message in body.get("messages") or ():
        if message.get("role") == "tool":
            yield _text(message.get("content"))
        elif isinstance(message.get("content"), list):
            for block in message["content"]:
                if block.get("type") == "tool_result":
                    yield _text(block.get("content"))
    items = body.get("input")
    for item in items if isinstance(items, list) else ():
        if str(item.get("type", "")).endswith("call_output"):
            yield _text(item.get("output"))
    for content in body.get("contents") or ():
        for part in content.get("parts") or ():
            if "functionResponse" in part:
                yield json.dumps(part["functionResponse"].get("response"))


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(map(_text, content))
    if isinstance(content, dict):
        return str(content.get("text", ""))
    return str(content or "")


Answer = tuple[dict[str, Any], list[dict[str, Any]]]
"""A whole answer, and the events of the same one as a stream."""


def _anthropic(call: ModelCall | None) -> Answer:
    block: dict[str, Any] = {"type": "text", "text": "done"}
    start, delta = block | {"text": ""}, {"type": "text_delta", "text": "done"}
    if call is not None:
        block = {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.name}
        block["input"] = call.arguments
        start = block | {"input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
    reason = "end_turn" if call is None else "tool_use"
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "fake",
        "content": [block],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": usage,
    }
    stop = {"stop_reason": reason, "stop_sequence": None}
    return message, [
        {"type": "message_start", "message": message | {"content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "usage": usage, "delta": stop},
        {"type": "message_stop"},
    ]


def _responses(call: ModelCall | None) -> Answer:
    text = {"type": "output_text", "text": "done", "annotations": []}
    item: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant"}
    item |= {"status": "completed", "content": [text]}
    if call is not None:
        item = {"type": "function_call", "id": f"fc_{call.id}", "call_id": call.id}
        item |= {"namespace": call.namespace} if call.namespace else {}
        item |= {"name": call.name, "arguments": json.dumps(call.arguments), "status": "completed"}
    response: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "fake",
        "status": "completed",
        "output": [item],
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
    }
    begun = response | {"status": "in_progress", "output": []}
    return response, [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]


def _chat(call: ModelCall | None) -> Answer:
    message: dict[str, Any] = {"role": "assistant", "content": "done" if call is None else None}
    if call is not None:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        message["tool_calls"] = [
            {"index": 0, "id": call.id, "type": "function", "function": function}
        ]
    reason = "stop" if call is None else "tool_calls"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    base = {"id": "c1", "created": 1, "model": "fake", "usage": usage}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    whole = base | {"object": "chat.completion", "choices": [choice]}
    chunk = base | {"object": "chat.completion.chunk"}
    return whole, [
        chunk | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
    ]


def _gemini(call: ModelCall | None) -> Answer:
    part: dict[str, Any] = {"text": "done"}
    if call is not None:
        part = {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    candidate = {"index": 0, "content": content, "finishReason": "STOP"}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}
    return whole, [whole]


_FORMATS = (
    ("/messages", _anthropic),
    ("/responses", _responses),
    ("/chat/completions", _chat),
    (":generateContent", _gemini),
    (":streamGenerateContent", _gemini),
)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: FakeModel

    def log_message(self, *args: Any) -> None:
        """Log nothing."""

    def do_HEAD(self) -> None:
        self._send(b"", "text/plain")

    def do_GET(self) -> None:
        models = {"object": "list", "data": [{"id": "fake", "object": "model"}], "models": []}
        self._send(json.dumps(models).encode(), "application/json")

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        try:
            body = json.loads(data)
        except ValueError:
            body = {}
        for ending, form in _FORMATS:
            if path.endswith(ending):
                whole, events = form(self.model.call(body))
                if not body.get("stream") and not path.endswith(":streamGenerateContent"):
                    break
                lines = [
                    (f"event: {event['type']}\n" if "type" in event else "")
                    + f"data: {json.dumps(event)}\n\n"
                    for event in events
                ]
                if form is _chat:
                    lines.append("data: [DONE]\n\n")
                self._send("".join(lines).encode(), "text/event-stream")
                return
        else:
            whole = {"input_tokens": 10, "totalTokens": 10}
        self._send(json.dumps(whole).encode(), "application/json")

    def _send(self, data: bytes, media_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
