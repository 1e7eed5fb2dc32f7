"""Reduces text outside a batch: in pipelines, in tests, over recorded outputs."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from ethos_registry import _core
from ethos_registry._suggest import did_you_mean
from ethos_registry.reduction._reducers import KINDS, length_of, policy_of_kind
from ethos_registry.types import _checks
from ethos_registry.types._checks import brief, optional_text
from ethos_registry.types._checks import text as checked_text
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._reducer import DefaultPolicy, ReductionPolicy

__all__ = [
    "ArrowArray",
    "ArrowStream",
    "check_budget",
    "check_exit_code",
    "reduce_arrow",
    "reduce_many",
    "reduce_text",
]


Item = TypeVar("Item")


@_checks.checked_signature
def reduce_text(
    text: str,
    *,
    tool_name: str = "terminal",
    command: str | None = None,
    exit_code: int | None = None,
    budget_chars: int | None = None,
    policy: ReductionPolicy | DefaultPolicy | None = "default",
) -> str:
    r"""Reduce one text with the built-in reducer of `tool_name`.

    `command` is the command line that printed it and `exit_code` its exit status; with `None` the
    content decides. No more is left out than the target of `policy` requires, by default 16,000
    characters for the output of commands: what fits stays whole. With `budget_chars` the target is
    at most that. With `policy=None` fixed limits decide (see `built_in_reducers`). `tool_name` may
    also be `head_tail` or `generic`, the two strategies for other output. Raises `ConfigError` for
    another name and for a value of the wrong type.

    >>> listing = "\n".join(f"build/part_{number}.o" for number in range(2_000))
    >>> len(reduce_text(listing, command="find build", exit_code=0)) <= 16_000
    True
    """
    native = _native(tool_name)
    target_chars, level = length_of(policy_of_kind(policy, tool_name))
    try:
        return _core.reduce_many(
            native, [text], [command], [exit_code], budget_chars, target_chars, level
        )[0]
    except (OverflowError, TypeError, ValueError) as error:
        failure = error
    checked_text(text, "text")
    optional_text(command, "command")
    check_exit_code(exit_code, "exit_code")
    check_budget(budget_chars)
    raise ConfigError(f"reduce_text: {failure}")


@_checks.checked_signature
def reduce_many(
    texts: Sequence[str],
    *,
    tool_name: str = "terminal",
    commands: Iterable[str | None] | None = None,
    exit_codes: Iterable[int | None] | None = None,
    budget_chars: int | None = None,
    policy: ReductionPolicy | DefaultPolicy | None = "default",
) -> list[str]:
    """Reduce many strings as `reduce_text` does, in one crossing without the GIL.

    The results are in the order of `texts`; `commands` and `exit_codes` have one item for each. An
    unchanged string is returned as the same object. One that is not ASCII is encoded first, but
    `head_tail` and `read_file` cut it with the GIL held. Raises `ConfigError` for a tool without a
    built-in reducer, a list of another length, or a value of the wrong type.

    >>> reduce_many(["short", "lines"], commands=["ls", None])
    ['short', 'lines']
    """
    native = _native(tool_name)
    if isinstance(texts, str):
        raise ConfigError("`texts` must be a sequence of strings, not one string: use reduce_text")
    all_texts = _items(texts, "texts")
    all_commands = None if commands is None else _items(commands, "commands")
    all_codes = None if exit_codes is None else _items(exit_codes, "exit_codes")
    target_chars, level = length_of(policy_of_kind(policy, tool_name))
    try:
        return _core.reduce_many(
            native, all_texts, all_commands, all_codes, budget_chars, target_chars, level
        )
    except (OverflowError, TypeError, ValueError) as error:
        failure = error
    for index, text in enumerate(all_texts):
        checked_text(text, f"texts[{index}]")
    for index, command in enumerate(all_commands or ()):
        optional_text(command, f"commands[{index}]")
    for index, exit_code in enumerate(all_codes or ()):
        check_exit_code(exit_code, f"exit_codes[{index}]")
    check_budget(budget_chars)
    raise ConfigError(f"reduce_many: {failure}")


def _no_reducer(tool_name: object) -> ConfigError:
    return ConfigError(
        f"no built-in reducer for {brief(tool_name)}{did_you_mean(tool_name, KINDS)}: "
        f"known are {', '.join(KINDS)}"
    )


def _native(tool_name: str) -> _core.NativeReducer:
    if tool_name not in KINDS:
        raise _no_reducer(tool_name)
    return _core.NativeReducer(tool_name)


def _items(given: Iterable[Item], what: str) -> list[Item]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ConfigError(f"`{what}` must be a list with one item for each string: {brief(given)}")
    return list(given)


# The checks below run after a failure of the native core only, to name the value.


def check_exit_code(value: object, what: str) -> None:
    """Raise `ConfigError` if `value` is not an exit code."""
    if value is not None and not _is_integer(value, -(2**63), 2**63 - 1):
        raise ConfigError(f"`{what}` must be a whole number of 64 bits, or None: {brief(value)}")


def check_budget(value: object) -> None:
    """Raise `ConfigError` if `value` is not a budget."""
    if value is not None and not _is_integer(value, 0, sys.maxsize):
        raise ConfigError(
            f"`budget_chars` must be a whole number from 0 to {sys.maxsize}, or None: "
            f"{brief(value)}"
        )


def _is_integer(value: object, least: int, most: int) -> bool:
    try:
        return least <= operator.index(value) <= most  # type: ignore[arg-type]
    except TypeError:
        return False


# Reduces columns of text: Arrow in, Arrow out, no Python strings.


class ArrowStream(Protocol):
    """A column chunk by chunk: a `pyarrow.ChunkedArray`, a `polars.Series`."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The capsule of a stream."""


