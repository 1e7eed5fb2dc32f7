"""An admission that decides in Python which entries its names stand for."""

from __future__ import annotations

from typing import Any

from ethos_registry import _core
from ethos_registry.contract.policy import Personality
from ethos_registry.table.admission import Admission
from ethos_registry.table.entry import Entry
from ethos_registry.table.snapshot import Snapshot

__all__ = ["ResolvedAdmission", "unavailable_entry"]


class ResolvedAdmission(Admission):
    """Gives entries that are not in the table, or changed ones, slots of its own.

    Subclasses override `admit`.
    """

    __slots__ = ("_entries",)

    def __init__(self, snapshot: Snapshot, gate: _core.Gate | None) -> None:
        super().__init__(snapshot, gate)
        self._entries: dict[int, Entry] = {}

    def under(self, personality: Personality | None) -> Admission:
        """The same; the step before a call refuses what cannot run under the personality."""
        return self

    def verdicts(self, names: list[Any]) -> list[int]:
        """For each name the slot of its entry, or the native verdict (< 0) that refuses it."""
        slots: dict[str, int] = {}
        codes = []
        for name, admitted in zip(names, self.admit(names), strict=True):
            if isinstance(admitted, int):
                codes.append(admitted)
                continue
            slot = slots.get(name)
            if slot is None:
                slot = slots[name] = len(self._entries)
                self._entries[slot] = admitted
            codes.append(slot)
        return codes

    def entry(self, slot: int) -> Entry:
        """The entry of a slot that `verdicts` gave."""
        return self._entries[slot]


def unavailable_entry(entry: Entry) -> Entry:
    """The same entry, whose calls are refused as not available."""
    return entry._replace(is_available=_never)


def _never() -> bool:
    return False
