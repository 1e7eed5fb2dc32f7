"""One policy over one snapshot: what is visible and what may run."""

from __future__ import annotations

import inspect
import logging
import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from ethos_registry import _core
from ethos_registry.contract.policy import Personality
from ethos_registry.contract.policy_binding import WhyRefused, restricts
from ethos_registry.contract.tool import Tool
from ethos_registry.table.entry import Entry
from ethos_registry.table.gates import PolicyKey
from ethos_registry.table.snapshot import Selection, Snapshot

__all__ = ["Admission", "is_available", "refusal_under", "unavailable", "without"]

_logger = logging.getLogger("ethos_registry")
_failed_probes: weakref.WeakSet[Tool] = weakref.WeakSet()


def is_available(entry: Entry) -> bool:
    """Call the tool's `is_available`; one that raises counts as false and is logged once.

    So does one that returns an awaitable, which cannot be awaited while listing.
    """
    probe = entry.is_available
    return probe is None or not unavailable(Selection((entry,), ((probe, 0),)))


def refusal_under(entry: Entry, personality: Personality | None) -> str:
    """Why no call of a tool can run under a personality here; empty if calls can."""
    if entry.why_refused is None or personality is None or not restricts(personality):
        return ""
    try:
        return entry.why_refused(personality)
    except Exception as error:  # a sandbox of the host's own class
        _logger.warning("the sandbox of tool `%s` raised", entry.name, exc_info=True)
        return f"its sandbox raised {type(error).__name__}"


def unavailable(selection: Selection) -> tuple[int, ...]:
    """The positions of the tools whose probe returns false; each probe is called once."""
    missing: list[int] = []
    rest = iter(selection.probed)
    position = 0
    while True:
        try:
            for probe, position in rest:
                answer = probe()
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
        return unavailable(selection) if selection.probed else ()

    def available(self) -> list[Entry]:
        """What is visible and available now: each probe is asked once."""
        return without(self.visible(), self.unavailable())

    def verdicts(self, names: list[Any]) -> list[int]:
        """For each name the slot of its entry, or the native verdict (< 0) that refuses it."""
        return self.snapshot.verdicts(self.gate, names)

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
