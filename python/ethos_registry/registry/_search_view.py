"""A view that lists few tools and finds the others."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, NoReturn

from ethos_registry import _core
from ethos_registry._table.admission import Admission, without
from ethos_registry._table.entry import Entry
from ethos_registry._table.snapshot import Selection, Snapshot
from ethos_registry.execution._arguments import BadArgumentsError, parse_json_arguments
from ethos_registry.execution._runtime import Runtime
from ethos_registry.execution._usage_limits import ViewLimits
from ethos_registry.providers._by_name import provider as provider_named
from ethos_registry.providers._wire_format import (
    DefinitionOrder,
    breakpoint_positions,
    request_text,
    request_values,
)
from ethos_registry.registry._definitions import SentTools, in_order
from ethos_registry.registry._search import (
    CALL_FOUND_TOOL,
    SEARCH_TOOLS,
    FoundTools,
    ToolSearch,
    caller_entry,
    search_entry,
)
from ethos_registry.registry._view import View
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import ReadOnlyDict
from ethos_registry.types._policy import Personality
from ethos_registry.types._turn import DispatchContext

__all__ = [
    "MANY_TOOLS",
    "DeferredView",
    "ResolvedAdmission",
    "SearchView",
    "SearchingAdmission",
    "searching_view",
    "unavailable_entry",
    "warn_of_many",
]


# A view whose tools the model's provider searches: definitions marked `defer_loading`.

_SEARCH: Final = {
    "anthropic": ReadOnlyDict(type="tool_search_tool_bm25_20251119", name="tool_search_tool_bm25"),
    "openai_responses": ReadOnlyDict(type="tool_search"),
}
_SEARCH_TEXT: Final = {
    "anthropic": b'{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}',
    "openai_responses": b'{"type":"tool_search"}',
}
_DEFERRED_TEXT: Final = b',"defer_loading":true}'


class DeferredView(View):
    """Lists every permitted tool, and defers those that are not always included.

    Made by `registry.view(personality, search=ToolSearch(by="provider"))`. A request holds all
    definitions; the provider keeps deferred ones out of the prompt until its own search loads
    them. A cache marker is put on the last tool that is not deferred.

    Raises `ConfigError` for a provider without a search of its own.
    """

    __slots__ = ()

    def definitions(
        self,
        provider: str | None = None,
        *,
        order: DefinitionOrder = "segments",
        breakpoints: int = 1,
    ) -> list[Any]:
        """What a request lists: the provider's search tool, listed tools, deferred tools."""
        if provider is None:
            return super().definitions()
        wire_format = _searching(provider)
        sent = SentTools(wire_format)
        listed, deferred, positions = self._split(sent, order, breakpoints)
        values = [sent.value(entry) for entry in listed]
        return [
            _SEARCH[wire_format.name],
            *request_values(wire_format, values, positions),
            *(ReadOnlyDict(sent.value(entry), defer_loading=True) for entry in deferred),
        ]

    def definitions_bytes(
        self, provider: str, *, order: DefinitionOrder = "segments", breakpoints: int = 1
    ) -> bytes:
        """The same as compact JSON in UTF-8."""
        wire_format = _searching(provider)
        sent = SentTools(wire_format)
        listed, deferred, positions = self._split(sent, order, breakpoints)
        texts = [sent.text(entry) for entry in listed]
        head = request_text(wire_format, texts, positions)[1:-1]
        items = [
            _SEARCH_TEXT[wire_format.name],
            *([head] if head else []),
            *(sent.text(entry)[:-1] + _DEFERRED_TEXT for entry in deferred),
        ]
        return b"[" + b",".join(items) + b"]"

    def bytes_digest(
        self, provider: str, *, order: DefinitionOrder = "segments", breakpoints: int = 1
    ) -> str:
        """SHA-256 hex over `definitions_bytes`."""
        text = self.definitions_bytes(provider, order=order, breakpoints=breakpoints)
        return hashlib.sha256(text).hexdigest()

    def prefix(
        self, provider: str, *, order: DefinitionOrder = "segments", breakpoints: int = 1
    ) -> NoReturn:
        """Not supported: deferred tools are not part of a prompt's prefix."""
        raise ConfigError("a view with the provider's search has no prefix: tools are deferred")

    def _split(
        self, sent: SentTools, order: DefinitionOrder, breakpoints: int
    ) -> tuple[list[Entry], list[Entry], frozenset[int]]:
        entries = in_order(without(self._admission.visible(), self._missing()), order)
        entries = sent.fitting(entries)
        listed = [entry for entry in entries if entry.always_include]
        deferred = [entry for entry in entries if not entry.always_include]
        return listed, deferred, breakpoint_positions([e.segment for e in listed], breakpoints)


