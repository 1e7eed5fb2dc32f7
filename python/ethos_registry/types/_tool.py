"""The tool: its definition for the model, and the function that runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias, TypedDict, Unpack

from ethos_registry import _core
from ethos_registry._suggest import did_you_mean
from ethos_registry.types import _checks
from ethos_registry.types._call import RepairLevel
from ethos_registry.types._checks import check_callback, check_takes, is_async_callable
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import ReadOnlyDict, freeze, thaw
from ethos_registry.types._policy import ToolCapabilities
from ethos_registry.types._reducer import ReductionPolicy, checked_reduction
from ethos_registry.types._result import ToolError, ToolResult
from ethos_registry.types._schema_rules import check_schema, ordered_schema
from ethos_registry.types._settings import Check, choice, instance_of, optional

# When a call of a tool that failed is tried again.

Backoff: TypeAlias = float | Sequence[float] | Callable[[int], float]
"""Seconds before the second attempt, which double for each further one; or the seconds before each
further attempt; or a function of the number of attempts that failed."""
RetryOn: TypeAlias = (
    type[Exception] | Iterable[type[Exception]] | Callable[[Exception | ToolError], bool]
)
"""Classes of exceptions, or a function that decides for each exception and each `ToolError`."""

_MAX_DOUBLINGS = 20


class RetryRule(NamedTuple):
    """A `Retry` as a registry stores it: a tuple, which nothing can change."""

    attempts: int
    backoff: float | tuple[float, ...] | Callable[[int], float]
    on: tuple[type[Exception], ...] | Callable[[Exception | ToolError], bool]

    def wants(self, failure: Exception | ToolError) -> bool:
        if isinstance(self.on, tuple):
            return isinstance(failure, self.on)
        return bool(self.on(failure))

    def delay_seconds(self, failed: int) -> float:
        backoff = self.backoff
        if isinstance(backoff, tuple):
            return backoff[min(failed, len(backoff)) - 1]
        if callable(backoff):
            return _checks.finite_number(backoff(failed), "backoff")
        return backoff * 2.0 ** min(failed - 1, _MAX_DOUBLINGS)


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class Retry:
    """Try a call again when its tool fails: `Tool(..., idempotent=True, retry=Retry(3, 0.5))`.

    Only for tools with `idempotent=True`: an attempt that failed may have done its work. All
    attempts and the waits between them run inside the tool's timeout, and an abort ends them. By
    default every exception is tried again, and an error that the tool returns is not.

    Args:
        attempts: How often the tool is called at most, the first time included.
        backoff: Seconds to wait before the second attempt; the wait doubles for each further one. A
            list has the seconds before each further attempt, its last item for all that follow. A
            function takes the number of attempts that failed and returns the seconds.
        on: The classes of exceptions that are tried again, or a function that takes the exception,
            or the `ToolError` that the tool returned, and returns whether to try again.

    Raises:
        ConfigError: An argument is of the wrong kind.

    >>> Retry(3, 0.5, on=(TimeoutError, ConnectionError)).attempts
    3

    """

    attempts: int = 3
    backoff: Backoff = 0.5
    on: RetryOn = Exception

    def __post_init__(self) -> None:
        _checks.whole_count(self.attempts, "attempts")
        object.__setattr__(self, "backoff", _checked_backoff(self.backoff))
        object.__setattr__(self, "on", _checked_on(self.on))

    def rule(self) -> RetryRule:
        """The same as a tuple."""
        backoff: Any = self.backoff
        on: Any = self.on
        return RetryRule(int(self.attempts), backoff, on)


def _checked_backoff(backoff: object) -> object:
    if callable(backoff):
        check_callback(backoff, "backoff", "failed")
        return backoff
    if isinstance(backoff, Sequence) and not isinstance(backoff, str | bytes):
        seconds = tuple(float(_checks.finite_number(each, "backoff")) for each in backoff)
        if not seconds:
            raise ConfigError("`backoff` must name at least one wait; `0` waits for nothing")
        return seconds
    return float(_checks.finite_number(backoff, "backoff"))


def _checked_on(on: object) -> object:
    if not isinstance(on, type) and callable(on):
        check_callback(on, "on", "failure")
        return on
    kinds = tuple(on) if isinstance(on, Iterable) and not isinstance(on, str) else (on,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise ConfigError(
                f"`on` must be classes of exceptions or a function, got {_checks.brief(kind)}"
            )
    return kinds


# The keywords of functions that make or change a tool, for type checkers.

CollisionPolicy: TypeAlias = Literal["throw", "replace", "keep"]
"""What a merge does when the name of an incoming tool is taken."""

DispatchMode: TypeAlias = Literal["confirmed", "eager"]
"""When a call of a streamed reply may start. `confirmed`: when the reply went on after it or ended
well. `eager`: as soon as it is closed and its arguments parse, though the reply may yet be cut."""

Execute: TypeAlias = Callable[
    [Any, ToolContext],
    ToolResult | Mapping[str, Any] | Awaitable[ToolResult | Mapping[str, Any]],
]
"""`execute(args, context)`: `async def`, or a plain function, which runs on a thread."""


class ToolSettings(TypedDict, total=False):
    """The fields of a `Tool` that have a default, in their order; the attributes explain them."""

    toolset: str | None
    max_result_chars: int | None
    capabilities: ToolCapabilities | Mapping[str, Any] | None
    is_available: Callable[[], bool] | None
    always_include: bool
    output_is_untrusted: bool
    ephemeral: bool
    on_collision: CollisionPolicy
    timeout_seconds: float | None
    idempotent: bool
    strict: bool
    dispatch: DispatchMode | None
    retry: Retry | None
    reduction: ReductionPolicy | None
    max_concurrency: int | None
    calls_per_second: float | None
    repair_arguments: RepairLevel | None


class ToolOptions(ToolSettings, total=False):
    """What `@tool` takes: the fields of a `Tool` but for `execute`."""

    name: str | None
    description: str | None
    schema: Mapping[str, Any] | None


class RegisterOptions(ToolOptions, total=False):
    """What `@registry.tool` takes."""

    overwrite: bool
    plugin_id: str | None
    owner: str | None


class ToolChanges(ToolSettings, total=False):
    """What `Tool.replace` takes: the fields of a `Tool`."""

    name: str
    description: str
    schema: Mapping[str, Any]
    execute: Execute


class _Default:
    """Distinguishes a timeout that was not given from `None`, which means no timeout."""

    def __repr__(self) -> str:
        return "the registry's default"

    def __reduce__(self) -> str:
        return "REGISTRY_DEFAULT"


REGISTRY_DEFAULT: Any = _Default()


@_checks.checked_class
class Tool:
    """One tool, immutable; schema and capabilities are copied once, when it is made.

    `ConfigError` names the tool, the field and the value when one is of the wrong kind.

    >>> async def execute(args, context):
    ...     return {"ok": True, "value": f"hello {args['name']}"}
    >>> hello = Tool(
    ...     name="hello",
    ...     description="Greet a person.",
    ...     schema={"type": "object", "properties": {"name": {"type": "string"}}},
    ...     execute=execute,
    ... )
    >>> hello.definition["parameters"]
    {'type': 'object', 'properties': {'name': {'type': 'string'}}}
    """

    FIELDS: ClassVar[tuple[str, ...]] = (
        *("name", "description", "schema", "execute"),
        *ToolSettings.__annotations__,
    )
    __slots__ = (*FIELDS, "__weakref__", "_has_default_dispatch", "definition", "is_coroutine")

    name: str
    """Exact and unique; `[a-zA-Z][a-zA-Z0-9_-]{0,63}`, the rule that every provider accepts."""
    description: str
    """What the model reads to decide when to call the tool."""
    schema: Mapping[str, Any]
    """JSON Schema of the arguments, read-only, its keys in one order; its root is an object."""
    execute: Execute
    toolset: str | None
    """The group that the tool belongs to, such as `file` or `web`."""
    max_result_chars: int | None
    """Cap of one result in characters, beside the budget's share."""
    capabilities: ToolCapabilities
    is_available: Callable[[], bool] | None
    """Asked at each listing and batch; one that raises counts as not available."""
    always_include: bool
    """Passes the toolset gate, and that one alone."""
    output_is_untrusted: bool
    """Set it if the output is written by others: files, web pages, mail, subprocesses."""
    ephemeral: bool
    """Dropped when the turn is acknowledged."""
    on_collision: CollisionPolicy
    timeout_seconds: float | None
    """Seconds from the start of a call; `None` for no timeout. Default: the registry's."""
    idempotent: bool
    """Whether calling it twice is harmless: a stream may then start it early."""
    strict: bool
    """Arguments are validated against the schema, without coercion."""
    dispatch: DispatchMode
    """When a call of a streamed reply may start; by default `eager` for `idempotent` tools."""
    retry: Retry | None
    """When a call that failed is tried again; for `idempotent` tools. Default: never."""
    reduction: ReductionPolicy | None
    """How much of its results is kept where they are reduced. Default: the registry's."""
    max_concurrency: int | None
    """How many of its calls run at once in this process; others wait in order. Default: no limit.

    Waiting does not count as the tool's time."""
    calls_per_second: float | None
    """How many of its calls start in a second; others wait in order. Default: no limit."""
    repair_arguments: RepairLevel | None
    """Which wrong arguments are repaired. Default: as the registry does; never for `strict`."""
    _has_default_dispatch: bool
    definition: Mapping[str, Any]
    """`{name, description, parameters}`, read-only, as the model sees it."""
    is_coroutine: bool
    """Whether `execute` is `async def`; a plain one runs on a thread."""

    def __init__(
        self,
        name: str,
        description: str,
        schema: Mapping[str, Any],
        execute: Execute,
        **settings: Unpack[ToolSettings],
    ) -> None:
        values: dict[str, Any] = {"name": _checked_name(name), "execute": execute}
        unknown = settings.keys() - _SETTINGS.keys()
        if unknown:
            raise _checks.unknown_option("Tool", min(unknown), self.FIELDS)
        try:
            values["description"] = _checks.unicode_text(description, "description")
            values["schema"] = _checked_schema(schema)
            values |= _DEFAULTS
            settings.setdefault("capabilities", None)  # each tool has a value of its own
            for field, given in settings.items():
                values[field] = _SETTINGS[field][1](given, field)
            _check_together(values)
            check_takes(execute, "execute", "args", "context")
        except ConfigError as error:
            raise ConfigError(
                f"tool `{name}`: {error}", context={"tool_name": name} | error.context
            ) from None
        values["_has_default_dispatch"] = values["dispatch"] is None
        if values["dispatch"] is None:
            values["dispatch"] = "eager" if values["idempotent"] else "confirmed"
        values["is_coroutine"] = is_async_callable(execute)
        values["definition"] = ReadOnlyDict(
            name=values["name"],
            description=str.__str__(values["description"]),
            parameters=values["schema"],
        )
        for field, value in values.items():
            object.__setattr__(self, field, value)

    def __setattr__(self, field: str, value: object) -> None:
        raise AttributeError(
            f"tool `{self.name}` is immutable; use `tool.replace({field}=...)` for a changed copy"
        )

    def __delattr__(self, field: str) -> None:
        raise AttributeError(f"tool `{self.name}` is immutable; `{field}` cannot be removed")

    def replace(self, **changes: Unpack[ToolChanges]) -> Tool:
        """A copy with some fields changed.

        >>> tool = Tool("hello", "Greet.", {"type": "object"}, lambda args, context: {"ok": True})
        >>> tool.replace(timeout_seconds=5).timeout_seconds
        5.0
        """
        unknown = changes.keys() - set(self.FIELDS)
        if unknown:
            name = min(unknown)
            raise ConfigError(
                f"tool `{self.name}` has no field {name!r}{did_you_mean(name, self.FIELDS)}; "
                f"it has {', '.join(self.FIELDS)}"
            )
        return Tool(**self._given_fields() | dict(changes))

    def _given_fields(self) -> dict[str, Any]:
        """The fields that make an equal tool; `dispatch` only where it was given."""
        fields = {field: getattr(self, field) for field in self.FIELDS}
        if self._has_default_dispatch:
            del fields["dispatch"]
        return fields

    def describe(self) -> dict[str, Any]:
        """Name, description and schema as plain values."""
        return {
            "name": self.name,
            "description": self.description,
            "schema": thaw(self.schema),
        }

    def __copy__(self) -> Tool:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tool:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self._given_fields()), ()

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


