"""What a gate shows, made once: lists of definitions, the bytes of a request, checksums.

The answers are kept beside the snapshot that they were made of, so they end with the first change
of the registry. The key holds which tools were not available: that is asked at every call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

from ethos_registry.contract.canonical_json import canonical_json, sha256_hex
from ethos_registry.providers.names import provider as provider_named
from ethos_registry.providers.prefix import Prefix, PrefixTool
from ethos_registry.providers.rendered import RenderedTools, render_tool, render_tools
from ethos_registry.providers.shown_tool import DefinitionOrder, ShownTool, ordered
from ethos_registry.providers.wire_format import WireFormat
from ethos_registry.table.admission import Admission, without
from ethos_registry.table.entry import Entry

__all__ = [
    "Missing",
    "bytes_digest",
    "fingerprint",
    "plain_definitions",
    "provider_prefix",
    "provider_tools",
]

T = TypeVar("T")
Missing = tuple[int, ...]
"""The positions of the visible tools that are not available."""

_KEPT_ANSWERS = 256


def _kept(admission: Admission, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    cache = admission.snapshot.shown
    if cache is None:
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


def fingerprint(admission: Admission, missing: Missing) -> str:
    """SHA-256 hex over the canonical JSON of the definitions."""

    def make() -> str:
        entries = without(admission.visible(), missing)
        texts = [canonical_json(entry.definition.fresh()) for entry in entries]
        return sha256_hex(f"[{','.join(texts)}]")

    return _kept(admission, ("fingerprint", missing), make)


def provider_tools(
    admission: Admission,
    missing: Missing,
    provider: str,
    order: DefinitionOrder,
    breakpoints: int,
) -> RenderedTools:
    """The `tools` of a request to a provider."""

    def make() -> RenderedTools:
        wire_format = provider_named(provider)
        entries = without(admission.visible(), missing)
        rendered = [(shown_tool(entry), rendered_tool(wire_format, entry)) for entry in entries]
        return render_tools(wire_format, rendered, order, breakpoints)

    if type(provider) is str and type(order) is str and type(breakpoints) is int:
        return _kept(admission, ("tools", missing, provider, order, breakpoints), make)
    return make()  # it is refused: `True` must not find what was kept under 1


def bytes_digest(
    admission: Admission,
    missing: Missing,
    provider: str,
    order: DefinitionOrder,
    breakpoints: int,
) -> str:
    """SHA-256 hex over the bytes of a request's `tools`."""
    tools = provider_tools(admission, missing, provider, order, breakpoints)
    return hashlib.sha256(tools.text).hexdigest()


def provider_prefix(
    admission: Admission,
    missing: Missing,
    provider: str,
    order: DefinitionOrder,
    breakpoints: int,
) -> Prefix:
    """What a request to a provider begins with, as a value that can be kept and compared."""
    tools = provider_tools(admission, missing, provider, order, breakpoints)
    wire_format = provider_named(provider)
    visible = admission.visible()
    by_name = {entry.name: entry for entry in without(visible, missing)}
    shown = ordered([shown_tool(entry) for entry in by_name.values()], order)
    parts = []
    for tool in shown:
        entry = by_name[tool.definition["name"]]
        _, text = rendered_tool(wire_format, entry)
        parts.append(PrefixTool(entry.name, entry.segment, text.decode()))
    return Prefix(
        provider=provider,
        order=order,
        breakpoints=breakpoints,
        tools=tuple(parts),
        unavailable=tuple(sorted(visible[position].name for position in missing)),
        fingerprint=fingerprint(admission, missing),
        bytes_digest=hashlib.sha256(tools.text).hexdigest(),
    )


class _Named(dict[str, Any]):
    """Stands for a definition of which only the name is needed."""


def shown_tool(entry: Entry) -> ShownTool:
    """An entry as the order of a list sees it."""
    return ShownTool(_Named(name=entry.name), entry.segment, entry.strict)


def rendered_tool(wire_format: WireFormat[Any, Any], entry: Entry) -> tuple[Any, bytes]:
    """One tool as a provider is shown it, without a marker."""
    return entry.definition.rendered(
        wire_format.name,
        lambda fresh: render_tool(wire_format, ShownTool(fresh, entry.segment, entry.strict)),
    )
