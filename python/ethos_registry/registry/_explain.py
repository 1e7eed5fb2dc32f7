"""Why a tool is hidden or refused, and which entries of a policy match nothing."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ethos_registry import _core
from ethos_registry._suggest import did_you_mean
from ethos_registry._table.admission import Admission, is_available, refusal_under
from ethos_registry._table.entry import Entry
from ethos_registry._table.snapshot import Snapshot
from ethos_registry.capabilities._resolver import CapabilityBackends, covers_host, uncovered_paths
from ethos_registry.execution._options import InvocationFilter
from ethos_registry.execution._runtime import Runtime
from ethos_registry.reduction._reducers import BUILT_IN_REDUCER_NAMES
from ethos_registry.registry._definitions import unmatched_names
from ethos_registry.registry._search import CALL_FOUND_TOOL, SEARCH_TOOLS
from ethos_registry.types._checks import brief
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._policy import (
    Personality,
    WhyRefused,
    is_unbound,
    policy_note,
    restricts,
)

# What tools declare and a personality does not cover, found before any call.


@dataclass(frozen=True, slots=True)
class CapabilityFinding:
    """One thing to know about a tool under a personality."""

    tool: str
    kind: Literal["no_backend", "not_bindable", "not_covered", "undeclared", "runs_later"]
    """`no_backend`: its calls are refused here. `not_bindable`: they are refused because this
    machine cannot enforce the policy. `not_covered`: it gets less than it declares.
    `undeclared`: it declares nothing, or runs commands unconfined: the policy does not bind it.
    `runs_later`: the policy permits writing where programs of the user find code to run."""
    capability: str
    """As `fs_reach.read`; empty for `undeclared`, and for a tool that runs its own commands."""
    message: str


def capability_findings(
    entries: Iterable[Entry], personality: Personality, backends: CapabilityBackends | None
) -> list[CapabilityFinding]:
    """The findings of the tools that a personality may call, by tool in registration order.

    Then those of the personality itself, which name no tool.
    """
    found = [each for entry in entries for each in _of_tool(entry, personality, backends)]
    from ethos_registry.capabilities._files import places_that_run_later

    for path in places_that_run_later(personality.fs_reach):
        message = f"what is written to {path} runs later, outside the policy"
        found.append(CapabilityFinding("", "runs_later", "fs_reach.write", message))
    return found


def _of_tool(
    entry: Entry, personality: Personality, backends: CapabilityBackends | None
) -> Iterator[CapabilityFinding]:
    name, capabilities = entry.name, entry.capabilities
    is_declared = bool(capabilities.declared)
    note = policy_note(entry.execute, is_declared=is_declared, personality=personality)
    if note:
        yield CapabilityFinding(name, "undeclared", "", f"`{name}` {note}")
    if reason := refusal_under(entry, personality):
        yield CapabilityFinding(name, "not_bindable", "", f"`{name}` is refused: {reason}")
    for capability in capabilities.declared:
        if backends is None or capability not in backends:
            yield CapabilityFinding(
                name, "no_backend", capability, f"`{name}` is refused: no backend for {capability}"
            )
            continue
        refused: WhyRefused | None = getattr(backends[capability], "why_refused", None)
        if refused is not None and (reason := refused(personality)):
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


_logger = logging.getLogger("ethos_registry")

Verdict: TypeAlias = Literal[
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
    outcome: Verdict
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


_GATES: dict[int, Verdict] = {
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


def _refusal(name: str, personality: Personality, outcome: Verdict, admission: Admission) -> str:
    if outcome == "unknown":
        shown = f"`{name}`" if _core.is_tool_name(name) else brief(name)
        meant = did_you_mean(name, (entry.name for entry in admission.snapshot.all()))
        return f"{shown} is not registered; names are case-sensitive{meant}"
    entry = admission.snapshot.get(name)
    assert entry is not None
    if outcome == "excluded":
        listed = name if name in personality.exclude else f"toolset:{entry.toolset}"
        return f"`{listed}` is in `exclude` of `{personality.id}`, which overrides everything else"
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


def unbound_tools(personality: Personality, admission: Admission) -> list[str]:
    """The tools that run under a policy which does not bind them."""
    if not restricts(personality):
        return []
    return [
        entry.name
        for entry in admission.visible()
        if is_unbound(entry.execute, is_declared=entry.declares_capabilities)
    ]


# Entries that match nothing

_PERSONALITY_FIELDS = {
    "allowed_tools": "toolset",
    "allowed_groups": "toolset",
    "allowed_mcp_servers": "mcp_servers",
    "allowed_plugins": "plugins",
    "exclude_tools": "exclude",
}
"""The field of a personality behind each list of its gate."""
_KINDS = {
    "allowed_tools": "tool",
    "allowed_groups": "toolset",
    "allowed_mcp_servers": "MCP server",
    "allowed_mcp_tools": "MCP tool",
    "allowed_plugins": "plugin",
    "exclude_tools": "tool or toolset",
}
_NAMED_PROBLEMS = 5
_MAX_REPORTED = 1_000


def _unmatched(admission: Admission) -> dict[str, list[str]]:
    """The entries that match nothing, by the gate's lists."""
    found = unmatched_names(admission)
    if not found:
        return found
    from ethos_registry.tools._artifact_readers import READER_NAMES

    sometimes_there = READER_NAMES | {SEARCH_TOOLS, CALL_FOUND_TOOL}
    rest = {
        listed: [name for name in names if name not in sometimes_there]
        for listed, names in found.items()
    }
    return {listed: names for listed, names in rest.items() if names}


