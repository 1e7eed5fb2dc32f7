"""Tools of a framework as tools of a registry, whatever the framework is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from ethos_registry.contract.content import ContentBlock
from ethos_registry.contract.result import NO_EXTRA, ToolError, ToolOk
from ethos_registry.contract.tool import Execute, Tool
from ethos_registry.providers.portable_name import portable
from ethos_registry.schema.problems import problems_text
from ethos_registry.schema.returned import to_result

__all__ = [
    "argument_error",
    "filled_result",
    "foreign_tool",
    "not_here",
]

_BEGINS_WITH_LETTER = re.compile(r"[A-Za-z]")


def foreign_tool(
    name: str,
    description: str | None,
    schema: Mapping[str, Any],
    execute: Execute,
    *,
    toolset: str,
    is_trusted: bool,
) -> Tool:
    """A tool that calls a framework's; its output is untrusted unless the caller vouches for it."""
    return Tool(
        portable(name, "" if _BEGINS_WITH_LETTER.match(name) else "t_"),
        description or "",
        {"type": "object"} | dict(schema),
        execute,
        toolset=toolset,
        output_is_untrusted=not is_trusted,
    )


def argument_error(
    error: ValidationError, arguments: object, schema: Mapping[str, Any]
) -> ToolError:
    """What the model reads about arguments that the framework's own validation refused."""
    names = tuple(schema.get("properties", ()))
    return ToolError(problems_text(error, arguments, names), "input_invalid", "invalid_args")


def filled_result(
    value: Any, blocks: Iterable[ContentBlock] = (), structured: object = None
) -> ToolOk | ToolError:
    """The result of a framework's tool: its value as text, and the blocks beside it."""
    result = to_result(value)
    if not isinstance(result, ToolOk):
        return result
    if structured is not None and not isinstance(structured, Mapping):
        structured = {"result": structured}
    shown = result.structured if structured is None else structured
    return ToolOk(result.value, shown, result.cost_usd, NO_EXTRA, (*result.content, *blocks))


def not_here(name: str, framework: str, what: str) -> ToolError:
    """The answer where a framework's tool asks for what only its own agent can give."""
    return ToolError(
        f"Tool {name} cannot run here: it {what}, which only an agent of {framework} can answer",
        "not_available",
    )


def joined_text(parts: Sequence[str]) -> str:
    """The text parts of a framework's result, one a line."""
    return "\n".join(part for part in parts if part)
