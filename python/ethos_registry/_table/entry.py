"""What a registry stores of a tool: a copy taken at registration, which nothing can change."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeAlias

from pydantic_core import from_json

from ethos_registry import _core
from ethos_registry._table.throttle import Throttle
from ethos_registry.types._call import Repair, RepairLevel
from ethos_registry.types._context import ToolContext
from ethos_registry.types._json_values import ReadOnlyDict, read_only
from ethos_registry.types._policy import ToolCapabilities, WhyRefused, why_refused
from ethos_registry.types._ports import TurnScope
from ethos_registry.types._reducer import ReductionPolicy
from ethos_registry.types._result import ToolError
from ethos_registry.types._tool import CollisionPolicy, Registration, RetryRule, Segment, Tool

# What a registry keeps of a definition: its text, taken at registration.

Render: TypeAlias = Callable[[dict[str, Any]], bytes]
"""Makes the compact JSON that a provider is sent out of a definition."""


class _FromText:
    """Values are always made from the text, so nothing that was handed out can change them."""

    __slots__ = ()

    text: bytes

    def fresh(self) -> dict[str, Any]:
        """The definition as plain values of the caller's own."""
        definition: dict[str, Any] = from_json(self.text)
        return definition

    def _frozen(self) -> Mapping[str, Any]:
        frozen: Mapping[str, Any] = read_only(self.fresh())
        return frozen


class Definition(_FromText):
    """The definition of a tool in a registry that can change; each form is made once."""

    __slots__ = ("_texts", "_values", "text", "value")

    value: Mapping[str, Any]
    """The read-only definition; the same object each time."""

    def __init__(self, definition: Mapping[str, Any]) -> None:
        self.text = _core.json_bytes(definition)
        # A read-only one is shared with its tool, else one is made when it is first asked for.
        if type(definition) is ReadOnlyDict:
            self.value = definition
        self._texts: dict[object, bytes] = {}
        self._values: dict[object, Any] = {}

    def __getattr__(self, name: str) -> Any:
        # Only for what is not set yet: a list of thousands then runs no Python code for each.
        if name != "value":
            raise AttributeError(name)
        self.value = self._frozen()
        return self.value

    def text_for(self, key: object, render: Render) -> bytes:
        """What `render` made of the definition when it was first asked for under the `key`."""
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = render(self.fresh())
        return text

    def value_for(self, key: object, render: Render) -> Any:
        """The same as a read-only value; the same object each time."""
        value = self._values.get(key)
        if value is None:
            value = self._values[key] = read_only(from_json(self.text_for(key, render)))
        return value


class _Text(NamedTuple):
    text: bytes


class SealedDefinition(_FromText, _Text):
    """A definition that is text and nothing else: force has nothing to write to."""

    __slots__ = ()

    @property
    def value(self) -> Mapping[str, Any]:
        """The read-only definition, made again each time."""
        return self._frozen()

    def text_for(self, key: object, render: Render) -> bytes:
        return render(self.fresh())

    def value_for(self, key: object, render: Render) -> Any:
        return read_only(from_json(render(self.fresh())))


FailingPlaces: TypeAlias = Callable[[Any], Sequence[tuple[int | str, ...]]]
"""Where arguments fail; empty if they are valid."""


class ArgumentCheck(Protocol):
    """Holds arguments against a schema, as it was at registration."""

    def problems(self, args: object) -> ToolError | None:
        """`None`, or the `input_invalid` error that the model reads."""

    def failing(self, args: object) -> list[tuple[int | str, ...]]:
        """Where arguments do not match; empty if they do."""


class RestoresArguments(Protocol):
    """Maps arguments under the names that a provider was sent back to the tool's."""

    def restored(self, args: Any) -> Any:
        """The arguments as the tool knows them; `ValueError` with the message for the model."""


class RepairsArguments(Protocol):
    """Reads wrong arguments that have one reading."""

    def text(self, text: str, level: RepairLevel) -> tuple[Any, list[Repair]] | None:
        """The value of text that is not JSON, and what was done; `None` for no reading."""

    def whole(self, text: str) -> tuple[dict[str, Any], str] | None:
        """The object in text that came as the arguments, and the message about that text."""

    def values(
        self,
        args: Any,
        schema: Mapping[str, Any],
        failing: FailingPlaces,
        level: RepairLevel,
        restore: Callable[[Any], Any] | None,
    ) -> tuple[Any, list[Repair]] | None:
        """Arguments that do not fail, and what was done; `None` for no reading."""


class Binding(Protocol):
    """The two halves of a tool's `execute`, where it has them: bind the arguments, then call."""

    def bind(self, args: Any, context: ToolContext) -> dict[str, Any] | ToolError:
        """The function's keyword arguments, or the `input_invalid` error that the model reads."""

    def failing(self, args: Any) -> list[tuple[int | str, ...]]:
        """Where arguments do not bind; empty if they do."""

    @property
    def call(self) -> Callable[[dict[str, Any]], Any]:
        """Takes bound keyword arguments and returns what `execute` returns."""

    @property
    def takes_context(self) -> bool:
        """Whether the function has a parameter for the call's `ToolContext`."""


