"""From a model's arguments to a function call, over values that cannot be changed afterwards.

A registry runs these objects. They are tuples all the way down, so an attribute that is assigned on
a tool, by force too, changes neither the arguments nor the function of a call.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import GeneratorType
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json, to_jsonable_python

from ethos_registry.schema._parameters import innermost
from ethos_registry.schema._problems import (
    KEYWORDS,
    failing_places,
    not_an_argument,
    problems_text,
    refusal,
)
from ethos_registry.types._checks import is_async_callable
from ethos_registry.types._content import Audio, Document, Image, Link
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import DROPPED, json_object, thaw
from ethos_registry.types._result import (
    NO_EXTRA,
    ToolError,
    ToolOk,
    ToolResult,
    result_from_wire,
)

# Converts the return value of a function to a tool's result.


def result_from_value(returned: Any) -> ToolResult:
    """The result that a returned value means; never raises.

    A `ToolResult` is returned unchanged, and so is a mapping in its shape (`{"ok": True, "value":
    "..."}`). A `str` becomes the value. Everything else becomes compact JSON in `value`, and the
    same in `structured`: mappings as they are, other values as `{"result": ...}`. A value without a
    JSON form (an object, NaN, a coroutine) is an `execution_failed` error with reason `bad_result`.
    A content block alone is a result without text; a list of strings and content blocks is a result
    with both. Numbers and arrays of numpy are converted, and the error names the place of a value
    that is not.

    >>> result_from_value([1, 2])
    ToolOk(value='[1,2]', structured={'result': [1, 2]}, cost_usd=None, extra=mappingproxy({}))
    >>> result_from_value(object()).error
    'the tool returned a value of type object, which has no JSON form'
    """
    if isinstance(returned, ToolOk | ToolError):
        return returned
    if isinstance(returned, str):
        return ToolOk(str.__str__(returned))
    if isinstance(returned, Image | Document | Audio | Link):
        return ToolOk("", content=(returned,))
    if isinstance(returned, dict | Mapping) and isinstance(returned.get("ok"), bool):
        try:
            return result_from_wire(returned)
        except ConfigError:
            pass  # a mapping of the tool that happens to have a key `ok`
    if isinstance(returned, list | tuple) and (parts := _text_and_content(returned)) is not None:
        return parts
    try:
        text, plain = _written(returned)
    except Exception:
        return _converted(returned)
    return ToolOk(text, plain if isinstance(plain, dict) else {"result": plain})


def _text_and_content(parts: Sequence[Any]) -> ToolOk | None:
    """A result of text and content blocks; `None` for any other list."""
    blocks = tuple(part for part in parts if isinstance(part, Image | Document | Audio | Link))
    texts = [str.__str__(part) for part in parts if isinstance(part, str)]
    if not blocks or len(blocks) + len(texts) < len(parts):
        return None
    return ToolOk("\n".join(texts), content=blocks)


def _converted(returned: Any) -> ToolResult:
    """The result by the conversions of `structured`; an error if one of them loses a value."""
    if not isinstance(returned, dict | list | tuple) and not hasattr(type(returned), "dtype"):
        return _bad(returned)
    found = json_object({"result": returned})
    if DROPPED in found:
        return _bad(returned, _OUTER_KEY.sub(r"\1", found[DROPPED]))
    plain = thaw(found["result"])
    return ToolOk(_ENCODER.encode(plain), plain if isinstance(plain, dict) else {"result": plain})


_OUTER_KEY = re.compile(r"(^|; )result(?:: |\.|(?=\[))")


def _written(value: Any) -> tuple[str, Any]:
    """Compact JSON of a value, and the plain value that this JSON holds."""
    if isinstance(value, GeneratorType):
        raise TypeError("a generator may never end")
    try:
        raw = to_json(value)
        return raw.decode(), from_json(raw, allow_inf_nan=False)
    except Exception:
        # lone surrogates, mappings other than dicts: slower, and JSON as Python reads it
        text = _ENCODER.encode(value)
        return text, json.loads(text)


def _plain(value: Any) -> Any:
    """One level of a value in terms of dict and list."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence | AbstractSet) and not isinstance(value, bytes | bytearray):
        return list(value)
    return to_jsonable_python(value)


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain
)


