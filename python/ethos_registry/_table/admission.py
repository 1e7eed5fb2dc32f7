"""One policy over one snapshot: what is visible and what may run."""

from __future__ import annotations

import inspect
import logging
import weakref
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from time import monotonic
from typing import Any, ClassVar, TypeAlias

from ethos_registry import _core
from ethos_registry._table.entry import Entry
from ethos_registry._table.snapshot import Selection, Snapshot
from ethos_registry.types import _checks
from ethos_registry.types._blocking import BLOCKING_SECONDS, report_blocking
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._policy import NoTools, Personality, ToolFilterOpts, WhyRefused, restricts
from ethos_registry.types._tool import Tool

# Policies compiled to native gates: the one verdict for definitions and for execution.

_logger = logging.getLogger("ethos_registry")

PolicyKey: TypeAlias = tuple[tuple[str, ...] | None, ToolFilterOpts | None]
"""An allow list and filters as a key: equal policies share one compiled gate."""


def policy_key(
    allowed_tools: Iterable[str] | None, filter_opts: ToolFilterOpts | None
) -> PolicyKey:
    """The policy of one batch, checked. `ConfigError` for a list or filters of the wrong kind."""
    if filter_opts is not None and not isinstance(filter_opts, ToolFilterOpts):
        _refuse_personality(filter_opts)
        raise ConfigError(
            f"`filter_opts` must be ToolFilterOpts, got {type(filter_opts).__name__}; "
            "`ToolFilterOpts(exclude_tools=[...])` makes one"
        )
    if allowed_tools is None or isinstance(allowed_tools, NoTools):
        return allowed_tools, filter_opts
    _refuse_personality(allowed_tools)
    names = _checks.strings(allowed_tools, "allowed_tools")
    if not names:
        # The list is a gate only if it is not empty. This is easily misunderstood, so it is logged.
        _logger.debug("`allowed_tools` is empty and gates nothing; `NO_TOOLS` denies everything")
        return None, filter_opts
    return names, filter_opts


def _refuse_personality(policy: object) -> None:
    if isinstance(policy, Personality):
        raise ConfigError(
            "a Personality is neither an allow list nor a filter; "
            "`registry.view(personality)` shows and runs what it may"
        )


def compile_gate(key: PolicyKey) -> _core.Gate | None:
    """The gate of an allow list and filters; `None` permits everything.

    Equal policies get the same gate object.
    """
    allowed_tools, filters = key
    if allowed_tools is None and filters is None:
        return None
    filters = filters or ToolFilterOpts()
    servers = filters.allowed_mcp_tools
    return _gate(
        None if servers is None else tuple((str(name), _exact(servers[name])) for name in servers),
        allowed_tools=_exact(allowed_tools),
        exclude_tools=_exact(filters.exclude_tools),
        allowed_mcp_servers=_exact(filters.allowed_mcp_servers),
        allowed_plugins=_exact(filters.allowed_plugins),
    )


def personality_gate(
    personality: Personality, granted_tools: Sequence[str] | None = None
) -> _core.Gate:
    """The gate of a personality: what it does not name, it does not permit.

    `granted_tools` narrows it further, to tools of these names.
    """
    way_out = "`Personality(id, toolset=[...])` makes one"
    _checks.instance(personality, Personality, "personality", "a Personality", way_out)
    return _gate(
        allowed_tools=_exact(personality.tool_names),
        allowed_groups=_exact(personality.groups) if personality.toolset is not None else None,
        exclude_tools=_exact(personality.exclude),
        allowed_mcp_servers=_exact(personality.mcp_servers),
        allowed_plugins=_exact(personality.plugins),
        granted_tools=_exact(granted_tools),
    )


Names: TypeAlias = tuple[str, ...] | None


def _exact(names: Iterable[str] | None) -> Names:
    """The names as plain strings: a string of another class may compare as it likes."""
    if names is None:
        return None
    return tuple(name if type(name) is str else str.__str__(name) for name in names)


@lru_cache(maxsize=256)
def _gate(mcp_tools: tuple[tuple[str, Any], ...] | None = None, **lists: Names) -> _core.Gate:
    return _core.Gate(allowed_mcp_tools=None if mcp_tools is None else dict(mcp_tools), **lists)


_failed_probes: weakref.WeakSet[Tool] = weakref.WeakSet()
_slow_probes: weakref.WeakKeyDictionary[Tool, set[str]] = weakref.WeakKeyDictionary()


def is_available(entry: Entry) -> bool:
    """Call the tool's `is_available`; one that raises counts as false and is logged once.

    So does one that returns an awaitable, which cannot be awaited while listing.
    """
    probe = entry.is_available
    return probe is None or not unavailable_positions(Selection((entry,), ((probe, 0),)))


