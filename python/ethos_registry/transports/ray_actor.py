"""One actor of a Ray pool, seen from its callers."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from ethos_registry.contract.execute_request import PROTOCOL_VERSION
from ethos_registry.transports.json_lines import read_line

__all__ = ["RayActor", "UnavailableError"]

_CONTROL = {"concurrency_group": "control"}
_CONTROL_CALLS = 8


class UnavailableError(Exception):
    """No actor can take calls; nothing was sent."""


class RayActor:
    """An actor that Ray starts again when its process ends; used by several loops at once."""

    def __init__(
        self,
        tools: Sequence[str],
        options: Mapping[str, Any],
        max_result_bytes: int,
        calls: int,
    ) -> None:
        self._arguments = (list(tools), list(sys.path), max_result_bytes)
        self._options = dict(options)
        self._calls = calls
        self._lock = threading.Lock()
        self._handle: Any = None
        self._offered: dict[str, list[Any]] | None = None
        self._is_closed = False
        self.open_calls = 0

    async def ready(self, seconds: float) -> dict[str, list[Any]]:
        """The digest of each tool that the actor offers.

        Raises:
            UnavailableError: It is not ready within `seconds`, or cannot load its tools.

        """
        if self._offered is not None:
            return self._offered
        import ray
        from ray.exceptions import RayError

        with self._lock:
            if self._is_closed:
                raise UnavailableError("the transport was closed")
            if self._handle is None:
                self._handle = self._created(ray)
            handle = self._handle
        # A question that may be asked again: it waits while Ray starts the actor again.
        asked = handle.hello.options(max_task_retries=-1, **_CONTROL).remote()
        try:
            answer = read_line(await asyncio.wait_for(asked, seconds))
        except TimeoutError:
            self.forget()
            raise UnavailableError(
                f"no node offers {self._wanted()} within {seconds:g} s"
            ) from None
        except RayError as error:
            self.forget()
            raise UnavailableError(f"its Ray worker cannot start: {_brief(error)}") from None
        if "failed" in answer:
            self.forget()
            raise UnavailableError(f"the tools cannot be loaded: {answer['failed']}")
        if answer["version"] != PROTOCOL_VERSION:
            self.forget()
            raise UnavailableError(
                f"a worker has protocol {answer['version']}, this process {PROTOCOL_VERSION}; "
                "install the same version of ethos-registry"
            )
        offered: dict[str, list[Any]] = answer["tools"]
        self._offered = offered
        return offered

    def _created(self, ray: Any) -> Any:
        from ethos_registry.transports.ray_worker import RayWorker

        actor = ray.remote(
            num_cpus=0,
            max_concurrency=self._calls,
            max_restarts=-1,
            max_task_retries=0,
            concurrency_groups={"control": _CONTROL_CALLS},
        )(RayWorker)
        return actor.options(**self._options).remote(*self._arguments)

    def _wanted(self) -> str:
        wanted = dict(self._options.get("resources") or {})
        wanted |= {name: self._options[name] for name in ("num_gpus",) if self._options.get(name)}
        wanted |= self._options.get("label_selector") or {}
        return ", ".join(f"{name}={value}" for name, value in wanted.items()) or "a worker"

    def run(self, batch: str, payload: bytes) -> Any:
        """Send a message; the stream of what happens.

        Raises:
            UnavailableError: The actor was ended in the meantime; nothing was sent.

        """
        handle = self._handle
        if handle is None:
            raise UnavailableError("its Ray worker was ended")
        return handle.run.options(num_returns="streaming").remote(batch, payload)

    def cancel(self, batch: str, index: int) -> None:
        """Stop one call of a batch."""
        handle = self._handle
        if handle is not None:
            handle.cancel.options(**_CONTROL).remote(batch, index)

    def lost(self) -> None:
        """Its process ended: ask again before the next message."""
        self._offered = None

    def close(self) -> None:
        """End the actor for good."""
        with self._lock:
            self._is_closed = True
        self.forget()

    def forget(self) -> None:
        """End the actor; the next call creates another one."""
        with self._lock:
            handle, self._handle = self._handle, None
            self._offered = None
        if handle is not None:
            import ray

            if ray.is_initialized():
                ray.kill(handle)


def _brief(error: Exception) -> str:
    """The kind of an error of Ray: its text has addresses and process ids."""
    return type(error).__name__
