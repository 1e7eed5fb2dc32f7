"""Checks of arguments: the error is one line with the name, the value and the way out."""

from __future__ import annotations

import functools
import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from types import FunctionType, MappingProxyType, MethodType
from typing import Any, ParamSpec, TypeVar

from ethos_registry._suggest import did_you_mean, nearest
from ethos_registry.types._errors import ConfigError, SignatureError

# Checks of a function before it is called, so that a mistake is reported when it is passed.

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


# Code of the host that may raise anything.

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
C = TypeVar("C", bound=type)


def guarded(
    otherwise: Callable[[BaseException], T], function: Callable[..., R], *arguments: Any
) -> R | T:
    """What foreign code returns; if it raises, what `otherwise` makes of the exception.

    `KeyboardInterrupt` passes. `otherwise` gets the exception, instead of the caller: a variable
    that holds it would be a cycle with its frame.
    """
    try:
        return function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return otherwise(error)


# Names that are one of a few, and calls of functions of this package.


def unknown_option(function: str, name: object, known: Iterable[str]) -> SignatureError:
    """The error for a keyword that a function of this package does not have."""
    known = list(known)
    return SignatureError(
        f"unknown option {brief(name)} of `{function}`{did_you_mean(name, known)}; "
        f"known are {', '.join(known)}",
        context={"field": name, "value": name},
    )


def no_attribute(
    owner: object, title: str, name: str, ways_out: Mapping[str, str] = MappingProxyType({})
) -> AttributeError:
    """The error for an attribute that an object of this package does not have.

    `ways_out` has what to use in place of a name that other packages have.
    """
    if name.startswith("__"):  # Python looks for these itself
        return AttributeError(f"{title} has no {name!r}", name=name, obj=owner)
    close = nearest(name, [each for each in dir(type(owner)) if not each.startswith("_")])
    way_out = ways_out.get(name) or (
        f"did you mean {close!r}?" if close else f"`dir({title.split()[-1]})` lists what it has"
    )
    return AttributeError(f"{title} has no {name!r}; {way_out}", name=name, obj=owner)


def checked_signature(function: Callable[P, R]) -> Callable[P, R]:
    """A decorator: unknown, missing and surplus arguments are errors of this package.

    >>> @checked_signature
    ... def add(first: int, second_number: int = 0) -> int: return first + second_number
    >>> add(1, second=2)
    Traceback (most recent call last):
    ethos_registry.types.SignatureError: unknown option 'second' of `add` (did you mean \
'second_number'?); known are first, second_number
    """
    return _checked(function, function.__name__)


def checked_class(kind: C) -> C:
    """The same for what makes an instance of a class."""
    kind.__init__ = _checked(kind.__init__, kind.__name__)  # type: ignore[misc]
    return kind


def _checked(function: Callable[P, R], name: str) -> Callable[P, R]:
    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            traceback = error.__traceback__
            if traceback is None or traceback.tb_next is not None:
                raise  # from inside the function
            raise _signature_error(function, name, args, kwargs, error) from None

    return call


