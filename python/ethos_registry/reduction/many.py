"""Texts reduced outside a batch: in pipelines, in tests, over recorded outputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ethos_registry import _core
from ethos_registry.contract.errors import ConfigError
from ethos_registry.reduction.built_in import KINDS

__all__ = ["reduce_many", "reduce_text"]


def reduce_text(
    text: str,
    *,
    tool_name: str = "terminal",
    command: str | None = None,
    exit_code: int | None = None,
    budget_chars: int | None = None,
) -> str:
    r"""What the built-in reducer of `tool_name` leaves of one text.

    `command` is the command line that printed it and `exit_code` how that ended; `None` is not
    known: then the content decides, and nothing is told as a success. With `budget_chars`, rows are
    left out from the middle until the text fits, context before facts. `tool_name` is also
    `head_tail` or `generic`, the two strategies for outputs of no known kind; another one raises
    `ConfigError`.

    >>> listing = "\n".join(f"build/part_{number}.o" for number in range(200))
    >>> reduce_text(listing, command="find build", exit_code=0).count("\n") < 20
    True
    """
    return reduce_many(
        [text],
        tool_name=tool_name,
        commands=[command],
        exit_codes=[exit_code],
        budget_chars=budget_chars,
    )[0]


def reduce_many(
    texts: Sequence[str],
    *,
    tool_name: str = "terminal",
    commands: Iterable[str | None] | None = None,
    exit_codes: Iterable[int | None] | None = None,
    budget_chars: int | None = None,
) -> list[str]:
    """Many texts as `reduce_text` reduces one, in their order, in one crossing without the GIL.

    `commands` and `exit_codes` have one item for each text. A text that stays as it is comes back
    as the same object. `ConfigError` for a tool without a built-in reducer, a list of
    another length, or a value of the wrong type.

    >>> reduce_many(["short", "texts"], commands=["ls", None])
    ['short', 'texts']
    """
    if tool_name not in KINDS:
        known = ", ".join(KINDS)
        raise ConfigError(f"no built-in reducer for {tool_name!r}: known are {known}")
    if isinstance(texts, str):
        raise ConfigError("texts must be a sequence of strings, not one string: use reduce_text")
    try:
        return _core.reduce_many(
            _core.NativeReducer(tool_name),
            list(texts),
            None if commands is None else list(commands),
            None if exit_codes is None else list(exit_codes),
            budget_chars,
        )
    except (OverflowError, TypeError, ValueError) as error:
        raise ConfigError(f"reduce_many: {error}") from None
