"""One catalogue of tools for all agents of an application."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable
from typing import Any, Final, NoReturn

from ethos_registry import _core
from ethos_registry.agents.agent import Agent, agent_id_of
from ethos_registry.agents.catalog_view import CatalogView
from ethos_registry.agents.catalog_writer import CatalogWriter
from ethos_registry.agents.delegation import delegation_tools
from ethos_registry.agents.grants import Grants, KnownNames
from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError, ToolAlreadyRegisteredError
from ethos_registry.contract.policy import Personality
from ethos_registry.contract.registration import Registration, Segment
from ethos_registry.registry.explain import refuse_unmatched, refuse_unmatched_filters
from ethos_registry.registry.frozen import FrozenToolRegistry
from ethos_registry.registry.merging import RegisteredEntry, entries_of
from ethos_registry.registry.tool_registry import ToolRegistry
from ethos_registry.table.admission import Admission
from ethos_registry.table.entry import Entry
from ethos_registry.table.gates import personality_gate

__all__ = ["AgentCatalog"]

_SEGMENTS: Final[tuple[Segment, ...]] = ("built-in", "plugin", "mcp")
_KEPT_VIEWS = 256
"""Cached selections, one for each agent and personality."""

_default: AgentCatalog | None = None
_default_lock = threading.Lock()


class AgentCatalog(CatalogWriter):
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
        super().__init__(settings)
        self._open_calls = checks.boolean(open_calls, "open_calls")
        self._views: dict[tuple[str, Personality | None], tuple[Admission, Admission]] = {}
        for agent in agents:
            self.add(agent)

    @classmethod
    def default(cls) -> AgentCatalog:
        """The catalogue of this process: always the same object."""
        global _default
        with _default_lock:
            if _default is None:
                _default = AgentCatalog()
            return _default

    def __repr__(self) -> str:
        state = "started" if self.is_sealed else "not started"
        return f"<AgentCatalog of {len(self._agents)} agents, {state}>"

    def _repr_html_(self) -> str:
        registry = self._staged if self._sealed is None else self._sealed
        return registry._repr_html_()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a catalogue belongs to its process; send `catalog.registry`")

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

        Raises:
            ConfigError: as `register`; an agent of `to` does not exist or has no `run`.

        """
        with self._lock:
            self._check_open("register delegation")
            names = checks.strings(to, "to")
            checks.finite_number(max_depth, "max_depth", minimum=1, whole=True)
            tools = delegation_tools(self, names, max_depth, timeout_seconds)
            for made in tools:
                self.register(made, owner=owner)
            caller = self._owner(tools[0], owner)
            for name in names:
                self.grant(caller, f"agent:{name}")

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
            try:
                self._staged = self._copy_of(entries_of(before))
                done = 0
                while done < len(self._agents):  # an agent may add others
                    agent_id, agent = list(self._agents.items())[done]
                    self._let_register(agent_id, agent)
                    done += 1
                self._seal()
            except BaseException:
                self._staged, self._wanted_grants = before, grants_before
                self._agents, self._observers = agents_before, observers_before
                self._grants, self._known = Grants(), KnownNames((), ())
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
        sealed = self._copy_of(held).freeze()
        entries = [each.entry for each in held]
        self._known = KnownNames(entries, self._agents)
        self._grants = Grants()
        for agent_id, what, allow_unmatched in self._wanted_grants:
            self._check_agent(agent_id)
            self._grants.add(agent_id, self._known.read(what, allow_unmatched=allow_unmatched))
        self._sealed = sealed

    def _announce(self) -> None:
        """Tell observers that list tools which ones there are."""
        registrations = self.registrations()
        runtime = self.registry._settings()
        for observer in self._observers:
            add_tools = getattr(observer, "add_tools", None)
            if callable(add_tools):
                runtime.guard("the `add_tools` of an observer", add_tools, registrations)

    def _grants_changed(self) -> None:
        self._views.clear()

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
        registry = self.registry
        found = (registry.registration(tool.name) for tool in registry.all())
        return [each for each in found if each is not None]

    def grants_of(self, agent: Agent | str) -> list[str]:
        """What an agent was granted, as `tool:...`, `owner:...`, `toolset:...`, `agent:...`."""
        return [str(grant) for grant in self._grants.of(agent_id_of(agent, "agent"))]

    def view(
        self,
        agent: Agent | str,
        personality: Personality | None = None,
        *,
        freeze_availability: bool = False,
        allow_unmatched: bool = False,
    ) -> CatalogView:
        """What an agent sees and may call: its own tools and those it was granted.

        A `personality` narrows that further. Calls are counted under the agent.

        Raises:
            ConfigError: the agent is unknown, the catalogue was not started, or the personality
                names what the catalogue does not have, unless `allow_unmatched`.

        """
        agent_id = agent_id_of(agent, "agent")
        registry = self.registry
        with self._lock:
            self._check_agent(agent_id)
            visible, callable_ = self._admissions(agent_id, personality, registry)
        if not checks.boolean(allow_unmatched, "allow_unmatched") and personality is not None:
            refuse_unmatched(personality, visible)
        refuse_unmatched_filters(registry._settings().filters, visible.snapshot)
        return CatalogView(
            agent_id,
            visible,
            callable_,
            registry._settings(),
            personality=personality,
            freeze_availability=freeze_availability,
        )

    def may_delegate(self, agent: Agent | str, target: str) -> bool:
        """Whether an agent may hand tasks to another."""
        return self._open_calls or self._grants.may_delegate(agent_id_of(agent, "agent"), target)

    def _admissions(
        self, agent_id: str, personality: Personality | None, registry: FrozenToolRegistry
    ) -> tuple[Admission, Admission]:
        """What the agent sees, and what it may call."""
        key = (agent_id, None if personality is None else personality)
        try:
            found = self._views.get(key)
        except TypeError:  # a personality that holds something that cannot be a key
            return self._compiled(agent_id, personality, registry)
        if found is None:
            found = self._compiled(agent_id, personality, registry)
            if len(self._views) >= _KEPT_VIEWS:
                self._views.clear()
            self._views[key] = found
        return found

    def _compiled(
        self, agent_id: str, personality: Personality | None, registry: FrozenToolRegistry
    ) -> tuple[Admission, Admission]:
        names = dict.fromkeys(self._known.owned_by(agent_id))
        for grant in self._grants.of(agent_id):
            names.update(dict.fromkeys(self._known.tools(grant)))
        snapshot = registry._snapshot()
        granted = tuple(names)
        if personality is None:
            gate = _core.Gate(granted_tools=granted)
        else:
            gate = personality_gate(personality, granted_tools=granted)
        visible = Admission(snapshot, gate)
        if not self._open_calls:
            return visible, visible
        excluded = () if personality is None else personality.exclude
        return visible, Admission(snapshot, _core.Gate(exclude_tools=excluded))

    def _copy_of(self, held: Iterable[RegisteredEntry]) -> ToolRegistry:
        settings = dict(self._settings)
        if self._observers:
            settings["observers"] = tuple(self._observers)
        registry = ToolRegistry(**settings)
        registry._exchange({}, {each.entry.name: each for each in held})
        return registry


def _stable_place(held: RegisteredEntry) -> tuple[int, str]:
    entry: Entry = held.entry
    return _SEGMENTS.index(entry.segment), entry.name
