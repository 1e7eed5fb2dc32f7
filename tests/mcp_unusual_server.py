"""An MCP server over lines that writes what it is asked to, valid or not.

The tool `say` writes its argument `line`, with `%id%` replaced by the id of the request, and `exit`
exits; `--hello LINE` and `--listing LINE` are written instead of the usual answers.
"""

import argparse
import json
import os
import sys

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--hello", default="")
OPTIONS.add_argument("--listing", default="")
given = OPTIONS.parse_args()

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "odd", "version": "1"},
}
TOOL = {
    "name": "say",
    "inputSchema": {"type": "object", "properties": {"line": {"type": "string"}}},
}


def write(line: str, number: object) -> None:
    # Latin-1, so that a test can send bytes that are not UTF-8.
    data = line.replace("%id%", json.dumps(number)).encode("latin-1")
    sys.stdout.buffer.write(data + b"\n")
    sys.stdout.buffer.flush()


def answer(number: object, result: object) -> None:
    write(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}), number)


for message in map(json.loads, sys.stdin.buffer):
    method, request = message["method"], message.get("id")
    if request is None:
        continue
    if method == "initialize" and given.hello == "close":
        os.close(1)
        sys.stdin.read()
    elif method == "initialize" and given.hello:
        write(given.hello, request)
    elif method == "initialize":
        answer(request, HELLO)
    elif method == "tools/list" and given.listing:
        write(given.listing, request)
    elif method == "tools/list":
        answer(request, {"tools": [TOOL]})
    elif method == "tools/call":
        write(message["params"]["arguments"]["line"], request)
    else:
        error = {"code": -32601, "message": "Method not found"}
        write(json.dumps({"jsonrpc": "2.0", "id": request, "error": error}), request)
