"""Tools of a framework as tools of a registry, whatever the framework is."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from ethos_registry.contract.content import ContentBlock
from ethos_registry.contract.result import NO_EXTRA, ToolError, ToolOk
from ethos_registry.contract.tool import Execute, Tool
from ethos_registry.schema.problems import problems_text
from ethos_registry.schema.returned import to_result

__all__ = [
    "argument_error",
    "filled_result",
    "foreign_name",
    "foreign_tool",
    "not_here",
    "object_schema",
]

_MAX_NAME_CHARS = 64
_DIGEST_CHARS = 8


def foreign_name(name: str) -> str:
    """The name in the characters and the length that every provider accepts.

    A name that this changes ends in eight hex digits of SHA-256 over the unchanged one.

    >>> foreign_name("search"), foreign_name("web.search")
    ('search', 'web_search_15f83c80')
    """
    portable = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    if not portable[:1].isalpha():
        portable = f"t_{portable}"
    if portable == name and len(name) <= _MAX_NAME_CHARS:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{portable[: _MAX_NAME_CHARS - _DIGEST_CHARS - 1]}_{digest}"


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
        foreign_name(name),
        description or "",
        object_schema(schema),
        execute,
        toolset=toolset,
        output_is_untrusted=not is_trusted,
    )


def object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema with an object at its root."""
    plain = dict(schema)
    plain.setdefault("type", "object")
    return plain


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
