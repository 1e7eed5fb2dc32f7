"""Settings and fixtures that all tests share."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

from ethos_registry.artifacts import _store
from ethos_registry.execution import _threads
from ethos_registry.reduction import registered_formats, unregister_format
from session_tools import (
    EAGER_FACTORY,
    long_grace_in,
    needs_eager_factory,
)

# Options of this run are not those of the test runs that tests start.
os.environ.pop("PYTEST_ADDOPTS", None)

collect_ignore = ["corpus"]
"""Recorded outputs: some have names that pytest takes for tests."""

settings.register_profile(
    "ci", max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "deep", max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "dev", max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

_LOOP = os.environ.get("ETHOS_REGISTRY_TEST_LOOP", "")
"""Which loop all tests run in: `eager`, `uvloop`, or that of the standard library."""


if _LOOP == "eager":
    if EAGER_FACTORY is None:
        raise pytest.UsageError("eager tasks need Python 3.12")

    class _EagerLoops(asyncio.DefaultEventLoopPolicy):
        """Loops that start tasks at once."""

        def new_event_loop(self) -> asyncio.AbstractEventLoop:
            loop = super().new_event_loop()
            loop.set_task_factory(EAGER_FACTORY)
            return loop

    asyncio.set_event_loop_policy(_EagerLoops())
elif _LOOP == "uvloop":
    import uvloop

    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
elif _LOOP:
    raise pytest.UsageError(f"unknown loop {_LOOP!r} in ETHOS_REGISTRY_TEST_LOOP")


@pytest.fixture(params=["lazy tasks", pytest.param("eager tasks", marks=needs_eager_factory)])
async def task_start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Calls start lazily, as before Python 3.12, or at once, on a loop with an eager factory."""
    is_eager = request.param == "eager tasks"
    monkeypatch.setattr(_threads, "STARTS_EAGERLY", is_eager)
    asyncio.get_running_loop().set_task_factory(EAGER_FACTORY if is_eager else None)
    return str(request.param)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A lone surrogate in a captured log is escaped: pytest-xdist could not send the report."""
    report = yield
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections
    ]
    return report


@pytest.fixture(autouse=True)
def no_formats_left() -> Iterator[None]:
    """Formats are registered for the process: a test leaves none to the next one."""
    yield
    for each in registered_formats():
        unregister_format(each.name)


@pytest.fixture(scope="session", autouse=True)
def caught_signals() -> Iterator[None]:
    """Who starts the tests may ignore signals (`nohup`, `&`): what they start would too."""
    numbers = [getattr(signal, name, None) for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM")]
    ignored = [
        number
        for number in numbers
        if number is not None and signal.getsignal(number) is signal.SIG_IGN
    ]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def long_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that was stopped has ten minutes to end: on no machine does a test outlast them."""
    long_grace_in(monkeypatch)


@pytest.fixture
def ids_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Artifact ids a1, a2, ... instead of random ones, for tests about everything else."""
    numbers = itertools.count(1)
    monkeypatch.setattr(_store, "new_artifact_id", lambda: f"a{next(numbers)}")