class BoundedTextTool(Tool):
    """A tool whose text means nothing when it is cut, as JSON."""

    __slots__ = ()

    def fit(self, text: str, chars: int) -> str | None:
        """The text in at most `chars` characters; `None` if it is to be cut as any other."""
        raise NotImplementedError


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not _core.is_tool_name(name):
        raise ConfigError(
            f"a tool's name is a letter, then at most 63 of a-z A-Z 0-9 _ -: {_checks.brief(name)}",
            context={"tool_name": name, "field": "name", "value": name},
        )
    return str.__str__(name)  # a member of an enumeration becomes its text


def _checked_schema(schema: Any) -> Mapping[str, Any]:
    _checks.instance(schema, Mapping, "schema", "a JSON Schema object")
    if schema.get("type") != "object":
        raise ConfigError(
            '`schema` must have an object root: {"type": "object", "properties": {...}}, '
            f"got type {_checks.brief(schema.get('type'))}"
        )
    frozen: Mapping[str, Any] = freeze(schema, "schema")
    check_schema(frozen, "schema")
    ordered: Mapping[str, Any] = ordered_schema(frozen)
    return ordered


def _checked_capabilities(capabilities: Any, field: str) -> ToolCapabilities:
    if capabilities is None:
        return ToolCapabilities()
    if isinstance(capabilities, ToolCapabilities):
        return capabilities
    return ToolCapabilities.from_wire(capabilities)


