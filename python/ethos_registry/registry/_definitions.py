"""What a gate shows, made once: lists of definitions, the bytes of a request, checksums.

The answers are kept beside the snapshot that they were made of, so they end with the first change
of the registry. The key holds which tools were not available: that is asked at every call.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Final, TypeVar

from ethos_registry import _core
from ethos_registry._table.admission import Admission, without
from ethos_registry._table.entry import Entry
from ethos_registry.providers._by_name import PROVIDERS
from ethos_registry.providers._by_name import provider as provider_named
from ethos_registry.providers._prefix import Prefix, PrefixTool
from ethos_registry.providers._wire_format import (
    DefinitionOrder,
    ProviderDefinition,
    SchemaNote,
    WireFormat,
    arranged,
    breakpoint_positions,
    render_tool,
    request_text,
    request_values,
)
from ethos_registry.schema._compilation import NoSchemaError
from ethos_registry.schema._strict import BudgetUse
from ethos_registry.types._call import html_table
from ethos_registry.types._json_values import canonical_json, sha256_hex

T = TypeVar("T")
_logger = logging.getLogger("ethos_registry")
Missing = tuple[int, ...]
"""The positions of the visible tools that are not available."""

_KEPT_ANSWERS = 256
_value_of = attrgetter("definition.value")


def _kept(admission: Admission, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    cache = admission.snapshot.shown
    if cache is None or admission.is_dynamic:
        return make()
    key = (admission.gate, *key)
    found: T | None = cache.get(key)
    if found is None:
        found = make()
        if len(cache) >= _KEPT_ANSWERS:
            cache.clear()
        cache[key] = found
    return found


def plain_definitions(admission: Admission, missing: Missing) -> list[Any]:
    """The definitions in registration order; the caller hands out a copy of the list."""
    return _kept(
        admission,
        ("plain", missing),
        lambda: list(map(_value_of, without(admission.visible(), missing))),
    )


def unmatched_names(admission: Admission) -> dict[str, list[str]]:
    """The entries of each of the gate's lists that match nothing."""
    gate = admission.gate
    if gate is None:
        return {}
    return _kept(admission, ("unmatched",), lambda: admission.snapshot.unmatched(gate))


def search_index(admission: Admission) -> _core.ToolSearchIndex:
    """An index of what is visible, by position."""

    def make() -> _core.ToolSearchIndex:
        return _core.ToolSearchIndex([entry.definition.text for entry in admission.visible()])

    return _kept(admission, ("search index",), make)


def always_listed(admission: Admission) -> dict[str, Entry]:
    """What a search lists whatever it found, by name; not to be changed."""
    return _kept(
        admission,
        ("always listed",),
        lambda: {entry.name: entry for entry in admission.visible() if entry.always_include},
    )


def prefix_tool(entry: Entry, text: bytes) -> PrefixTool:
    """A tool whose definition is sent as `text`."""
    own_digest = hashlib.sha256(entry.definition.text).hexdigest()
    return PrefixTool(entry.name, entry.segment, text.decode(), own_digest)


def in_order(entries: list[Entry], order: DefinitionOrder) -> list[Entry]:
    """The entries in the order of a request; `ConfigError` for an unknown order."""
    return arranged(entries, order, lambda entry: (entry.segment, entry.name))


