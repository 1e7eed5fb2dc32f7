"""Stopping single calls of a batch that runs."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["BatchControl"]


class BatchControl:
    """Stops single calls of the batch that it is passed to as `control=`; use one per batch.

    >>> async def run(view, calls):
    ...     control = BatchControl()
    ...     batch = asyncio.create_task(view.execute(calls, control=control))
    ...     await asyncio.sleep(1)
    ...     control.stop(0)  # the first call; the others continue
    ...     return await batch
    """

    __slots__ = ("_stop",)

    def __init__(self) -> None:
        self._stop: Callable[[int], None] | None = None

    def stop(self, position: int) -> None:
        """Stop the call at this position of the batch, on the thread of its event loop.

        The call is answered as one of an aborted turn is. Does nothing for a call that has its
        result, and before and after the batch.
        """
        if self._stop is not None:
            self._stop(position)

    def attach(self, stop: Callable[[int], None] | None) -> None:
        """For the registry: what stops a call while the batch runs, `None` at its end."""
        self._stop = stop