def _signature_error(
    function: Callable[..., Any],
    name: str,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    error: TypeError,
) -> SignatureError:
    parameters = inspect.signature(function).parameters
    is_method = next(iter(parameters), "") in ("self", "cls")
    known = list(parameters)[is_method:]
    for each in kwargs:
        if each not in known:
            return unknown_option(name, each, known)
    given = dict(zip(parameters, args, strict=False)) | dict(kwargs)
    missing = [
        each.name
        for each in parameters.values()
        if each.default is each.empty
        and each.name not in given
        and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    signature = f"{name}({', '.join(known)})"
    if missing:
        return SignatureError(f"`{name}` needs `{'`, `'.join(missing)}`: {signature}")
    positional = [
        each
        for each in parameters.values()
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    if len(args) > len(positional):
        surplus = args[len(positional)]
        return SignatureError(
            f"`{name}` takes at most {len(positional) - is_method} by position, got also "
            f"{brief(surplus)}; give the others by name: {signature}"
        )
    return SignatureError(f"{error}: {signature}")


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


MAX_VALUE_CHARS = 80
"""The most characters of a value in a message."""


def _fail(what: str, expected: str, value: object) -> ConfigError:
    return ConfigError(
        f"`{what}` must be {expected}: {brief(value)}", context={"field": what, "value": value}
    )


def brief(value: object) -> str:
    """A value for a message: its `repr` on one line, at most `MAX_VALUE_CHARS` characters."""
    if type(value) is str:
        value = value[:MAX_VALUE_CHARS]
    try:
        shown = " ".join(repr(value).split("\n"))
    except Exception:  # a `repr` that raises, or an int that is too long for one
        shown = f"a value of type {type(value).__name__}"
    return shown if len(shown) <= MAX_VALUE_CHARS else f"{shown[: MAX_VALUE_CHARS - 3]}..."


def brief_path(path: str) -> str:
    """The place of a value for a message: on one line, shortened if it is long."""
    shown = brief(path)
    return shown[1:] if shown.endswith("...") else shown[1:-1]


def instance(value: object, kind: Any, what: str, expected: str, way_out: str = "") -> None:
    """Nothing, or `ConfigError` with the type of the value and a way out."""
    if not isinstance(value, kind):
        way_out = way_out and f"; {way_out}"
        raise ConfigError(f"`{what}` must be {expected}, got {type(value).__name__}{way_out}")


def text(value: object, what: str) -> str:
    """`value` if it is a string."""
    if not isinstance(value, str):
        raise _fail(what, "a string", value)
    return value


def optional_text(value: object, what: str) -> str | None:
    """`value` if it is a string or `None`."""
    return None if value is None else text(value, what)


def unicode_text(value: object, what: str) -> str:
    """`value` if it is a string without lone surrogates, which UTF-8 cannot encode."""
    checked = text(value, what)
    if has_lone_surrogate(checked):
        raise _fail(what, "text without lone surrogates, which UTF-8 cannot encode", value)
    return checked


def optional_unicode_text(value: object, what: str) -> str | None:
    """The same, or `None`."""
    return None if value is None else unicode_text(value, what)


def has_lone_surrogate(value: str) -> bool:
    """Whether UTF-8 cannot encode the text."""
    if value.isascii():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return True
    return False


def path(value: object, what: str) -> str:
    """A path as a string, from a string or `os.PathLike`; not empty and without NUL."""
    checked = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(checked, str) or not checked or "\0" in checked:
        raise _fail(what, "a path", value)
    return checked


def boolean(value: object, what: str) -> bool:
    """`value` if it is `True` or `False`; truthiness is not enough."""
    if not isinstance(value, bool):
        raise _fail(what, "True or False", value)
    return value


def one_of(value: object, choices: Iterable[str], what: str) -> str:
    """`value` if it is one of the `choices`."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        expected = f"one of {', '.join(map(repr, choices))}"
        raise ConfigError(
            f"`{what}` must be {expected}: {brief(value)}{did_you_mean(value, choices)}",
            context={"field": what, "value": value},
        )
    return value


def finite_number(
    value: object, what: str, *, minimum: float = 0, whole: bool = False
) -> int | float:
    """`value` if it is a finite number of at least `minimum` (no bool, no NaN)."""
    kinds: tuple[type, ...] = (int,) if whole else (int, float)
    expected = f"a {'whole' if whole else 'finite'} number >= {minimum:g}"
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise _fail(what, expected, value)
    assert isinstance(value, int | float)
    if value < minimum or not (whole or _is_finite(value)):
        raise _fail(what, expected, value)
    return value


def whole_count(value: object, what: str) -> int:
    """`value` if it is a whole number of at least 1."""
    return int(finite_number(value, what, minimum=1, whole=True))


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # an integer that is too large for a float
        return False


def strings(value: object, what: str) -> tuple[str, ...]:
    """`value` as a tuple if it is a list, tuple or set of strings; one string is refused.

    They are plain strings: one of a class of its own may be equal to others.
    """
    if isinstance(value, str):
        shown = brief(value)
        raise ConfigError(
            f"`{what}` must be a list of strings: {shown}; write [{shown}]",
            context={"field": what, "value": value},
        )
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise _fail(what, "a list of strings", value)
    items = list(value)
    if {*map(type, items)} - {str}:  # one check of the usual list
        if not all(issubclass(type(item), str) for item in items):
            raise _fail(what, "a list of strings", value)
        items = [str.__str__(item) for item in items]
    return tuple(sorted(items) if isinstance(value, set | frozenset) else items)


# The names of fields in JSON objects.

_SNAKE_CASE_ON_THE_WIRE = frozenset(
    {
        "allow_private_urls",
        "cost_usd",
        "fs_reach",
        "mcp_servers",
        "output_bytes",
        "total_memory_bytes",
    }
)


def wire_name(field: str) -> str:
    """The name of `field` in JSON: `tool_call_id` -> `toolCallId`, `cost_usd` -> `cost_usd`."""
    if field in _SNAKE_CASE_ON_THE_WIRE:
        return field
    first, *rest = field.split("_")
    return first + "".join(part.capitalize() for part in rest)


def python_names(
    payload: object,
    fields: tuple[str, ...],
    kind: str,
    *,
    required: Iterable[str] = (),
    aliases: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """The fields of a JSON object under their Python names.

    Both spellings are accepted, so a policy file may use either, and so are `aliases`. Raises
    `ConfigError` for unknown fields, and for `required` ones that are missing.
    """
    article = "an" if kind[0] in "aeiou" else "a"
    if not isinstance(payload, Mapping):
        raise ConfigError(f"{article} {kind} is a JSON object, got {type(payload).__name__}")
    known = {wire_name(field): field for field in fields} | {field: field for field in fields}
    known.update(aliases)
    values: dict[str, Any] = {}
    for name, value in payload.items():
        field = known.get(name)
        if field is None:
            wires = [wire_name(each) for each in fields]
            raise ConfigError(
                f"{kind} has no field {brief(name)}{did_you_mean(name, wires)}; "
                f"it has {', '.join(wires)}",
                context={"field": name, "value": value},
            )
        if field in values:
            raise ConfigError(f"{kind} names the field `{field}` twice, in both spellings")
        values[field] = value
    for field in required:
        if field not in values:
            raise ConfigError(f"{article} {kind} needs `{wire_name(field)}`")
    return values


def to_wire(value: Any, kind: Any) -> dict[str, Any]:
    """The fields of a dataclass as a JSON object, without those that have their default.

    What a subclass of `kind` adds is left out: `kind` would refuse it where it is read.
    """
    wire: dict[str, Any] = {}
    for field, name, default in _wire_fields(kind):
        item = getattr(value, field)
        if default is MISSING or item != default:
            wire[name] = _json_value(item)
    return wire


@functools.cache
def _wire_fields(kind: type[Any]) -> tuple[tuple[str, str, Any], ...]:
    return tuple((each.name, wire_name(each.name), each.default) for each in fields(kind))


def _json_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(map(_json_value, value))
    return value.to_wire() if hasattr(value, "to_wire") else value


def from_wire(kind: Any, payload: object, title: str) -> dict[str, Any]:
    """The arguments that make a dataclass out of a JSON object, which messages call `title`."""
    required = (field for field, _, default in _wire_fields(kind) if default is MISSING)
    return python_names(payload, kind.__match_args__, title, required=required)
