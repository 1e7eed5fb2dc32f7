"""Starting the task of a call: at once where Python can."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeAlias

__all__ = ["STARTS_EAGERLY", "TaskStarter", "is_stack_deep", "task_starter"]

STARTS_EAGERLY = sys.version_info >= (3, 12)
"""Whether a task runs up to its first wait when it is created."""

FRAMES_NEEDED = 200
"""A batch that has fewer frames left below the recursion limit runs in a task of its own."""

TaskStarter: TypeAlias = "Callable[..., asyncio.Task[None]]"
"""Called with a coroutine and a `name`."""


def task_starter(loop: asyncio.AbstractEventLoop) -> TaskStarter:
    """A function that creates the task of a coroutine.

    From Python 3.12 the task starts at once, whatever task factory the loop has: a factory that
    does not take `eager_start` cannot do that and is not used.
    """
    factory = loop.get_task_factory()
    if not STARTS_EAGERLY:
        # Without a factory: what `create_task` does, without its Python frame.
        return partial(asyncio.Task, loop=loop) if factory is None else loop.create_task
    create = partial(asyncio.Task, loop=loop, eager_start=True)  # type: ignore[call-arg, unused-ignore]
    if factory is None or factory is getattr(asyncio, "eager_task_factory", None):
        return create
    return partial(_start_by_factory, partial(factory, loop), create)


def _start_by_factory(
    factory: Callable[..., Any],
    create: TaskStarter,
    coroutine: Coroutine[Any, Any, None],
    name: str,
) -> asyncio.Task[None]:
    try:
        task = factory(coroutine, name=name, eager_start=True)
    except TypeError:  # it does not take these keywords
        task = None
    return task if isinstance(task, asyncio.Task) else create(coroutine, name=name)


def is_stack_deep() -> bool:
    """Whether so few frames are left that the registry's own code could exceed the limit."""
    try:
        sys._getframe(max(sys.getrecursionlimit() - FRAMES_NEEDED, 0))
    except ValueError:
        return False
    return True
