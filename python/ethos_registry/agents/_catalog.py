"""One catalogue of tools for all agents of an application."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Final, NamedTuple, NoReturn, ParamSpec, TypeVar, overload

from ethos_registry import _core
from ethos_registry._table.admission import Admission, personality_gate
from ethos_registry._table.entry import Entry
from ethos_registry.agents._agent import Agent, Grant, KnownNames, agent_id_of, checked_agent
from ethos_registry.agents._catalog_view import AgentCaller, CatalogView
from ethos_registry.agents._delegation import delegation_tools
from ethos_registry.execution._usage_limits import checked_view_limits
from ethos_registry.registry._definitions import ViewDefinitions
from ethos_registry.registry._explain import refuse_unmatched, refuse_unmatched_filters
from ethos_registry.registry._frozen import FrozenToolRegistry
from ethos_registry.registry._merging import RegisteredEntry, entries_of
from ethos_registry.registry._tool_registry import ToolRegistry
from ethos_registry.schema._function_tool import FunctionTool
from ethos_registry.schema._function_tool import tool as make_tool
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError, ToolAlreadyRegisteredError
from ethos_registry.types._policy import Personality
from ethos_registry.types._tool import Registration, Segment, Tool
from ethos_registry.types._usage_limits import UsageLimits

P = ParamSpec("P")
R = TypeVar("R")


class _Delegation(NamedTuple):
    """How delegation was registered, by one agent or several."""

    owner: str
    to: tuple[str, ...]
    settings: tuple[int, float | None]


_SEGMENTS: Final[tuple[Segment, ...]] = ("built-in", "plugin", "mcp")
_KEPT_VIEWS = 256
"""Cached selections, one for each agent and personality."""


@_checks.checked_class
class AgentCatalog:
    """The tools of all agents in one place: who owns them, who may use them, in a stable order.

    Agents are added, `start` lets each register its tools and then seals the catalogue. From then
    on `view(agent_id)` is what an agent sees and may call: its own tools and those it was granted.
    Every tool has an owner, a description, a schema and an implementation, and its name is unique
    among all agents. Settings are those of `ToolRegistry`; an observer that has `add_tools`, as
    `UsageLedger` has, learns at the start which tools there are.

    With `open_calls` an agent may call every tool that it knows by name, also one that it is not
    shown; `exclude` and capabilities bind all the same.

    >>> from ethos_registry import tool
    >>> class Clerk:
    ...     id = "clerk"
    ...     def register_tools(self, catalog):
    ...         @catalog.tool
    ...         def find_order(number: int) -> str:
    ...             \"\"\"Find an order.\"\"\"
    ...             return f"order {number}"
    >>> class Boss:
    ...     id = "boss"
    ...     def register_tools(self, catalog): ...
    >>> catalog = AgentCatalog([Clerk(), Boss()])
    >>> catalog.start()
    >>> [shown["name"] for shown in catalog.view("clerk").definitions()]
    ['find_order']
    >>> catalog.view("boss").definitions()
    []
    >>> catalog.grant("boss", "find_order")
    >>> [shown["name"] for shown in catalog.view("boss").definitions()]
    ['find_order']
    """

    def __init__(
        self, agents: Iterable[Agent] = (), *, open_calls: bool = False, **settings: Any
    ) -> None:
        self._observers = list(settings.pop("observers", None) or ())
        self._settings = settings
        self._staged = ToolRegistry(**settings)
        """What was registered before `start`; what `start` itself registers goes into a copy."""
        self._sealed: FrozenToolRegistry | None = None
        self._agents: dict[str, Agent] = {}
        self._grants: dict[str, dict[Grant, None]] = {}
        """By agent, in the order in which they were given."""
        self._wanted_grants: list[tuple[str, str, bool]] = []
        """Given before the start, when the tools are not known yet."""
        self._known = KnownNames((), ())
        self._delegation: _Delegation | None = None
        self._registering: ContextVar[str | None] = ContextVar("registering", default=None)
        self._lock = threading.RLock()
        self._open_calls = _checks.boolean(open_calls, "open_calls")
        self._admissions = lru_cache(maxsize=_KEPT_VIEWS)(self._compiled)
        for agent in agents:
            self.add(agent)

    @classmethod
    def default(cls) -> AgentCatalog:
        """The catalogue of this process: always the same object."""
        return _DEFAULT

    def __repr__(self) -> str:
        state = "started" if self.is_sealed else "not started"
        return f"<AgentCatalog of {len(self._agents)} agents, {state}>"

    def _repr_html_(self) -> str:
        registry = self._staged if self._sealed is None else self._sealed
        return registry._repr_html_()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a catalogue belongs to its process; send `catalog.registry`")

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
            registration = self._staged.registration(_checks.text(name, "name"))
            owner = registering if registration is None else registration.owner
            if registering is not None and owner != registering:
                raise ConfigError(
                    f"agent `{registering}` cannot unregister `{name}`, which belongs to `{owner}`"
                )
            self._staged.unregister(name)
            if name == "delegate_parallel":
                self._delegation = None

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
        _checks.boolean(allow_unmatched, "allow_unmatched")
        with self._lock:
            if self._sealed is None:
                self._wanted_grants.append((agent_id, _checks.text(what, "what"), allow_unmatched))
                return
            self._grant(agent_id, what, allow_unmatched)
            self._admissions.cache_clear()

    def _grant(self, agent_id: str, what: str, allow_unmatched: bool) -> None:
        self._check_agent(agent_id)
        grant = self._known.read(what, allow_unmatched=allow_unmatched)
        self._grants.setdefault(agent_id, {})[grant] = None

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
                f"there is no agent {_checks.brief(agent_id)} in the catalogue; there are {known}"
            )

    def _owner(self, tool: object, owner: str | None) -> str:
        """Who owns a tool that is being registered."""
        _checks.optional_text(owner, "owner")
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

    def register_delegation(
        self,
        *,
        to: Iterable[str] = (),
        owner: str | None = None,
        max_depth: int = 3,
        timeout_seconds: float | None = 600,
    ) -> None:
        """Register `delegate_parallel` and `task`, with which the owner hands tasks to agents.

        `to` names the agents that the owner may hand tasks to; `grant(owner, "agent:x")` adds more
        later, and so does a grant of all tools of an agent. A task that was handed over may be
        handed on until it is `max_depth` deep, and never to an agent that is waiting for it.

        Several agents may call this: the first one owns the tools, the others are granted them.
        Their description lists the agents of all; each may hand tasks to its own only.

        Raises:
            ConfigError: as `register`; an agent of `to` does not exist or has no `run`, or
                `max_depth` or `timeout_seconds` differ from those of another agent.

        """
        with self._lock:
            self._check_open("register delegation")
            names = _checks.strings(to, "to")
            _checks.whole_count(max_depth, "max_depth")
            settings, known = (max_depth, timeout_seconds), self._delegation
            listed = names if known is None else tuple(dict.fromkeys((*known.to, *names)))
            if known is not None and known.settings != settings:
                depth, seconds = known.settings
                raise ConfigError(
                    f"agent `{known.owner}` registered delegation with max_depth={depth} and "
                    f"timeout_seconds={seconds}; all agents have the same"
                )
            tools = delegation_tools(self, listed, max_depth, timeout_seconds)
            caller = self._owner(tools[0], owner)
            for made in tools:
                if known is None:
                    self.register(made, owner=owner)
                else:
                    self._staged.register(made, overwrite=True, owner=known.owner)
                    if caller != known.owner:
                        self.grant(caller, f"tool:{made.name}")
            for name in names:
                self.grant(caller, f"agent:{name}")
            first = caller if known is None else known.owner
            self._delegation = _Delegation(first, listed, settings)

    # The start

    def start(self) -> None:
        """Let each agent register its tools, once, and seal the catalogue: all of it, or nothing.

        Agents that are added meanwhile register theirs too. When an agent fails, an error names
        it, nothing that was registered, granted or added meanwhile stays, and the catalogue may be
        started again.

        Raises:
            ToolAlreadyRegisteredError: two agents registered the same name.
            ConfigError: an agent failed, or the catalogue was started already.

        """
        with self._lock:
            self._check_open("start")
            if self._registering.get() is not None:
                raise ConfigError("cannot start the catalogue while it is starting")
            before, grants_before = self._staged, list(self._wanted_grants)
            agents_before, observers_before = dict(self._agents), list(self._observers)
            delegation_before = self._delegation
            try:
                self._staged = before.for_turn()
                done = 0
                while done < len(self._agents):  # an agent may add others
                    agent_id, agent = list(self._agents.items())[done]
                    self._let_register(agent_id, agent)
                    done += 1
                self._seal()
            except BaseException:
                self._staged, self._wanted_grants = before, grants_before
                self._agents, self._observers = agents_before, observers_before
                self._delegation = delegation_before
                self._grants, self._known = {}, KnownNames((), ())
                raise
        self._announce()

    def _let_register(self, agent_id: str, agent: Agent) -> None:
        token = self._registering.set(agent_id)
        try:
            returned = agent.register_tools(self)
            if hasattr(returned, "__await__"):
                with contextlib.suppress(Exception):
                    returned.close()  # type: ignore[attr-defined]  # else Python warns of it
                raise ConfigError("`register_tools` returned an awaitable; make it a plain method")
        except ToolAlreadyRegisteredError as error:
            error.args = (f"agent `{agent_id}` could not register its tools: {error}",)
            raise
        except Exception as error:
            message = str(error) or type(error).__name__
            raise ConfigError(
                f"agent `{agent_id}` could not register its tools: {message}",
                context={"agent_id": agent_id},
            ) from error
        finally:
            self._registering.reset(token)

    def _seal(self) -> None:
        held = sorted(entries_of(self._staged), key=_stable_place)
        registry = ToolRegistry(**self._settings, observers=self._observers)
        registry._exchange({}, {each.entry.name: each for each in held})
        entries = [each.entry for each in held]
        self._known = KnownNames(entries, self._agents)
        self._grants = {}
        for wanted in self._wanted_grants:
            self._grant(*wanted)
        self._sealed = registry.freeze()

    def _announce(self) -> None:
        """Tell observers that list tools which ones there are."""
        registrations = self.registrations()
        runtime = self.registry._settings()
        for observer in self._observers:
            add_tools = getattr(observer, "add_tools", None)
            if callable(add_tools):
                runtime.guard("the `add_tools` of an observer", add_tools, registrations)

    # After the start

    @property
    def is_sealed(self) -> bool:
        """Whether the catalogue was started: nothing can be registered any more."""
        return self._sealed is not None

    @property
    def registry(self) -> FrozenToolRegistry:
        """All tools, in stable order: built-in, plugin, MCP, each by name.

        Raises:
            ConfigError: the catalogue was not started.

        """
        if self._sealed is None:
            raise ConfigError("the catalogue has not been started; call `catalog.start()` first")
        return self._sealed

    @property
    def agents(self) -> dict[str, Agent]:
        """The agents by id, in the order in which they were added."""
        return dict(self._agents)

    def registrations(self) -> list[Registration]:
        """All tools with their owners and tags, in stable order."""
        return [
            each.entry.registration(hidden=each.is_hidden) for each in entries_of(self.registry)
        ]

    def grants_of(self, agent: Agent | str) -> list[str]:
        """What an agent was granted, as `tool:...`, `owner:...`, `toolset:...`, `agent:...`."""
        return list(map(str, tuple(self._grants.get(agent_id_of(agent, "agent"), ()))))

    def view(
        self,
        agent: Agent | str,
        personality: Personality | None = None,
        *,
        freeze_availability: bool = False,
        allow_unmatched: bool = False,
        limits: UsageLimits | None = None,
    ) -> CatalogView:
        """What an agent sees and may call: its own tools and those it was granted.

        A `personality` narrows that further. Calls are counted under the agent. `limits` are those
        of `ToolRegistry.view`.

        Raises:
            ConfigError: the agent is unknown, the catalogue was not started, or the personality
                names what the catalogue does not have, unless `allow_unmatched`.

        """
        agent_id = agent_id_of(agent, "agent")
        runtime = self.registry._settings()
        with self._lock:
            self._check_agent(agent_id)
            try:
                visible, callable_ = self._admissions(agent_id, personality)
            except TypeError:  # a personality that holds something that cannot be a key
                visible, callable_ = self._compiled(agent_id, personality)
        if not _checks.boolean(allow_unmatched, "allow_unmatched") and personality is not None:
            refuse_unmatched(personality, visible)
        refuse_unmatched_filters(runtime.filters, visible.snapshot)
        definitions = ViewDefinitions(
            visible.under(personality), freeze_availability=freeze_availability
        )
        caller = AgentCaller(
            callable_.under(personality),
            runtime,
            personality,
            limits=checked_view_limits(limits, runtime),
            agent_id=agent_id,
        )
        return CatalogView(definitions, caller)

    def may_delegate(self, agent: Agent | str, target: str) -> bool:
        """Whether an agent may hand tasks to another."""
        if self._open_calls:
            return True
        granted = self._grants.get(agent_id_of(agent, "agent"), {})
        return Grant("agent", target) in granted or Grant("owner", target) in granted

    def _compiled(
        self, agent_id: str, personality: Personality | None
    ) -> tuple[Admission, Admission]:
        """What the agent sees, and what it may call."""
        grants = (Grant("owner", agent_id), *self._grants.get(agent_id, ()))
        opened = [name for grant in grants for name in self._known.tools(grant)]
        snapshot, granted = self.registry._snapshot(), tuple(dict.fromkeys(opened))
        if personality is None:
            gate = _core.Gate(granted_tools=granted)
        else:
            gate = personality_gate(personality, granted_tools=granted)
        visible = Admission(snapshot, gate)
        if not self._open_calls:
            return visible, visible
        excluded = () if personality is None else personality.exclude
        return visible, Admission(snapshot, _core.Gate(exclude_tools=excluded))


_DEFAULT: Final = AgentCatalog()


def _stable_place(held: RegisteredEntry) -> tuple[int, str]:
    entry: Entry = held.entry
    return _SEGMENTS.index(entry.segment), entry.name
