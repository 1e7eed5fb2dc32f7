"""Checks of a function before it is called, so that a mistake is reported when it is passed."""

from __future__ import annotations

import functools
import inspect
from types import FunctionType, MethodType

from ethos_registry.contract.errors import ConfigError

__all__ = ["check_callback", "check_takes", "is_async_callable"]

_SIGNATURE_CHARS = 80
"""How much of a signature a message shows."""


def is_async_callable(function: object) -> bool:
    """Whether calling `function` gives a coroutine: `async def`, also partial or as `__call__`."""
    while isinstance(function, functools.partial):
        function = function.func
    plain = function.__func__ if type(function) is MethodType else function
    if type(plain) is FunctionType:
        if plain.__code__.co_flags & inspect.CO_COROUTINE:
            return True
        if not plain.__dict__:  # no mark either: asked for every batch with a callback
            return False
    if isinstance(function, type):  # called, a class gives an instance
        return False
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method itself is wanted
    )


def check_takes(function: object, what: str, *given: str) -> None:
    """Nothing, or `ConfigError` where `function` cannot be called with what it is given, in order.

    `what` is the name of the parameter that it was passed as; functions without a readable
    signature, such as some built-in ones, pass.
    """
    if not callable(function):
        raise ConfigError(f"`{what}` must be callable, got {type(function).__name__}")
    if _surely_takes(function, len(given)):
        return  # asked for every tool and turn that is made: the signature costs thirty times more
    try:
        # The function itself is called, whatever it claims to wrap.
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*given)
    except TypeError:
        takes = " and ".join(given) or "no arguments"
        shown = " ".join(str(signature).split())[:_SIGNATURE_CHARS]  # defaults may show anything
        raise ConfigError(f"`{what}` must take {takes}, it is {what}{shown}") from None


def check_callback(function: object, what: str, *given: str) -> None:
    """The same for a callback that is not awaited: an `async def` would never run."""
    if is_async_callable(function):
        raise ConfigError(
            f"`{what}` must be a plain function, as it is not awaited, and it is an `async def`; "
            "it may start a task for long work"
        )
    check_takes(function, what, *given)


def _surely_takes(function: object, count: int) -> bool:
    """Whether `count` positional arguments fit; `False` where only the signature shows it."""
    if isinstance(function, MethodType):
        function, count = function.__func__, count + 1
    elif not isinstance(function, FunctionType | type):
        function, count = type(function).__call__, count + 1
    if not isinstance(function, FunctionType) or function.__code__.co_kwonlyargcount:
        return False
    most = function.__code__.co_argcount
    return most - len(function.__defaults__ or ()) <= count <= most
