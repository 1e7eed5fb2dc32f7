"""Reduces columns of text: Arrow in, Arrow out, no Python strings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ethos_registry import _core
from ethos_registry.contract.checks import brief
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.reduction_policy import ReductionPolicy, checked_reduction
from ethos_registry.reduction.built_in import KINDS
from ethos_registry.reduction.many import check_budget, check_exit_code
from ethos_registry.reduction.parts import length_of

__all__ = ["ArrowArray", "ArrowStream", "reduce_arrow"]


class ArrowStream(Protocol):
    """A column chunk by chunk: a `pyarrow.ChunkedArray`, a `polars.Series`."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The capsule of a stream."""


class ArrowArray(Protocol):
    """A column in one chunk: a `pyarrow.Array`."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """The capsules of a schema and its array."""


def reduce_arrow(
    tool_name: str,
    outputs: ArrowStream | ArrowArray,
    *,
    commands: ArrowStream | ArrowArray | None = None,
    exit_codes: ArrowStream | ArrowArray | Iterable[int | None] | None = None,
    budget_chars: int | None = None,
    policy: ReductionPolicy | None = None,
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
        known = ", ".join(KINDS)
        raise ConfigError(f"no built-in reducer for {brief(tool_name)}: known are {known}")
    if isinstance(exit_codes, Iterable) and not _is_column(exit_codes):
        exit_codes = list(exit_codes)
    target_chars, level = length_of(checked_reduction(policy, "policy"))
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
