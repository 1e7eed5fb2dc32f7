"""Why a tool is hidden or refused, and which entries of a policy match nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ethos_registry import _core
from ethos_registry.contract.checks import brief
from ethos_registry.contract.policy import Personality
from ethos_registry.contract.policy_binding import is_unbound, policy_note, restricts
from ethos_registry.table.admission import Admission, is_available, refusal_under

__all__ = ["Explanation", "Outcome", "explain_tool", "unbound_tools", "unmatched_entries"]

NAMES_COMPARED = 5_000
"""How many names are compared for a suggestion: a few tenths of a second."""
MAX_NAME_CHARS = 64

Outcome: TypeAlias = Literal[
    "visible",
    "hidden",
    "unavailable",
    "unknown",
    "excluded",
    "toolset",
    "mcp_server",
    "mcp_tool",
    "plugin",
    "not_granted",
]
"""`visible`; `hidden` (runs when called); or the gate that refuses the tool."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a personality may do with a tool, and why."""

    tool_name: str
    outcome: Outcome
    text: str
    """One line: the gate, the value and how to change it."""

    @property
    def visible(self) -> bool:
        """Whether the model sees the tool."""
        return self.outcome == "visible"

    @property
    def callable(self) -> bool:
        """Whether a call of the tool runs."""
        return self.outcome in ("visible", "hidden")

    def __str__(self) -> str:
        return self.text


_GATES: dict[int, Outcome] = {
    _core.VERDICT_UNKNOWN: "unknown",
    _core.VERDICT_EXCLUDED: "excluded",
    _core.VERDICT_TOOLSET: "toolset",
    _core.VERDICT_MCP_SERVER: "mcp_server",
    _core.VERDICT_MCP_TOOL: "mcp_tool",
    _core.VERDICT_PLUGIN: "plugin",
    _core.VERDICT_NOT_GRANTED: "not_granted",
}


def explain_tool(name: str, personality: Personality, admission: Admission) -> Explanation:
    """Explain the verdict of the gate that shows and runs tools."""
    [verdict] = admission.admit([name])
    if isinstance(verdict, int):
        outcome = _GATES[verdict]
        return Explanation(name, outcome, _refusal(name, personality, outcome, admission))
    if verdict.is_available is not None and not is_available(verdict):
        return Explanation(
            name, "unavailable", f"`{name}` is permitted, but its `is_available` returned false"
        )
    reason = refusal_under(verdict, personality)
    if reason:
        return Explanation(name, "unavailable", f"`{name}` is permitted, but refused: {reason}")
    if admission.snapshot.is_hidden(name):
        return Explanation(
            name,
            "hidden",
            f"`{name}` is hidden: it is left out of definitions, but runs when called",
        )
    note = policy_note(
        verdict.execute, is_declared=verdict.declares_capabilities, personality=personality
    )
    unbound = f"; it {note}" if note else ""
    return Explanation(name, "visible", f"`{name}` is visible to `{personality.id}`{unbound}")


def _refusal(name: str, personality: Personality, outcome: Outcome, admission: Admission) -> str:
    if outcome == "unknown":
        shown = f"`{name}`" if _core.is_tool_name(name) else brief(name)
        nearest = _nearest(name, [entry.name for entry in admission.snapshot.all()])
        meant = "" if nearest is None else f"; did you mean `{nearest}`?"
        return f"{shown} is not registered; names are case-sensitive{meant}"
    if outcome == "excluded":
        return f"`{name}` is in `exclude` of `{personality.id}`, which overrides everything else"
    entry = admission.snapshot.get(name)
    assert entry is not None
    if outcome == "toolset":
        group = f" or `toolset:{entry.toolset}`" if entry.toolset else ""
        return f"`{name}` is not in the toolset of `{personality.id}`; add `{name}`{group}"
    if outcome == "plugin":
        return (
            f"`{name}` belongs to plugin {entry.plugin_id!r}, "
            f"which is not in `plugins` of `{personality.id}`"
        )
    return (
        f"`{name}` belongs to MCP server {entry.mcp_server!r}, "
        f"which is not in `mcp_servers` of `{personality.id}`"
    )


def _nearest(name: str, known: Sequence[str]) -> str | None:
    """The registered name that this one is most likely a typo of, if any."""
    import difflib

    folded = {each.casefold(): each for each in reversed(known[:NAMES_COMPARED])}
    found = difflib.get_close_matches(name[:MAX_NAME_CHARS].casefold(), folded, n=1, cutoff=0.75)
    return folded[found[0]] if found else None


def unbound_tools(personality: Personality, admission: Admission) -> list[str]:
    """The tools that run under a policy which does not bind them."""
    if not restricts(personality):
        return []
    return [
        entry.name
        for entry in admission.visible()
        if is_unbound(entry.execute, is_declared=entry.declares_capabilities)
    ]


def unmatched_entries(admission: Admission) -> dict[str, list[str]]:
    """The entries of a personality that match no registered tool, by its field."""
    assert admission.gate is not None
    unmatched = admission.snapshot.unmatched(admission.gate)
    groups = [f"toolset:{group}" for group in unmatched.get("allowed_groups", [])]
    report = {
        "toolset": [*unmatched.get("allowed_tools", []), *groups],
        "mcp_servers": unmatched.get("allowed_mcp_servers", []),
        "plugins": unmatched.get("allowed_plugins", []),
        "exclude": unmatched.get("exclude_tools", []),
    }
    return {field: entries for field, entries in report.items() if entries}