class ArrowArray(Protocol):
    """A column in one chunk: a `pyarrow.Array`."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """The capsules of a schema and its array."""


@_checks.checked_signature
def reduce_arrow(
    tool_name: str,
    outputs: ArrowStream | ArrowArray,
    *,
    commands: ArrowStream | ArrowArray | None = None,
    exit_codes: ArrowStream | ArrowArray | Iterable[int | None] | None = None,
    budget_chars: int | None = None,
    policy: ReductionPolicy | DefaultPolicy | None = "default",
) -> _core.ArrowTexts:
    """Reduce a column of text, each row as `reduce_text` does, without the GIL.

    `outputs` and `commands` are anything that offers the Arrow PyCapsule interface, of the types
    `utf8`, `large_utf8`, `string_view`, a dictionary of these, or `null`; `exit_codes` is a column
    of integers or an iterable. Both have one row per output, null if it is unknown; chunks may
    differ. A stream is read chunk by chunk, and each chunk is released when it is done.

    The result has a length and offers both methods of the interface, as one `large_utf8` array that
    any library reads without a copy; nulls stay null. pyarrow is not required. Raises `ConfigError`
    for a tool without a built-in reducer, a column of another type or length, or a stream that was
    read before.

    >>> import pyarrow
    >>> reduced = reduce_arrow("terminal", pyarrow.array(["short", None]), exit_codes=[0, None])
    >>> len(reduced), pyarrow.array(reduced).to_pylist()
    (2, ['short', None])
    """
    if tool_name not in KINDS:
        raise _no_reducer(tool_name)
    if isinstance(exit_codes, Iterable) and not _is_column(exit_codes):
        exit_codes = list(exit_codes)
    target_chars, level = length_of(policy_of_kind(policy, tool_name))
    try:
        return _core.reduce_arrow(
            _core.NativeReducer(tool_name),
            outputs,
            commands,
            exit_codes,
            budget_chars,
            target_chars,
            level,
        )
    except (OverflowError, TypeError, ValueError) as error:
        try:
            _check_exit_codes(exit_codes)
            check_budget(budget_chars)
        except ConfigError as named:
            raise ConfigError(f"reduce_arrow: {named}") from None
        raise ConfigError(f"reduce_arrow: {' '.join(str(error).split())}") from None


def _check_exit_codes(exit_codes: object) -> None:
    if exit_codes is None or _is_column(exit_codes):
        return
    if not isinstance(exit_codes, list):
        raise ConfigError(
            f"`exit_codes` must be a column of integers or a list of integers and None: "
            f"{brief(exit_codes)}"
        )
    for index, exit_code in enumerate(exit_codes):
        check_exit_code(exit_code, f"exit_codes[{index}]")


def _is_column(given: object) -> bool:
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")
