"""An MCP server of JSON lines, without the SDK: it starts fast and misbehaves on request.

Its tools are chosen by arguments: `--tools N` adds N tools, `--pages N` splits the listing,
`--silent` never answers, `--child` leaves a process of its own, `--listing FILE` reads the listed
definitions from a file at each request, `--noise` prints lines that are no messages.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--tools", type=int, default=0)
OPTIONS.add_argument("--pages", type=int, default=1)
OPTIONS.add_argument("--silent", action="store_true")
OPTIONS.add_argument("--child", default="")
OPTIONS.add_argument("--listing", default="")
OPTIONS.add_argument("--noise", action="store_true")
OPTIONS.add_argument("--runs", default="")
given = OPTIONS.parse_args()

lock = threading.Lock()
cancelled: set[object] = set()


def send(message: object) -> None:
    data = json.dumps(message).encode() + b"\n"
    with lock:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def schema(**properties: str) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": sorted(properties),
    }


def listed() -> list[dict[str, object]]:
    if given.listing:
        with open(given.listing) as file:
            found: list[dict[str, object]] = json.load(file)
        return found
    tools: list[dict[str, object]] = [
        {
            "name": "echo",
            "description": "Give the text back.",
            "inputSchema": schema(text="string"),
        },
        {"name": "pid", "description": "Process ids.", "inputSchema": {"type": "object"}},
        {"name": "wait", "description": "Wait.", "inputSchema": schema(seconds="number")},
        {"name": "big", "description": "A long text.", "inputSchema": schema(size="integer")},
        {"name": "cancelled", "description": "How many.", "inputSchema": {"type": "object"}},
        {"name": "environment", "description": "Variables.", "inputSchema": {"type": "object"}},
        {"name": "progress", "description": "Report.", "inputSchema": schema(steps="integer")},
        {"name": "changed", "description": "Announce.", "inputSchema": {"type": "object"}},
        {"name": "kinds", "description": "Each kind.", "inputSchema": {"type": "object"}},
        {"name": "fail", "description": "Fail.", "inputSchema": {"type": "object"}},
        {"name": "noise", "description": "Write errors.", "inputSchema": schema(size="integer")},
    ]
    tools += [
        {"name": f"tool_{number:04}", "description": "x" * 60, "inputSchema": schema(text="string")}
        for number in range(given.tools)
    ]
    return tools


def page_of(cursor: str | None) -> dict[str, object]:
    tools = listed()
    size = -(-len(tools) // given.pages)
    start = int(cursor or 0)
    result: dict[str, object] = {"tools": tools[start : start + size]}
    if start + size < len(tools):
        result["nextCursor"] = str(start + size)
    return result


def text(value: str) -> list[dict[str, object]]:
    return [{"type": "text", "text": value}]


def call(message: dict, name: str, arguments: dict) -> dict[str, object] | None:
    if given.runs:
        with open(given.runs, "a") as file:
            file.write(f"{name}\n")
    if name == "pid":
        return {"content": text(f"{os.getpid()} {child.pid if child else 0}")}
    if name == "wait":
        seconds = arguments["seconds"]
        if "first_seconds" in arguments and Path(given.runs).read_text().count("\n") == 1:
            seconds = arguments["first_seconds"]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if message["id"] in cancelled:
                return None
            time.sleep(0.01)
        return {"content": text("waited")}
    if name == "big":
        return {"content": text("x" * arguments["size"])}
    if name == "cancelled":
        return {"content": text(str(len(cancelled)))}
    if name == "environment":
        return {"content": text(json.dumps(dict(os.environ)))}
    if name == "progress":
        token = message["params"]["_meta"]["progressToken"]
        for step in range(1, arguments["steps"] + 1):
            values = {"progressToken": token, "progress": step, "total": arguments["steps"]}
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": values})
        return {"content": text("done")}
    if name == "flood":
        values = arguments["message"]
        if values["method"] == "notifications/progress":
            values["params"]["progressToken"] = message["params"]["_meta"]["progressToken"]
        line = json.dumps({"jsonrpc": "2.0"} | values).encode() + b"\n"
        for _ in range(arguments["times"]):
            sys.stdout.buffer.write(line)
        return {"content": text("done")}
    if name == "changed":
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return {"content": text("announced")}
    if name == "kinds":
        resource = {"uri": "memory://notes.txt", "text": "the notes"}
        blob = {"uri": "memory://a.pdf", "mimeType": "application/pdf", "blob": "JVBERi0xLjc="}
        return {
            "content": [
                *text("first"),
                {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
                {"type": "audio", "data": "UklGRgAAAABXQVZF", "mimeType": "audio/wav"},
                {"type": "image", "data": "not base64", "mimeType": "image/png"},
                {"type": "resource_link", "uri": "https://example.com/a", "name": "the page"},
                {"type": "resource", "resource": resource},
                {"type": "resource", "resource": blob},
            ]
        }
    if name == "fail":
        return {"content": text("no such file"), "isError": True}
    if name == "noise":
        sys.stderr.write("e" * arguments["size"] + "\nlast words\n")
        sys.stderr.flush()
        return {"content": text("written")}
    if name == "structured":
        return {"content": [], "structuredContent": {"answer": 42}}
    return {"content": text(str(arguments.get("text", "")))}


def answer(message: dict) -> None:
    method, request = message["method"], message.get("id")
    if method == "notifications/cancelled":
        cancelled.add(message["params"]["requestId"])
    if request is None or given.silent:
        return
    error = {"code": -32601, "message": "Method not found"}
    result: dict[str, object] | None = None
    if method == "initialize":
        result = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "raw", "version": "1"},
        }
    elif method == "tools/list":
        result = page_of((message.get("params") or {}).get("cursor"))
    elif method == "tools/call":
        parameters = message["params"]
        result = call(message, parameters["name"], parameters.get("arguments") or {})
        if result is None:
            return
    if result is None:
        send({"jsonrpc": "2.0", "id": request, "error": error})
    else:
        send({"jsonrpc": "2.0", "id": request, "result": result})


child = None
if given.child:
    child = subprocess.Popen(["sleep", given.child], start_new_session=True)
if given.noise:
    print("Server starting...", flush=True)
    print("listening on stdio", flush=True)
for line in sys.stdin.buffer:
    received = json.loads(line)
    if "method" not in received:  # the answer to a request of a flood
        continue
    if received["method"] == "tools/call" and received["params"]["name"] != "flood":
        threading.Thread(target=answer, args=(received,), daemon=True).start()
    else:
        answer(received)
