"""`@tool`: a function becomes a tool and stays a function."""

from __future__ import annotations

import importlib
import inspect
import logging
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Generic, ParamSpec, TypeVar, Unpack, overload

from ethos_registry import _core
from ethos_registry._suggest import did_you_mean
from ethos_registry.schema._arguments import Arguments
from ethos_registry.schema._binding import function_call
from ethos_registry.schema._parameters import innermost, read_docstring
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._tool import (
    Tool,
    ToolChanges,
    ToolOptions,
)

_logger = logging.getLogger("ethos_registry")

P = ParamSpec("P")
R = TypeVar("R")


class _FunctionsDocstring:
    """The class's docstring on the class, the function's on a tool made from it."""

    def __init__(self, class_docstring: str | None) -> None:
        self._class_docstring = class_docstring

    def __get__(self, instance: Any, owner: type | None = None) -> str | None:
        return self._class_docstring if instance is None else inspect.getdoc(instance.function)


class FunctionTool(Tool, Generic[P, R]):
    """A tool made from a function. Called, it is that function: no binding, no conversion.

    >>> @tool
    ... def double(number: int) -> int:
    ...     '''Twice a number.'''
    ...     return 2 * number
    >>> double(21), double.name, double.__doc__
    (42, 'double', 'Twice a number.')
    """

    __slots__ = ("arguments", "function")

    function: Callable[P, R]
    """What was decorated."""
    arguments: Arguments
    """How a model's arguments reach it."""

    __doc__ = _FunctionsDocstring(__doc__)

    def __init__(self, function: Callable[P, R], arguments: Arguments, /, **fields: Any) -> None:
        super().__init__(**fields)
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "arguments", arguments)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the function returns for these arguments."""
        return self.function(*args, **kwargs)

    @property
    def __wrapped__(self) -> Callable[P, R]:
        return self.function

    @property
    def __name__(self) -> str:
        return str(innermost(self.function).__name__)

    def __reduce__(self) -> tuple[Any, ...]:
        written = innermost(self.function)
        place = (getattr(written, "__module__", None), getattr(written, "__qualname__", None))
        if _imported(*place) is not self:
            raise TypeError(
                f"tool `{self.name}` cannot be pickled: it is made from a function and is not "
                f"found at `{place[0]}.{place[1]}`; decorate the function at module level with "
                "`@tool`"
            )
        return _imported, place

    def replace(self, **changes: Unpack[ToolChanges]) -> Tool:
        """A copy with some fields changed; with another `execute` it is no longer this function.

        >>> @tool
        ... def double(number: int) -> int: return 2 * number
        >>> double.replace(name="twice")(4)
        8
        """
        changed = super().replace(**changes)
        if "execute" in changes:
            return changed
        fields = changed._given_fields()
        return FunctionTool(self.function, self.arguments, **fields)


def _imported(module_name: str | None, qualified_name: str | None) -> Any:
    """The object of this name in an importable module, or `None`."""
    try:
        return attrgetter(qualified_name or "")(importlib.import_module(module_name or ""))
    except (ImportError, AttributeError, ValueError):
        return None


@overload
def tool(
    function: None = None, /, **fields: Unpack[ToolOptions]
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


@overload
def tool(function: Callable[P, R], /, **fields: Unpack[ToolOptions]) -> FunctionTool[P, R]: ...


def tool(function: Callable[..., Any] | None = None, /, **fields: Any) -> Any:
    """Make a tool from a function: `@tool`, `@tool(toolset="file")` or `tool(object.method)`.

    Schema and descriptions come from the signature (`Annotated[str, "Where."]`) and the docstring
    (google, numpy or sphinx style), the tool's own description from its text; without a docstring
    it is the function's name in words. A parameter annotated `ToolContext` gets the call's context
    and is not shown.

    A call binds in lax mode (`"5"` becomes 5), and what the function returns becomes a result (see
    `to_result`). Async functions stay async; plain ones run on a thread. `ConfigError` names the
    parameter that no model could fill.

    Args:
        function: What is decorated, or a bound method.
        **fields: The options below.

    Keyword Args:
        name (str | None): What the model calls it. Default: the function's name.
        description (str | None): What the model reads to decide when to call it. Default:
            the text of the docstring.
        schema (Mapping | None): JSON Schema of the arguments. Default: derived from the
            signature.
        toolset (str | None): The group that personalities admit as `toolset:<group>`.
        max_result_chars (int | None): Longest result in characters, beside the budget's share.
        capabilities (ToolCapabilities | Mapping | None): Files, hosts, programs and secrets
            that it needs; it gets scoped objects for them.
        is_available (Callable | None): Asked at each listing and batch, as `lambda: True`.
        always_include (bool): Whether it passes the toolset gate of every personality.
        output_is_untrusted (bool): Whether others write its output: web pages, files, mail.
        ephemeral (bool): Whether it is dropped when the turn is acknowledged.
        on_collision (str): What a merge does if its name is taken: `"throw"`, `"replace"` or
            `"keep"`.
        timeout_seconds (float | None): Seconds from the start of a call; `None` for no timeout.
            Default: the registry's, 120.
        idempotent (bool): Whether calling it twice is harmless; a stream may start it early.
        strict (bool): Whether arguments are validated against the schema, without coercion.
        dispatch (str | None): When a call of a streamed reply may start: `"confirmed"` or
            `"eager"`. Default: `"eager"` for idempotent tools.
        repair_arguments (str | None): Which wrong arguments are repaired: `"off"`, `"safe"` or
            `"all"`. Default: the registry's, `"safe"`; off for a strict tool.
        retry (Retry | None): When a call that failed is tried again; for idempotent tools.
        max_concurrency (int | None): How many of its calls run at once in this process.
        calls_per_second (float | None): How many of its calls start in a second.
        reduction (ReductionPolicy | None): How much of its results is kept.

    >>> from ethos_registry import ToolContext
    >>> @tool(toolset="text", idempotent=True)
    ... def count_words(text: str) -> int:
    ...     '''Count the words of the text.'''
    ...     return len(text.split())
    >>> count_words.execute({"text": "a b c"}, ToolContext()).value
    '3'
    >>> count_words.description, count_words.is_coroutine
    ('Count the words of the text.', False)

    """
    known = [field for field in Tool.FIELDS if field != "execute"]
    unknown = fields.keys() - set(known)
    if unknown:
        raise _checks.unknown_option("tool", min(unknown), known)
    if function is None:
        return lambda decorated: _made(decorated, fields)
    return _made(function, fields)


def lists_options(decorator: Callable[P, R]) -> Callable[P, R]:
    """Append the options of `tool` to a docstring: `help` lists them, and they are written once."""
    options = inspect.cleandoc(tool.__doc__ or "").partition("Keyword Args:\n")
    listed = "".join(options[1:]).partition("\n\n>>>")[0]
    if decorator.__doc__ is not None:
        decorator.__doc__ = f"{inspect.cleandoc(decorator.__doc__)}\n\n{listed}"
    return decorator


def _made(function: Callable[..., Any], fields: Mapping[str, Any]) -> FunctionTool[..., Any]:
    if isinstance(function, Tool) or not callable(function):
        way_out = ""
        if isinstance(function, str):
            way_out = "; a name is given by keyword: `tool(name=...)`"
        elif isinstance(function, Tool):
            way_out = "; it is a tool already"
        elif isinstance(function, classmethod):
            way_out = "; make the tool from the method of the class: `tool(Class.method)`"
        raise ConfigError(f"a tool is made from a function, got {_checks.brief(function)}{way_out}")
    if isinstance(function, type):
        raise ConfigError(
            f"a tool is made from a function, got the class `{function.__name__}`; decorate a "
            "function that returns an instance, or make the tool from a bound method: "
            "`tool(instance.method)`"
        )
    written = innermost(function)
    name = fields.get("name")
    if name is None:
        name = written.__name__
        if not _core.is_tool_name(name):
            raise ConfigError(f"`{name}` cannot be a tool's name; give one: `tool(name=...)`")
    _checks.text(name, "name")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigError(
            f"tool `{str(name)[:80]}`: its function yields, and a call has one result; "
            "return a list, and tell progress by `context.report`"
        )
    documentation = read_docstring(written.__doc__)
    arguments = Arguments(function, tool_name=str(name)[:80], descriptions=documentation.parameters)
    _report_undescribed(str(name)[:80], function, documentation.parameters)
    derived = {
        "description": documentation.description or _in_words(name),
        "schema": arguments.schema,
    }
    given = {field: value for field, value in fields.items() if value is not None}
    if "timeout_seconds" in fields:
        given["timeout_seconds"] = fields["timeout_seconds"]
    return FunctionTool(
        function,
        arguments,
        **derived | given | {"name": name, "execute": function_call(function, arguments.binder)},
    )


def _report_undescribed(
    name: str, function: Callable[..., Any], described: Mapping[str, str]
) -> None:
    """Log what a docstring describes and the function lacks: the model never reads it."""
    parameters = list(inspect.signature(function).parameters)
    for each in described:
        if each.lstrip("*") not in parameters:
            _logger.warning(
                "tool `%s`: its docstring describes `%s`, which is not a parameter%s",
                name,
                each,
                did_you_mean(each, parameters),
            )


def _in_words(name: str) -> str:
    """`read_file` -> `Read file`."""
    words = name.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]
