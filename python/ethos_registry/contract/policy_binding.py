"""Whether a tool's own function follows the reach and network policy of its personality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar

from ethos_registry.contract.policy import Personality

__all__ = [
    "PolicyBinding",
    "WhyRefused",
    "binds_itself",
    "is_unbound",
    "policy_note",
    "restricts",
    "why_refused",
    "without_confinement",
]

PolicyBinding: TypeAlias = Literal["bound", "off"]
WhyRefused: TypeAlias = Callable[[Personality], str]
"""Why no call can run under a personality on this machine; empty if calls can."""
F = TypeVar("F")
_ATTRIBUTE = "__policy_binding__"
_REFUSAL = "__policy_refusal__"


def binds_itself(execute: F, refused: WhyRefused | None = None) -> F:
    """Mark a function that asks for the personality's policy and follows it.

    `refused` is asked at each list of definitions and each batch, so it has to be quick.
    """
    setattr(execute, _ATTRIBUTE, "bound")
    if refused is not None:
        setattr(execute, _REFUSAL, refused)
    return execute


def without_confinement(execute: F) -> F:
    """Mark a function whose commands run unconfined because the host chose so."""
    setattr(execute, _ATTRIBUTE, "off")
    return execute


def why_refused(execute: Any) -> WhyRefused | None:
    """What a marked function was given as `refused`."""
    refused: WhyRefused | None = getattr(execute, _REFUSAL, None)
    return refused


def restricts(personality: Personality) -> bool:
    """Whether a personality states a reach or a network policy."""
    return personality.fs_reach is not None or personality.network is not None


def is_unbound(execute: Any, *, is_declared: bool) -> bool:
    """Whether no policy binds a tool: it declares nothing, or runs commands unconfined."""
    binding = getattr(execute, _ATTRIBUTE, None)
    return binding == "off" or not (is_declared or binding == "bound")


def policy_note(execute: Any, *, is_declared: bool, personality: Personality) -> str:
    """What of a tool the policy of a personality does not bind; empty if nothing."""
    if not restricts(personality) or not is_unbound(execute, is_declared=is_declared):
        return ""
    if getattr(execute, _ATTRIBUTE, None) == "off":
        return (
            'runs commands unconfined (sandbox="off"): '
            f"the policy of `{personality.id}` does not bind them"
        )
    return f"declares no capability: it runs, and the policy of `{personality.id}` does not bind it"
