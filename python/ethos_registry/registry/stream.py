"""The results of a batch one by one, as they are ready."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from ethos_registry.contract.call import CallResult
from ethos_registry.execution.options import OnResult
from ethos_registry.execution.results import CallResults

__all__ = ["stream_results"]


async def stream_results(
    execute: Callable[[OnResult], Coroutine[Any, Any, CallResults]],
) -> AsyncIterator[CallResult]:
    """Run `execute(on_result)` and yield each result when it is ready.

    Leaving the iteration early cancels the calls that still run, with their grace.
    """
    results: asyncio.Queue[CallResult | None] = asyncio.Queue()
    batch = asyncio.create_task(execute(results.put_nowait))
    batch.add_done_callback(lambda _: results.put_nowait(None))
    try:
        while (result := await results.get()) is not None:
            yield result
        await batch
    finally:
        if not batch.done():
            batch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await batch
