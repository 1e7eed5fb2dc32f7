"""The beginning of a request as a value: kept as JSON, compared in another process."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, get_args

from ethos_registry.providers._by_name import provider as provider_named
from ethos_registry.providers._wire_format import (
    DefinitionOrder,
    breakpoint_positions,
    marked_text,
    read,
    request_text,
)
from ethos_registry.schema._references import escaped
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._tool import Segment

_VERSION = 1


@dataclass(frozen=True, slots=True)
class PrefixTool:
    """One tool of a request."""

    name: str
    segment: Segment
    text: str
    """Its definition as compact JSON, without a cache marker."""
    own_digest: str = ""
    """SHA-256 hex of the definition that its author wrote, as far as it is known."""


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
            "tools": [asdict(tool) for tool in self.tools],
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
                f"unknown version of a prefix: {_checks.brief(document.get('version'))}; "
                f"this library reads {_VERSION}"
            )
        provider_named(_checks.text(document.get("provider"), "provider"))
        _checks.one_of(document.get("order"), get_args(DefinitionOrder), "order")
        return cls(
            provider=document["provider"],
            order=document["order"],
            breakpoints=document.get("breakpoints", 1),
            tools=tuple(_tool(item) for item in _list(document.get("tools"), "tools")),
            unavailable=_checks.strings(document.get("unavailable", ()), "unavailable"),
            fingerprint=_checks.text(document.get("fingerprint", ""), "fingerprint"),
            bytes_digest=_checks.text(document.get("bytes_digest", ""), "bytes_digest"),
        )


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ConfigError(f"`{what}` of a prefix must be a list, got {type(value).__name__}")
    return value


def _tool(item: object) -> PrefixTool:
    if not isinstance(item, Mapping):
        raise ConfigError(f"a tool of a prefix is an object, got {type(item).__name__}")
    _checks.one_of(item.get("segment"), get_args(Segment), "segment")
    text = _checks.unicode_text(item.get("text"), "text")
    try:
        definition = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"`text` of a tool of a prefix is not valid JSON: {error}") from None
    if not isinstance(definition, dict):
        raise ConfigError("`text` of a tool of a prefix must be a JSON object")
    own_digest = _checks.text(item.get("own_digest", ""), "own_digest")
    return PrefixTool(_checks.text(item.get("name"), "name"), item["segment"], text, own_digest)


# What makes two requests differ: the tool, the place in it, the byte, what is dragged along.

ChangeKind: TypeAlias = Literal[
    "added", "removed", "moved", "description", "schema", "rules", "availability", "marker"
]
"""`availability`: a tool came or went because its `is_available` answered otherwise. `rules`: its
author changed nothing, and it is written for the provider by other rules. `marker`: all tools are
the same, and a cache marker is at another one."""
_READ = (
    ("cache_read_input_tokens",),
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("cached_content_token_count",),
    ("cachedContentTokenCount",),
    ("cacheReadInputTokens",),
)
_WRITTEN = (("cache_creation_input_tokens",), ("cacheWriteInputTokens",))
"""Where the usage of a response has the tokens that came from the cache, or went into it."""


@dataclass(frozen=True, slots=True)
class PrefixChange:
    """One difference."""

    tool: str
    kind: ChangeKind
    pointer: str
    """JSON pointer into the tool's definition; empty for the whole tool."""
    byte_offset: int
    """Where the difference begins in the bytes of `after`; in those of `before` for what is no
    longer there."""
    dragged: int
    """How many tools are behind this one in its list: their bytes are read again, too."""

    def __str__(self) -> str:
        place = f" {self.pointer}" if self.pointer else ""
        behind = f"{self.dragged} tool{'' if self.dragged == 1 else 's'} behind it"
        return f"{self.tool}{place}: {self.kind} at byte {self.byte_offset:,}, {behind}"


@dataclass(frozen=True, slots=True)
class PrefixDiff:
    """The differences between two prefixes, in the order of their places."""

    changes: tuple[PrefixChange, ...]
    byte_offset: int | None
    """The first byte that differs; `None` if all bytes are equal."""
    before_bytes: int
    after_bytes: int

    @property
    def same(self) -> bool:
        """Whether the bytes are equal: the cache holds."""
        return self.byte_offset is None

    def __str__(self) -> str:
        if self.same:
            return f"the same {self.after_bytes:,} bytes"
        same = f"the first {self.byte_offset:,} of {self.before_bytes:,} bytes are the same"
        by_rules = [change for change in self.changes if change.kind == "rules"]
        if len(by_rules) < 2:
            return "\n".join([same, *map(str, self.changes)])
        others = [str(change) for change in self.changes if change.kind != "rules"]
        rules = f"{len(by_rules)} tools are written by other schema rules: {by_rules[0]}"
        return "\n".join([same, rules, *others])


