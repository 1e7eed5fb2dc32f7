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
from types import NoneType
from typing import Any, TypeVar

from ethos_registry import _core
from ethos_registry._table.admission import Admission, without
from ethos_registry._table.entry import Entry
from ethos_registry._table.snapshot import Snapshot
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

__all__ = [
    "Missing",
    "RecentList",
    "SentTools",
    "bytes_digest",
    "fingerprint",
    "in_order",
    "plain_definitions",
    "prefix_tool",
    "provider_bytes",
    "provider_prefix",
    "provider_values",
    "schema_notes",
    "search_index",
    "tools_table",
    "unmatched_names",
]


T = TypeVar("T")
_logger = logging.getLogger("ethos_registry")
Missing = tuple[int, ...]
"""The positions of the visible tools that are not available."""

_KEPT_ANSWERS = 256


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
        lambda: [entry.definition.value for entry in without(admission.visible(), missing)],
    )


def unmatched_names(admission: Admission) -> dict[str, list[str]]:
    """The entries of each of the gate's lists that match nothing."""
    gate = admission.gate
    if gate is None:
        return {}
    return _kept(admission, ("unmatched",), lambda: admission.snapshot.unmatched(gate))


class RecentList:
    """The last policy that a registry was asked for, and what it shows."""

    __slots__ = ("_admission", "_allowed", "_copied", "_definitions", "_filters")

    def __init__(self, allowed: Any, filters: Any, admission: Admission) -> None:
        self._allowed = allowed
        self._copied = allowed[:] if type(allowed) is list else allowed
        self._filters = filters
        self._admission = admission
        # What availability decides is asked for at each call.
        is_steady = not admission.selection().probed
        self._definitions = plain_definitions(admission, ()) if is_steady else None

    @property
    def is_cacheable(self) -> bool:
        """Whether the policy can be recognised: iterators and sets cannot, and turns keep none."""
        is_known = type(self._allowed) in (list, tuple, NoneType)
        return is_known and self._admission.snapshot.shown is not None

    def is_for(self, allowed: Any, filters: Any, snapshot: Snapshot) -> bool:
        """Whether this is the policy; a list is compared with what it was."""
        return (
            self._allowed is allowed
            and self._filters is filters
            and self._admission.snapshot is snapshot
            and self._copied == allowed
        )

    def definitions(self) -> list[Any]:
        """A fresh list of what it shows now."""
        if self._definitions is not None:
            return self._definitions[:]
        return plain_definitions(self._admission, self._admission.unavailable())[:]


def fingerprint(admission: Admission, missing: Missing) -> str:
    """SHA-256 hex over the canonical JSON of the definitions, in the order of their names."""

    def make() -> str:
        entries = without(admission.visible(), missing)
        ordered = sorted(entries, key=lambda entry: entry.name)
        values = [canonical_json(entry.definition.fresh()) for entry in ordered]
        return sha256_hex(f"[{','.join(values)}]")

    return _kept(admission, ("fingerprint", missing), make)


def search_index(admission: Admission) -> _core.ToolSearchIndex:
    """An index of what is visible, by position."""

    def make() -> _core.ToolSearchIndex:
        return _core.ToolSearchIndex([entry.definition.text for entry in admission.visible()])

    return _kept(admission, ("search index",), make)


def provider_values(
    admission: Admission,
    missing: Missing,
    provider: str,
    order: DefinitionOrder,
    breakpoints: int,
) -> list[Any]:
    """The `tools` of a request to a provider; the caller hands out a copy of the list."""

    def make() -> list[Any]:
        sent, entries, positions = _request(admission, missing, provider, order, breakpoints)
        return request_values(sent.wire_format, map(sent.value, entries), positions)

    if _are_plain(provider, order, breakpoints):
        return _kept(admission, ("values", missing, provider, order, breakpoints), make)
    return make()


def provider_bytes(
    admission: Admission,
    missing: Missing,
    provider: str,
    order: DefinitionOrder,
    breakpoints: int,
) -> bytes:
    """The same as compact JSON."""

    def make() -> bytes:
        sent, entries, positions = _request(admission, missing, provider, order, breakpoints)
        return request_text(sent.wire_format, map(sent.text, entries), positions)

    if _are_plain(provider, order, breakpoints):
        return _kept(admission, ("bytes", missing, provider, order, breakpoints), make)
    return make()


