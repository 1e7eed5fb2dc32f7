"""One actor of a Ray pool, seen from its callers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import socket
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from ethos_registry.transports._protocol import RESPOND_SECONDS, read_line
from ethos_registry.types import _checks
from ethos_registry.types._extras import missing_extra
from ethos_registry.types._settings import setting
from ethos_registry.types._transport import PROTOCOL_VERSION

# The connection of this process to a Ray cluster.

DEFAULT_NAMESPACE = "ethos-registry"
_PREFIX = "ethos-registry/pool/"
_connecting = threading.Lock()
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class UnavailableError(Exception):
    """No actor can take calls; nothing was sent."""


def is_connected() -> bool:
    """Whether this process has a cluster."""
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


def connect(address: str | None, seconds: float) -> None:
    """Connect this process once; blocks for about `seconds` at most.

    Raises:
        UnavailableError: Ray is missing, or there is no cluster at the address.

    """
    try:
        import ray
    except ImportError:
        raise UnavailableError(str(missing_extra("Ray", "ray"))) from None
    if ray.is_initialized():
        return
    if address is not None and address.startswith("ray://"):
        raise UnavailableError(
            f"{address!r} is for Ray Client, which has no streams; run on a node of the cluster "
            "and give HOST:PORT or auto"
        )
    _check_reachable(address, seconds)
    failures: list[Exception] = []
    logging.getLogger("ray._private.worker").addFilter(_is_no_signal_note)

    def initialise() -> None:
        try:
            with _connecting:
                if not ray.is_initialized():
                    ray.init(
                        address=address or "auto", log_to_driver=False, configure_logging=False
                    )
        except Exception as error:
            failures.append(error)

    # On a thread: there Ray leaves the signal handlers of the program alone, and can be given up.
    thread = threading.Thread(target=initialise, daemon=True, name="ethos-registry-ray-init")
    thread.start()
    thread.join(seconds)
    shown = address or "auto"
    if thread.is_alive():
        raise UnavailableError(f"the Ray cluster at {shown!r} does not answer within {seconds:g} s")
    if failures:
        raise UnavailableError(
            f"cannot connect to the Ray cluster at {shown!r}: {brief_error(failures[0])}"
        )


def _is_no_signal_note(record: logging.LogRecord) -> bool:
    """Drops the note that Ray leaves the signal handlers alone, which is wanted."""
    return "SIGTERM handler is not set" not in record.getMessage()


def _check_reachable(address: str | None, seconds: float) -> None:
    """Ray itself tries for a minute, and ends the process when it gives up."""
    found = re.fullmatch(r"\[?(?P<host>[^/]+?)\]?:(?P<port>\d{1,5})", address or "")
    if found is None:
        return
    try:
        socket.create_connection((found["host"], int(found["port"])), min(seconds, 10)).close()
    except (OSError, OverflowError) as error:
        reason = "timed out" if isinstance(error, TimeoutError) else brief_error(error)
        raise UnavailableError(f"no Ray cluster at {address!r}: {reason}") from None


def brief_error(error: Exception) -> str:
    """The first line of an error, without colours."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    first = next(iter(_ESCAPES.sub("", str(error)).strip().splitlines()), "")
    return first[:200] or type(error).__name__


def draining_nodes() -> frozenset[str]:
    """The ids of the nodes that Ray empties before they go; blocks for a short time."""
    import ray
    from ray.exceptions import RayError

    try:
        state: Any = ray._private.state.state
        return frozenset(state.get_draining_nodes())
    except (AttributeError, RayError, RuntimeError):  # not public: another release may lack it
        return frozenset()


def worker_name(pool: str, worker: str) -> str:
    """The name of a worker of a pool."""
    return f"{_PREFIX}{pool}/{worker}"


def worker_names(pool: str, namespace: str) -> list[str]:
    """The names of the workers that a pool has now; blocks for a short time."""
    import ray

    prefix = worker_name(pool, "")
    return sorted(
        entry["name"]
        for entry in ray.util.list_named_actors(all_namespaces=True)
        if entry["namespace"] == namespace and entry["name"].startswith(prefix)
    )