@dataclass(frozen=True, slots=True)
class CacheLoss:
    """A request for which a provider read fewer tokens from its cache than were in it."""

    cached_tokens: int
    """What it read."""
    expected_tokens: int
    """What it had read or written for the request before."""
    diff: PrefixDiff
    """What changed in the tools since that request; `diff.same` if nothing did."""

    def __str__(self) -> str:
        lost = f"{self.cached_tokens:,} of {self.expected_tokens:,} cached tokens were read"
        if not self.diff.same:
            return f"{lost}: {self.diff}"
        return (
            f"{lost}: the tools are {self.diff}, so the system prompt, the messages or the model "
            "changed, or the cache expired"
        )


def cached_tokens(usage: object) -> tuple[int, int]:
    """How many tokens were read from the cache and written into it, by a response's usage."""
    if usage is None or isinstance(usage, str | int | float | list | tuple):
        raise ConfigError(f"`usage` must be the usage of a response, got {type(usage).__name__}")
    return _tokens(usage, _READ), _tokens(usage, _WRITTEN)


def _tokens(usage: object, places: Sequence[tuple[str, ...]]) -> int:
    """The first number that a usage has at one of these places; 0 if it has none."""
    for place in places:
        value: Any = usage
        for name in place:
            value = read(value, name)
        if type(value) is int:
            return value
    return 0


def prefix_diff(before: Prefix, after: Prefix) -> PrefixDiff:
    """What happened between two prefixes of one provider.

    `ConfigError` if they are of different providers.
    """
    for prefix in (before, after):
        if not isinstance(prefix, Prefix):
            raise ConfigError(
                f"`prefix_diff` compares prefixes, got {type(prefix).__name__}; "
                "`view.prefix(provider)` makes one"
            )
    if provider_named(before.provider) is not provider_named(after.provider):
        raise ConfigError(
            f"prefixes of one provider are compared, got {before.provider!r} and {after.provider!r}"
        )
    old_bytes, new_bytes = before.to_bytes(), after.to_bytes()
    if old_bytes == new_bytes:
        return PrefixDiff((), None, len(old_bytes), len(new_bytes))
    old, new = _Placed(before), _Placed(after)
    changes = [
        *_only_in(old, new, "removed"),
        *_only_in(new, old, "added"),
        *_moved(old, new),
        *_changed(old, new),
    ]
    first = _common(old_bytes, new_bytes)
    if not changes:
        changes = [_marker_change(new, first)]
    changes.sort(key=lambda change: (change.byte_offset, change.pointer))
    return PrefixDiff(tuple(changes), first, len(old_bytes), len(new_bytes))


class _Placed:
    """A prefix with the place of each tool in its bytes."""

    def __init__(self, prefix: Prefix) -> None:
        self.tools = {tool.name: tool for tool in prefix.tools}
        self.names = [tool.name for tool in prefix.tools]
        self.unavailable = frozenset(prefix.unavailable)
        self.starts: dict[str, int] = {}
        wire_format = provider_named(prefix.provider)
        segments = [tool.segment for tool in prefix.tools]
        marked = breakpoint_positions(segments, prefix.breakpoints)
        at = 1 if wire_format.frame is None else len(wire_format.frame) + 6
        for position, tool in enumerate(prefix.tools):
            self.starts[tool.name] = at
            text = tool.text.encode()
            if wire_format.has_markers and position in marked:
                text = marked_text(text)
            at += len(text) + 1

    def behind(self, name: str) -> int:
        """How many tools come after this one."""
        return len(self.names) - 1 - self.names.index(name)

    def change(self, name: str, kind: ChangeKind) -> PrefixChange:
        """A change of the whole tool."""
        return PrefixChange(name, kind, "", self.starts[name], self.behind(name))


def _only_in(one: _Placed, other: _Placed, kind: ChangeKind) -> Iterator[PrefixChange]:
    for name in one.names:
        if name not in other.tools:
            yield one.change(name, "availability" if name in other.unavailable else kind)


def _moved(old: _Placed, new: _Placed) -> Iterator[PrefixChange]:
    """The fewest tools that have to be taken out for the rest to be in the same order.

    A tool that is in another segment now is rather one of them than its neighbours.
    """
    places = {name: place for place, name in enumerate(old.names)}
    common = [name for name in new.names if name in places]
    settled = [name for name in common if old.tools[name].segment == new.tools[name].segment]
    rising = _longest_rising([places[name] for name in settled])
    stayed = {settled[position] for position in rising}
    for name in common:
        if old.tools[name].segment != new.tools[name].segment:
            with_it = [places[other] for other in common if other in stayed or other == name]
            if with_it == sorted(with_it):
                stayed.add(name)
    for name in common:
        if name not in stayed:
            yield new.change(name, "moved")


