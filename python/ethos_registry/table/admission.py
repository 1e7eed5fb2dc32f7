"""One policy over one snapshot: what it shows and what it lets run."""

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
    """Ask the tool's own probe; one that raises counts as not available and is logged once.

    So does one that answers with an awaitable: nobody can wait for it while listing.
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
            raise TypeError("it answered with an awaitable")
        return bool(answer)
    except KeyboardInterrupt:
        raise
    except BaseException:
        if entry.tool not in _failed_probes:
            _failed_probes.add(entry.tool)
            _logger.warning("`is_available` of tool `%s` raised", entry.name, exc_info=True)
        return False


class Admission:
    """The verdicts of one gate over the entries of one moment."""

    __slots__ = ("_policy", "_visible", "gate", "snapshot")

    def __init__(self, snapshot: Snapshot, gate: _core.Gate | None, policy: object = None) -> None:
        self.snapshot = snapshot
        self.gate = gate
        self._policy = policy
        self._visible: list[Entry] | None = None

    def visible(self) -> list[Entry]:
        """What is permitted and not hidden, in registration order; availability is not asked."""
        if self._visible is None:
            self._visible = self.snapshot.select(self.gate, self._policy)
        return self._visible

    def available(self) -> Iterable[Entry]:
        """What is visible and available now: each probe is asked once."""
        return (
            entry for entry in self.visible() if entry.is_available is None or is_available(entry)
        )

    def admit(self, names: list[Any]) -> list[Entry | int]:
        """For each name its entry, or the native verdict (< 0) that refuses it."""
        return self.snapshot.admit(self.gate, names)
