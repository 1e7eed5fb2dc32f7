"""What tools declare and a personality does not cover, found before any call."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ethos_registry.capabilities.network_coverage import covers_host
from ethos_registry.capabilities.reach import uncovered_paths
from ethos_registry.capabilities.resolver import CapabilityBackends
from ethos_registry.contract.capability import ToolCapabilities
from ethos_registry.contract.policy import Personality
from ethos_registry.contract.policy_binding import WhyRefused, policy_note
from ethos_registry.table.admission import refusal_under
from ethos_registry.table.entry import Entry

__all__ = ["CapabilityFinding", "capability_findings"]


@dataclass(frozen=True, slots=True)
class CapabilityFinding:
    """One thing to know about a tool under a personality."""

    tool: str
    kind: Literal["no_backend", "not_bindable", "not_covered", "undeclared"]
    """`no_backend`: its calls are refused here. `not_bindable`: they are refused because this
    machine cannot enforce the policy. `not_covered`: it gets less than it declares.
    `undeclared`: it declares nothing, or runs commands unconfined: the policy does not bind it."""
    capability: str
    """As `fs_reach.read`; empty for `undeclared`, and for a tool that runs its own commands."""
    message: str


def capability_findings(
    entries: Iterable[Entry], personality: Personality, backends: CapabilityBackends | None
) -> list[CapabilityFinding]:
    """The findings of the tools that a personality may call, by tool in registration order."""
    found: list[CapabilityFinding] = []
    for entry in entries:
        capabilities = entry.capabilities
        is_declared = bool(capabilities.declared)
        note = policy_note(entry.execute, is_declared=is_declared, personality=personality)
        if note:
            message = f"`{entry.name}` {note}"
            found.append(CapabilityFinding(entry.name, "undeclared", "", message))
        reason = refusal_under(entry, personality)
        if reason:
            message = f"`{entry.name}` is refused: {reason}"
            found.append(CapabilityFinding(entry.name, "not_bindable", "", message))
        found += _of_tool(entry.name, capabilities, personality, backends)
    return found


def _of_tool(
    name: str,
    capabilities: ToolCapabilities,
    personality: Personality,
    backends: CapabilityBackends | None,
) -> Iterable[CapabilityFinding]:
    for capability in capabilities.declared:
        if backends is None or capability not in backends:
            yield CapabilityFinding(
                name, "no_backend", capability, f"`{name}` is refused: no backend for {capability}"
            )
            continue
        refused: WhyRefused | None = getattr(backends[capability], "why_refused", None)
        reason = "" if refused is None else refused(personality)
        if reason:
            message = f"`{name}` is refused: {reason}"
            yield CapabilityFinding(name, "not_bindable", capability, message)
    if capabilities.fs_reach is not None:
        missing = uncovered_paths(capabilities.fs_reach, personality.fs_reach, os.getcwd())
        for access, path in missing:
            message = f'path "{path}" is not covered by personality fs_reach.{access}'
            yield CapabilityFinding(name, "not_covered", f"fs_reach.{access}", message)
    network = personality.network
    if capabilities.network is not None and network is not None and network.allow is not None:
        for host in capabilities.network.get("allowedHosts", ()):
            if not covers_host(network.allow, host):
                message = f'host "{host}" is not in personality network allow list'
                yield CapabilityFinding(name, "not_covered", "network", message)
