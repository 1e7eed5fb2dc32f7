"""A thread that writes what other threads collect, until the process ends."""

from __future__ import annotations

import sys
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ethos_registry._persistence.files import leave_to_parent

CLOSE_SECONDS = 10.0
"""How long closing waits for a write that does not end."""
LEAST_RETRY_SECONDS = 0.05
MAX_RETRY_SECONDS = 60.0


class Store:
    """Where a writer writes; one that holds nothing open has nothing to add."""

    def close(self) -> None:
        """Let go of files and connections."""

    def after_fork_in_child(self) -> object:
        """In a child after `fork`: what only the parent may use; hold it and do not touch it."""
        return None


class BackgroundWriter(ABC):
    """Calls `flush` on one daemon thread, some time after `arm`; a failed write is tried again.

    No reference leads from the thread's work back to the object that the host holds, so that one
    that is no longer used is collected, flushed. A child made by `fork` starts from nothing.
    """

    def __init__(self, store: Store, flush_seconds: float, thread_name: str) -> None:
        self._store = store
        self._flush_seconds = flush_seconds
        self._thread_name = thread_name
        self._reset()
        _writers.add(self)

    def _reset(self) -> None:
        """Start from nothing: at first, and in a child after `fork`."""
        self.lock = threading.Lock()
        """Guards what is collected, `_is_armed` and `_thread`; held for a moment only."""
        self._writing = threading.Lock()
        """Held while one thread writes."""
        self._wake = threading.Event()
        """Something was collected."""
        self._hurry = threading.Event()
        """So much was collected that it is written at once."""
        self._stopped = threading.Event()
        self._is_armed = False
        self._thread: threading.Thread | None = None

    @abstractmethod
    def flush(self) -> bool:
        """Write all that was collected until now; whether it is stored.

        Taking what was collected sets `_is_armed` to `False`, both in one hold of `lock`.
        """

    def close_store(self) -> None:
        self._store.close()

    def arm(self) -> None:
        """Something was collected: write it soon."""
        with self.lock:
            if self._is_armed:
                return
            self._is_armed = True
            if self._thread is None and not self._stopped.is_set():
                self._start()
        self._wake.set()

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name=self._thread_name, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the interpreter is ending: what was collected is written at its end
            return
        self._thread = thread
        _flush_at_end_of_worker(self.stop)

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._hurry.wait(self._flush_seconds)
            self._wake.clear()
            self._hurry.clear()
            if self._stopped.is_set():
                return  # `stop` writes what is left
            delay = self._flush_seconds
            while not self.flush():
                if self._stopped.wait(delay):
                    return
                delay = min(max(delay * 2, LEAST_RETRY_SECONDS), MAX_RETRY_SECONDS)

    def stop(self) -> None:
        """Write what is left, and end the thread; what is collected later waits for a `flush`."""
        with self.lock:
            self._stopped.set()
            thread, self._thread = self._thread, None
        self._wake.set()
        self._hurry.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join(CLOSE_SECONDS)
            if thread.is_alive():
                self._thread = thread
                return  # a write hangs: the process must still be able to end
        self.flush()
        self.close_store()

    def forget_parent(self) -> object:
        """In a child after `fork`: start from nothing; what is returned must be left alone."""
        self._reset()
        return self._store.after_fork_in_child()


def _flush_at_end_of_worker(stop: Callable[[], Any]) -> None:
    """Call `stop` at the end of a process of `multiprocessing`, which skips `atexit`."""
    process = sys.modules.get("multiprocessing.process")
    util = sys.modules.get("multiprocessing.util")
    if process is not None and util is not None and process.parent_process() is not None:
        util.Finalize(None, stop, exitpriority=0)


_writers: weakref.WeakSet[BackgroundWriter] = weakref.WeakSet()
leave_to_parent(_writers, BackgroundWriter.forget_parent)