class SentTools:
    """How a request holds its tools, which are asked for in its order.

    A strict tool is sent as such while the provider's budget lasts; a tool whose schema has no form
    for the provider is left out. Both are logged once.
    """

    __slots__ = ("_is_strict", "_use", "wire_format")

    def __init__(self, wire_format: WireFormat[Any]) -> None:
        self.wire_format = wire_format
        self._use = BudgetUse(wire_format.dialect.budget)
        self._is_strict: dict[str, bool] = {}

    def fitting(self, entries: list[Entry]) -> list[Entry]:
        """The entries that are sent."""
        fitting = [entry for entry in entries if self.text(entry)]
        has_strict = self.wire_format.dialect.strict is not None
        given_up = [
            entry.name
            for entry in fitting
            if has_strict and entry.strict and not self._strict(entry)
        ]
        left_out = [entry.name for entry in entries if not self.text(entry)]
        for names, what in ((left_out, "left out"), (given_up, "not sent as strict")):
            if names:
                _logger.warning(
                    "%s for %s: %s; `view.check_schemas()` has the reasons",
                    what,
                    self.wire_format.dialect.name,
                    ", ".join(names),
                )
        return fitting

    def text(self, entry: Entry) -> bytes:
        """One tool as the provider is sent it, without a marker; empty if it is left out."""
        key, render = self._rendering(entry)
        return entry.definition.text_for(key, render)

    def value(self, entry: Entry) -> Any:
        """The same as a read-only value."""
        key, render = self._rendering(entry)
        return entry.definition.value_for(key, render)

    def _rendering(self, entry: Entry) -> tuple[str, Callable[[dict[str, Any]], bytes]]:
        wire_format = self.wire_format
        is_strict = entry.strict and self._strict(entry)

        def render(fresh: dict[str, Any]) -> bytes:
            return render_tool(wire_format, ProviderDefinition(fresh, is_strict))

        return f"{wire_format.key}/strict" if is_strict else wire_format.key, render

    def _strict(self, entry: Entry) -> bool:
        known = self._is_strict.get(entry.name)
        if known is None:
            counts = entry.definition.text_for(
                f"{self.wire_format.key}/counts", partial(_counts, self.wire_format, entry)
            )
            known = bool(counts) and self._use.refusal(*json.loads(counts)) is None
            self._is_strict[entry.name] = known
        return known


def _counts(wire_format: WireFormat[Any], entry: Entry, fresh: dict[str, Any]) -> bytes:
    """What the strict form of a tool needs of a request's budget; empty if it has none."""
    try:
        form = wire_format.strict(ProviderDefinition(fresh, strict=True))
    except NoSchemaError:
        return b""
    return b"[%d,%d]" % (form.optional, form.unions)


# What a view shows.


class ListedLayout:
    """A request lists every tool."""

    def wire_format(self, provider: str) -> WireFormat[Any]:
        """The wire format of a provider; `ConfigError` for a name that is not one."""
        return provider_named(provider)

    def values(self, sent: SentTools, entries: list[Entry], breakpoints: int) -> list[Any]:
        """The `tools` of a request; the entries are in its order."""
        positions = breakpoint_positions([e.segment for e in entries], breakpoints)
        return request_values(sent.wire_format, map(sent.value, entries), positions)

    def text(self, sent: SentTools, entries: list[Entry], breakpoints: int) -> bytes:
        """The same as compact JSON."""
        positions = breakpoint_positions([e.segment for e in entries], breakpoints)
        return request_text(sent.wire_format, map(sent.text, entries), positions)

    def check_prefix(self) -> None:
        """`ConfigError` if what a request lists is not the beginning of a prompt."""


LISTED: Final = ListedLayout()


