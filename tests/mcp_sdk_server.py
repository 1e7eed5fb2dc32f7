"""An MCP server of the SDK: over stdio, or with `--http` over streamable HTTP on a free port.

With `--http` the first line of standard output is the URL.
"""

import argparse
import asyncio
import base64
import os
import socket
import sys

from mcp.server.mcpserver import Context, Image, MCPServer

options = argparse.ArgumentParser()
options.add_argument("--http", action="store_true")
options.add_argument("--port", type=int, default=0)
given = options.parse_args()
server = MCPServer("sdk")
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
waiting = cancelled = 0


@server.tool()
def echo(text: str) -> str:
    """Give the text back."""
    return text


@server.tool()
def pid() -> str:
    """The process id."""
    return str(os.getpid())


@server.tool()
def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


@server.tool()
def big(size: int) -> str:
    """A long text."""
    return "x" * size


@server.tool()
def picture() -> Image:
    """One pixel."""
    return Image(data=PIXEL, format="png")


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("no such file")


@server.tool()
async def wait(seconds: float) -> str:
    """Wait."""
    global cancelled, waiting
    waiting += 1
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        cancelled += 1
        raise
    finally:
        waiting -= 1
    return "waited"


@server.tool()
def waits() -> str:
    """How many calls of `wait` run."""
    return str(waiting)


@server.tool()
def cancellations() -> str:
    """How many calls of `wait` were cancelled."""
    return str(cancelled)


@server.tool()
async def progress(steps: int, context: Context) -> str:
    """Report each step."""
    for step in range(1, steps + 1):
        await context.report_progress(step, steps, f"step {step}")
    return "done"


@server.tool()
async def grow(name: str, context: Context) -> str:
    """Add a tool, and announce it in both revisions."""

    def added() -> str:
        return name

    server.add_tool(added, name=name, description="Added later.")
    await context.notify_tools_changed()
    try:
        await context.session.send_tool_list_changed()
    except Exception as error:  # the later revision has no such message
        print(f"not announced to the session: {error!r}", file=sys.stderr)
    return "added"


def run_http() -> None:
    import uvicorn

    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", given.port))
    listener.listen(64)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    app = server.streamable_http_app()
    settings = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    asyncio.run(uvicorn.Server(settings).serve(sockets=[listener]))


if given.http:
    run_http()
else:
    server.run()
