"""The steps of one call, each a function, in the order of contract 3.2.

Share and the native verdicts (unknown, excluded, denied) are taken for the batch at once, in
`session`; execute is `running`; finish is `reduction.finish`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pydantic_core

from ethos_registry import _core
from ethos_registry.capabilities import resolver
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import (
    ERROR_CODES,
    ERROR_REASONS,
    ToolError,
    ToolOk,
    ToolResult,
    check_cost,
    plain_result,
    result_from_wire,
)
from ethos_registry.execution import refusals
from ethos_registry.table.entry import Entry

__all__ = [
    "BadArgumentsError",
    "accepted",
    "call_cap",
    "check_backends",
    "parsed_arguments",
    "source_of",
]


_PLACE = re.compile(r" at line ([0-9]+) column ([0-9]+)$")
_FOREIGN = re.compile(rb"(?:-?NaN|-?Infinity|None|True|False|undefined)\b")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""An escape in a JSON string: a pair of surrogates, one alone (JSON by its grammar, and the parser
refuses it), or any other."""


def _well_formed_escape(escape: re.Match[str]) -> str:
    """The escape, or that of U+FFFD for a lone surrogate: as long, so that places stay."""
    return escape[0] if escape["lone"] is None else r"\ufffd"


class BadArgumentsError(Exception):
    """The text of a call's arguments is not JSON; the message says where and why."""


def parsed_arguments(args: Any) -> Any:
    """Arguments given as JSON text become values; empty text is `{}` (contract 3.3).

    Integers stay exact; a lone surrogate, escaped or not, becomes U+FFFD; NaN, infinities, a key
    that stands twice in one object and more than 128 levels are refused.
    """
    if not isinstance(args, str):
        return args
    text = args.strip()
    if not text:
        return {}
    text = _core.replace_surrogates(text)
    try:
        value = pydantic_core.from_json(text, allow_inf_nan=False)
    except ValueError as error:
        mended = _ESCAPE.sub(_well_formed_escape, text) if _SURROGATE.search(text) else text
        if mended != text:
            return parsed_arguments(mended)
        raise BadArgumentsError(f"arguments are not valid JSON: {_reason(text, error)}") from None
    fault = _core.json_fault(text)
    if fault is not None:
        reason, line, column = fault
        raise BadArgumentsError(
            f"arguments are not valid JSON: {reason} at line {line} column {column}"
        )
    return value


def _reason(text: str, error: ValueError) -> str:
    """The parser's reason, but that words which other languages have and JSON has not are named."""
    reason = str(error)
    place = _PLACE.search(reason)
    if place is None:
        return reason
    line = text.encode().split(b"\n")[int(place[1]) - 1]  # the parser counts bytes, from 1
    start = int(place[2]) - 1
    if line[:start].endswith(b"-"):
        start -= 1
    word = _FOREIGN.match(line, start)
    return reason if word is None else f"{word[0].decode()} is no JSON value{place[0]}"


def check_backends(entry: Entry, backends: resolver.CapabilityBackends | None) -> ToolError | None:
    """The refusal of a tool that would run without what it declares."""
    if backends is None:
        return refusals.no_backends(entry.name)
    try:
        missing = resolver.missing_backend(entry.capabilities, backends)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a mapping of the host's own class
        return refusals.backend_failed(entry.name, refusals.raised(error))
    return None if missing is None else refusals.missing_backend(entry.name, missing)


def call_cap(limit_chars: int, share: int) -> int:
    """How many characters the call's result may hold: its share, or the tool's own limit."""
    return min(share, limit_chars)


def accepted(value: Any) -> ToolResult:
    """What a tool returned, as a result; `ConfigError` says why it is none (contract 3.4)."""
    kind = type(value)
    if kind is ToolOk:
        if type(value.value) is not str:
            value = replace(value, value=_exact_text(value.value, "value"))
    elif kind is ToolError:
        if type(value.error) is not str:
            value = replace(value, error=_exact_text(value.error, "error"))
        if type(value.code) is not str or value.code not in ERROR_CODES:
            raise ConfigError(
                f"`code` must be one of {', '.join(sorted(ERROR_CODES))}: {value.code!r}"
            )
        reason = value.reason
        if reason is not None and (type(reason) is not str or reason not in ERROR_REASONS):
            raise ConfigError(f"`reason` must be None, or a reason of the registry: {reason!r}")
    elif isinstance(value, ToolOk | ToolError):  # of a class of the author's own
        return accepted(plain_result(value))
    elif isinstance(value, Mapping):
        return accepted(result_from_wire(value))
    else:
        raise ConfigError(f"got {kind.__name__}, expected ok(...), err(...) or a mapping with `ok`")
    if value.structured is not None and not isinstance(value.structured, Mapping):
        raise ConfigError(f"`structured` must be a mapping, got {type(value.structured).__name__}")
    if value.cost_usd is not None:
        check_cost(value.cost_usd)
    if type(value.extra) is not MappingProxyType and not isinstance(value.extra, Mapping):
        raise ConfigError(f"`extra` must be a mapping, got {type(value.extra).__name__}")
    result: ToolResult = value
    return result


def _exact_text(text: object, what: str) -> str:
    """A string of a class of its own as a plain one: it may lie about its length."""
    if not isinstance(text, str):
        raise ConfigError(f"`{what}` must be a string, got {type(text).__name__}")
    return str.__str__(text)


def source_of(name: str, args: Any) -> str:
    """Where untrusted output came from, told by the arguments (contract 3.11)."""
    if isinstance(args, Mapping):
        for key, prefix in _SOURCES:
            value = args.get(key)
            if isinstance(value, str):
                prefix = "file:" if key == "path" and name == "read_file" else prefix
                return _core.replace_surrogates(f"{prefix}{value}"[:256])
    return "unknown"


_SOURCES = (("path", ""), ("url", ""), ("command", "cmd:"), ("query", "query:"))


def resolve_capabilities(
    entry: Entry, backends: resolver.CapabilityBackends, context: ToolContext
) -> Mapping[str, Any]:
    """The scoped objects that the tool declared, for its context."""
    return resolver.resolve_capabilities(entry.name, entry.capabilities, backends, context)
