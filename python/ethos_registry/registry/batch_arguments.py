"""What a batch is given, checked before any tool starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError

__all__ = ["checked_batch", "checked_context"]


def checked_context(context: object) -> ToolContext:
    """The context of a batch, by default an empty one; `ConfigError` for anything else."""
    if context is None:
        return ToolContext()
    if not isinstance(context, ToolContext):
        raise ConfigError(
            f"`context` must be a ToolContext, got {type(context).__name__}; "
            "`ToolContext(...)` makes one"
        )
    return context


def checked_batch(calls: object, context: object) -> tuple[list[Any], ToolContext]:
    """The calls and the context of a batch; `ConfigError` before any tool starts."""
    if type(calls) is not list and (
        isinstance(calls, str | bytes | Mapping) or not isinstance(calls, Sequence)
    ):
        raise ConfigError(
            f"`calls` must be a list of calls, got {type(calls).__name__}; put one call in a list, "
            "and read those of a whole reply by `provider(name).calls(reply)`"
        )
    # A copy of now: a sequence may change, and lie about its length.
    return list(calls), checked_context(context)
