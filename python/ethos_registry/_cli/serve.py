"""`ethos-registry serve`: personalities as servers of the Model Context Protocol."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import threading
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ethos_registry._cli.console import CommandError, StoppedError, make_app, print_line
from ethos_registry._cli.options import (
    PersonalityFile,
    PersonalityId,
    ToolReferences,
    WorkingDir,
    positive_number,
)
from ethos_registry._cli.sources import read_personality, registry_to_serve
from ethos_registry.config import load_personalities
from ethos_registry.mcp import McpGateway
from ethos_registry.types import DEFAULT_BUDGET_CHARS
from ethos_registry.usage import UsageLedger

app = make_app()


# Runs a server until it ends by itself or a signal asks for it; a stuck tool cannot keep it.

_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
LEFTOVER_SECONDS = 0.25
EXIT_SECONDS = 0.5


def run_server(gateway: McpGateway, serving: Coroutine[Any, Any, None]) -> None:
    """Run the server; the first signal closes the gateway, a second one ends the process.

    Raises:
        StoppedError: A signal ended it.

    """
    received: list[int] = []
    loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)

        def stop(number: int) -> None:
            received.append(number)
            loop.remove_signal_handler(number)
            gateway.close()

        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                    loop.add_signal_handler(number, stop, number)
        loop.run_until_complete(serving)
        # Not `asyncio.run`: it waits without limit for a task that ignores its cancellation.
        leftover = asyncio.all_tasks(loop)
        for task in leftover:
            task.cancel()
        if leftover:
            loop.run_until_complete(asyncio.wait(leftover, timeout=LEFTOVER_SECONDS))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        asyncio.set_event_loop(None)
        loop.close()
    code = StoppedError(received[0]).exit_code if received else 0
    threading.Thread(target=_end_process, args=(code,), daemon=True).start()
    if received:
        raise StoppedError(received[0])


def _end_process(code: int) -> None:
    """End a process whose main thread has ended, if a thread of a tool keeps it alive."""
    threading.main_thread().join()
    time.sleep(EXIT_SECONDS)
    os._exit(code)


TOKEN_VARIABLE = "ETHOS_REGISTRY_MCP_TOKEN"
_ADDRESS = re.compile(r"(?:(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)?:)?(?P<port>[0-9]{1,5})")


@app.command(short_help="Serve a personality over the Model Context Protocol.")
def serve(
    personality: PersonalityFile = None,
    personality_id: PersonalityId = None,
    tools: ToolReferences = None,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve over streamable HTTP, each personality at /mcp/ID; port 0 takes one that "
            f"is free. Clients must send the bearer token of ${TOKEN_VARIABLE} if it is set; it "
            "must be set unless the address is a loopback one. Default: standard input and output.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="With --http: host name that clients use for this server."
        ),
    ] = None,
    budget: Annotated[
        int,
        typer.Option(
            parser=positive_number,
            metavar="N",
            help="Longest result of a call, in characters.",
        ),
    ] = DEFAULT_BUDGET_CHARS,
    working_dir: WorkingDir = None,
    untrusted: Annotated[
        str,
        typer.Option(
            metavar="mark|wrap",
            help="Flag the output of untrusted tools, or put it inside a fence that models see.",
        ),
    ] = "mark",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be called without calling it.")
    ] = False,
    ledger: Annotated[
        str | None,
        typer.Option(metavar="PLACE", help="Ledger to count calls in; `usage` reads it."),
    ] = None,
) -> None:
    """Serve what a personality may use to clients of the Model Context Protocol.

    Ends when its client closes the input, or on Ctrl-C; running calls are cancelled.
    """
    if personality is None:
        raise CommandError("`serve` needs `--personality FILE`: which tools clients may use")
    if working_dir is not None and not os.path.isdir(working_dir):
        raise CommandError(f"`--working-dir` is not a folder: {working_dir!r}")
    if untrusted not in ("mark", "wrap"):
        raise CommandError(f"`--untrusted` must be mark or wrap: {untrusted!r}")
    if http is None and allow_host:
        raise CommandError("`--allow-host` needs `--http`")
    policy: Literal["mark", "wrap"] = "wrap" if untrusted == "wrap" else "mark"
    address = None if http is None else _address(http)
    one = None
    if address is None or personality_id is not None:
        one = read_personality(personality, personality_id)
    served = list(load_personalities(Path(personality)).values()) if one is None else [one]
    with contextlib.ExitStack() as stack:
        descriptors = None
        if address is None:
            # Before tools are loaded: what their modules print must not reach the client.
            descriptors = stack.enter_context(McpGateway.claimed_stdio())
        usage = None if ledger is None else stack.enter_context(UsageLedger(ledger))
        gateway = McpGateway(
            registry_to_serve(tools or (), usage),
            served,
            result_budget_chars=budget,
            untrusted=policy,
            working_dir=working_dir,
            dry_run=dry_run,
        )
        if address is None:
            run_server(gateway, gateway.serve_stdio(descriptors=descriptors))
            return
        host, port = address
        token = os.environ.get(TOKEN_VARIABLE)
        run_server(
            gateway,
            gateway.serve_http(
                host, port, token=token, allowed_hosts=allow_host or (), on_ready=_print_urls
            ),
        )


def _print_urls(urls: list[str]) -> None:
    for url in urls:
        print_line(f"serving at {url} until Ctrl-C")


def _address(text: str) -> tuple[str, int]:
    """Host and port; only a port means this machine."""
    found = _ADDRESS.fullmatch(text)
    if found is None or int(found["port"]) > 65535:
        raise CommandError(f"`--http` takes HOST:PORT, such as 127.0.0.1:8000: {text!r}")
    return (found["host"] or "127.0.0.1").strip("[]"), int(found["port"])
