"""A server of revision 2025-11-25 whose calls are tasks.

`work` answers after some polls, `fail` ends as failed, `stop` never ends, `direct` is no task.
`ask` and `withdraw` ask the client a question as a task; `unknown` asks for a task that there is
not. The states that the program asked for are written to the file that is its argument.
"""

import json
import sys
import time
from typing import Any

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


def send(**fields: object) -> None:
    print(json.dumps({"jsonrpc": "2.0", **fields}), flush=True)


QUESTION = {
    "message": "Which day?",
    "requestedSchema": {"type": "object", "properties": {"day": {"type": "string"}}},
    "task": {"ttl": 60_000},
}
calls: dict[str, object] = {}
tasks: dict[str, str] = {}


def ask(name: str, request: object) -> None:
    calls[name] = request
    if name == "unknown":
        send(id="unknown result", method="tasks/result", params={"taskId": "none"})
    else:
        send(id=f"{name} question", method="elicitation/create", params=QUESTION)


def read_answer(message: dict[str, Any]) -> None:
    """The client's answer to a question, to a poll or to the request for the result."""
    name, _, step = message["id"].partition(" ")
    result = message.get("result", {})
    if step == "question":
        tasks[name] = result["task"]["taskId"]
        note(f"{name} is {result['task']['status']}")
    elif step == "poll":
        note(f"{name} is {result['status']}")
    wanted = {"taskId": tasks.get(name, "none")}
    if step == "question" and name == "withdraw":
        send(id=f"{name} poll", method="tasks/cancel", params=wanted)
    elif step == "question" or (step == "poll" and result["status"] == "working"):
        time.sleep(0.02)
        send(id=f"{name} poll", method="tasks/get", params=wanted)
    elif step == "poll":
        send(id=f"{name} result", method="tasks/result", params=wanted)
    else:
        text = json.dumps(message.get("result") or message["error"])
        send(id=calls[name], result={"content": [{"type": "text", "text": text}]})


for message in map(json.loads, sys.stdin):
    if "method" not in message:
        read_answer(message)
        continue
    method, request, params = message["method"], message.get("id"), message.get("params") or {}
    if request is None:
        continue
    answer: dict[str, object] = {}
    if method == "initialize":
        note(f"the client has {json.dumps(params['capabilities'].get('tasks'))}")
        capabilities = {"tools": {}, "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}}}
        answer["result"] = {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "serverInfo": {"name": "tasks", "version": "1"},
        }
    elif method == "tools/list":
        tools = [tool(name, "required") for name in ("work", "fail", "stop")]
        tools += [tool(name, "forbidden") for name in ("ask", "withdraw", "unknown")]
        answer["result"] = {"tools": [*tools, tool("direct", "optional")]}
    elif method == "tools/call":
        name = params["name"]
        if name in ("ask", "withdraw", "unknown"):
            ask(name, request)
            continue
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
    send(id=request, **answer)
