"""Runs a server until it ends by itself or a signal asks for it; a stuck tool cannot keep it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import Coroutine
from typing import Any

from ethos_registry import McpGateway
from ethos_registry.cli.signals import StoppedError

__all__ = ["run_server"]

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
