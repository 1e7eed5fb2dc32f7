"""Aborting a turn: from the loop, from threads, from signal handlers."""

from __future__ import annotations

import asyncio
import copy
import itertools
import logging
import os
import pickle
import signal
import threading
from typing import Any

import pytest

from ethos_registry.types import AbortController, AbortSignal
from ethos_registry.types._abort import NEVER_ABORTED
from stepping import interrupted_at

pytestmark = pytest.mark.every_python


def test_a_signal_fires_once_and_keeps_the_first_reason() -> None:
    controller = AbortController()
    assert (controller.signal.aborted, controller.signal.reason) == (False, None)
    calls: list[str] = []
    controller.signal.add_listener(lambda: calls.append("a"))
    controller.abort("first")
    controller.abort("second")
    assert (controller.signal.aborted, controller.signal.reason) == (True, "first")
    assert calls == ["a"]


def test_a_listener_added_too_late_is_called_at_once() -> None:
    controller = AbortController()
    controller.abort()
    calls: list[str] = []
    remove = controller.signal.add_listener(lambda: calls.append("late"))
    assert calls == ["late"]
    remove()


def test_a_removed_listener_is_not_called_and_its_neighbour_is() -> None:
    controller = AbortController()
    calls: list[str] = []
    remove = controller.signal.add_listener(lambda: calls.append("a"))
    controller.signal.add_listener(lambda: calls.append("b"))
    remove()
    remove()
    controller.abort()
    assert calls == ["b"]


def test_the_same_listener_twice_is_two_listeners() -> None:
    controller = AbortController()
    calls: list[str] = []

    def listener() -> None:
        calls.append("a")

    remove = controller.signal.add_listener(listener)
    controller.signal.add_listener(listener)
    remove()
    controller.abort()
    assert calls == ["a"]


@pytest.mark.parametrize("failure", [ValueError("no"), SystemExit(3)])
def test_a_listener_that_raises_keeps_no_other_from_being_called(
    failure: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    controller = AbortController()
    calls: list[str] = []

    def bad() -> None:
        raise failure

    controller.signal.add_listener(bad)
    controller.signal.add_listener(lambda: calls.append("b"))
    with caplog.at_level(logging.WARNING, "ethos_registry"):
        controller.abort()
        controller.signal.add_listener(bad)
    assert calls == ["b"]
    assert [record.message for record in caplog.records] == [
        "a listener of an abort signal raised"
    ] * 2


def test_a_listener_may_use_the_signal() -> None:
    controller = AbortController()
    calls: list[object] = []

    def listener() -> None:
        controller.abort("again")
        controller.signal.add_listener(lambda: calls.append(controller.signal.reason))

    controller.signal.add_listener(listener)
    controller.abort("first")
    assert calls == ["first"]


def test_threads_that_abort_and_listen_at_once_lose_no_listener() -> None:
    for _ in range(50):
        controller = AbortController()
        calls: list[int] = []
        start = threading.Barrier(5)

        def listen(
            controller: AbortController = controller,
            calls: list[int] = calls,
            start: threading.Barrier = start,
        ) -> None:
            start.wait()
            for index in range(20):
                controller.signal.add_listener(lambda index=index: calls.append(index))

        threads = [threading.Thread(target=listen) for _ in range(4)]
        for thread in threads:
            thread.start()
        start.wait()
        controller.abort()
        for thread in threads:
            thread.join()
        assert sorted(calls) == sorted([*range(20)] * 4)


@pytest.mark.parametrize("method", ["add_listener", "_fire"])
def test_an_abort_between_any_two_steps_calls_each_listener_once(method: str) -> None:
    """What a signal handler does that runs in the middle of the method, at every place it can."""
    code = getattr(AbortSignal, method).__code__
    for step in itertools.count():
        controller = AbortController()
        calls: list[str] = []
        controller.signal.add_listener(lambda calls=calls: calls.append("first"))

        def turn(controller: AbortController = controller, calls: list[str] = calls) -> None:
            controller.signal.add_listener(lambda: calls.append("second"))
            controller.abort()

        reached = interrupted_at(code, step, controller.abort, turn)
        assert sorted(calls) == ["first", "second"], step
        if not reached:
            break
    assert step > 10


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no interval timer")
def test_a_signal_handler_that_aborts_never_waits_for_itself() -> None:
    controller = AbortController()
    before = signal.signal(signal.SIGALRM, lambda *_: controller.abort("alarm"))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        while not controller.signal.aborted:
            controller.signal.add_listener(os.getpid)()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert controller.signal.reason == "alarm"


async def test_waiting_ends_when_the_loop_or_a_thread_aborts() -> None:
    for abort in (
        lambda controller: controller.abort(),
        lambda controller: threading.Thread(target=controller.abort).start(),
    ):
        controller = AbortController()
        waiters = [asyncio.ensure_future(controller.signal.wait()) for _ in range(3)]
        await asyncio.sleep(0)
        assert not any(waiter.done() for waiter in waiters)
        abort(controller)
        await asyncio.wait_for(asyncio.gather(*waiters), 100)
        await asyncio.wait_for(controller.signal.wait(), 100)


async def test_a_cancelled_waiter_leaves_nothing_behind() -> None:
    controller = AbortController()
    waiter = asyncio.ensure_future(controller.signal.wait())
    await asyncio.sleep(0)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    assert not controller.signal._listeners


def test_aborting_after_the_loop_of_a_waiter_has_closed_is_no_error() -> None:
    controller = AbortController()

    async def turn() -> None:
        waiter = asyncio.ensure_future(controller.signal.wait())
        await asyncio.sleep(0)
        listeners.extend(controller.signal._listeners.values())
        waiter.cancel()

    listeners: list[Any] = []
    asyncio.run(turn())
    [wake] = listeners
    wake()
    controller.abort()


def test_a_signal_has_no_other_attributes() -> None:
    with pytest.raises(AttributeError):
        AbortSignal().aborted = True
    with pytest.raises(AttributeError):
        AbortSignal().other = True


def test_a_signal_is_its_own_copy_and_stays_in_its_process() -> None:
    signal_ = AbortController().signal
    assert copy.copy(signal_) is copy.deepcopy(signal_) is signal_
    with pytest.raises(TypeError, match="belongs to its process: send the context's `to_wire"):
        pickle.dumps(signal_)


async def test_the_signal_that_never_fires_keeps_no_listeners() -> None:
    remove = NEVER_ABORTED.add_listener(lambda: pytest.fail("it fired"))
    remove()
    assert not NEVER_ABORTED._listeners
    assert not NEVER_ABORTED.aborted
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(NEVER_ABORTED.wait(), 0.01)
    assert pickle.loads(pickle.dumps(NEVER_ABORTED)) is NEVER_ABORTED


def test_a_signal_shows_whether_it_fired_and_why() -> None:
    controller = AbortController()
    assert repr(controller) == "<AbortController of <AbortSignal>>"
    controller.abort("escape")
    assert repr(controller.signal) == "<AbortSignal, aborted: escape>"
    assert repr(NEVER_ABORTED) == "<AbortSignal>"