def _checked_timeout(seconds: object, field: str) -> Any:
    if seconds is REGISTRY_DEFAULT:
        return seconds
    return float(_checks.finite_number(seconds, field))


def _checked_rate(value: object, field: str) -> float:
    if not (rate := _checks.finite_number(value, field)):
        raise ConfigError("`calls_per_second` must be more than 0; leave the tool out of the view")
    return float(rate)


def _checked_probe(is_available: Any, field: str) -> object:
    if is_async_callable(is_available):
        raise ConfigError("`is_available` must be a plain function; it is asked while listing")
    check_takes(is_available, field)
    return is_available


def _check_together(values: Mapping[str, Any]) -> None:
    """`ConfigError` for settings that contradict each other."""
    if values["retry"] is not None and not values["idempotent"]:
        raise ConfigError(
            "`retry` needs `idempotent=True`: an attempt that failed may have done its work, and "
            "only the author knows that doing it twice is harmless",
            context={"field": "retry", "value": values["retry"]},
        )
    level = values["repair_arguments"]
    if values["strict"] and level not in (None, "off"):
        raise ConfigError(
            f"`repair_arguments={level!r}` contradicts `strict`, whose arguments are taken as they "
            "are; leave one out"
        )


def _optional(check: Check) -> tuple[None, Check]:
    return None, optional(check)