def _bad(returned: Any, lost: str = "") -> ToolError:
    kind = type(returned).__name__
    if inspect.iscoroutine(returned):
        returned.close()  # avoids a RuntimeWarning about a coroutine that was never awaited
    if hasattr(returned, "__aiter__"):
        text = f"the tool returned a value of type {kind}; it should return a list"
    elif inspect.isawaitable(returned):
        text = f"the tool returned a {kind} that was never awaited; make its function `async def`"
    elif isinstance(returned, GeneratorType):
        text = "the tool returned a generator; it should return a list"
    elif isinstance(returned, float):
        text = f"the tool returned {returned!r}, which is not a JSON number"
    elif isinstance(returned, bytes | bytearray | memoryview):
        text = (
            f"the tool returned {kind} that are not UTF-8 text; "
            "decode them, or encode them as base64"
        )
    else:
        text = f"the tool returned a value of type {kind}, which has no JSON form"
        text += f": {lost}" if lost else ""
    return ToolError(text, "execution_failed", "bad_result")


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
        given: Any = {} if arguments is None else arguments
        if context is not None and context._bound is not None:
            bound = context._taken_bound(given)
            if bound is not None:
                return bound
        try:
            values = self._validated(given) if self.has_keywords else self.validate(given)
        except ValidationError as error:
            repaired = None if context is None else context._repaired(given, self.failing)
            if repaired is None:
                return refusal(problems_text(error, arguments, self.names))
            values = self._validated(repaired)
        except _ReservedNameError as error:
            return refusal(not_an_argument(error.args[0], self.names))
        if self.context_name is not None:
            values[self.context_name] = context
        return values

    def failing(self, arguments: object) -> list[tuple[int | str, ...]]:
        """Where arguments do not bind; empty if they do."""
        given: Any = {} if arguments is None else arguments
        try:
            self._validated(given)
        except ValidationError as error:
            return failing_places(error, given)
        except _ReservedNameError as error:
            return [error.args]
        return []

    def _validated(self, given: Any) -> dict[str, Any]:
        if not self.has_keywords:
            return self.validate(given)
        values = self.validate(self._split(given))
        values.update(values.pop(KEYWORDS))
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


class _BoundCall(NamedTuple):
    """A function with what binds a model's arguments to it."""

    binder: Binder
    function: Callable[..., Any]
    wraps_async: bool = False
    """Whether the function returns what an `async def` below it does."""

    @property
    def takes_context(self) -> bool:
        """Whether the function has a parameter for the call's `ToolContext`."""
        return self.binder.context_name is not None

    def bind(self, args: Any, context: ToolContext) -> dict[str, Any] | ToolError:
        """The keyword arguments alone."""
        return self.binder.bind(args, context)

    def failing(self, args: Any) -> list[tuple[int | str, ...]]:
        """Where arguments do not bind; empty if they do."""
        return self.binder.failing(args)

    def __repr__(self) -> str:
        return f"<execute of {self.function!r}>"


class FunctionCall(_BoundCall):
    """The `execute` of a tool made from a plain function: bind, call, convert."""

    __slots__ = ()

    def __call__(self, args: Any, context: ToolContext) -> ToolResult:
        """The result of calling the function with a model's arguments."""
        values = self.binder.bind(args, context)
        return values if isinstance(values, ToolError) else self.call(values)

    def call(self, values: dict[str, Any]) -> ToolResult:
        """The result of calling the function with keyword arguments that are bound."""
        returned = self.function(**values)
        if self.wraps_async and inspect.isawaitable(returned):
            return _awaited(returned)  # type: ignore[return-value]
        if type(returned) is str:
            return ToolOk(returned, None, None, NO_EXTRA)
        return result_from_value(returned)


async def _awaited(returned: Awaitable[Any]) -> ToolResult:
    return result_from_value(await returned)


class AsyncFunctionCall(_BoundCall):
    """The same for an `async def`."""

    __slots__ = ()

    async def __call__(self, args: Any, context: ToolContext) -> ToolResult:
        """The result of calling the function with a model's arguments."""
        values = self.binder.bind(args, context)
        return values if isinstance(values, ToolError) else await self.call(values)

    async def call(self, values: dict[str, Any]) -> ToolResult:
        """The result of calling the function with keyword arguments that are bound."""
        returned = await self.function(**values)
        if type(returned) is str:
            return ToolOk(returned, None, None, NO_EXTRA)
        return result_from_value(returned)


class _PartialCall(NamedTuple):
    """A `functools.partial` whose keywords cannot be changed."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]

    def call(self, /, **values: Any) -> Any:
        return self.function(*self.arguments, **dict(self.keywords) | values)


def function_call(function: Callable[..., Any], binder: Binder) -> FunctionCall | AsyncFunctionCall:
    """What runs when a model calls the tool of this function."""
    called = function
    if type(function) is functools.partial:
        bound = tuple(function.keywords.items())
        called = _PartialCall(function.func, function.args, bound).call
    if is_async_callable(function):
        return AsyncFunctionCall(binder, called)
    return FunctionCall(binder, called, is_async_callable(innermost(function)))


class _ReservedNameError(Exception):
    """A key of `**kwargs` is the name of a parameter that is not shown under it."""
