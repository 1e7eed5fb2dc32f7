"""Approve a call later, in another process, with a signed token.

    pip install .
    python examples/durable_approval.py

Run without arguments it starts itself twice, as a web application would serve two requests: the
first process asks for approval and ends, the second one continues the call.
"""

import asyncio
import json
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

from ethos_registry import (
    Invocation,
    InvocationFilter,
    Pending,
    Personality,
    ToolRegistry,
    View,
    tool,
)
from ethos_registry.execution import ApprovalError, Approvals, FileApprovalStore


@tool
def delete_folder(path: str) -> str:
    """Delete a folder with its content."""
    return f"{path} was deleted (simulated)"


def ask(invocation: Invocation) -> Pending:
    """Let a person decide, in another process."""
    return Pending(f"deletes {invocation.args['path']}")


def agent_view(folder: Path) -> View:
    """The same registry in both processes; the key is a secret of the application."""
    key = bytes.fromhex(os.environ["APPROVAL_KEY"])
    registry = ToolRegistry(
        [delete_folder],
        approvals=Approvals(key, store=FileApprovalStore(folder / "used")),
        filters=[InvocationFilter(before=ask, tool_names="delete_folder")],
    )
    return registry.view(Personality("assistant", toolset=None))


async def request(folder: Path) -> None:
    """The model wants to delete a folder."""
    calls = [{"id": "1", "name": "delete_folder", "args": {"path": "build"}}]
    for result in await agent_view(folder).execute(calls):
        print(f"model reads: {result.text}")
        if result.pending is not None:
            (folder / "pending.json").write_text(json.dumps({"token": result.pending.token}))


async def decide(folder: Path) -> None:
    """The person approves, with another folder, and presses the button twice."""
    token = json.loads((folder / "pending.json").read_text())["token"]
    view = agent_view(folder)
    result = await view.resume(token, approved=True, edited_args={"path": "build/old"})
    print(f"{result.name}: {result.text}")
    try:
        await view.resume(token, approved=True)
    except ApprovalError as error:
        print(f"second click: {error.reason}")


def main() -> None:
    """Run both steps, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"APPROVAL_KEY": secrets.token_hex(32)}
        for step in ("request", "decide"):
            command = [sys.executable, __file__, step, folder]
            subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        asyncio.run({"request": request, "decide": decide}[sys.argv[1]](Path(sys.argv[2])))
    else:
        main()
