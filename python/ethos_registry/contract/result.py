"""What a tool answers: `ToolOk` or `ToolError` (seed 001)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from ethos_registry.contract.content import (
    NO_CONTENT,
    ContentBlock,
    content_blocks,
    content_from_wire,
    content_to_wire,
)
from ethos_registry.contract.errors import ConfigError

__all__ = [
    "ERROR_CODES",
    "ERROR_REASONS",
    "NO_EXTRA",
    "ErrorCode",
    "ErrorReason",
    "ToolError",
    "ToolOk",
    "ToolResult",
    "check_cost",
    "err",
    "ok",
    "plain_result",
    "result_from_wire",
]

ErrorCode: TypeAlias = Literal["input_invalid", "not_available", "execution_failed", "STALE_WRITE"]
"""The stable class of an error, for the model and for programs (seed 001)."""

ErrorReason: TypeAlias = Literal[
    "unknown",
    "excluded",
    "denied",
    "unavailable",
    "invalid_args",
    "no_backends",
    "raised",
    "timeout",
    "cancelled",
    "bad_result",
]
"""Why the registry itself made an error; `None` when the tool did."""

ERROR_CODES: frozenset[str] = frozenset(get_args(ErrorCode))
ERROR_REASONS: frozenset[str] = frozenset(get_args(ErrorReason))

NO_EXTRA: Mapping[str, Any] = MappingProxyType({})
"""The `extra` of a result without further fields."""


def _nothing() -> Mapping[str, Any]:
    return NO_EXTRA


@dataclass(frozen=True, slots=True)
class ToolOk:
    """A tool did its work.

    >>> ToolOk("42 files").to_wire()
    {'ok': True, 'value': '42 files'}
    """

    ok: ClassVar[Literal[True]] = True

    value: str
    """What the model reads. Reduced and trimmed by the registry."""
    structured: Mapping[str, Any] | None = None
    """The same for programs: JSON values. Never shown to the model, at most 1 MiB as JSON."""
    cost_usd: float | None = None
    """What this call cost in US dollars; survives every reduction and trim."""
    extra: Mapping[str, Any] = field(default_factory=_nothing)
    """Fields that the seed does not name; they pass through unchanged."""
    content: tuple[ContentBlock, ...] = field(default=NO_CONTENT, repr=False)
    """Images, documents, audio and links beside the text; no budget counts them."""

    @property
    def text(self) -> str:
        """What the model reads: the value."""
        return self.value

    def to_wire(self) -> dict[str, Any]:
        """The JSON object of seed 001, without the fields that are not set."""
        wire: dict[str, Any] = {"ok": True, "value": self.value}
        if self.structured is not None:
            wire["structured"] = dict(self.structured)
        if self.cost_usd is not None:
            wire["cost_usd"] = self.cost_usd
        if self.content:
            wire["content"] = content_to_wire(self.content)
        return wire | dict(self.extra) | wire if self.extra else wire

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.value, self.structured, self.cost_usd, dict(self.extra))
        return ToolOk, (*parts, self.content)


@dataclass(frozen=True, slots=True)
class ToolError:
    """A tool did not do its work, or did not run.

    >>> ToolError("no such file: a.txt", "execution_failed").to_wire()
    {'ok': False, 'error': 'no such file: a.txt', 'code': 'execution_failed'}
    """

    ok: ClassVar[Literal[False]] = False

    error: str
    """What the model reads."""
    code: ErrorCode = "execution_failed"
    reason: ErrorReason | None = None
    """Why the registry refused or ended the call, for programs; stays off the wire."""
    structured: Mapping[str, Any] | None = None
    cost_usd: float | None = None
    extra: Mapping[str, Any] = field(default_factory=_nothing)
    """Fields that the seed does not name, as `exit_code` or `conflictKey`."""
    content: tuple[ContentBlock, ...] = field(default=NO_CONTENT, repr=False)

    @property
    def text(self) -> str:
        """What the model reads: the error."""
        return self.error

    def to_wire(self) -> dict[str, Any]:
        """The JSON object of seed 001, without the fields that are not set."""
        wire: dict[str, Any] = {"ok": False, "error": self.error, "code": self.code}
        if self.structured is not None:
            wire["structured"] = dict(self.structured)
        if self.cost_usd is not None:
            wire["cost_usd"] = self.cost_usd
        if self.content:
            wire["content"] = content_to_wire(self.content)
        return wire | dict(self.extra) | wire if self.extra else wire

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.error, self.code, self.reason, self.structured, self.cost_usd)
        return ToolError, (*parts, dict(self.extra), self.content)


ToolResult: TypeAlias = ToolOk | ToolError


def ok(
    value: str,
    *,
    structured: Mapping[str, Any] | None = None,
    cost_usd: float | None = None,
    content: Iterable[ContentBlock] = NO_CONTENT,
    **extra: Any,
) -> ToolOk:
    r"""A success. Further keywords become extra fields of the result.

    `content` are blocks beside the text: `Image`, `Document`, `Audio`, `Link`.

    >>> ok("done", cost_usd=0.02).cost_usd
    0.02
    >>> from ethos_registry.contract.content import Image
    >>> chart = Image(b"\x89PNG\r\n\x1a\n...")
    >>> ok("the chart", content=[chart]).content[0].media_type
    'image/png'
    """
    blocks = content_blocks(content) if content is not NO_CONTENT else NO_CONTENT
    return ToolOk(value, structured, cost_usd, extra or NO_EXTRA, blocks)


def err(
    error: str,
    code: ErrorCode = "execution_failed",
    *,
    structured: Mapping[str, Any] | None = None,
    cost_usd: float | None = None,
    content: Iterable[ContentBlock] = NO_CONTENT,
    **extra: Any,
) -> ToolError:
    """A failure that the model reads. Further keywords become extra fields of the result.

    >>> err("no such file: a.txt", "input_invalid").ok
    False
    """
    blocks = content_blocks(content) if content is not NO_CONTENT else NO_CONTENT
    return ToolError(error, code, None, structured, cost_usd, extra or NO_EXTRA, blocks)


def check_cost(cost_usd: object) -> None:
    """Nothing, or `ConfigError`: a cost is a finite number, since a bill adds it to others."""
    if isinstance(cost_usd, bool) or not isinstance(cost_usd, int | float):
        raise ConfigError(f"`cost_usd` must be a number, got {type(cost_usd).__name__}")
    if cost_usd - cost_usd != 0:
        raise ConfigError(f"`cost_usd` must be a finite number: {cost_usd!r}")


def plain_result(result: ToolResult) -> ToolResult:
    """The same result without what a derived class adds: all that the registry knows how to send.

    >>> class Page(ToolOk): ...
    >>> plain_result(Page("text"))
    ToolOk(value='text', structured=None, cost_usd=None, extra=mappingproxy({}))
    """
    fields = (result.structured, result.cost_usd, result.extra, result.content)
    if isinstance(result, ToolOk):
        return ToolOk(result.value, *fields)
    return ToolError(result.error, result.code, result.reason, *fields)


_OK_FIELDS = frozenset({"ok", "value", "structured", "cost_usd"})
_ERROR_FIELDS = frozenset({"ok", "error", "code", "structured", "cost_usd"})


def result_from_wire(payload: Mapping[str, Any]) -> ToolResult:
    """The result that a JSON object of seed 001 describes; unknown fields are kept in `extra`.

    `ConfigError` says what is wrong: `ok` must be a boolean, `value` or `error` a string, `code`
    one of the four codes, `structured` an object or absent, `cost_usd` a number or absent.
    """
    if type(payload) is not dict and not isinstance(payload, Mapping):
        raise ConfigError(f"a result is a JSON object, got {type(payload).__name__}")
    is_ok = payload.get("ok")
    if is_ok is not True and is_ok is not False:
        raise ConfigError("a result has `ok: true` or `ok: false`")
    structured, cost_usd = payload.get("structured"), payload.get("cost_usd")
    if structured is not None and not isinstance(structured, Mapping):
        raise ConfigError(f"`structured` must be an object, got {type(structured).__name__}")
    if cost_usd is not None:
        check_cost(cost_usd)
    name = "value" if is_ok else "error"
    text = payload.get(name)
    if not isinstance(text, str):
        raise ConfigError(f"`{name}` must be a string, got {type(text).__name__}")
    known = _OK_FIELDS if is_ok else _ERROR_FIELDS
    extra = {key: item for key, item in payload.items() if key not in known} or NO_EXTRA
    content = NO_CONTENT
    if "content" in extra and (blocks := content_from_wire(extra["content"])) is not None:
        content = blocks
        extra = {key: item for key, item in extra.items() if key != "content"} or NO_EXTRA
    if is_ok:
        return ToolOk(text, structured, cost_usd, extra, content)
    code = payload.get("code")
    if not isinstance(code, str) or code not in ERROR_CODES:
        raise ConfigError(f"`code` must be one of {', '.join(sorted(ERROR_CODES))}: {code!r}")
    return ToolError(
        text,
        code,  # type: ignore[arg-type]
        None,
        structured,
        cost_usd,
        extra,
        content,
    )
