"""A view that lists few tools and finds the others."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, NoReturn

from ethos_registry import _core
from ethos_registry._table.admission import Admission
from ethos_registry._table.entry import Entry
from ethos_registry._table.snapshot import Selection, Snapshot
from ethos_registry.execution._arguments import BadArgumentsError, parse_json_arguments
from ethos_registry.providers._wire_format import WireFormat
from ethos_registry.registry._caller import Caller
from ethos_registry.registry._definitions import ListedLayout, SentTools, ViewDefinitions
from ethos_registry.registry._search import (
    CALL_FOUND_TOOL,
    SEARCH_TOOLS,
    FoundTools,
    ToolSearch,
    caller_entry,
    search_entry,
)
from ethos_registry.registry._view import View
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import ReadOnlyDict
from ethos_registry.types._policy import Personality

# A view whose tools the model's provider searches: definitions marked `defer_loading`.

_SEARCH: Final = {
    "anthropic": ReadOnlyDict(type="tool_search_tool_bm25_20251119", name="tool_search_tool_bm25"),
    "openai_responses": ReadOnlyDict(type="tool_search"),
}
_DEFERRED_TEXT: Final = b',"defer_loading":true}'


class DeferredLayout(ListedLayout):
    """A request lists every tool, and defers those that are not always included.

    The provider keeps deferred tools out of the prompt until its own search loads them. A cache
    marker is put on the last tool that is not deferred.
    """

    def wire_format(self, provider: str) -> WireFormat[Any]:
        """The wire format; `ConfigError` for a provider without a search of its own."""
        wire_format = super().wire_format(provider)
        if wire_format.name not in _SEARCH:
            raise ConfigError(
                f"`{provider}` has no tool search of its own; {' and '.join(_SEARCH)} have. "
                "`search=True` works with every provider"
            )
        return wire_format

    def values(self, sent: SentTools, entries: list[Entry], breakpoints: int) -> list[Any]:
        """The provider's search tool, listed tools, deferred tools."""
        listed, deferred = _split(entries)
        return [
            _SEARCH[sent.wire_format.name],
            *super().values(sent, listed, breakpoints),
            *(ReadOnlyDict(sent.value(entry), defer_loading=True) for entry in deferred),
        ]

    def text(self, sent: SentTools, entries: list[Entry], breakpoints: int) -> bytes:
        """The same as compact JSON."""
        listed, deferred = _split(entries)
        head = super().text(sent, listed, breakpoints)[1:-1]
        items = [
            _core.json_bytes(_SEARCH[sent.wire_format.name]),
            *([head] if head else []),
            *(sent.text(entry)[:-1] + _DEFERRED_TEXT for entry in deferred),
        ]
        return b"[" + b",".join(items) + b"]"

    def check_prefix(self) -> NoReturn:
        """Not supported: deferred tools are not part of a prompt's prefix."""
        raise ConfigError("a view with the provider's search has no prefix: tools are deferred")


DEFERRED: Final = DeferredLayout()


def _split(entries: list[Entry]) -> tuple[list[Entry], list[Entry]]:
    """The tools that a request lists, and those that it defers."""
    listed = [entry for entry in entries if entry.always_include]
    return listed, [entry for entry in entries if not entry.always_include]


# An admission that decides in Python which entries its names stand for.


class ResolvedAdmission(Admission):
    """Gives entries that are not in the table, or changed ones, slots of its own.

    Subclasses override `admitted`.
    """

    __slots__ = ("_entries",)

    is_dynamic = True

    def __init__(self, snapshot: Snapshot, gate: _core.Gate | None) -> None:
        super().__init__(snapshot, gate)
        self._entries: dict[int, Entry] = {}

    def under(self, personality: Personality | None) -> Admission:
        """The same; the step before a call refuses what cannot run under the personality."""
        return self

    def admit(self, names: list[Any]) -> list[Entry | int]:
        """For each name its entry, or the native verdict (< 0) that refuses it."""
        return [
            self.admitted(name, verdict) if isinstance(name, str) else verdict
            for name, verdict in zip(names, super().admit(names), strict=True)
        ]

    def admitted(self, name: str, verdict: Entry | int) -> Entry | int:
        """The entry of a name that the table admits or refuses so, or a verdict."""
        raise NotImplementedError

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


