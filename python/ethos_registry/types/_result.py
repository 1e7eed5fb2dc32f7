"""The result of a tool: `ToolOk` or `ToolError`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from ethos_registry._suggest import did_you_mean
from ethos_registry.types import _checks
from ethos_registry.types._checks import brief
from ethos_registry.types._content import (
    NO_CONTENT,
    ContentBlock,
    content_blocks,
    content_from_wire,
)
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import json_fields, json_object

ErrorCode: TypeAlias = Literal["input_invalid", "not_available", "execution_failed", "STALE_WRITE"]
"""The stable class of an error, for models and programs."""

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
    "worker_lost",
    "limit",
]
"""Why the registry made an error; `None` if the tool made it."""

ERROR_CODES: frozenset[str] = frozenset(get_args(ErrorCode))
ERROR_REASONS: frozenset[str] = frozenset(get_args(ErrorReason))

NO_EXTRA: Mapping[str, Any] = MappingProxyType({})
"""The `extra` of a result without extra fields."""


def _nothing() -> Mapping[str, Any]:
    return NO_EXTRA


@dataclass(frozen=True, slots=True)
class ToolOk:
    """The success of a tool.

    >>> ToolOk("42 files").to_wire()
    {'ok': True, 'value': '42 files'}
    """

    ok: ClassVar[Literal[True]] = True

    value: str
    """The text for the model. The registry reduces and trims it."""
    structured: Mapping[str, Any] | None = None
    """The same for programs, as JSON values; never sent to the model.

    At most 1 MiB as JSON. Dates, UUIDs, decimals, paths, enums, dataclasses and pydantic models are
    converted; the key `dropped` reports values that have no JSON form.
    """
    cost_usd: float | None = None
    """The cost of the call in US dollars; no reduction or trim changes it."""
    extra: Mapping[str, Any] = field(default_factory=_nothing)
    """Further fields of the result, converted to JSON and bounded as `structured` is."""
    content: tuple[ContentBlock, ...] = field(default=NO_CONTENT, repr=False)
    """Images, documents, audio and links beside the text; no budget counts them."""

    @property
    def text(self) -> str:
        """The text for the model: the value."""
        return self.value

    def to_wire(self) -> dict[str, Any]:
        """The result as a JSON object that `json.dumps` accepts, without unset fields."""
        return _wire(self, {"ok": True, "value": self.value})

    def __repr__(self) -> str:
        return _brief_repr(self, "value", "structured", "cost_usd", "extra")

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.value, self.structured, self.cost_usd, dict(self.extra))
        return ToolOk, (*parts, self.content)


@dataclass(frozen=True, slots=True)
class ToolError:
    """The failure of a tool, or a call that did not run.

    >>> ToolError("no such file: a.txt", "execution_failed").to_wire()
    {'ok': False, 'error': 'no such file: a.txt', 'code': 'execution_failed'}
    """

    ok: ClassVar[Literal[False]] = False

    error: str
    """The text for the model."""
    code: ErrorCode = "execution_failed"
    reason: ErrorReason | None = None
    """Why the registry refused or ended the call, for programs; not part of the JSON object."""
    structured: Mapping[str, Any] | None = None
    cost_usd: float | None = None
    extra: Mapping[str, Any] = field(default_factory=_nothing)
    """Further fields of the result, such as `exit_code` or `conflictKey`."""
    content: tuple[ContentBlock, ...] = field(default=NO_CONTENT, repr=False)

    @property
    def text(self) -> str:
        """The text for the model: the error."""
        return self.error

    def to_wire(self) -> dict[str, Any]:
        """The result as a JSON object that `json.dumps` accepts, without unset fields."""
        return _wire(self, {"ok": False, "error": self.error, "code": self.code})

    def __repr__(self) -> str:
        return _brief_repr(self, "error", "code", "reason", "structured", "cost_usd", "extra")

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.error, self.code, self.reason, self.structured, self.cost_usd)
        return ToolError, (*parts, dict(self.extra), self.content)


ToolResult: TypeAlias = ToolOk | ToolError


def _wire(result: ToolResult, wire: dict[str, Any]) -> dict[str, Any]:
    if result.structured is not None:
        wire["structured"] = dict(json_object(result.structured))
    if result.cost_usd is not None:
        wire["cost_usd"] = result.cost_usd
    if result.content:
        wire["content"] = [block.to_wire() for block in result.content]
    return wire | dict(json_fields(result.extra)) | wire if result.extra else wire


def _brief_repr(result: object, *names: str) -> str:
    """The `repr` of a result whose output may be long."""
    fields = ", ".join(f"{name}={brief(getattr(result, name))}" for name in names)
    return f"{type(result).__qualname__}({fields})"


@_checks.checked_signature
def ok(
    value: str,
    *,
    structured: Mapping[str, Any] | None = None,
    cost_usd: float | None = None,
    content: Iterable[ContentBlock] = NO_CONTENT,
    **extra: Any,
) -> ToolOk:
    r"""A success. Other keyword arguments become extra fields of the result.

    `content` are blocks beside the text: `Image`, `Document`, `Audio`, `Link`.

    >>> ok("done", cost_usd=0.02).cost_usd
    0.02
    >>> from ethos_registry.types._content import Image
    >>> chart = Image(b"\x89PNG\r\n\x1a\n...")
    >>> ok("the chart", content=[chart]).content[0].media_type
    'image/png'
    """
    blocks = content_blocks(content) if content is not NO_CONTENT else NO_CONTENT
    return ToolOk(value, structured, cost_usd, extra or NO_EXTRA, blocks)


@_checks.checked_signature
def err(
    error: str,
    code: ErrorCode = "execution_failed",
    *,
    structured: Mapping[str, Any] | None = None,
    cost_usd: float | None = None,
    content: Iterable[ContentBlock] = NO_CONTENT,
    **extra: Any,
) -> ToolError:
    """A failure. Other keyword arguments become extra fields of the result.

    >>> err("no such file: a.txt", "input_invalid").ok
    False
    """
    blocks = content_blocks(content) if content is not NO_CONTENT else NO_CONTENT
    return ToolError(error, code, None, structured, cost_usd, extra or NO_EXTRA, blocks)


def check_cost(cost_usd: object) -> None:
    """Raise `ConfigError` if a cost is not a finite number."""
    if isinstance(cost_usd, bool) or not isinstance(cost_usd, int | float):
        raise ConfigError(f"`cost_usd` must be a number, got {type(cost_usd).__name__}")
    try:
        is_finite = math.isfinite(cost_usd)
    except OverflowError:  # a whole number that no float holds
        is_finite = False
    if not is_finite:
        raise ConfigError(f"`cost_usd` must be a finite number: {brief(cost_usd)}")


def plain_result(result: ToolResult) -> ToolResult:
    """The result without what a subclass adds.

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
    """The result that a JSON object describes; unknown fields become `extra`.

    Raises `ConfigError` with the problem: `ok` must be a boolean, `value` or `error` a string,
    `code` one of the four codes, `structured` an object or absent, `cost_usd` a number or absent.
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
        raise ConfigError(
            f"`code` must be one of {', '.join(sorted(ERROR_CODES))}: {code!r}"
            f"{did_you_mean(code, ERROR_CODES)}"
        )
    return ToolError(
        text,
        code,  # type: ignore[arg-type]
        None,
        structured,
        cost_usd,
        extra,
        content,
    )
