"""What the catalogue expects of an agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from ethos_registry._suggest import did_you_mean
from ethos_registry._table.entry import Entry
from ethos_registry.types import _checks
from ethos_registry.types._checks import check_takes, is_async_callable
from ethos_registry.types._errors import ConfigError


class Agent(Protocol):
    """An agent: an id, and a method that registers its tools.

    An agent that others may delegate to also has `run(task, context, tool_context)`, `async` or
    plain, and may have a `description` for the model that delegates. `run` returns what a function
    made into a tool may return.
    """

    @property
    def id(self) -> str:
        """The name under which it owns tools and its calls are counted."""

    def register_tools(self, catalog: Any) -> object:
        """Register the agent's tools in this `AgentCatalog`, whose `start` calls this once."""


def checked_agent(agent: object) -> str:
    """The id of an agent; `ConfigError` for what is not one."""
    agent_id = getattr(agent, "id", None)
    if not isinstance(agent_id, str) or not agent_id.strip():
        raise ConfigError(
            f"an agent needs an `id`, a string that is not blank: {_checks.brief(agent_id)} "
            f"of {type(agent).__name__}"
        )
    _checks.unicode_text(agent_id, "id")
    register = getattr(agent, "register_tools", None)
    if not callable(register):
        raise ConfigError(f"agent `{agent_id}` needs a method `register_tools(catalog)`")
    try:
        check_takes(register, "register_tools", "catalog")
        if is_async_callable(register):
            raise ConfigError("`register_tools` must be a plain method, it is `async def`")
        run = run_of(agent)
        if run is not None:
            check_takes(run, "run", "task", "context", "tool_context")
    except ConfigError as error:
        raise ConfigError(f"agent `{agent_id}`: {error}") from None
    return agent_id


def agent_id_of(agent: object, what: str) -> str:
    """The id of an agent that is given as itself or by its id."""
    if isinstance(agent, str):
        return agent
    agent_id = getattr(agent, "id", None)
    if not isinstance(agent_id, str):
        raise ConfigError(f"`{what}` must be an agent or its id, got {type(agent).__name__}")
    return agent_id


def run_of(agent: object) -> Callable[..., Any] | None:
    """The agent's `run`, if others may delegate to it."""
    run: Callable[..., Any] | None = getattr(agent, "run", None)
    return run


def description_of(agent: object) -> str:
    """The first line of the agent's own description; may be empty."""
    text = getattr(agent, "description", None)
    lines = text.strip().splitlines() if isinstance(text, str) else []
    return lines[0] if lines else ""


# Which tools of others an agent may use.

GrantKind: TypeAlias = Literal["tool", "owner", "toolset", "agent"]

_PREFIXES: tuple[GrantKind, ...] = ("tool", "owner", "toolset", "agent")


class Grant(NamedTuple):
    """One permission: a tool, all tools of an owner or toolset, or delegation to an agent."""

    kind: GrantKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


class KnownNames:
    """The names that grants may use, and the tools that each opens."""

    def __init__(self, entries: Iterable[Entry], agents: Iterable[str]) -> None:
        self._opened: dict[Grant, list[str]] = {}
        for entry in entries:
            self._opened[Grant("tool", entry.name)] = [entry.name]
            if entry.owner is not None:
                self._opened.setdefault(Grant("owner", entry.owner), []).append(entry.name)
            if entry.toolset is not None:
                self._opened.setdefault(Grant("toolset", entry.toolset), []).append(entry.name)
        for name in agents:  # an agent without tools may still be delegated to
            self._opened.setdefault(Grant("owner", name), [])
            self._opened[Grant("agent", name)] = []

    def read(self, what: object, *, allow_unmatched: bool = False) -> Grant:
        """The grant that `what` names: `tool:x`, `owner:x`, `toolset:x`, `agent:x`, or a bare name.

        `ConfigError` for a name that nothing has, unless `allow_unmatched`, and for one that both a
        tool and an owner have.
        """
        text = _checks.text(what, "what")
        kind, colon, name = text.partition(":")
        if colon and kind in _PREFIXES:
            grant = Grant(kind, name)
            if not allow_unmatched and grant not in self._opened:
                raise ConfigError(
                    f"cannot grant {_checks.brief(text)}: unknown {kind}{self._meant(text)}"
                )
            return grant
        tool, owner = Grant("tool", text), Grant("owner", text)
        if owner not in self._opened:
            if tool in self._opened or allow_unmatched:
                return tool
            raise ConfigError(
                f"cannot grant {_checks.brief(text)}: no tool and no owner has this name"
                f"{self._meant(text)}; a group of tools is written 'toolset:<group>'"
            )
        if tool in self._opened:
            raise ConfigError(
                f"cannot grant {_checks.brief(text)}: a tool and an owner have this name; "
                f"write 'tool:{text}' or 'owner:{text}'"
            )
        return owner

    def _meant(self, text: str) -> str:
        """The nearest thing that can be granted, for a message."""
        bare = [name for kind, name in self._opened if kind in ("tool", "agent")]
        return did_you_mean(text, [*bare, *map(str, self._opened)])

    def tools(self, grant: Grant) -> list[str]:
        """The tools that a grant opens."""
        return self._opened.get(grant, [])
