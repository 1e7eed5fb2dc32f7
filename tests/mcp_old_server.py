"""A server of the earlier revisions: it exits at, or ignores, what comes before `initialize`.

Its arguments are `exit` or `ignore`, and a file that gets a line at each start.
"""

import json
import os
import sys

behaviour, starts = sys.argv[1:]
with open(starts, "a") as file:
    file.write("start\n")

is_initialized = False
for message in map(json.loads, sys.stdin):
    method, request = message["method"], message.get("id")
    is_initialized = is_initialized or method == "initialize"
    if not is_initialized:
        if behaviour == "exit":
            sys.exit("unknown method")
        continue
    if request is None:
        continue
    result: dict[str, object] = {}
    if method == "initialize":
        result = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "old", "version": "1"},
        }
    elif method == "tools/list":
        result = {"tools": [{"name": "die", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call" and message["params"]["arguments"].get("now"):
        os._exit(1)
    else:
        result = {"content": [{"type": "text", "text": "alive"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": request, "result": result}), flush=True)
