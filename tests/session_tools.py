"""What the tests of a session share: tools made in a line, and a process of one's own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING, Any

import pytest

from ethos_registry import CallResult, Tool, ToolCall, ToolOk, ToolRegistry, ok
from ethos_registry.execution._runtime import DEFAULT_ABANDON_AFTER_SECONDS, Runtime

if TYPE_CHECKING:
    from collections.abc import Callable


def tool(execute: Callable[..., Any], name: str | None = None, **options: Any) -> Tool:
    """A tool around `execute(args, context)`, by the function's name."""
    return Tool(name or execute.__name__, "A tool.", {"type": "object"}, execute, **options)


def registry_of(*executes: Callable[..., Any] | Tool, **options: Any) -> ToolRegistry:
    """A registry of these tools or functions."""
    tools = [item if isinstance(item, Tool) else tool(item) for item in executes]
    return ToolRegistry(tools, **options)


def _eager_factory(loop: Any, coroutine: Any, **options: Any) -> Any:
    return asyncio.Task(coroutine, loop=loop, **(options | {"eager_start": True}))


EAGER_FACTORY: Any = getattr(asyncio, "eager_task_factory", None)
"""The factory of tasks that start at once; `None` before Python 3.12."""
if sys.version_info >= (3, 13) and os.environ.get("ETHOS_REGISTRY_TEST_LOOP") == "uvloop":
    # uvloop 0.23 passes `eager_start=None`, which the factory of CPython 3.13.0 refuses.
    EAGER_FACTORY = _eager_factory

needs_eager_factory = pytest.mark.skipif(
    EAGER_FACTORY is None, reason="eager tasks need Python 3.12"
)


def long_grace_in(patch: pytest.MonkeyPatch) -> None:
    """New registries give a call that was stopped ten minutes to end."""
    defaults = [
        600.0 if value == DEFAULT_ABANDON_AFTER_SECONDS else value
        for value in Runtime.__init__.__defaults__ or ()
    ]
    assert 600.0 in defaults
    patch.setattr(Runtime.__init__, "__defaults__", tuple(defaults))


def calls_of(*names: str) -> list[ToolCall]:
    """One call a name, with ids c0, c1, ..."""
    return [ToolCall(f"c{index}", name, {}) for index, name in enumerate(names)]


async def answer(execute: Callable[..., Any] | Tool, *arguments: Any, **options: Any) -> CallResult:
    """The answer to one call of one tool; `arguments` are a context, `options` the batch's."""
    registry = registry_of(execute)
    name = execute.name if isinstance(execute, Tool) else execute.__name__
    [result] = await registry.execute_parallel(calls_of(name), *arguments, **options)
    return result


def reason(result: CallResult) -> str | None:
    """Why the registry made the error; `None` for a success and for the tool's own errors."""
    return None if isinstance(result.result, ToolOk) else result.result.reason


def code(result: CallResult) -> str | None:
    """The code of an error; `None` for a success."""
    return None if isinstance(result.result, ToolOk) else result.result.code


async def hang(args: Any, context: Any) -> ToolOk:
    """Never end by itself, and end at once when cancelled."""
    await asyncio.Event().wait()
    return ok("unreachable")


async def quick(args: Any, context: Any) -> ToolOk:
    """End at once."""
    return ok("done")


async def until(condition: Callable[[], object], seconds: float = 100.0) -> None:
    """Wait for a fact that another task, thread or process makes true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.005)


def in_own_process(
    source: str, *, seconds: float = 550.0, code: int | None = 0
) -> subprocess.CompletedProcess[str]:
    """Run Python source in a process of its own; its output is shown when it fails."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert code is None or done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done
