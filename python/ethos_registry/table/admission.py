"""One policy over one snapshot: what is visible and what may run."""

from __future__ import annotations

import inspect
import logging
import weakref
from collections.abc import Iterable
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.tool import Tool
from ethos_registry.table.entry import Entry
from ethos_registry.table.snapshot import Snapshot

__all__ = ["Admission", "is_available"]

_logger = logging.getLogger("ethos_registry")
_failed_probes: weakref.WeakSet[Tool] = weakref.WeakSet()


def is_available(entry: Entry) -> bool:
    """Call the tool's `is_available`; one that raises counts as false and is logged once.

    So does one that returns an awaitable, which cannot be awaited while listing.
    """
    probe = entry.is_available
    if probe is None:
        return True
    try:
        answer = probe()
        if answer is True or answer is False:
            return answer
        if inspect.isawaitable(answer):
            if inspect.iscoroutine(answer):
                answer.close()
            raise TypeError("it returned an awaitable")
        return bool(answer)
    except KeyboardInterrupt:
        raise
    except BaseException:
        if entry.tool not in _failed_probes:
            _failed_probes.add(entry.tool)
            _logger.warning("`is_available` of tool `%s` raised", entry.name, exc_info=True)
        return False


class Admission:
    """The verdicts of one gate over one snapshot."""

    __slots__ = ("_policy", "_visible", "gate", "snapshot")

    def __init__(self, snapshot: Snapshot, gate: _core.Gate | None, policy: object = None) -> None:
        self.snapshot = snapshot
        self.gate = gate
        self._policy = policy
        self._visible: list[Entry] | None = None

    def visible(self) -> list[Entry]:
        """The permitted entries that are not hidden, in registration order, available or not."""
        if self._visible is None:
            self._visible = self.snapshot.select(self.gate, self._policy)
        return self._visible

    def available(self) -> Iterable[Entry]:
        """The visible entries that are available now; each `is_available` is called once."""
        return (
            entry for entry in self.visible() if entry.is_available is None or is_available(entry)
        )

    def verdicts(self, names: list[Any]) -> list[int]:
        """For each name the slot of its entry, or the native verdict (< 0) that refuses it."""
        return self.snapshot.verdicts(self.gate, names)

    def entry(self, slot: int) -> Entry:
        """The entry of a slot that `verdicts` gave."""
        return self.snapshot.entry(slot)

    def admit(self, names: list[Any]) -> list[Entry | int]:
        """For each name its entry, or the native verdict (< 0) that refuses it."""
        return self.snapshot.admit(self.gate, names)