def _searching(provider: str) -> Any:
    wire_format = provider_named(provider)
    if wire_format.name not in _SEARCH:
        raise ConfigError(
            f"`{provider}` has no tool search of its own; {' and '.join(_SEARCH)} have. "
            "`search=True` works with every provider"
        )
    return wire_format


# An admission that decides in Python which entries its names stand for.


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


class SearchView(View):
    """Lists the tools that are always included, `search_tools`, and what was found with it.

    Made by `registry.view(personality, search=True)`, one for each conversation: what a model finds
    stays callable. A permitted tool that was not found is refused as not available; a tool that the
    personality may not see is never found.

    >>> from ethos_registry import Personality, Tool, ToolRegistry
    >>> mail = Tool("send_mail", "Send a letter.", {"type": "object"}, lambda args, context: ...)
    >>> view = ToolRegistry([mail]).view(Personality("clerk"), search=True)
    >>> [tool["name"] for tool in view.definitions()]
    ['search_tools']
    >>> import asyncio
    >>> call = {"id": "1", "name": "search_tools", "args": {"query": "letters"}}
    >>> [result] = asyncio.run(view.execute([call]))
    >>> result.text
    'send_mail: Send a letter.'
    >>> [tool["name"] for tool in view.definitions()]
    ['search_tools', 'send_mail']
    """

    __slots__ = ("_tools",)

    def __init__(
        self,
        base: Admission,
        runtime: Runtime,
        options: ToolSearch,
        *,
        personality: Personality | None = None,
        turn: DispatchContext | None = None,
        limits: ViewLimits | None = None,
    ) -> None:
        self._tools = FoundTools(base, options, personality)
        admission = SearchingAdmission(self._tools, calls_by_name=True)
        super().__init__(admission, runtime, personality=personality, turn=turn, limits=limits)
        self._unavailable = None  # what is listed changes

    @property
    def found(self) -> list[str]:
        """The names of the tools that were found, in the order in which they were."""
        return list(self._tools.found)

    @property
    def definition_tokens(self) -> int:
        """Tokens of the definitions of listed and found tools, estimated at four bytes each."""
        return self._tools.tokens()

    def unload_found(self, keep: Iterable[str] = ()) -> list[str]:
        """Take found tools off the list, but for some names; returns those that were taken off.

        The list changes, so call it when the provider's cached prefix is lost anyway: after a
        compaction of the conversation, or when the cache has expired. A search finds them again.
        """
        return self._tools.unload(_checks.strings(keep, "keep"))

    def _continue(self, earlier: View) -> None:
        """Load what the conversation had found in an earlier view."""
        if isinstance(earlier, SearchView):
            self._tools.load(earlier.found)

    def _with_caller(self) -> SearchView:
        """The same conversation for providers whose list of tools cannot change.

        Found tools are called by `call_found_tool` instead of being listed.
        """
        view: SearchView = SearchView.__new__(SearchView)
        view._tools = self._tools
        admission = SearchingAdmission(self._tools, calls_by_name=False)
        View.__init__(
            view,
            admission,
            self._runtime,
            personality=self._personality,
            turn=self._turn,
            limits=self._limits,
        )
        view._unavailable = None
        return view


class SearchingAdmission(ResolvedAdmission):
    """Admits what is listed and what was found; the base admission judges both again."""

    __slots__ = ("_own", "redirects", "tools")

    is_dynamic = True

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
            entries += tuple(self.tools.found.values())
        probed: list[tuple[Callable[[], Any], int]] = []
        for position, entry in enumerate(entries):
            if entry.is_available is not None:
                probed.append((entry.is_available, position))
            if entry.why_refused is not None:
                probed.append((partial(self.tools.can_run, entry), position))
        return Selection(entries, tuple(probed))

    def admit(self, names: list[Any]) -> list[Entry | int]:
        """For each name its entry, or the native verdict (< 0) that refuses it."""
        verdicts = super().admit(names)
        return [
            self._admitted(name, verdict) for name, verdict in zip(names, verdicts, strict=True)
        ]

    def _admitted(self, name: Any, verdict: Entry | int) -> Entry | int:
        if not isinstance(name, str):
            return verdict
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


def searching_view(
    admission: Admission,
    runtime: Runtime,
    search: ToolSearch,
    personality: Personality,
    turn: DispatchContext | None,
    limits: ViewLimits | None,
) -> View:
    """A view that searches; `ConfigError` if a tool has the name of one of its own."""
    if search.by == "provider":
        return DeferredView(admission, runtime, personality=personality, turn=turn, limits=limits)
    for name in (SEARCH_TOOLS, CALL_FOUND_TOOL):
        if admission.snapshot.get(name) is not None:
            raise ConfigError(
                f"a tool is named `{name}`, as a tool of the search; rename it, or use "
                'ToolSearch(by="provider")'
            )
    return SearchView(admission, runtime, search, personality=personality, turn=turn, limits=limits)


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
