"""The tool: its definition for the model, and the function that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Unpack, get_args

from ethos_registry import _core
from ethos_registry.contract import checks
from ethos_registry.contract.callables import check_takes, is_async_callable
from ethos_registry.contract.capability import ToolCapabilities
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.read_only import ReadOnlyDict, freeze, thaw
from ethos_registry.contract.reduction_policy import ReductionPolicy, checked_reduction
from ethos_registry.contract.retry import Retry
from ethos_registry.contract.schema_order import ordered_schema
from ethos_registry.contract.schema_shape import check_schema
from ethos_registry.contract.tool_options import (
    CollisionPolicy,
    DispatchMode,
    Execute,
    ToolChanges,
)

__all__ = ["REGISTRY_DEFAULT", "CollisionPolicy", "DispatchMode", "Execute", "Tool"]


class _Default:
    """Distinguishes a timeout that was not given from `None`, which means no timeout."""

    def __repr__(self) -> str:
        return "the registry's default"

    def __reduce__(self) -> str:
        return "REGISTRY_DEFAULT"


REGISTRY_DEFAULT: Any = _Default()


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

    __slots__ = (
        "__weakref__",
        "_has_default_dispatch",
        "always_include",
        "calls_per_second",
        "capabilities",
        "definition",
        "description",
        "dispatch",
        "ephemeral",
        "execute",
        "idempotent",
        "is_available",
        "is_coroutine",
        "max_concurrency",
        "max_result_chars",
        "name",
        "on_collision",
        "output_is_untrusted",
        "reduction",
        "retry",
        "schema",
        "strict",
        "timeout_seconds",
        "toolset",
    )
    FIELDS: ClassVar[tuple[str, ...]] = (
        "name",
        "description",
        "schema",
        "execute",
        "toolset",
        "max_result_chars",
        "capabilities",
        "is_available",
        "always_include",
        "output_is_untrusted",
        "ephemeral",
        "on_collision",
        "timeout_seconds",
        "idempotent",
        "strict",
        "dispatch",
        "retry",
        "reduction",
        "max_concurrency",
        "calls_per_second",
    )

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
        *,
        toolset: str | None = None,
        max_result_chars: int | None = None,
        capabilities: ToolCapabilities | Mapping[str, Any] | None = None,
        is_available: Callable[[], bool] | None = None,
        always_include: bool = False,
        output_is_untrusted: bool = False,
        ephemeral: bool = False,
        on_collision: CollisionPolicy = "throw",
        timeout_seconds: float | None = REGISTRY_DEFAULT,
        idempotent: bool = False,
        strict: bool = False,
        dispatch: DispatchMode | None = None,
        retry: Retry | None = None,
        reduction: ReductionPolicy | None = None,
        max_concurrency: int | None = None,
        calls_per_second: float | None = None,
    ) -> None:
        values: dict[str, Any] = {"name": _checked_name(name), "execute": execute}
        try:
            values["description"] = checks.unicode_text(description, "description")
            values["schema"] = _checked_schema(schema)
            values["toolset"] = checks.optional_unicode_text(toolset, "toolset")
            values["max_result_chars"] = (
                None
                if max_result_chars is None
                else checks.finite_number(max_result_chars, "max_result_chars", whole=True)
            )
            values["capabilities"] = _checked_capabilities(capabilities)
            values["on_collision"] = checks.one_of(
                on_collision, get_args(CollisionPolicy), "on_collision"
            )
            values["timeout_seconds"] = (
                timeout_seconds
                if timeout_seconds is None or timeout_seconds is REGISTRY_DEFAULT
                else float(checks.finite_number(timeout_seconds, "timeout_seconds"))
            )
            for flag, value in (
                ("always_include", always_include),
                ("output_is_untrusted", output_is_untrusted),
                ("ephemeral", ephemeral),
                ("idempotent", idempotent),
                ("strict", strict),
            ):
                values[flag] = checks.boolean(value, flag)
            if dispatch is not None:
                checks.one_of(dispatch, get_args(DispatchMode), "dispatch")
            values["retry"] = _checked_retry(retry, idempotent=idempotent)
            values["reduction"] = checked_reduction(reduction, "reduction")
            values["max_concurrency"] = (
                None
                if max_concurrency is None
                else checks.finite_number(max_concurrency, "max_concurrency", minimum=1, whole=True)
            )
            values["calls_per_second"] = _checked_rate(calls_per_second)
            check_takes(execute, "execute", "args", "context")
            values["is_available"] = _checked_probe(is_available)
        except ConfigError as error:
            raise ConfigError(
                f"tool `{name}`: {error}", context={"tool_name": name} | error.context
            ) from None
        values["dispatch"] = dispatch or ("eager" if idempotent else "confirmed")
        values["_has_default_dispatch"] = dispatch is None
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
            raise ConfigError(
                f"tool `{self.name}` has no field {min(unknown)!r}; it has {', '.join(self.FIELDS)}"
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
        return _unpickled, (type(self), self._given_fields())

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


def _unpickled(kind: type[Tool], fields: dict[str, Any]) -> Tool:
    return kind(**fields)


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not _core.is_tool_name(name):
        raise ConfigError(
            f"a tool's name is a letter, then at most 63 of a-z A-Z 0-9 _ -: {checks.brief(name)}",
            context={"tool_name": name, "field": "name", "value": name},
        )
    return str.__str__(name)  # a member of an enumeration becomes its text


def _checked_schema(schema: object) -> Mapping[str, Any]:
    if not isinstance(schema, Mapping):
        raise ConfigError(f"`schema` must be a JSON Schema object, got {type(schema).__name__}")
    if schema.get("type") != "object":
        raise ConfigError(
            '`schema` must have an object root: {"type": "object", "properties": {...}}, '
            f"got type {checks.brief(schema.get('type'))}"
        )
    frozen: Mapping[str, Any] = freeze(schema, "schema")
    check_schema(frozen, "schema")
    ordered: Mapping[str, Any] = ordered_schema(frozen)
    return ordered


def _checked_capabilities(
    capabilities: ToolCapabilities | Mapping[str, Any] | None,
) -> ToolCapabilities:
    if capabilities is None:
        return ToolCapabilities()
    if isinstance(capabilities, ToolCapabilities):
        return capabilities
    return ToolCapabilities.from_wire(capabilities)


def _checked_retry(retry: object, *, idempotent: bool) -> Retry | None:
    if retry is None:
        return None
    if not isinstance(retry, Retry):
        raise ConfigError(f"`retry` must be a Retry, got {type(retry).__name__}; `Retry(3)` is one")
    if not idempotent:
        raise ConfigError(
            "`retry` needs `idempotent=True`: an attempt that failed may have done its work, and "
            "only the author knows that doing it twice is harmless",
            context={"field": "retry", "value": retry},
        )
    return retry


def _checked_rate(calls_per_second: float | None) -> float | None:
    if calls_per_second is None:
        return None
    if not checks.finite_number(calls_per_second, "calls_per_second"):
        raise ConfigError("`calls_per_second` must be more than 0; leave the tool out of the view")
    return float(calls_per_second)


def _checked_probe(is_available: object) -> object:
    if is_available is None:
        return None
    if is_async_callable(is_available):
        raise ConfigError("`is_available` must be a plain function; it is asked while listing")
    check_takes(is_available, "is_available")
    return is_available