def _are_plain(provider: object, order: object, breakpoints: object) -> bool:
    """Whether what was kept may be looked up: `True` must not find what was kept under 1."""
    return type(provider) is str and type(order) is str and type(breakpoints) is int


def _request(
    admission: Admission,
    missing: Missing,
    provider: str,
    order: DefinitionOrder,
    breakpoints: int,
) -> tuple[SentTools, list[Entry], frozenset[int]]:
    """The tools in the order of a request, how they are sent, and which of them are marked."""
    sent = SentTools(provider_named(provider))
    entries = sent.fitting(in_order(without(admission.visible(), missing), order))
    return sent, entries, breakpoint_positions([e.segment for e in entries], breakpoints)


def bytes_digest(
    admission: Admission,
    missing: Missing,
    provider: str,
    order: DefinitionOrder,
    breakpoints: int,
) -> str:
    """SHA-256 hex over the bytes of a request's `tools`."""
    text = provider_bytes(admission, missing, provider, order, breakpoints)
    return hashlib.sha256(text).hexdigest()


def provider_prefix(
    admission: Admission,
    missing: Missing,
    provider: str,
    order: DefinitionOrder,
    breakpoints: int,
) -> Prefix:
    """What a request to a provider begins with, as a value that can be kept and compared."""
    sent, entries, _ = _request(admission, missing, provider, order, breakpoints)
    tools = tuple(prefix_tool(entry, sent.text(entry)) for entry in entries)
    visible = admission.visible()
    return Prefix(
        provider=provider,
        order=order,
        breakpoints=breakpoints,
        tools=tools,
        unavailable=tuple(sorted(visible[position].name for position in missing)),
        fingerprint=fingerprint(admission, missing),
        bytes_digest=bytes_digest(admission, missing, provider, order, breakpoints),
    )


def prefix_tool(entry: Entry, text: bytes) -> PrefixTool:
    """A tool whose definition is sent as `text`."""
    own_digest = hashlib.sha256(entry.definition.text).hexdigest()
    return PrefixTool(entry.name, entry.segment, text.decode(), own_digest)


def in_order(entries: list[Entry], order: DefinitionOrder) -> list[Entry]:
    """The entries in the order of a request; `ConfigError` for an unknown order."""
    return arranged(entries, order, lambda entry: (entry.segment, entry.name))


def schema_notes(
    admission: Admission, missing: Missing, provider: str | None, order: DefinitionOrder
) -> list[SchemaNote]:
    """What providers are sent of the tools in other words than their authors'."""
    entries = in_order(without(admission.visible(), missing), order)
    tools = [
        ProviderDefinition(entry.definition.fresh(), entry.segment, entry.strict)
        for entry in entries
    ]
    formats = {} if provider is None else {provider: provider_named(provider)}
    for name in PROVIDERS if provider is None else ():
        formats.setdefault(PROVIDERS[name].dialect.name, PROVIDERS[name])
    return [note for wire_format in formats.values() for note in wire_format.schema_notes(tools)]


class SentTools:
    """How a request holds its tools, which are asked for in its order.

    A strict tool is sent as such while the provider's budget lasts; a tool whose schema has no form
    for the provider is left out. Both are logged once.
    """

    __slots__ = ("_is_strict", "_use", "wire_format")

    def __init__(self, wire_format: WireFormat[Any, Any]) -> None:
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
        key = f"{wire_format.key}/strict" if is_strict else wire_format.key
        return key, partial(_rendered, wire_format, entry, is_strict)

    def _strict(self, entry: Entry) -> bool:
        known = self._is_strict.get(entry.name)
        if known is None:
            counts = entry.definition.text_for(
                f"{self.wire_format.key}/counts", partial(_counts, self.wire_format, entry)
            )
            known = bool(counts) and self._use.refusal(*json.loads(counts)) is None
            self._is_strict[entry.name] = known
        return known


def _counts(wire_format: WireFormat[Any, Any], entry: Entry, fresh: dict[str, Any]) -> bytes:
    """What the strict form of a tool needs of a request's budget; empty if it has none."""
    try:
        form = wire_format.strict(ProviderDefinition(fresh, entry.segment, True))
    except NoSchemaError:
        return b""
    return b"[%d,%d]" % (form.optional, form.unions)


def _rendered(
    wire_format: WireFormat[Any, Any], entry: Entry, is_strict: bool, fresh: dict[str, Any]
) -> bytes:
    return render_tool(wire_format, ProviderDefinition(fresh, entry.segment, is_strict))


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
