"""The arguments of a model, checked by hand: each error names what to send instead."""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from ethos_registry.capabilities._protected_paths import is_below
from ethos_registry.types import _checks
from ethos_registry.types._context import ToolContext
from ethos_registry.types._result import ErrorCode, ToolError, ToolResult, err
from ethos_registry.types._tool import Tool, ToolSettings

_SHOWN_CHARS = 200
_MAX_DIGITS = 18
"""The longest number that is read from a string."""


class RefusalError(Exception):
    """A call that cannot be served; `error` is the result for the model."""

    def __init__(self, text: str, code: ErrorCode = "input_invalid") -> None:
        super().__init__(text)
        self.error: ToolError = err(text, code)


def quoted(value: object) -> str:
    """Quote a value for a message: at most 200 characters, on one line, in backticks."""
    text = value if isinstance(value, str) else repr(value)
    if len(text) > _SHOWN_CHARS:
        text = f"{text[:_SHOWN_CHARS]}..."
    if not text.isprintable():
        text = ascii(text)[1:-1]
    return f"`{text}`"


def known_arguments(args: object, known: tuple[str, ...], tool_name: str) -> Mapping[str, Any]:
    """Check the names of arguments and drop those that are `null`.

    `None` counts as an empty object. An unknown name is refused, because a misspelt `line_start`
    would silently read everything.

    Raises:
        RefusalError: `args` is not an object, or has a name that is not in `known`.

    """
    args = {} if args is None else args
    if not isinstance(args, Mapping):
        raise RefusalError(
            f"the arguments of {tool_name} must be an object, got {type(args).__name__}"
        )
    for name in args:
        if name not in known:
            raise RefusalError(
                f"{tool_name} has no argument {quoted(name)}; it takes {', '.join(known)}"
            )
    return {name: value for name, value in args.items() if value is not None}


def argument_tool(
    name: str,
    description: str,
    properties: Mapping[str, Any],
    work: Callable[[Mapping[str, Any], ToolContext], Any],
    *,
    required: Sequence[str] | None = None,
    bind: Callable[[Any], Any] | None = None,
    **settings: Unpack[ToolSettings],
) -> Tool:
    """A tool whose `work`, plain or `async`, gets the `known_arguments`.

    A `RefusalError` of `work` is the result. `bind` marks the function for policies.
    """
    names = tuple(properties)

    def execute(args: Any, context: ToolContext) -> ToolResult:
        try:
            result: ToolResult = work(known_arguments(args, names, name), context)
        except RefusalError as refusal:
            return refusal.error
        return result

    async def execute_async(args: Any, context: ToolContext) -> ToolResult:
        try:
            result: ToolResult = await work(known_arguments(args, names, name), context)
        except RefusalError as refusal:
            return refusal.error
        return result

    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    if required is not None:
        schema["required"] = list(required)
    function = execute_async if _checks.is_async_callable(work) else execute
    if bind is not None:
        bind(function)
    schema["additionalProperties"] = False
    return Tool(name, description, schema, function, **settings)


# The schemas of arguments.


def string(description: str, **limits: Any) -> dict[str, Any]:
    return {"type": "string", **limits, "description": description}


def whole_number(description: str, *, minimum: int = 1, **limits: Any) -> dict[str, Any]:
    return {"type": "integer", "minimum": minimum, **limits, "description": description}