CONTROL = {"concurrency_group": "control"}
"""Of calls that are answered while every place for batches is taken."""
_CONTROL_CALLS = 64
_MAX_PENDING = 1024
_WAITING_RUNS = 1024
"""Batches that wait inside an actor, and those whose results are followed, beside what runs."""


class LostError(UnavailableError):
    """The actor has ended for good."""


@dataclass(frozen=True, slots=True)
class ActorSettings:
    """How actors are made."""

    tools: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    """Placement, as Ray names it."""
    max_result_bytes: int = setting(_checks.whole_count, default=16 << 20)
    calls_per_worker: int = setting(_checks.whole_count, default=64)
    namespace: str = setting(_checks.text, default="")
    is_detached: bool = setting(_checks.boolean, default=False)
    """The actor outlives the process that made it."""
    is_restarted: bool = True
    """Ray starts an actor again whose process ends."""
    idle_seconds: float | None = None
    """An actor without calls for that time ends."""
    is_serial: bool = False
    """Calls run one after another."""

    def wanted(self) -> str:
        """What a node must have, for messages."""
        options = self.options
        wanted = dict(options.get("resources") or {})
        wanted |= {name: options[name] for name in ("num_cpus", "num_gpus") if options.get(name)}
        wanted |= options.get("label_selector") or {}
        shown = {
            name: value if isinstance(value, str) else f"{value:g}"
            for name, value in wanted.items()
        }
        return ", ".join(f"{name}={value}" for name, value in shown.items()) or "a worker"


def placement_options(
    num_cpus: float | None,
    num_gpus: float | None,
    resources: Mapping[str, float] | None,
    label_selector: Mapping[str, str] | None,
) -> dict[str, Any]:
    """The settings that decide on the node, as Ray takes them."""
    options: dict[str, Any] = {}
    for name, number in (("num_cpus", num_cpus), ("num_gpus", num_gpus)):
        if number is not None:
            options[name] = _checks.finite_number(number, name)
    for name, given in (("resources", resources), ("label_selector", label_selector)):
        if given is not None:
            _checks.instance(given, Mapping, name, "a mapping")
            options[name] = dict(given)
    return options


def create_actor(settings: ActorSettings, name: str = "") -> Any:
    """Make an actor, or find the one of that name; blocks for a short time."""
    import ray

    from ethos_registry.transports.ray._worker import RayWorker

    make_actor: Any = ray.remote
    actor = make_actor(
        num_cpus=0,
        max_concurrency=settings.calls_per_worker + _WAITING_RUNS,
        max_restarts=-1 if settings.is_restarted else 0,
        max_task_retries=0,
        max_pending_calls=_MAX_PENDING,
        concurrency_groups={"control": _CONTROL_CALLS},
    )(RayWorker)
    options = dict(settings.options)
    if name:
        options |= {"name": name, "namespace": settings.namespace, "get_if_exists": True}
    if settings.is_detached:
        options["lifetime"] = "detached"
    return actor.options(**options).remote(
        list(settings.tools),
        list(sys.path),
        settings.max_result_bytes,
        settings.calls_per_worker,
        settings.idle_seconds,
        settings.is_serial,
    )


def _checked_answer(value: Any, settings: ActorSettings, seconds: float) -> dict[str, Any]:
    """The answer to `hello`, from its bytes, an exception or `None` for none in time."""
    if value is None:
        raise UnavailableError(f"no node offers {settings.wanted()} within {seconds:g} s")
    if isinstance(value, Exception):
        from ray.exceptions import ActorDiedError

        # Only the kind: the text of Ray has addresses and process ids.
        problem = f"its Ray worker cannot start: {type(value).__name__}"
        lost = isinstance(value, ActorDiedError)
        raise LostError(problem) if lost else UnavailableError(problem)
    answer: dict[str, Any] = read_line(value)
    if "failed" in answer:
        raise UnavailableError(f"the tools cannot be loaded: {answer['failed']}")
    if answer["version"] != PROTOCOL_VERSION:
        raise UnavailableError(
            f"a worker has protocol {answer['version']}, this process {PROTOCOL_VERSION}; "
            "install the same version of ethos-registry"
        )
    return answer


