"""The beginning of a request as a value: kept as JSON, compared in another process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.registration import Segment
from ethos_registry.providers.names import provider as provider_named
from ethos_registry.providers.rendered import request_text
from ethos_registry.providers.shown_tool import DefinitionOrder, breakpoint_positions

__all__ = ["Prefix", "PrefixTool"]

_VERSION = 1


@dataclass(frozen=True, slots=True)
class PrefixTool:
    """One tool of a request."""

    name: str
    segment: Segment
    text: str
    """Its definition as compact JSON, without a cache marker."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """The `tools` of a request, and what was left out of them; made by `View.prefix`.

    `to_json` and `from_json` carry it to another process; `prefix_diff` compares two of them.
    """

    provider: str
    order: DefinitionOrder
    breakpoints: int
    tools: tuple[PrefixTool, ...]
    unavailable: tuple[str, ...] = ()
    """Tools that are permitted and whose `is_available` said no, by name."""
    fingerprint: str = ""
    """`View.fingerprint` of that moment: equal if the tools mean the same."""
    bytes_digest: str = ""
    """`View.bytes_digest` of that moment: equal if the bytes are."""

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.to_bytes()).hexdigest()
        if self.bytes_digest not in ("", digest):
            raise ConfigError(
                f"the prefix was changed: its digest is {self.bytes_digest!r}, "
                f"and that of its tools {digest!r}; save it again"
            )
        object.__setattr__(self, "bytes_digest", digest)

    def to_bytes(self) -> bytes:
        """The bytes of the request's `tools`, as `View.definitions_bytes` gave them."""
        segments = [tool.segment for tool in self.tools]
        texts = [tool.text.encode() for tool in self.tools]
        positions = breakpoint_positions(segments, self.breakpoints)
        return request_text(provider_named(self.provider), texts, positions)

    def to_json(self) -> str:
        """The prefix as a JSON document."""
        document = {
            "version": _VERSION,
            "provider": self.provider,
            "order": self.order,
            "breakpoints": self.breakpoints,
            "fingerprint": self.fingerprint,
            "bytes_digest": self.bytes_digest,
            "tools": [
                {"name": tool.name, "segment": tool.segment, "text": tool.text}
                for tool in self.tools
            ],
            "unavailable": list(self.unavailable),
        }
        return json.dumps(document, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str | bytes) -> Prefix:
        """The prefix that a JSON document holds; `ConfigError` names what is wrong with it."""
        try:
            document: object = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"a prefix is a JSON document: {error}") from None
        if not isinstance(document, Mapping):
            raise ConfigError(f"a prefix is a JSON object, got {type(document).__name__}")
        if document.get("version") != _VERSION:
            raise ConfigError(
                f"unknown version of a prefix: {checks.brief(document.get('version'))}; "
                f"this library reads {_VERSION}"
            )
        provider_named(checks.text(document.get("provider"), "provider"))
        checks.one_of(document.get("order"), get_args(DefinitionOrder), "order")
        return cls(
            provider=document["provider"],
            order=document["order"],
            breakpoints=document.get("breakpoints", 1),
            tools=tuple(_tool(item) for item in _list(document.get("tools"), "tools")),
            unavailable=checks.strings(document.get("unavailable", ()), "unavailable"),
            fingerprint=checks.text(document.get("fingerprint", ""), "fingerprint"),
            bytes_digest=checks.text(document.get("bytes_digest", ""), "bytes_digest"),
        )


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ConfigError(f"`{what}` of a prefix must be a list, got {type(value).__name__}")
    return value


def _tool(item: object) -> PrefixTool:
    if not isinstance(item, Mapping):
        raise ConfigError(f"a tool of a prefix is an object, got {type(item).__name__}")
    checks.one_of(item.get("segment"), get_args(Segment), "segment")
    text = checks.unicode_text(item.get("text"), "text")
    try:
        definition = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"`text` of a tool of a prefix is not valid JSON: {error}") from None
    if not isinstance(definition, dict):
        raise ConfigError("`text` of a tool of a prefix must be a JSON object")
    return PrefixTool(checks.text(item.get("name"), "name"), item["segment"], text)
