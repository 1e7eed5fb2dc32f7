"""Reducers by the exact name of their tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final

from ethos_registry import _core
from ethos_registry.types import _checks
from ethos_registry.types._checks import check_takes, guarded
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._reducer import (
    DefaultPolicy,
    ReductionPolicy,
    ToolReducerContext,
    ToolResultReducer,
    checked_reduction,
)
from ethos_registry.types._result import ToolError, ToolOk, ToolResult

# Results with one part changed.


def exit_code_of(result: ToolResult) -> int | None:
    """The exit code that a tool reports, or `None`.

    It is a field of `structured` of a success, and an extra field of an error.
    """
    reported = result.structured if result.ok else result.extra
    exit_code = reported.get("exit_code") if reported else None
    return exit_code if isinstance(exit_code, int) else None


def with_text(result: ToolResult, text: str) -> ToolResult:
    """`result` with another text."""
    return rebuilt(result, text, result.structured, result.cost_usd, result.extra)


def rebuilt(
    result: ToolResult,
    text: str,
    structured: Mapping[str, Any] | None,
    cost_usd: float | None,
    extra: Mapping[str, Any],
) -> ToolResult:
    """A result of the same type, code and reason with these parts."""
    if isinstance(result, ToolOk):
        return ToolOk(text, structured, cost_usd, extra, result.content)
    return ToolError(text, result.code, result.reason, structured, cost_usd, extra, result.content)


def length_of(policy: ReductionPolicy | None, used_chars: int = 0) -> tuple[int | None, str | None]:
    """The target and the level for the native core, after `used_chars` of the target are spent."""
    if policy is None:
        return None, None
    target_chars = policy.target_chars
    return None if target_chars is None else max(1, target_chars - used_chars), policy.level


class ReducerAlreadyRegisteredError(ConfigError):
    """The tool already has a reducer; unregister that one first."""

    code: ClassVar[str] = "E_REDUCER_ALREADY_REGISTERED"

    def __init__(self, tool_name: str) -> None:
        super().__init__(
            f"Reducer already registered for tool '{tool_name}'", context={"tool_name": tool_name}
        )
        self.tool_name = tool_name


class DefaultToolResultReducerRegistry:
    """At most one reducer per tool; any string is a name, and names are exact.

    >>> from ethos_registry.reduction._reducers import built_in_reducers
    >>> reducers = DefaultToolResultReducerRegistry(built_in_reducers())
    >>> reducers.get("terminal").tool_name
    'terminal'
    """

    __slots__ = ("__weakref__", "_entries")

    def __init__(self, reducers: Iterable[ToolResultReducer] = ()) -> None:
        # A tuple for each registration: registering the same reducer again makes another one.
        self._entries: dict[str, tuple[ToolResultReducer]] = {}
        for reducer in reducers:
            self.register(reducer)

    def register(self, reducer: ToolResultReducer) -> Callable[[], None]:
        """Register a reducer; returns a clean-up function that removes this registration.

        The clean-up may be called any number of times and never removes a successor. Raises
        `ReducerAlreadyRegisteredError` if the tool has a reducer, `ConfigError` if the object is
        not a reducer.
        """
        tool_name = _tool_name(reducer)
        entry = (reducer,)
        if self._entries.setdefault(tool_name, entry) is not entry:
            raise ReducerAlreadyRegisteredError(tool_name)

        def clean_up() -> None:
            if self._entries.get(tool_name) is entry:
                del self._entries[tool_name]

        return clean_up

    def unregister(self, tool_name: str) -> None:
        """Remove the reducer of a tool, if it has one."""
        self._entries.pop(_checks.text(tool_name, "tool_name"), None)

    @property
    def tool_names(self) -> list[str]:
        """The tools that have a reducer, in the order of registration."""
        return list(self._entries)

    def get(self, tool_name: str) -> ToolResultReducer | None:
        """The reducer of a tool, or `None`."""
        entry = self._entries.get(tool_name)
        return None if entry is None else entry[0]

    def __repr__(self) -> str:
        return f"DefaultToolResultReducerRegistry({', '.join(map(repr, self._entries))})"


def _tool_name(reducer: object) -> str:
    tool_name = getattr(reducer, "tool_name", None)
    reduce = getattr(reducer, "reduce", None)
    if isinstance(reducer, type) or not isinstance(tool_name, str) or not callable(reduce):
        raise ConfigError(
            "a reducer must have a string `tool_name` and a method "
            f"`reduce(result, context)`, got {type(reducer).__name__}",
            context={"field": "reducer", "value": reducer},
        )
    check_takes(reduce, "reduce", "result", "context")
    return tool_name


# The reducers of the package, implemented in the native core.

_TOOLS = ("terminal", "read_file", "kanban_list")
KINDS = (*_TOOLS, "head_tail", "generic")
"""The kinds of native reducers: one for each of these tools, and two for any output."""


def policy_of_kind(
    policy: ReductionPolicy | DefaultPolicy | None, kind: str
) -> ReductionPolicy | None:
    """The policy that `policy` means for a kind of reducer.

    Raises `ConfigError` if it is not a policy.
    """
    if isinstance(policy, str) and policy == "default":
        return ReductionPolicy() if kind in ("terminal", "generic") else None
    return checked_reduction(policy, "policy")


class BuiltInReducer:
    """A native reducer under the name of its tool.

    The registry runs `native` in one crossing with the trim; `reduce` is for direct use.
    """

    __slots__ = ("__weakref__", "kind", "native", "policy", "tool_name")

    def __init__(self, tool_name: str, kind: str, policy: ReductionPolicy | None = None) -> None:
        self.tool_name = tool_name
        """The exact name of the tool."""
        self.kind = kind
        """The native core's name of the strategy."""
        self.native = _core.NativeReducer(kind)
        self.policy = policy
        """How much is kept where the batch, the tool and the registry state nothing."""

    def reduce(self, result: ToolResult, context: ToolReducerContext, /) -> ToolResult:
        """The result with a shorter text; the same object if there is nothing to do.

        Never raises. `structured`, `cost_usd` and extra fields are unchanged.
        """
        text = self._reduced(result.text, context.args, result, context)
        return result if text is result.text else with_text(result, text)

    def _reduced(
        self,
        text: str,
        args: Any,
        result: ToolResult,
        context: ToolReducerContext,
        used_chars: int = 0,
    ) -> str:
        """The text of a result, or a part of it, when `used_chars` of the target are spent."""
        target_chars, level = length_of(context.policy or self.policy, used_chars)
        return self.native.reduce(
            text,
            args,
            result.ok,
            exit_code=exit_code_of(result),
            target_chars=target_chars,
            level=level,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.tool_name!r})"