def unmatched_of_policy(admission: Admission) -> dict[str, list[str]]:
    """The entries of a personality that match nothing, by its field."""
    report: dict[str, list[str]] = {}
    for listed, names in _unmatched(admission).items():
        prefix = "toolset:" if listed == "allowed_groups" else ""
        field = report.setdefault(_PERSONALITY_FIELDS[listed], [])
        field += [prefix + name for name in names]
    return report


def refuse_unmatched(personality: Personality, admission: Admission) -> None:
    """Raise `ConfigError` if an entry of the personality matches nothing."""
    found = _unmatched(admission)
    if found:
        problems = _problems(found, admission.snapshot)
        raise ConfigError(
            f"invalid personality {brief(personality.id)}: {problems}; `allow_unmatched=True` "
            "permits entries that only other programs know",
            context={"personality_id": personality.id, "unmatched": unmatched_of_policy(admission)},
        )


def refuse_unmatched_filters(filters: Sequence[InvocationFilter], snapshot: Snapshot) -> None:
    """Raise `ConfigError` if a filter names what nothing has, or applies to no tool at all."""
    for item in filters:
        if item.allow_unmatched or (item.tool_names is None and item.toolset is None):
            continue
        admission = _filter_admission(item, snapshot)
        found = _unmatched(admission)
        problems = _problems(found, snapshot) if found else _never_applies(item, snapshot)
        if problems:
            raise ConfigError(
                f"invalid filter: {problems}; `allow_unmatched=True` permits a filter that applies "
                "in other programs only",
                context={"unmatched": [name for names in found.values() for name in names]},
            )


def _filter_admission(item: InvocationFilter, snapshot: Snapshot) -> Admission:
    names = list(item.tool_names or ())
    if item.toolset is not None:
        names.append(f"toolset:{item.toolset}")
    return Admission(snapshot, _core.Gate(exclude_tools=names))


def _never_applies(item: InvocationFilter, snapshot: Snapshot) -> str:
    """Why a filter with names and a toolset applies to none of them; empty if it may."""
    if item.tool_names is None or item.toolset is None:
        return ""
    entries = [snapshot.get(name) for name in item.tool_names]
    if any(entry is None or item.matches(entry) for entry in entries):
        return ""
    return f"none of its `tool_names` is in toolset {brief(item.toolset)}"


def checked_policy(admission: Admission, runtime: Runtime) -> Admission:
    """The admission of an allow list and filters; their unmatched entries are logged once."""
    if found := _unmatched(admission):
        reported = runtime.counters.unmatched_policies
        new = {
            listed: [name for name in names if (listed, name) not in reported]
            for listed, names in found.items()
        }
        if any(new.values()) and len(reported) < _MAX_REPORTED:
            reported.update((listed, name) for listed, names in new.items() for name in names)
            _logger.warning(
                "the policy of a batch names what is not registered: %s",
                _problems(new, admission.snapshot, by_list=True),
            )
    return admission


