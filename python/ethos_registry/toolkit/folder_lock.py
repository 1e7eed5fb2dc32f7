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
    """Hold the folder: nobody else who asks for it by this function writes into it meanwhile.

    The lock is an advisory `flock` on the folder itself: it leaves no file behind, it ends with
    the process, and it is the same lock for processes that see different temp folders. One lock a
    folder covers each path in it; it is held for the moments of a check and a rename. Where the
    system or the file system has no such lock (Windows, some network drives), one lock for all
    threads of this process is what there is.

    `RefusalError` when the turn is aborted, or when others have held it for 10 s.
    """
    with contextlib.ExitStack() as stack:
        descriptor = stack.enter_context(folder.readable())
        try:
            _wait(lambda: _take_flock(descriptor), signal)
            stack.callback(_give_flock_back, descriptor)
            is_alone = True
        except OSError:
            is_alone = False
            _wait(lambda: _thread_lock.acquire(blocking=False), signal)
            stack.callback(_thread_lock.release)
        yield is_alone


def _take_flock(descriptor: int | None) -> bool:
    """Whether the lock is ours now; `OSError` where there is no such lock."""
    if sys.platform == "win32" or descriptor is None:
        raise OSError(errno.ENOTSUP, "no lock on folders")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _give_flock_back(descriptor: int | None) -> None:
    """Said aloud, as a child that was forked meanwhile holds the same descriptor."""
    if sys.platform != "win32" and descriptor is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _wait(take: Callable[[], bool], signal: AbortSignal) -> None:
    """Asks again and again, as a wait in the kernel could not be ended by an abort."""
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