class SearchingAdmission(ResolvedAdmission):
    """Admits what is listed and what was found; the base admission judges both again."""

    __slots__ = ("_own", "redirects", "tools")

    def __init__(self, tools: FoundTools, *, calls_by_name: bool) -> None:
        super().__init__(tools.base.snapshot, tools.base.gate)
        self.tools = tools
        own = [search_entry(tools, shows_parameters=not calls_by_name)]
        if not calls_by_name:
            own.append(caller_entry())
        self._own = {entry.name: entry for entry in own}
        self.redirects = not calls_by_name

    def selection(self) -> Selection:
        """What is listed now."""
        entries = (*self.tools.listed, *self._own.values())
        if not self.redirects:
            entries += tuple(self.tools.loaded.values())
        probed: list[tuple[Callable[[], Any], int]] = []
        for position, entry in enumerate(entries):
            if entry.is_available is not None:
                probed.append((entry.is_available, position))
            if entry.why_refused is not None:
                probed.append((partial(self.tools.can_run, entry), position))
        return Selection(entries, tuple(probed))

    def admitted(self, name: str, verdict: Entry | int) -> Entry | int:
        """What is listed or found, and what the search itself offers."""
        if (own := self._own.get(name)) is not None:
            return own
        if isinstance(verdict, int) or self.snapshot.is_hidden(name):
            return verdict
        if self.tools.callable_entry(name) is not None:
            return verdict
        return unavailable_entry(verdict)

    def redirect(self, name: str, args: Any) -> tuple[str, Any] | None:
        """The call of a found tool inside a call of `call_found_tool`."""
        if name != CALL_FOUND_TOOL:
            return None
        if isinstance(args, str):
            try:
                args = parse_json_arguments(args)
            except BadArgumentsError:
                return None  # answered by the step that parses arguments
        if not isinstance(args, dict) or not isinstance(target := args.get("name"), str):
            return None
        if self.tools.callable_entry(target) is None:
            return None
        arguments = args.get("arguments")
        return target, {} if arguments is None else arguments


# Which view a search makes, and the warning for views that should search.

MANY_TOOLS = 128
"""Providers refuse longer lists, and models choose badly from them."""
_MAX_WARNED = 1_000

_logger = logging.getLogger("ethos_registry")
_warned: set[str] = set()


def searching_view(caller: Caller, options: ToolSearch) -> View:
    """A view that searches; `ConfigError` if a tool has the name of one of its own.

    It lists the tools that are always included, `search_tools`, and what was found with it. A
    permitted tool that was not found is refused as not available; a tool that the personality may
    not see is never found.
    """
    admission = caller.admission
    if options.by == "provider":
        narrowed = admission.under(caller.personality)
        definitions = ViewDefinitions(narrowed, layout=DEFERRED)
        return View(definitions, replace(caller, admission=narrowed))
    for name in (SEARCH_TOOLS, CALL_FOUND_TOOL):
        if admission.snapshot.get(name) is not None:
            raise ConfigError(
                f"a tool is named `{name}`, as a tool of the search; rename it, or use "
                'ToolSearch(by="provider")'
            )
    found = FoundTools(admission, options, caller.personality)
    return found_view(found, caller, calls_by_name=True)


def found_view(found: FoundTools, caller: Caller, *, calls_by_name: bool) -> View:
    """A view of a conversation's found tools.

    With `calls_by_name` they are listed; without, they are called by `call_found_tool`, for
    providers whose list of tools cannot change.
    """
    admission = SearchingAdmission(found, calls_by_name=calls_by_name)
    return View(ViewDefinitions(admission), replace(caller, admission=admission), found)


def warn_of_many(personality: Personality, count: int) -> None:
    """Log once for each personality that its list is long."""
    if personality.id in _warned or len(_warned) >= _MAX_WARNED:
        return
    _warned.add(personality.id)
    _logger.warning(
        "personality `%s` is shown %d tools; from %d on providers may refuse the list and models "
        "choose badly: use `view(personality, search=True)` or a smaller toolset",
        personality.id,
        count,
        MANY_TOOLS + 1,
    )
