"""A server of revision 2025-11-25 whose calls are tasks.

`work` answers after some polls, `fail` ends as failed, `stop` never ends, `direct` is no task. The
states that the program asked for are written to the file that is its argument.
"""

import json
import sys

[log] = sys.argv[1:]
polls: dict[str, int] = {}


def note(line: str) -> None:
    with open(log, "a") as file:
        file.write(f"{line}\n")


def task(identifier: str, status: str) -> dict[str, object]:
    moment = "2026-01-01T00:00:00Z"
    return {
        "taskId": identifier,
        "status": status,
        "createdAt": moment,
        "lastUpdatedAt": moment,
        "ttl": 60_000,
        "pollInterval": 50,
    }


def tool(name: str, support: str) -> dict[str, object]:
    execution = {"taskSupport": support}
    return {"name": name, "inputSchema": {"type": "object"}, "execution": execution}


for message in map(json.loads, sys.stdin):
    method, request, params = message["method"], message.get("id"), message.get("params") or {}
    if request is None:
        continue
    answer: dict[str, object] = {}
    if method == "initialize":
        capabilities = {"tools": {}, "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}}}
        answer["result"] = {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "serverInfo": {"name": "tasks", "version": "1"},
        }
    elif method == "tools/list":
        tools = [tool(name, "required") for name in ("work", "fail", "stop")]
        answer["result"] = {"tools": [*tools, tool("direct", "optional")]}
    elif method == "tools/call":
        name = params["name"]
        note(f"call {name} {'as a task' if 'task' in params else ''}".strip())
        text = {"type": "text", "text": "at once"}
        is_direct = name == "direct"
        answer["result"] = {"content": [text]} if is_direct else {"task": task(name, "working")}
    elif method == "tasks/get":
        name = params["taskId"]
        polls[name] = polls.get(name, 0) + 1
        note(f"get {name}")
        ends = {"work": "completed", "fail": "failed"}
        status = ends[name] if name in ends and polls[name] > 2 else "working"
        answer["result"] = task(name, status)
    elif method == "tasks/result":
        name = params["taskId"]
        text = {"type": "text", "text": f"{name} is done"}
        answer["result"] = {"content": [text], "isError": name == "fail"}
    elif method == "tasks/cancel":
        note(f"cancel {params['taskId']}")
        answer["result"] = task(params["taskId"], "cancelled")
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps({"jsonrpc": "2.0", "id": request, **answer}), flush=True)