def _checked_toolset(value: object, field: str) -> str:
    name = _checks.unicode_text(value, field)
    if name.startswith("toolset:"):
        bare = name.removeprefix("toolset:")
        raise ConfigError(
            f"`{field}` must not start with 'toolset:': {_checks.brief(name)}; write {bare!r}, and "
            "the prefix in a personality only"
        )
    return name


_FLAG: Final = (False, _checks.boolean)
_SETTINGS: Final[Mapping[str, tuple[Any, Check]]] = {
    "toolset": _optional(_checked_toolset),
    "max_result_chars": _optional(partial(_checks.finite_number, whole=True)),
    "capabilities": (None, _checked_capabilities),
    "on_collision": ("throw", choice(CollisionPolicy)),
    "timeout_seconds": (REGISTRY_DEFAULT, optional(_checked_timeout)),
    "always_include": _FLAG,
    "output_is_untrusted": _FLAG,
    "ephemeral": _FLAG,
    "idempotent": _FLAG,
    "strict": _FLAG,
    "dispatch": _optional(choice(DispatchMode)),
    "retry": _optional(instance_of(Retry, "a Retry", "`Retry(3)` is one")),
    "reduction": _optional(checked_reduction),
    "max_concurrency": _optional(_checks.whole_count),
    "calls_per_second": _optional(_checked_rate),
    "repair_arguments": _optional(choice(RepairLevel)),
    "is_available": _optional(_checked_probe),
}
"""The default of each setting and its check, which receives the value and the name."""
_DEFAULTS: Final = {field: default for field, (default, _) in _SETTINGS.items()}


# A tool with the tags of its registration.

Segment: TypeAlias = Literal["built-in", "plugin", "mcp"]
"""The origin of a tool; a request lists the segments in this order, the most stable first."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A tool with the tags of its registration; every kind of copy keeps them."""

    tool: Tool
    owner: str | None = None
    """The agent or module that registered it."""
    plugin_id: str | None = None
    """The plugin that registered it; `""` is a tag too."""
    mcp_server: str | None = None
    """The MCP server that provides it; gates use this, never the name."""
    mcp_tool: str | None = None
    """Its name on that server."""
    registered_at_seconds: float = 0.0
    """Unix time of the registration, in seconds."""
    hidden: bool = False
    """Whether it is left out of definitions; it runs when called."""

    @property
    def segment(self) -> Segment:
        """`"mcp"` with an MCP server, `"plugin"` with a plugin, else `"built-in"`."""
        if self.mcp_server is not None:
            return "mcp"
        return "built-in" if self.plugin_id is None else "plugin"
