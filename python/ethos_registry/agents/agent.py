"""What the catalogue expects of an agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ethos_registry.contract import checks
from ethos_registry.contract.callables import check_takes, is_async_callable
from ethos_registry.contract.errors import ConfigError

__all__ = ["Agent", "agent_id_of", "checked_agent", "description_of", "run_of"]


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
            f"an agent needs an `id`, a string that is not blank: {checks.brief(agent_id)} "
            f"of {type(agent).__name__}"
        )
    checks.unicode_text(agent_id, "id")
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