def report_unmatched_reducers(snapshot: Snapshot, runtime: Runtime) -> None:
    """Log once the reducers of tools that are not registered."""
    if runtime.counters.has_checked_reducers:
        return
    runtime.counters.has_checked_reducers = True
    names = _unmatched_reducers(snapshot, runtime)
    if names:
        found = _problems({"exclude_tools": names}, snapshot)
        _logger.warning("reducers for tools that are not registered: %s", found)


def _unmatched_reducers(snapshot: Snapshot, runtime: Runtime) -> list[str]:
    names = getattr(runtime.reducers, "tool_names", ())
    candidates = [name for name in names if name not in BUILT_IN_REDUCER_NAMES]
    gate = _core.Gate(exclude_tools=candidates)
    return _unmatched(Admission(snapshot, gate)).get("exclude_tools", [])


def unmatched_of_registry(given: Admission, runtime: Runtime) -> dict[str, list[str]]:
    """What matches nothing of a policy, of earlier ones, of the filters and of the reducers."""
    snapshot = given.snapshot
    report = {listed: list(names) for listed, names in _unmatched(given).items()}
    for listed, names in _still_unmatched(runtime, snapshot).items():
        report[listed] = sorted({*report.get(listed, ()), *names})
    filters = [
        name
        for item in runtime.filters
        for names in _unmatched(_filter_admission(item, snapshot)).values()
        for name in names
    ]
    report["filters"] = sorted(set(filters))
    report["reducers"] = _unmatched_reducers(snapshot, runtime)
    return {field: names for field, names in report.items() if names}


def _still_unmatched(runtime: Runtime, snapshot: Snapshot) -> dict[str, list[str]]:
    """What earlier policies named and still nothing has."""
    lists: dict[str, list[str]] = {}
    tools: dict[str, list[str]] = {}
    for listed, name in runtime.counters.unmatched_policies:
        if listed == "allowed_mcp_tools":
            server, _, tool = name.partition("/")
            tools.setdefault(server, []).extend([tool] if tool else [])
        else:
            lists.setdefault(listed, []).append(name)
    gate = _core.Gate(allowed_mcp_tools=tools or None, **lists)
    return _unmatched(Admission(snapshot, gate))


def _problems(found: dict[str, list[str]], snapshot: Snapshot, *, by_list: bool = False) -> str:
    """The entries with the nearest names, for a message of one line."""
    entries = [(listed, name) for listed, names in found.items() for name in names]
    shown = [_problem(*entry, snapshot, by_list=by_list) for entry in entries[:_NAMED_PROBLEMS]]
    if len(entries) > len(shown):
        shown.append(f"and {len(entries) - len(shown)} more")
    return ", ".join(shown)


def _problem(listed: str, name: str, snapshot: Snapshot, *, by_list: bool) -> str:
    shown = brief(name)
    kind = _KINDS[listed]
    if listed == "exclude_tools":
        kind = "toolset" if name.startswith("toolset:") else "tool"
    unknown = f"`{listed}` has unknown {kind} {shown}" if by_list else f"unknown {kind} {shown}"
    entry = snapshot.get(name) if listed == "allowed_tools" else None
    if entry is not None:
        source, field = (
            (f"MCP server {entry.mcp_server!r}", "mcp_servers")
            if entry.mcp_server is not None
            else (f"plugin {entry.plugin_id!r}", "plugins")
        )
        return f"tool {shown} belongs to {source}, which `{field}` admits, not a list of tools"
    if listed == "allowed_tools" and name in _known("allowed_groups", snapshot):
        return f"{unknown} (did you mean 'toolset:{name}'?)"
    return f"{unknown}{did_you_mean(name, _known(listed, snapshot))}"


def _known(listed: str, snapshot: Snapshot) -> Iterable[str]:
    """What an entry of a gate's list may name."""
    return dict.fromkeys(
        name for entry in snapshot.all() for each, name in entry.listed_names() if each == listed
    )
