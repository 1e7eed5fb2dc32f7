"""One text for equal JSON values, whatever the order of their keys, and checksums over it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ethos_registry.contract.checks import brief
from ethos_registry.contract.errors import ConfigError

__all__ = ["call_checksum", "canonical_json", "sha256_hex"]


def canonical_json(value: Any) -> str:
    """The value as JSON: keys sorted at every depth, no spaces, numbers as `json.dumps` has them.

    `ConfigError` for what JSON cannot carry: other types, cycles, keys of several kinds.
    """
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"a checksum is taken of JSON values: {error}: {brief(value)}") from None


def sha256_hex(text: str) -> str:
    """SHA-256 over the text in UTF-8, 64 hex digits; lone surrogates count as they are."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def call_checksum(name: str, args: Any) -> str:
    """The identity of a call: SHA-256 hex over the canonical JSON of `{tool, args}` (ADK-69).

    Equal for equal arguments in another order of keys; the order of lists counts. `args` are what
    the model sent, before anything is converted.

    >>> call_checksum("add", {"a": 1, "b": 2}) == call_checksum("add", {"b": 2, "a": 1})
    True
    """
    return sha256_hex(canonical_json({"tool": name, "args": args}))
