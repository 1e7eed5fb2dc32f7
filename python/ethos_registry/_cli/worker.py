"""`ethos-registry worker`: workers of a pool on a Ray cluster."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
from collections.abc import Iterator
from typing import Annotated

import typer

from ethos_registry import FrozenToolRegistry, ToolRegistry
from ethos_registry._cli.console import CommandError, make_app, print_line, signals_raise
from ethos_registry._cli.options import positive_number
from ethos_registry._cli.sources import loading
from ethos_registry.transports.ray import RayWorkers

app = make_app()


_TEND_SECONDS = 1.0
_STEP_SECONDS = 0.1


@app.command(short_help="Serve tools on a Ray cluster.")
def worker(
    ray: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="The cluster: HOST:PORT of its head, or auto for the one that `ray start` joined "
            "on this machine.",
        ),
    ] = "auto",
    tools: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE[:ATTRIBUTE]",
            help="What workers import: a Tool, a list of tools, a ToolRegistry, or a function that "
            "returns one; can be repeated. Without an attribute: the module's registry.",
        ),
    ] = None,
    pool: Annotated[
        str, typer.Option(metavar="NAME", help="Name under which callers find the workers.")
    ] = "tools",
    namespace: Annotated[
        str, typer.Option(metavar="NAME", help="The Ray namespace of the workers.")
    ] = "ethos-registry",
    workers: Annotated[
        int, typer.Option(parser=positive_number, metavar="N", help="Number of workers.")
    ] = 1,
    calls_per_worker: Annotated[
        int,
        typer.Option(
            parser=positive_number, metavar="N", help="Batches that one worker runs at once."
        ),
    ] = 64,
    num_cpus: Annotated[
        float | None, typer.Option(metavar="N", help="CPUs of each worker. Default: 0.")
    ] = None,
    num_gpus: Annotated[
        float | None, typer.Option(metavar="N", help="GPUs of each worker. Default: 0.")
    ] = None,
    resources: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N",
            help="A custom resource of each worker, such as toolset:render=1; can be repeated.",
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="A label that the node must have; can be repeated."
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time limit of the start, in seconds.")
    ] = 60.0,
    grace: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="Time for running calls at the end, in seconds."),
    ] = 10.0,
    detach: Annotated[
        bool,
        typer.Option("--detach", help="Return when the workers are ready, and keep them running."),
    ] = False,
    stop: Annotated[
        bool, typer.Option("--stop", help="Stop all workers of the pool; start none.")
    ] = False,
) -> None:
    """Serve tools on a Ray cluster to callers with `RayTransport(pool=NAME)`.

    Ends on Ctrl-C or SIGTERM: no further calls are taken, and those that run may finish.
    """
    for name, seconds in (("--timeout", timeout), ("--grace", grace)):
        if not 0 <= seconds < 1e6:
            raise CommandError(f"`{name}` must be a number of seconds from 0 on: {seconds:g}")
    if stop:
        with _own_standard_error():
            ended = RayWorkers.end_pool(
                pool,
                address=ray,
                namespace=namespace,
                timeout_seconds=timeout,
                grace_seconds=grace,
            )
        print_line(f"ended {_count(ended, 'worker')} of pool `{pool}`")
        _leave()
        return
    if not tools:
        raise CommandError("`worker` needs `--tools MODULE:ATTRIBUTE`: what the workers import")
    served = RayWorkers(
        [_reference(each) for each in tools],
        address=ray,
        pool=pool,
        namespace=namespace,
        workers=workers,
        calls_per_worker=calls_per_worker,
        num_cpus=num_cpus,
        num_gpus=num_gpus,
        resources=_numbers(resources),
        label_selector=dict(_pair(each, "--label") for each in label) if label else None,
        is_detached=detach,
    )
    with signals_raise():
        try:
            with _own_standard_error():
                served.start(timeout)
            print_line(
                f"serving {_count(len(served.tools), 'tool')} as pool `{pool}` with "
                f"{_count(workers, 'worker')}, registry {served.digest[:12]}"
                f"{'' if detach else ' until Ctrl-C'}: {', '.join(served.tools)}"
            )
            if not detach:
                _serve(served, grace)
        finally:
            _leave()


def _leave() -> None:
    """Leave the cluster; the native part of Ray aborts a process that ends before it has left."""
    if RayWorkers.disconnect():
        return
    error = sys.exc_info()[1]
    if error is not None:
        print_line(f"error: {error}")
    os._exit(0 if error is None else getattr(error, "exit_code", 2))


def _serve(served: RayWorkers, grace: float) -> None:
    # Held back: an exception of a signal handler inside the native part of Ray aborts the process,
    # and so do the handlers that Ray installs when it starts, three seconds after the signal.
    with signals_raise(held=True) as guard:
        tend_at = time.monotonic() + _TEND_SECONDS
        while not guard.is_waiting:
            time.sleep(_STEP_SECONDS)
            if time.monotonic() >= tend_at:
                served.tend()
                tend_at = time.monotonic() + _TEND_SECONDS
        print_line("ending: calls that run may finish")
        served.stop(grace)
        guard.release()


@contextlib.contextmanager
def _own_standard_error() -> Iterator[None]:
    """Drops what Ray's native part writes to standard error, unless the block succeeds.

    After an error it may go on writing until the process ends.
    """
    sys.stderr.flush()
    saved = os.dup(2)
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)
    os.close(devnull)
    before = sys.stderr
    sys.stderr = os.fdopen(saved, "w", encoding=before.encoding, errors="backslashreplace")
    yield
    sys.stderr.flush()
    os.dup2(saved, 2)
    sys.stderr.close()
    sys.stderr = before


def _reference(text: str) -> str:
    """`module:attribute`; of a module alone its registry."""
    with loading(text):
        if ":" in text:
            return text
        module = importlib.import_module(text)
    found = [
        name
        for name, value in vars(module).items()
        if isinstance(value, ToolRegistry | FrozenToolRegistry)
    ]
    if len(found) != 1 and "registry" not in found:
        count = "no registry" if not found else f"{len(found)} registries"
        raise CommandError(f"`--tools {text}`: the module has {count}; give `{text}:ATTRIBUTE`")
    return f"{text}:{'registry' if 'registry' in found else found[0]}"


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals or not value:
        raise CommandError(f"`{option}` takes NAME=VALUE: {text!r}")
    return name, value


def _numbers(given: list[str] | None) -> dict[str, float] | None:
    numbers = {}
    for text in given or []:
        name, value = _pair(text, "--resources")
        try:
            numbers[name] = float(value)
        except ValueError:
            raise CommandError(f"`--resources` takes NAME=NUMBER: {text!r}") from None
    return numbers or None


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
