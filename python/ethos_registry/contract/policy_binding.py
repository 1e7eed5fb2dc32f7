"""Whether a tool's own function follows the reach and network policy of its personality."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypeVar

from ethos_registry.contract.policy import Personality

__all__ = ["PolicyBinding", "binds_itself", "policy_note", "restricts", "without_confinement"]

PolicyBinding: TypeAlias = Literal["bound", "off"]
F = TypeVar("F")
_ATTRIBUTE = "__policy_binding__"


def binds_itself(execute: F) -> F:
    """Mark a function that asks for the personality's policy and follows it."""
    setattr(execute, _ATTRIBUTE, "bound")
    return execute


def without_confinement(execute: F) -> F:
    """Mark a function whose commands run unconfined because the host chose so."""
    setattr(execute, _ATTRIBUTE, "off")
    return execute


def restricts(personality: Personality) -> bool:
    """Whether a personality states a reach or a network policy."""
    return personality.fs_reach is not None or personality.network is not None


def policy_note(execute: Any, *, is_declared: bool, personality: Personality) -> str:
    """What of a tool the policy of a personality does not bind; empty if nothing."""
    if not restricts(personality):
        return ""
    binding = getattr(execute, _ATTRIBUTE, None)
    if binding == "off":
        return (
            'runs commands unconfined (sandbox="off"): '
            f"the policy of `{personality.id}` does not bind them"
        )
    if is_declared or binding == "bound":
        return ""
    return f"declares no capability: it runs, and the policy of `{personality.id}` does not bind it"
