"""One writer at a time in a folder, across threads and processes."""

from __future__ import annotations

import contextlib
import errno
import sys
import threading
import time
from collections.abc import Callable, Iterator

from ethos_registry.contract.abort import AbortSignal
from ethos_registry.toolkit.arguments import RefusalError
from ethos_registry.toolkit.folder import Folder

if sys.platform != "win32":
    import fcntl

__all__ = ["locked"]

_WAIT_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.000_2
_LONGEST_PAUSE_SECONDS = 0.005

_thread_lock = threading.Lock()


@contextlib.contextmanager
def locked(folder: Folder, signal: AbortSignal) -> Iterator[bool]:
    """Hold the lock of a folder; yields whether that keeps out other processes too.

    The lock is an advisory `flock` on the folder itself: it leaves no file behind, it ends with
    the process, and it is the same lock for processes that see different temp folders. One lock
    covers all paths in the folder; it is held for the moments of a check and a rename. Systems and
    file systems without such a lock (Windows, some network drives) get one lock for all threads of
    this process.

    Raises:
        RefusalError: The turn was aborted, or others have held the lock for 10 s.

    """
    with contextlib.ExitStack() as stack:
        descriptor = stack.enter_context(folder.readable())
        try:
            _wait(lambda: _take_flock(descriptor), signal)
            stack.callback(_release_flock, descriptor)
            is_alone = True
        except OSError:
            is_alone = False
            _wait(lambda: _thread_lock.acquire(blocking=False), signal)
            stack.callback(_thread_lock.release)
        yield is_alone


def _take_flock(descriptor: int | None) -> bool:
    """Try to take the lock; `OSError` if it does not exist."""
    if sys.platform == "win32" or descriptor is None:
        raise OSError(errno.ENOTSUP, "folders cannot be locked")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _release_flock(descriptor: int | None) -> None:
    """Release explicitly: a child that was forked meanwhile holds the same descriptor."""
    if sys.platform != "win32" and descriptor is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


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
