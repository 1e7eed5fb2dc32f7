"""Canonical JSON: the same string for equal values, whatever their key order; and checksums."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ethos_registry.contract.checks import brief
from ethos_registry.contract.errors import ConfigError

__all__ = ["call_checksum", "canonical_json", "sha256_hex"]


def canonical_json(value: Any) -> str:
    """The value as JSON with sorted keys at every depth and no spaces.

    Numbers are written as `json.dumps` writes them. Raises `ConfigError` for a value that is not
    JSON: other types, cycles, keys of mixed types.
    """
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"a checksum is taken of JSON values: {error}: {brief(value)}") from None


def sha256_hex(text: str) -> str:
    """SHA-256 of the text in UTF-8 as 64 hex digits; lone surrogates are encoded as they are."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def call_checksum(name: str, args: Any) -> str:
    """The identity of a call: SHA-256 hex over the canonical JSON of `{tool, args}`.

    The order of keys does not matter, the order of lists does. `args` are what the model sent,
    before any conversion.

    >>> call_checksum("add", {"a": 1, "b": 2}) == call_checksum("add", {"b": 2, "a": 1})
    True
    """
    return sha256_hex(canonical_json({"tool": name, "args": args}))