class ViewDefinitions:
    """What a view shows: the tools that an admission permits and that are available, in a layout.

    What it gives belongs to the caller, but for `values`, which must be copied.
    """

    __slots__ = ("_unavailable", "admission", "layout", "recent")

    def __init__(
        self,
        admission: Admission,
        *,
        freeze_availability: bool = False,
        layout: ListedLayout = LISTED,
    ) -> None:
        self.admission = admission
        self.layout = layout
        # Which tools are not available, if that is the same at each call.
        self._unavailable: Missing | None = None
        if not admission.is_dynamic and (freeze_availability or not admission.selection().probed):
            self._unavailable = admission.unavailable()
        self.recent: dict[str | None, list[Any]] = {}
        """By provider, the values in the default order with the default cache markers, if they are
        the same at each call."""

    def missing(self) -> Missing:
        """Which of the visible tools are not available now."""
        missing = self._unavailable
        return self.admission.unavailable() if missing is None else missing

    def values(
        self, provider: str | None, order: DefinitionOrder, breakpoints: int, *, is_default: bool
    ) -> list[Any]:
        """The definitions, or the `tools` of a request to a provider."""
        missing = self.missing()
        if provider is None:
            values = plain_definitions(self.admission, missing)
        else:
            values = self._made(self.layout.values, missing, provider, order, breakpoints)
        if is_default and self._unavailable is not None:
            self.recent[provider] = values
        return values

    def text(self, provider: str, order: DefinitionOrder, breakpoints: int) -> bytes:
        """The `tools` of a request as compact JSON."""
        return self._made(self.layout.text, self.missing(), provider, order, breakpoints)

    def prefix(self, provider: str, order: DefinitionOrder, breakpoints: int) -> Prefix:
        """What a request to a provider begins with, as a value that can be kept and compared."""
        self.layout.check_prefix()
        missing = self.missing()
        sent, entries = self._request(missing, provider, order)
        tools = tuple(prefix_tool(entry, sent.text(entry)) for entry in entries)
        text = self._made(self.layout.text, missing, provider, order, breakpoints)
        visible = self.admission.visible()
        return Prefix(
            provider=provider,
            order=order,
            breakpoints=breakpoints,
            tools=tools,
            unavailable=tuple(sorted(visible[position].name for position in missing)),
            fingerprint=self._fingerprint(missing),
            bytes_digest=hashlib.sha256(text).hexdigest(),
        )

    def fingerprint(self) -> str:
        """SHA-256 hex over the canonical JSON of the definitions, in the order of their names."""
        return self._fingerprint(self.missing())

    def schema_notes(self, provider: str | None, order: DefinitionOrder) -> list[SchemaNote]:
        """What providers are sent of the tools in other words than their authors'."""
        entries = in_order(without(self.admission.visible(), self.missing()), order)
        tools = [ProviderDefinition(entry.definition.fresh(), entry.strict) for entry in entries]
        formats = {} if provider is None else {provider: provider_named(provider)}
        for name in PROVIDERS if provider is None else ():
            formats.setdefault(PROVIDERS[name].dialect.name, PROVIDERS[name])
        return [note for each in formats.values() for note in each.schema_notes(tools)]

    def _made(
        self,
        render: Callable[[SentTools, list[Entry], int], T],
        missing: Missing,
        provider: str,
        order: DefinitionOrder,
        breakpoints: int,
    ) -> T:
        def make() -> T:
            return render(*self._request(missing, provider, order), breakpoints)

        # `True` must not find what was kept under 1.
        if type(provider) is str and type(order) is str and type(breakpoints) is int:
            return _kept(self.admission, (render, missing, provider, order, breakpoints), make)
        return make()

    def _request(
        self, missing: Missing, provider: str, order: DefinitionOrder
    ) -> tuple[SentTools, list[Entry]]:
        """How a request's tools are sent, and which they are, in its order."""
        sent = SentTools(self.layout.wire_format(provider))
        return sent, sent.fitting(in_order(without(self.admission.visible(), missing), order))

    def _fingerprint(self, missing: Missing) -> str:
        def make() -> str:
            entries = without(self.admission.visible(), missing)
            ordered = sorted(entries, key=lambda entry: entry.name)
            values = [canonical_json(entry.definition.fresh()) for entry in ordered]
            return sha256_hex(f"[{','.join(values)}]")

        return _kept(self.admission, ("fingerprint", missing), make)


# Registries and views as tables for notebooks.


def tools_table(title: str, entries: Sequence[Entry]) -> str:
    """Name, description, toolset and origin of each tool; availability is not asked."""
    rows = (
        (
            entry.name,
            entry.definition.value["description"],
            entry.toolset,
            entry.mcp_server or entry.plugin_id or entry.owner,
            entry.segment,
        )
        for entry in entries
    )
    count = len(entries)
    caption = f"{title} of {count} tool{'' if count == 1 else 's'}"
    headers = ("name", "description", "toolset", "from", "segment")
    return html_table(caption, headers, rows, count)
