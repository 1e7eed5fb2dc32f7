"""From a model's arguments to a function call, over values that cannot be changed afterwards.

A registry runs these objects. They are tuples all the way down, so an attribute that is assigned on
a tool, by force too, changes neither the arguments nor the function of a call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from ethos_registry.contract.callables import is_async_callable
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.result import ToolError, ToolOk, ToolResult
from ethos_registry.schema.problems import KEYWORDS, not_an_argument, problems_text
from ethos_registry.schema.returned import to_result

__all__ = ["AsyncFunctionCall", "Binder", "FunctionCall", "function_call"]


class Binder(NamedTuple):
    """Turns arguments into keyword arguments of one function."""

    validate: Callable[[Any], dict[str, Any]]
    """The compiled validator of the arguments."""
    names: tuple[str, ...]
    """The arguments that a model may pass by name, in the author's order."""
    reserved: frozenset[str]
    """Names of parameters that no key of `**kwargs` may have."""
    context_name: str | None
    """The parameter that receives the call's context."""
    has_keywords: bool
    """Whether the function takes `**kwargs`."""

    def bind(self, arguments: object, context: ToolContext | None) -> dict[str, Any] | ToolError:
        """Keyword arguments for the function, or the `input_invalid` error that a model reads."""
        values: dict[str, Any]
        given: Any = {} if arguments is None else arguments
        try:
            if self.has_keywords:
                values = self.validate(self._split(given))
                values.update(values.pop(KEYWORDS))
            else:
                values = self.validate(given)
        except ValidationError as error:
            return _refusal(problems_text(error, arguments, self.names))
        except _ReservedNameError as error:
            return _refusal(not_an_argument(error.args[0], self.names))
        if self.context_name is not None:
            values[self.context_name] = context
        return values

    def _split(self, arguments: Any) -> Any:
        """The arguments with those for `**kwargs` under one key."""
        if not isinstance(arguments, Mapping):
            return arguments
        named: dict[Any, Any] = {}
        others: dict[Any, Any] = {}
        for name, value in arguments.items():
            if name in self.reserved:
                raise _ReservedNameError(name)
            (named if name in self.names else others)[name] = value
        named[KEYWORDS] = others
        return named


class FunctionCall(NamedTuple):
    """The `execute` of a tool made from a plain function: bind, call, convert."""

    binder: Binder
    function: Callable[..., Any]

    def __call__(self, args: Any, context: ToolContext) -> ToolResult:
        """The result of calling the function with a model's arguments."""
        values = self.binder.bind(args, context)
        return values if isinstance(values, ToolError) else self.call(values)

    @property
    def takes_context(self) -> bool:
        """Whether the function has a parameter for the call's `ToolContext`."""
        return self.binder.context_name is not None

    def bind(self, args: Any, context: ToolContext) -> dict[str, Any] | ToolError:
        """The keyword arguments alone."""
        return self.binder.bind(args, context)

    def call(self, values: dict[str, Any]) -> ToolResult:
        """The result of calling the function with keyword arguments that are bound."""
        returned = self.function(**values)
        return ToolOk(returned) if type(returned) is str else to_result(returned)

    def __repr__(self) -> str:
        return f"<execute of {self.function!r}>"


class AsyncFunctionCall(NamedTuple):
    """The same for an `async def`."""

    binder: Binder
    function: Callable[..., Any]

    async def __call__(self, args: Any, context: ToolContext) -> ToolResult:
        """The result of calling the function with a model's arguments."""
        values = self.binder.bind(args, context)
        return values if isinstance(values, ToolError) else await self.call(values)

    @property
    def takes_context(self) -> bool:
        """Whether the function has a parameter for the call's `ToolContext`."""
        return self.binder.context_name is not None

    def bind(self, args: Any, context: ToolContext) -> dict[str, Any] | ToolError:
        """The keyword arguments alone."""
        return self.binder.bind(args, context)

    async def call(self, values: dict[str, Any]) -> ToolResult:
        """The result of calling the function with keyword arguments that are bound."""
        returned = await self.function(**values)
        return ToolOk(returned) if type(returned) is str else to_result(returned)

    def __repr__(self) -> str:
        return f"<execute of {self.function!r}>"


class _PartialCall(NamedTuple):
    """A `functools.partial` whose keywords cannot be changed."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]

    def call(self, /, **values: Any) -> Any:
        return self.function(*self.arguments, **dict(self.keywords) | values)


def function_call(function: Callable[..., Any], binder: Binder) -> FunctionCall | AsyncFunctionCall:
    """What runs when a model calls the tool of this function."""
    kind = AsyncFunctionCall if is_async_callable(function) else FunctionCall
    if type(function) is functools.partial:
        bound = tuple(function.keywords.items())
        partial_call: Callable[..., Any] = _PartialCall(function.func, function.args, bound).call
        return kind(binder, partial_call)
    return kind(binder, function)


class _ReservedNameError(Exception):
    """A key of `**kwargs` is the name of a parameter that is not shown under it."""


def _refusal(text: str) -> ToolError:
    return ToolError(text, "input_invalid", "invalid_args")