def flag(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


# The arguments, checked one by one.


def required_text(args: Mapping[str, Any], name: str, example: str) -> str:
    """A string that is not blank; `example` is shown in the error."""
    value = args.get(name, "")
    if not isinstance(value, str):
        raise RefusalError(f"`{name}` must be a string, got {type(value).__name__}")
    if not value.strip():
        raise RefusalError(f"`{name}` is missing; give one, such as `{example}`")
    return value


def optional_whole_number(args: Mapping[str, Any], name: str, *, minimum: int) -> int | None:
    """A whole number of at least `minimum`, also as digits in a string; `None` when absent."""
    number = _number(args.get(name, minimum))
    if number is None or number != int(number) or number < minimum:
        raise RefusalError(
            f"`{name}` must be a whole number >= {minimum}, got {quoted(args[name])}"
        )
    return int(number) if name in args else None


def optional_number(args: Mapping[str, Any], name: str, *, maximum: float) -> float | None:
    """A number over 0 and up to `maximum`, also in a string; `None` when absent."""
    number = _number(args.get(name, maximum))
    if number is None or not 0 < number <= maximum:
        raise RefusalError(
            f"`{name}` must be a number over 0 and up to {maximum:g}, got {quoted(args[name])}"
        )
    return float(number) if name in args else None


def optional_flag(args: Mapping[str, Any], name: str) -> bool:
    """`true` or `false`, also spelt as a string; `False` when absent."""
    value = args.get(name, False)
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise RefusalError(f"`{name}` must be true or false, got {quoted(value)}")
    return value


def _number(value: object) -> int | float | None:
    """A finite number, or `None` if the value is not one."""
    if isinstance(value, str):
        text = value.strip()
        if len(text) > _MAX_DIGITS or not text.isascii():
            return None
        try:
            value = int(text) if text.isdigit() else float(text)
        except ValueError:
            return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# Paths given by a model, confined to the working directory.

_NOT_EXPANDED = re.compile(
    r"(?:~(?:[a-z_][a-z0-9_-]*(?=[/\\]))?|\$(?:[A-Za-z_]\w*|\{[^/}]*\})|%[A-Za-z_]\w*%)(?=[/\\]|$)"
)
"""What a shell would replace: a home directory or a variable."""
_NEAR_NAMES = 3
_MAX_NAMES = 5_000
"""Entries of a folder that are compared with a missing name."""


def working_directory(path: str) -> str:
    """The real path of the context's working directory; `RefusalError` if it does not exist."""
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        raise RefusalError(
            f"the working directory does not exist: {quoted(path)}", "execution_failed"
        )
    return real


def resolve_below(root: str, path: str) -> str:
    """The real path that `path` leads to, every link followed as the kernel does.

    `root` is a real path. `..`, absolute paths, links that leave `root` and invalid paths (NUL
    bytes) get the same `RefusalError`, whether or not something is there. So does a path that
    starts with what a shell would replace (`~`, `$HOME`): it would silently name a new folder.
    """
    check_expanded(path)
    try:
        resolved = os.path.realpath(os.path.join(root, path))
    except (ValueError, OSError):
        raise outside(path) from None
    if not is_below(resolved, (root,)):
        raise outside(path)
    return resolved


def check_expanded(path: str) -> None:
    """Refuse what a shell would replace: it would silently name a new folder."""
    if _NOT_EXPANDED.match(path):
        raise outside(path)


def outside(path: str) -> RefusalError:
    """The refusal of a path that is not below the working directory."""
    text = f"{quoted(path)} is not below the working directory"
    if start := _NOT_EXPANDED.match(path):
        return RefusalError(
            f"{text}: {quoted(start[0])} is not expanded; "
            f"give a path inside it, such as `src/main.py`, or {quoted(f'./{path}')} for that name"
        )
    return RefusalError(f"{text}; give a path inside it, such as `src/main.py`")


def near_names(path: str, names: Sequence[str] | None) -> str:
    """`; similar: ...` for names in the same folder, or the folder that is missing."""
    folder, name = os.path.split(path)
    if names is None:
        return f"; there is no folder {quoted(os.path.basename(folder))}"
    by_lower = {known.lower(): known for known in names[:_MAX_NAMES]}
    close = difflib.get_close_matches(name.lower(), by_lower, n=_NEAR_NAMES)
    return f"; similar: {', '.join(quoted(by_lower[match]) for match in close)}" if close else ""