class Entry(NamedTuple):
    """One registration. A tuple: not even `object.__setattr__` changes which function runs."""

    tool: Tool
    name: str
    execute: Callable[..., Any]
    is_coroutine: bool
    is_available: Callable[[], Any] | None
    max_result_chars: int | None
    timeout_seconds: Any
    capabilities: ToolCapabilities
    declares_capabilities: bool
    output_is_untrusted: bool
    always_include: bool
    toolset: str | None
    strict: bool
    starts_eagerly: bool
    ephemeral: bool
    on_collision: CollisionPolicy
    owner: str | None
    plugin_id: str | None
    mcp_server: str | None
    mcp_tool: str | None
    registered_at_seconds: float
    definition: Definition | SealedDefinition
    argument_check: ArgumentCheck | None
    binding: Binding | None
    sent_arguments: RestoresArguments | None
    """`None` if arguments arrive under the tool's own names."""
    why_refused: WhyRefused | None
    """Why no call can run under a personality here; `None` if the personality does not matter."""
    retry: RetryRule | None
    throttle: Throttle | None
    """The limits that all calls of this registration share; `None` without limits."""
    reduction: ReductionPolicy | None
    repair_arguments: RepairLevel | None
    """The tool's own level; `None` for that of the registry."""
    repair: RepairsArguments

    @property
    def sees_context(self) -> bool:
        """Whether the tool's code can look at its context, and so notice that it was stopped."""
        return self.binding is None or self.binding.takes_context

    @property
    def segment(self) -> Segment:
        """The part of a provider's list that the tool belongs to."""
        if self.mcp_server is not None:
            return "mcp"
        return "built-in" if self.plugin_id is None else "plugin"

    def listed_names(self) -> Iterator[tuple[str, str]]:
        """The entries that match it in each list of a gate."""
        yield "exclude_tools", self.name
        if self.toolset is not None:
            yield "exclude_tools", f"toolset:{self.toolset}"
        if self.segment == "built-in":
            yield "allowed_tools", self.name
            if self.toolset is not None:
                yield "allowed_groups", self.toolset
        if self.mcp_server is not None:
            yield "allowed_mcp_servers", self.mcp_server
            yield "allowed_mcp_tools", f"{self.mcp_server}/{self.mcp_tool}"
        if self.plugin_id is not None:
            yield "allowed_plugins", self.plugin_id

    def forged_for(self, turn: TurnScope) -> Entry:
        """The entry of a tool that was made for one turn: not available once it is acknowledged.

        Every kind of copy keeps that, because it is part of the entry.
        """
        probe = self.is_available

        def is_available() -> bool:
            return not turn.is_acked and (probe is None or probe())

        return self._replace(ephemeral=True, is_available=is_available)

    def registration(self, *, hidden: bool) -> Registration:
        """The same for programs to read."""
        return Registration(
            self.tool,
            self.owner,
            self.plugin_id,
            self.mcp_server,
            self.mcp_tool,
            self.registered_at_seconds,
            hidden,
        )


def make_entry(
    tool: Tool,
    *,
    owner: str | None,
    plugin_id: str | None,
    mcp: tuple[str, str] | None,
    argument_check: ArgumentCheck | None,
    binding: Binding | None,
    sent_arguments: RestoresArguments | None,
    repair: RepairsArguments,
) -> Entry:
    """The entry of a tool that is being registered now."""
    server, bare_name = mcp if mcp is not None else (None, None)
    return Entry(
        tool=tool,
        name=tool.name,
        execute=tool.execute,
        is_coroutine=tool.is_coroutine,
        is_available=tool.is_available,
        max_result_chars=tool.max_result_chars,
        timeout_seconds=tool.timeout_seconds,
        capabilities=tool.capabilities,
        declares_capabilities=bool(tool.capabilities.declared),
        output_is_untrusted=tool.output_is_untrusted,
        always_include=tool.always_include,
        toolset=tool.toolset,
        strict=tool.strict,
        starts_eagerly=tool.dispatch == "eager",
        ephemeral=tool.ephemeral,
        on_collision=tool.on_collision,
        owner=owner,
        plugin_id=plugin_id,
        mcp_server=server,
        mcp_tool=bare_name,
        registered_at_seconds=time.time(),
        definition=Definition(tool.definition),
        argument_check=argument_check,
        binding=binding,
        sent_arguments=sent_arguments,
        why_refused=why_refused(tool.execute),
        retry=None if tool.retry is None else tool.retry.rule(),
        throttle=None
        if tool.max_concurrency is None and tool.calls_per_second is None
        else Throttle(tool.max_concurrency, tool.calls_per_second),
        # A copy, which no one else can reach.
        reduction=None if tool.reduction is None else replace(tool.reduction),
        repair_arguments="off" if tool.strict else tool.repair_arguments,
        repair=repair,
    )