class RayActor:
    """An actor, used by several loops at once; with `is_found` it belongs to another process."""

    def __init__(
        self,
        settings: ActorSettings,
        name: str = "",
        *,
        is_found: bool = False,
        expected_digest: str = "",
    ) -> None:
        self.settings = settings
        self.name = name
        self._is_found = is_found
        self._expected_digest = expected_digest
        self._lock = threading.Lock()
        self.handle: Any = None
        self._hello: Future[Any] | None = None
        self._offered: dict[str, list[Any]] | None = None
        self._is_closed = False
        self._is_checked = False
        """Whether it is being asked if it still responds."""
        self._last_started: tuple[float, list[str] | None] = 0.0, None
        """When its process was replaced, and the batches that it had started, if it answered."""
        self._is_retired = False
        self.node_id = ""
        self.open_calls = 0
        self.is_draining = False
        """It takes no further batches."""
        self.was_lost = False
        """Its process ended under calls, which were answered so."""

    @property
    def is_ready(self) -> bool:
        """Whether it answered since it was made, or lost."""
        return self._offered is not None

    async def look(self) -> None:
        """Ask what it offers, or take the answer that has arrived; waits for none."""
        hello = self._hello
        if hello is None:
            asyncio.get_running_loop().run_in_executor(None, self._ask_quietly)
        elif hello.done():
            with contextlib.suppress(UnavailableError):
                await self.ready(0)

    def _ask_quietly(self) -> None:
        with contextlib.suppress(Exception):  # another actor takes the batch
            self.ask()

    async def ready(self, seconds: float) -> dict[str, list[Any]]:
        """The digest of each tool that the actor offers.

        Raises:
            UnavailableError: It is not ready within `seconds`, or cannot load its tools.

        """
        if self._offered is not None:
            return self._offered
        hello = await asyncio.get_running_loop().run_in_executor(None, self.ask)
        await asyncio.wait([asyncio.wrap_future(hello)], timeout=seconds)
        try:
            answer = self.take_answer(hello, seconds)
            self._check_digest(answer["digest"])
        except UnavailableError:
            self.forget()
            raise
        offered: dict[str, list[Any]] = answer["tools"]
        self._offered = offered
        return offered

    def take_answer(self, hello: Future[Any], seconds: float) -> dict[str, Any]:
        """What the actor answered to `hello`.

        Raises:
            UnavailableError: It did not answer within `seconds`, or cannot take calls.

        """
        with self._lock:
            if hello.done() and self._hello is hello:
                self._hello = None
        answer = _checked_answer(hello.result() if hello.done() else None, self.settings, seconds)
        self.node_id = answer["node"]
        return answer

    def ask(self) -> Future[Any]:
        """Make the actor and send `hello`, unless both was done; blocks for a short time.

        The future gets the bytes of the answer, or an exception as its result.
        """
        with self._lock:
            if self._is_closed:
                raise UnavailableError("the transport was closed")
            if self._hello is not None:
                return self._hello
            if self.handle is None:
                self.handle = (
                    self._found() if self._is_found else create_actor(self.settings, self.name)
                )
            # A question that may be asked again: it waits while Ray starts the actor again.
            retries = -1 if self.settings.is_restarted else 0
            options = {"max_task_retries": retries, **CONTROL}
            reference = self.handle.hello.options(**options).remote()
            hello: Future[Any] = Future()
            hello.set_running_or_notify_cancel()
            self._hello = hello
        reference.future().add_done_callback(
            lambda done: hello.set_result(done.exception() or done.result())
        )
        return hello

    def _found(self) -> Any:
        import ray

        try:
            return ray.get_actor(self.name, namespace=self.settings.namespace)
        except ValueError:
            raise LostError("its Ray worker was ended") from None

    def _check_digest(self, digest: str) -> None:
        if self._expected_digest and digest != self._expected_digest:
            raise UnavailableError(
                f"the workers serve registry {digest[:12]}, this process has "
                f"{self._expected_digest[:12]}; install the same tools on both sides"
            )

    def run(self, batch: str, payload: bytes) -> Any:
        """Send a message; what happened first.

        Raises:
            UnavailableError: Nothing was sent.

        """
        from ray.exceptions import PendingCallsLimitExceeded

        handle = self.handle
        if handle is None:
            raise UnavailableError("its Ray worker was ended")
        try:
            return handle.run.remote(batch, payload)
        except PendingCallsLimitExceeded:
            raise UnavailableError(f"{_MAX_PENDING:,} messages wait for its Ray worker") from None

    def follow(self, batch: str) -> Any:
        """The stream of what happens further in a batch."""
        handle = self.handle
        if handle is None:
            raise UnavailableError("its Ray worker was ended")
        return handle.follow.options(num_returns="streaming").remote(batch)

    def cancel(self, batch: str, index: int | None) -> None:
        """Stop one call of a batch, or all."""
        handle = self.handle
        if handle is not None:
            handle.cancel.options(**CONTROL).remote(batch, index)
            self._check_soon(handle)

    async def begun(self, batch: str) -> list[int] | None:
        """The requests of a batch whose tools have started; `None` if the actor does not answer."""
        handle = self.handle
        if handle is None:
            return []
        try:
            async with asyncio.timeout(RESPOND_SECONDS):
                answer: list[int] = read_line(await handle.begun.options(**CONTROL).remote(batch))
        except TimeoutError:
            return None
        return answer

    def never_started(self, batch: str, sent_at: float) -> bool:
        """Whether a batch surely did not start before its process was replaced."""
        replaced_at, started = self._last_started
        return sent_at < replaced_at and started is not None and batch not in started

    def _check_soon(self, handle: Any) -> None:
        """Replace the actor unless the loop that runs its tools still takes turns."""
        with self._lock:
            if self._is_checked:
                return
            self._is_checked = True
        # A thread: the loop of the caller may end before the answer comes.
        threading.Thread(
            target=self._check, args=(handle,), daemon=True, name="ethos-registry-ray-check"
        ).start()

    def _check(self, handle: Any) -> None:
        import ray
        from ray.exceptions import GetTimeoutError, RayError

        try:
            response = handle.responds.options(**CONTROL).remote(RESPOND_SECONDS)
            started = read_line(ray.get(response, timeout=2 * RESPOND_SECONDS))
            is_blocked = started is not None
        except GetTimeoutError:
            started, is_blocked = None, True
        except RayError:  # it has ended
            is_blocked = False
        finally:
            self._is_checked = False
        if is_blocked and handle is self.handle:
            self._last_started = time.monotonic(), started
            self.lost()
            with contextlib.suppress(RayError):
                ray.kill(handle, no_restart=not self.settings.is_restarted)

    def lost(self) -> None:
        """Its process ended: ask again before the next message."""
        self._offered = None
        self.was_lost = True

    def recheck(self) -> None:
        """Ask before the next message whether it still runs."""
        self._offered = None

    def retire(self) -> None:
        """End the actor when its calls have ended."""
        self._is_retired = True
        self.release(0)

    def release(self, calls: int) -> None:
        """Calls have ended."""
        self.open_calls -= calls
        if self._is_retired and self.open_calls <= 0:
            self.close()

    def close(self) -> None:
        """End the actor for good."""
        with self._lock:
            self._is_closed = True
        self.forget()

    def forget(self) -> None:
        """End the actor, or the link to one of another process; the next call makes it again."""
        with self._lock:
            handle, self.handle = self.handle, None
            self._offered = self._hello = None
        if handle is not None and not self._is_found:
            import ray

            if ray.is_initialized():
                ray.kill(handle)
