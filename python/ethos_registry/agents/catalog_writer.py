"""Adding agents, registering their tools, granting: the part of the catalogue before its start."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar, overload

from ethos_registry.agents.agent import Agent, agent_id_of, checked_agent
from ethos_registry.agents.grants import Grants, KnownNames
from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError, ToolAlreadyRegisteredError
from ethos_registry.contract.tool import Tool
from ethos_registry.registry.frozen import FrozenToolRegistry
from ethos_registry.registry.tool_registry import ToolRegistry
from ethos_registry.schema.decorator import FunctionTool
from ethos_registry.schema.decorator import tool as make_tool

__all__ = ["CatalogWriter"]

P = ParamSpec("P")
R = TypeVar("R")


class CatalogWriter:
    """The methods of a catalogue that change it."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._observers = list(settings.pop("observers", None) or ())
        self._settings = settings
        self._staged = ToolRegistry(**settings)
        """What was registered before `start`; what `start` itself registers goes into a copy."""
        self._sealed: FrozenToolRegistry | None = None
        self._agents: dict[str, Agent] = {}
        self._grants = Grants()
        self._wanted_grants: list[tuple[str, str, bool]] = []
        """Given before the start, when the tools are not known yet."""
        self._known = KnownNames((), ())
        self._registering: ContextVar[str | None] = ContextVar("registering", default=None)
        self._lock = threading.RLock()

    def _grants_changed(self) -> None:
        """Drop what was computed from the grants before."""
        raise NotImplementedError

    def add(self, agent: Agent) -> None:
        """Add an agent. `ConfigError` for what is not one, and for an id that is taken."""
        agent_id = checked_agent(agent)
        with self._lock:
            self._check_open("add an agent")
            if agent_id in self._agents:
                raise ConfigError(f"there is an agent `{agent_id}` already; ids are unique")
            self._agents[agent_id] = agent

    def observe(self, *observers: Any) -> None:
        """Add observers of all calls, as a `UsageLedger`; before the start only."""
        with self._lock:
            self._check_open("add an observer")
            self._observers.extend(observers)

    def register(
        self,
        tool: Tool,
        *,
        owner: str | None = None,
        plugin_id: str | None = None,
        mcp_server: str | None = None,
    ) -> None:
        """Register a tool. Inside `register_tools` the owner is the agent that registers.

        Raises:
            ToolAlreadyRegisteredError: the name is taken; the error names both owners.
            ConfigError: a part is missing, or the catalogue is sealed.

        """
        with self._lock:
            self._check_open("register a tool")
            owner = self._owner(tool, owner)
            if isinstance(tool, Tool) and not tool.description.strip():
                raise ConfigError(
                    f"tool `{tool.name}` of agent `{owner}` has no description; "
                    "models choose tools by it"
                )
            try:
                self._staged.register(tool, owner=owner, plugin_id=plugin_id, mcp_server=mcp_server)
            except ToolAlreadyRegisteredError as error:
                raise ToolAlreadyRegisteredError(
                    error.tool_name,
                    owner=error.owner,
                    existing_owner=error.existing_owner,
                    way_out="names are unique among all agents: rename one of the two",
                ) from None

    @overload
    def tool(self, function: Callable[P, R], /) -> FunctionTool[P, R]: ...

    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        owner: str | None = ...,
        plugin_id: str | None = ...,
        **options: Any,
    ) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...

    @overload
    def tool(
        self,
        function: Callable[P, R],
        /,
        *,
        owner: str | None = ...,
        plugin_id: str | None = ...,
        **options: Any,
    ) -> FunctionTool[P, R]: ...

    def tool(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        owner: str | None = None,
        plugin_id: str | None = None,
        **options: Any,
    ) -> Any:
        """Make a tool from a function and register it; a decorator, with or without arguments.

        `options` are those of `ethos_registry.tool`.
        """

        def register(function: Callable[..., Any]) -> FunctionTool[..., Any]:
            made: FunctionTool[..., Any] = make_tool(function, **options)
            self.register(made, owner=owner, plugin_id=plugin_id)
            return made

        return register if function is None else register(function)

    def unregister(self, name: str) -> None:
        """Forget a tool that was registered; an unknown name is not an error.

        Raises:
            ConfigError: the catalogue is sealed, or the tool belongs to another agent.

        """
        with self._lock:
            self._check_open("unregister a tool")
            registering = self._registering.get()
            registration = self._staged.registration(checks.text(name, "name"))
            owner = registering if registration is None else registration.owner
            if registering is not None and owner != registering:
                raise ConfigError(
                    f"agent `{registering}` cannot unregister `{name}`, which belongs to `{owner}`"
                )
            self._staged.unregister(name)

    def grant(self, agent: Agent | str, what: str, *, allow_unmatched: bool = False) -> None:
        """Let an agent see and call a tool of another, or all tools of an owner or a toolset.

        `what` is the name of a tool or of an owner, or `toolset:<group>`; `tool:<name>` and
        `owner:<id>` where a name is both. `agent:<id>` permits delegation to an agent without
        showing its tools. Before the start the names are checked by `start`, after it at once;
        views that were made before do not change. With `allow_unmatched` a grant may name what
        only other programs have; it opens nothing here.

        Raises:
            ConfigError: the agent, tool, owner or toolset is unknown.

        """
        agent_id = agent_id_of(agent, "agent")
        checks.boolean(allow_unmatched, "allow_unmatched")
        with self._lock:
            if self._sealed is None:
                self._wanted_grants.append((agent_id, checks.text(what, "what"), allow_unmatched))
                return
            self._check_agent(agent_id)
            self._grants.add(agent_id, self._known.read(what, allow_unmatched=allow_unmatched))
            self._grants_changed()

    def _check_open(self, what: str) -> None:
        if self._sealed is not None:
            raise ConfigError(
                f"cannot {what}: the catalogue is sealed since it was started; "
                "restart the application, or make a new `AgentCatalog`"
            )

    def _check_agent(self, agent_id: str) -> None:
        if agent_id not in self._agents:
            known = ", ".join(map(repr, self._agents)) or "none"
            raise ConfigError(
                f"there is no agent {checks.brief(agent_id)} in the catalogue; there are {known}"
            )

    def _owner(self, tool: object, owner: str | None) -> str:
        """Who owns a tool that is being registered."""
        checks.optional_text(owner, "owner")
        registering = self._registering.get()
        if registering is None:
            if owner is None or not owner.strip():
                name = getattr(tool, "name", type(tool).__name__)
                raise ConfigError(
                    f"tool `{name}` needs an owner: register it in `register_tools` of an agent, "
                    "or pass `owner=...`"
                )
            return owner
        if owner is not None and owner != registering:
            raise ConfigError(
                f"agent `{registering}` cannot register a tool that is owned by {owner!r}"
            )
        return registering
