"""Reduces text outside a batch: in pipelines, in tests, over recorded outputs."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Sequence
from typing import TypeVar

from ethos_registry import _core
from ethos_registry._suggest import did_you_mean
from ethos_registry.reduction._reducers import KINDS, length_of, policy_of_kind
from ethos_registry.types import _checks
from ethos_registry.types._checks import brief, optional_text
from ethos_registry.types._checks import text as checked_text
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._reducer import DefaultPolicy, ReductionPolicy

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


def _native(tool_name: str) -> _core.NativeReducer:
    if tool_name not in KINDS:
        raise ConfigError(
            f"no built-in reducer for {brief(tool_name)}{did_you_mean(tool_name, KINDS)}: "
            f"known are {', '.join(KINDS)}"
        )
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