def _longest_rising(numbers: list[int]) -> set[int]:
    """The positions of a longest rising subsequence."""
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for position, number in enumerate(numbers):
        length = bisect_left(tails, number)
        previous.append(ends[length - 1] if length else -1)
        if length == len(tails):
            tails.append(number)
            ends.append(position)
        else:
            tails[length] = number
            ends[length] = position
    common: set[int] = set()
    at = ends[-1] if ends else -1
    while at >= 0:
        common.add(at)
        at = previous[at]
    return common


def _changed(old: _Placed, new: _Placed) -> Iterator[PrefixChange]:
    for name in new.names:
        before, after = old.tools.get(name), new.tools[name]
        if before is None or before.text == after.text:
            continue
        left, right = json.loads(before.text), json.loads(after.text)
        has_one_author = before.own_digest == after.own_digest != ""
        if has_one_author and _is_strict(left) == _is_strict(right):
            at = _common(before.text.encode(), after.text.encode())
            yield PrefixChange(name, "rules", "", new.starts[name] + at, new.behind(name))
            continue
        for pointer, is_gone, inside in _places(left, right, "", 0, 0):
            kind: ChangeKind = "description" if pointer.endswith("/description") else "schema"
            start = (old if is_gone else new).starts[name]
            yield PrefixChange(name, kind, pointer, start + inside, new.behind(name))


def _is_strict(definition: dict[str, Any]) -> bool:
    inner = definition.get("function")
    return (inner if isinstance(inner, dict) else definition).get("strict") is True


def _places(
    left: Any, right: Any, pointer: str, left_at: int, right_at: int
) -> Iterator[tuple[str, bool, int]]:
    """The pointers of what differs, whether that is gone, and its place in the tool's bytes."""
    if isinstance(left, dict) and isinstance(right, dict):
        left_places, right_places = _members(left, left_at), _members(right, right_at)
        if (out_of_order := _first_out_of_order(left, right)) is not None:
            yield pointer, False, right_places[out_of_order]
        for name in left:
            if name not in right:
                yield f"{pointer}/{escaped(name)}", True, left_places[name]
        for name, value in right.items():
            inner = f"{pointer}/{escaped(name)}"
            if name not in left:
                yield inner, False, right_places[name]
            else:
                start = len(_compact(name)) + 1
                yield from _places(
                    left[name],
                    value,
                    inner,
                    left_places[name] + start,
                    right_places[name] + start,
                )
        return
    if isinstance(left, list) and isinstance(right, list) and _are_nodes(left, right):
        left_at, right_at = left_at + 1, right_at + 1
        for index, (one, other) in enumerate(zip(left, right, strict=True)):
            yield from _places(one, other, f"{pointer}/{index}", left_at, right_at)
            left_at += len(_compact(one)) + 1
            right_at += len(_compact(other)) + 1
        return
    old, new = _compact(left), _compact(right)
    if old != new:
        yield pointer, False, right_at + _common(old, new)


def _are_nodes(left: list[Any], right: list[Any]) -> bool:
    """Whether two lists are compared item by item: as long, and of objects, as in `anyOf`."""
    return len(left) == len(right) and all(isinstance(item, dict) for item in (*left, *right))


def _first_out_of_order(left: dict[str, Any], right: dict[str, Any]) -> str | None:
    """The first key of `right` that is at another place among the keys that both have."""
    old = [name for name in left if name in right]
    new = [name for name in right if name in left]
    return next((name for name, other in zip(new, old, strict=True) if name != other), None)


def _members(value: dict[str, Any], at: int) -> dict[str, int]:
    """Where the members of an object that begins at `at` begin."""
    places = {}
    at += 1
    for name, item in value.items():
        places[name] = at
        at += len(_compact(name)) + len(_compact(item)) + 2
    return places


def _compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _common(left: bytes, right: bytes) -> int:
    """How many bytes two values begin with alike."""
    ends = range(1, min(len(left), len(right)) + 1)
    return bisect_left(ends, True, key=lambda end: left[:end] != right[:end])


def _marker_change(new: _Placed, first: int) -> PrefixChange:
    name = next((name for name in reversed(new.names) if new.starts[name] <= first), new.names[0])
    return PrefixChange(name, "marker", "/cache_control", first, new.behind(name))