PROJECT_COMMAND_TOOLS = ("lint", "run_tests", "typecheck")
"""Tools that run a program of the project: tests, linters, type checkers."""


class ProjectCommandReducer(BuiltInReducer):
    """Reduces the output as that of the command that ran, and leaves the first line.

    The model did not choose the command: `structured["command"]` has it.
    """

    __slots__ = ()

    def __init__(self, tool_name: str, policy: ReductionPolicy | None = None) -> None:
        super().__init__(tool_name, "terminal", policy)

    def reduce(self, result: ToolResult, context: ToolReducerContext, /) -> ToolResult:
        """The result with a shorter text; the same object if there is nothing to do."""
        command = result.structured.get("command") if result.structured else None
        if not isinstance(command, str):
            return result
        first_line, line_end, output = result.text.partition("\n")
        used_chars = len(first_line) + len(line_end)
        reduced = self._reduced(output, {"command": command}, result, context, used_chars)
        if reduced is output:
            return result
        return with_text(result, f"{first_line}{line_end}{reduced}")


BUILT_IN_REDUCER_NAMES: Final = frozenset((*_TOOLS, *PROJECT_COMMAND_TOOLS))
"""The tools that `default_reducers()` has reducers for, whether they are registered or not."""


def built_in_reducers(
    policy: ReductionPolicy | DefaultPolicy | None = None,
) -> list[BuiltInReducer]:
    """New reducers for `terminal`, `read_file` and `kanban_list`.

    Without a `policy` each has fixed limits: 8,192 characters of a terminal, 200 lines of a file,
    ten tickets. Raises `ConfigError` if `policy` is not a policy.
    """
    return [
        BuiltInReducer(tool_name, tool_name, policy_of_kind(policy, tool_name))
        for tool_name in _TOOLS
    ]


@_checks.checked_signature
def default_reducers(
    policy: ReductionPolicy | DefaultPolicy | None = "default",
) -> DefaultToolResultReducerRegistry:
    """A new registry of the built-in reducers.

    Those of `built_in_reducers()`, and for `lint`, `run_tests` and `typecheck` one that reduces the
    output of the command that ran. By default the output of commands is reduced to 16,000
    characters, or to the call's share of the budget if that is less, and `read_file` and
    `kanban_list` have fixed limits. A `policy` holds for all of them where the batch, the tool and
    the registry state none; with `None` all have the limits of `built_in_reducers()`. Raises
    `ConfigError` if `policy` is not a policy.

    >>> default_reducers().get("terminal")
    BuiltInReducer('terminal')
    """
    of_commands = policy_of_kind(policy, "terminal")
    commands = [ProjectCommandReducer(name, of_commands) for name in PROJECT_COMMAND_TOOLS]
    return DefaultToolResultReducerRegistry([*built_in_reducers(policy), *commands])


# Whether two processes have the same reducer.


def reducer_identity(reducer: ToolResultReducer | None) -> str | None:
    """The name and version of a reducer; `None` if it has no `version`.

    Registered formats change what the built-in reducers do, and another process may have others:
    these reducers then have no identity.

    >>> reducer_identity(None)
    ''
    """
    if reducer is None:
        return ""
    kind = type(reducer)
    is_built_in = kind is BuiltInReducer or kind is ProjectCommandReducer
    if is_built_in and _core.registered_formats():
        return None
    if isinstance(reducer, BuiltInReducer) and is_built_in:
        name = "project_command" if kind is ProjectCommandReducer else reducer.kind
        return f"{name}/{_core.__version__}"
    # It may be a property of the host's own.
    version = guarded(lambda _: None, getattr, reducer, "version", None)
    if type(version) is not str or not version:
        return None
    return f"{kind.__module__}.{kind.__qualname__}/{version}"