def refusal_under(entry: Entry, personality: Personality | None) -> str:
    """Why no call of a tool can run under a personality here; empty if calls can."""
    if entry.why_refused is None or personality is None or not restricts(personality):
        return ""
    try:
        return entry.why_refused(personality)
    except Exception as error:  # a sandbox of the host's own class
        _logger.warning("the sandbox of tool `%s` raised", entry.name, exc_info=True)
        return f"its sandbox raised {type(error).__name__}"


def unavailable_positions(selection: Selection) -> tuple[int, ...]:
    """The positions of the tools whose probe returns false; each probe is called once."""
    missing: list[int] = []
    rest = iter(selection.probed)
    position, begun = 0, monotonic()
    while True:
        try:
            for probe, position in rest:
                answer = probe()
                begun, since = monotonic(), begun
                if begun - since > BLOCKING_SECONDS:
                    _report_slow(selection.entries[position], begun - since)
                if answer is not True and not _is_yes(answer):
                    missing.append(position)
        except KeyboardInterrupt:
            raise
        except BaseException:
            entry = selection.entries[position]
            if entry.tool not in _failed_probes:
                _failed_probes.add(entry.tool)
                _logger.warning("`is_available` of tool `%s` raised", entry.name, exc_info=True)
            missing.append(position)
        else:
            return tuple(sorted(set(missing)))


def _report_slow(entry: Entry, seconds: float) -> None:
    what = f"`is_available` of tool `{entry.name}`"
    report_blocking(what, seconds, named=_slow_probes.setdefault(entry.tool, set()))


def _is_permitted(refused: WhyRefused, personality: Personality) -> bool:
    return not refused(personality)


def _is_yes(answer: Any) -> bool:
    if answer is False:
        return False
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise TypeError("it returned an awaitable")
    return bool(answer)


class Admission:
    """The verdicts of one gate over one snapshot."""

    __slots__ = ("_selection", "gate", "policy", "snapshot")

    is_dynamic: ClassVar[bool] = False
    """Whether `visible()` may change while snapshot and gate stay the same."""
    redirects: bool = False
    """Whether `redirect` may find other calls inside calls."""

    def __init__(
        self, snapshot: Snapshot, gate: _core.Gate | None, policy: PolicyKey = (None, None)
    ) -> None:
        self.snapshot = snapshot
        self.gate = gate
        self.policy = policy
        """The allow list and filters of the gate, for where it is judged again; those of a
        personality are with the view."""
        self._selection: Selection | None = None

    def selection(self) -> Selection:
        """What is permitted and not hidden, and which of it has to be asked for availability."""
        selection = self._selection
        if selection is None:
            selection = self._selection = self.snapshot.select(self.gate)
        return selection

    def under(self, personality: Personality | None) -> Admission:
        """The same, without what cannot run under the policy of a personality on this machine."""
        selection = self.selection()
        if personality is None or not selection.refusable or not restricts(personality):
            return self
        probes = [
            (partial(_is_permitted, refused, personality), position)
            for refused, position in selection.refusable
        ]
        narrowed = Admission(self.snapshot, self.gate, self.policy)
        narrowed._selection = selection._replace(probed=(*selection.probed, *probes))
        return narrowed

    def visible(self) -> tuple[Entry, ...]:
        """What is permitted and not hidden, in registration order; availability is not asked."""
        return self.selection().entries

    def unavailable(self) -> tuple[int, ...]:
        """The positions in `visible()` of what is not available now: each probe is asked once."""
        selection = self.selection()
        return unavailable_positions(selection) if selection.probed else ()

    def verdicts(self, names: list[Any]) -> list[int]:
        """For each name the slot of its entry, or the native verdict (< 0) that refuses it."""
        return self.snapshot.native.admit(self.gate, names)

    def entry(self, slot: int) -> Entry:
        """The entry of a slot that `verdicts` gave."""
        return self.snapshot.entry(slot)

    def admit(self, names: list[Any]) -> list[Entry | int]:
        """For each name its entry, or the native verdict (< 0) that refuses it."""
        return self.snapshot.admit(self.gate, names)

    def redirect(self, name: str, args: Any) -> tuple[str, Any] | None:
        """The name and the arguments of the call inside a call, if there is one."""
        return None


def without(entries: Sequence[Entry], positions: Sequence[int]) -> list[Entry]:
    """The entries but for those at some positions."""
    if not positions:
        return list(entries)
    left_out = set(positions)
    return [entry for position, entry in enumerate(entries) if position not in left_out]
