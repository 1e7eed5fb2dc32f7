"""The workers that a program serves under the name of a pool."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from typing import Any
from uuid import uuid4

from ethos_registry.transports._protocol import checked_references
from ethos_registry.transports.ray._actor import (
    CONTROL,
    DEFAULT_NAMESPACE,
    ActorSettings,
    RayActor,
    UnavailableError,
    connect,
    draining_nodes,
    is_connected,
    placement_options,
    worker_name,
    worker_names,
)
from ethos_registry.types import _checks
from ethos_registry.types._errors import EthosRegistryError
from ethos_registry.types._settings import checked_settings

_OTHERS_SECONDS = 5.0
_SHUTDOWN_SECONDS = 15.0
_STEP_SECONDS = 0.1
_LINGER_SECONDS = 1.5
"""How long a worker that takes no more calls refuses them: callers look for workers each second."""


class RayWorkers:
    """Workers of a pool on a Ray cluster, as `ethos-registry worker` serves them.

    Callers use them with `RayTransport(pool=...)`. They end with this process, unless they are
    detached. For one thread; each method blocks for a bounded time.

    Args:
        tools: What workers import: `module:attribute` or `entry_point:NAME`.
        address: The cluster, if the program has not called `ray.init` itself. Default: `auto`.
        pool: Under which name callers find them.
        namespace: The Ray namespace of their names.
        workers: How many.
        calls_per_worker: The most batches that one worker runs at once.
        num_cpus: CPUs of each worker. Default: 0, for tools that wait for something.
        num_gpus: GPUs of each worker.
        resources: Custom resources of each worker, such as `{"toolset:render": 1}`.
        label_selector: Labels of the nodes that may have workers.
        is_detached: They outlive this process, until `end_pool`.
        max_result_bytes: The middle of a longer text is left out, in UTF-8 bytes.

    Raises:
        ConfigError: A setting is wrong.

    >>> workers = RayWorkers("ethos_registry.tools:ready_tools", pool="files", workers=2)
    >>> workers.digest
    ''

    """

    def __init__(
        self,
        tools: str | Sequence[str],
        *,
        address: str | None = None,
        pool: str = "tools",
        namespace: str = DEFAULT_NAMESPACE,
        workers: int = 1,
        calls_per_worker: int = 64,
        num_cpus: float | None = None,
        num_gpus: float | None = None,
        resources: Mapping[str, float] | None = None,
        label_selector: Mapping[str, str] | None = None,
        is_detached: bool = False,
        max_result_bytes: int = 16 << 20,
    ) -> None:
        self._address = _checks.optional_text(address, "address")
        self._pool = _checks.text(pool, "pool")
        self._count = _checks.whole_count(workers, "workers")
        self._settings = checked_settings(
            ActorSettings,
            {
                "calls_per_worker": calls_per_worker,
                "max_result_bytes": max_result_bytes,
                "namespace": namespace,
                "is_detached": is_detached,
            },
            tools=checked_references(tools),
            options=placement_options(num_cpus, num_gpus, resources, label_selector),
        )
        self._workers: list[_Worker] = []
        self._leaving: list[_Worker] = []
        self.digest = ""
        """The digest of the registry that they serve, from `start` on."""
        self.tools: list[str] = []
        """The names of the tools that they serve, from `start` on."""

    def start(self, timeout_seconds: float = 60.0) -> None:
        """Connect and start all workers; none is left if this fails.

        Raises:
            EthosRegistryError: One is not ready in time, with the reason.

        """
        ends_at = time.monotonic() + timeout_seconds
        try:
            connect(self._address, timeout_seconds)
            self._workers = [self._new() for _ in range(self._count)]
            for worker in self._workers:
                answer = worker.answer(ends_at - time.monotonic(), timeout_seconds)
                self.digest, self.tools = answer["digest"], sorted(answer["tools"])
            self._check_others()
        except UnavailableError as error:
            self._kill()
            raise EthosRegistryError(str(error)) from None
        except BaseException:
            self._kill()
            raise

    def _new(self) -> _Worker:
        name = worker_name(self._pool, f"{socket.gethostname()}-{uuid4().hex[:8]}")
        return _Worker(RayActor(self._settings, name))

    def _check_others(self) -> None:
        """All workers of a pool serve the same registry."""
        from ray.exceptions import RayError

        for name in worker_names(self._pool, self._settings.namespace):
            try:
                other = _Worker(RayActor(self._settings, name, is_found=True))
                answer = other.answer(_OTHERS_SECONDS, _OTHERS_SECONDS)
            except (UnavailableError, RayError):  # it ended, or is not ready
                continue
            if answer["digest"] != self.digest:
                raise UnavailableError(
                    f"the pool `{self._pool}` serves registry {answer['digest'][:12]}, these tools "
                    f"are registry {self.digest[:12]}; serve them as another pool"
                )

    def tend(self) -> None:
        """Replace the workers whose node is being drained, and end those that have left."""
        draining = draining_nodes()
        for place, worker in enumerate(self._workers):
            worker.look()
            if worker.actor.node_id in draining:
                worker.drain()
                self._leaving.append(worker)
                self._workers[place] = self._new()
        for worker in [each for each in self._leaving if each.is_empty()]:
            self._leaving.remove(worker)
            worker.kill()

    def stop(self, grace_seconds: float = 10.0) -> None:
        """Take no more calls, let those that run finish within the time, and end."""
        _stop([*self._workers, *self._leaving], grace_seconds)
        self._workers, self._leaving = [], []

    def _kill(self) -> None:
        for worker in [*self._workers, *self._leaving]:
            worker.kill()
        self._workers, self._leaving = [], []

    @staticmethod
    def end_pool(
        pool: str,
        *,
        address: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        timeout_seconds: float = 60.0,
        grace_seconds: float = 10.0,
    ) -> int:
        """End all workers of a pool, also those of other programs; return how many.

        Raises:
            EthosRegistryError: There is no cluster.

        """
        try:
            connect(address, timeout_seconds)
        except UnavailableError as error:
            raise EthosRegistryError(str(error)) from None
        settings = ActorSettings((), namespace=namespace)
        found = []
        for name in worker_names(pool, namespace):
            with contextlib.suppress(UnavailableError):  # it has just ended
                found.append(_Worker(RayActor(settings, name, is_found=True)))
        _stop(found, grace_seconds)
        return len(found)

    @staticmethod
    def disconnect() -> bool:
        """Leave the cluster; false if Ray has not left it after 15 seconds."""
        if not is_connected():
            return True
        import ray

        thread = threading.Thread(target=ray.shutdown, daemon=True)
        thread.start()
        thread.join(_SHUTDOWN_SECONDS)
        return not thread.is_alive()


def _stop(workers: list[_Worker], grace_seconds: float) -> None:
    ends_at = time.monotonic() + grace_seconds
    for worker in workers:
        worker.drain()
    while time.monotonic() < ends_at and not all(worker.is_empty() for worker in workers):
        time.sleep(_STEP_SECONDS)
    for worker in workers:
        worker.kill()


class _Worker:
    """One of them, which is asked at once what it offers."""

    def __init__(self, actor: RayActor) -> None:
        self.actor = actor
        self._hello = actor.ask()
        self._drain: Any = None
        self._drained_at = 0.0

    def answer(self, wait_seconds: float, seconds: float) -> dict[str, Any]:
        """What it offers; `UnavailableError` if it is not ready in time."""
        wait([self._hello], max(wait_seconds, 0.0))
        return self.actor.take_answer(self._hello, seconds)

    def look(self) -> None:
        """Learn on which node it is: Ray may have started it again elsewhere."""
        if self._hello.done():
            with contextlib.suppress(UnavailableError):
                self.answer(0, 0)
            self._hello = self.actor.ask()

    def drain(self) -> None:
        """Take no more batches."""
        self._drained_at = time.monotonic()
        self._ask_running()

    def _ask_running(self) -> None:
        self._drain = self.actor.handle.drain.options(**CONTROL).remote()

    def is_empty(self) -> bool:
        """Whether nothing runs any more, after `drain`."""
        import ray
        from ray.exceptions import RayError

        if not ray.wait([self._drain], timeout=0)[0]:
            return False
        try:
            running = ray.get(self._drain)
        except RayError:  # it has ended
            return True
        if running or time.monotonic() - self._drained_at < _LINGER_SECONDS:
            self._ask_running()
            return False
        return True

    def kill(self) -> None:
        import ray

        if ray.is_initialized():
            ray.kill(self.actor.handle)
