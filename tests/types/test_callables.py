"""A callback that could never be called, or would never run, is refused when it is given."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import pytest

from ethos_registry import ConfigError, ToolContext
from ethos_registry.registry import DispatchContext
from session_tools import calls_of, quick, registry_of

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.every_python


def give_emit(callback: Any) -> object:
    return ToolContext(emit=callback)


def give_on_result(callback: Any) -> object:
    return registry_of(quick).execute_parallel_sync(calls_of("quick"), on_result=callback)


ONE_ARGUMENT: list[tuple[str, Callable[[Any], object]]] = [
    ("emit", give_emit),
    ("on_result", give_on_result),
    ("on_tool_start", lambda callback: DispatchContext().on_tool_start(callback)),
    ("on_tool_end", lambda callback: DispatchContext().on_tool_end(callback)),
]


async def asynchronous(given: Any = None) -> None:
    """Would be made and never awaited."""


class Called:
    async def __call__(self, given: Any) -> None:
        """The same."""


@pytest.mark.parametrize(("what", "give"), ONE_ARGUMENT)
@pytest.mark.parametrize("callback", [asynchronous, functools.partial(asynchronous), Called()])
def test_a_callback_that_nobody_awaits_is_no_async_function(
    what: str, give: Callable[[Any], object], callback: Any
) -> None:
    with pytest.raises(
        ConfigError, match=f"^`{what}` must be a plain function, as it is not awaited"
    ):
        give(callback)


@pytest.mark.parametrize(("what", "give"), ONE_ARGUMENT)
@pytest.mark.parametrize("callback", [lambda: None, lambda one, two: None, 5, "print"])
def test_a_callback_takes_what_it_is_given(
    what: str, give: Callable[[Any], object], callback: Any
) -> None:
    with pytest.raises(ConfigError, match=f"^`{what}` must (take|be callable)"):
        give(callback)


@pytest.mark.parametrize(("what", "give"), ONE_ARGUMENT)
@pytest.mark.parametrize("callback", [[].append, print, str, lambda *given: None, set().add])
def test_any_plain_callable_that_fits_is_a_callback(
    what: str, give: Callable[[Any], object], callback: Any
) -> None:
    give(callback)


def test_a_handler_of_the_end_of_a_turn_takes_nothing_and_is_plain() -> None:
    turn = DispatchContext()
    with pytest.raises(
        ConfigError, match=r"^`on_ack` must be a plain function, as it is not awaited"
    ):
        turn.on_ack(asynchronous)
    with pytest.raises(ConfigError, match=r"^`on_ack` must take no arguments, it is on_ack"):
        turn.on_ack(lambda context: None)  # type: ignore[misc, arg-type]
    turn.on_ack(list)
    turn.ack()


class Forge:
    def __init__(self, made: Any) -> None:
        self.forge_tools = made


@pytest.mark.parametrize("wrap", [lambda made: made, Forge], ids=["function", "object"])
@pytest.mark.parametrize(
    ("made", "message"),
    [
        (asynchronous, "must be a plain function, as it is not awaited"),
        (lambda: ["x"], "must take context"),
    ],
)
def test_a_forge_is_plain_and_takes_the_context(wrap: Any, made: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^`forge(_tools)?` {message}"):
        registry_of(quick).turn(DispatchContext(), wrap(made))
    assert registry_of(quick).turn(DispatchContext(), wrap(lambda context: [])).iteration == 0
