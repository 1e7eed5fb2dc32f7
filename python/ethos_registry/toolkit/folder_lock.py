"""One writer at a time in a folder, across threads and processes."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from ethos_registry.contract.abort import AbortSignal
from ethos_registry.toolkit.arguments import RefusalError

__all__ = ["locked"]

_WAIT_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.000_2
_LONGEST_PAUSE_SECONDS = 0.005

_thread_lock = threading.Lock()


@contextlib.contextmanager
def locked(target: Any, signal: AbortSignal) -> Iterator[None]:
    """Hold the lock of the folder of a `_core.ScopedTarget`.

    The lock is an advisory `flock` on the folder itself: it leaves no file behind, it ends with
    the process, and it is the same lock for processes that see different temp folders. One lock
    covers all paths in the folder; it is held for the moments of a check and a rename. Systems and
    file systems without such a lock (Windows, some network drives) get one lock for all threads of
    this process.

    Raises:
        RefusalError: The turn was aborted, or others have held the lock for 10 s.

    """
    try:
        _wait(lambda: _take(target), signal)
        release = target.unlock
    except OSError:
        _wait(lambda: _thread_lock.acquire(blocking=False), signal)
        release = _thread_lock.release
    try:
        yield
    finally:
        release()


def _take(target: Any) -> bool:
    """Try to take the lock; `OSError` if the file system has none."""
    is_taken: bool = target.lock()
    return is_taken


def _wait(take: Callable[[], bool], signal: AbortSignal) -> None:
    """Poll: a wait in the kernel could not be ended by an abort."""
    deadline = time.monotonic() + _WAIT_SECONDS
    pause = _FIRST_PAUSE_SECONDS
    while not take():
        if signal.aborted:
            raise RefusalError("nothing was written: the turn was aborted", "execution_failed")
        if time.monotonic() > deadline:
            raise RefusalError(
                "nothing was written: another program has kept the folder locked for "
                f"{_WAIT_SECONDS:g} s; try again later",
                "execution_failed",
            )
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
