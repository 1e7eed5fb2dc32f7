"""What tools were given as secrets, so that it can be found in their output."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import threading
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from ethos_registry import _core

__all__ = ["HandedOutSecrets", "handed_out_secrets"]

_PERCENT = re.compile("%[0-9A-F]{2}")


class HandedOutSecrets:
    """The values that tools were given, so that they can be redacted from output.

    Each value is found in plain form and URL-encoded, in base64 (wrapped or not), in hex, and as
    JSON escapes it; so are its lines, the strings of a value that is JSON, and the value without
    the line ends around it. Thread-safe.

    >>> handed_out = HandedOutSecrets()
    >>> handed_out.add("correct-horse")
    >>> handed_out.redact("key=correct-horse")
    'key=[redacted: secret]'
    """

    __slots__ = ("_known", "_lock", "_values")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: set[str] = set()
        self._known: _core.KnownSecrets | None = None

    def add(self, value: str) -> None:
        """Remember a value; values of under 8 bytes are not searched for."""
        with self._lock:
            if value not in self._values:
                self._values.add(value)
                forms = {
                    form
                    for known in self._values
                    for part in _parts(known)
                    for form in _forms(part)
                }
                self._known = _core.KnownSecrets(sorted(forms))

    def __bool__(self) -> bool:
        return self._known is not None

    @property
    def known(self) -> _core.KnownSecrets | None:
        """The search for the values; `None` if there are none."""
        return self._known

    def redact(self, text: str) -> str:
        """`text` without the values; the same object if it has none."""
        known = self._known
        return text if known is None else known.redact(text)

    def redact_start(self, text: str) -> tuple[str, str]:
        """The start of a stream: what can pass on, and the rest that may be the start of a value.

        The rest belongs in front of the next piece; see `SecretStream`.
        """
        known = self._known
        return (text, "") if known is None else known.redact_start(text)

    @property
    def longest_bytes(self) -> int:
        """How much a stream must hold back so that no value is split over two chunks."""
        return 0 if self._known is None else self._known.longest_bytes

    def __repr__(self) -> str:
        return f"HandedOutSecrets({len(self._values)} values)"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("secrets are never pickled")


def _parts(value: str) -> set[str]:
    """The value, and what of it is a secret by itself."""
    parts = {value, value.strip("\r\n"), value.strip()}
    lines = [line.strip() for line in value.splitlines()]
    if len(lines) > 1:
        parts.update(
            line for line in lines if len(line) >= _LINE_CHARS and not line.startswith("-----")
        )
    if value.lstrip().startswith(("{", "[")):
        with contextlib.suppress(ValueError, RecursionError):
            parts.update(_strings(json.loads(value)))
    return parts


def _strings(value: Any) -> Iterable[str]:
    """The strings in a JSON value that are long enough to be secrets."""
    if isinstance(value, str):
        if len(value) >= _LINE_CHARS and "://" not in value:
            yield from _parts(value)
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


_LINE_CHARS = 12
"""A shorter line or string is a word that ordinary output has too."""


def _forms(value: str) -> Iterable[str]:
    raw = value.encode("utf-8", "replace")
    yield raw.decode("utf-8", "replace")
    for encoded in (
        quote(value, safe="", errors="replace"),
        quote_plus(value, errors="replace"),
        quote(value, errors="replace"),
    ):
        yield encoded
        yield _PERCENT.sub(lambda found: found[0].lower(), encoded)
    # Base64 of longer text has the value at one of three alignments: the characters that depend on
    # the value alone are searched for.
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for shift in range(3):
            encoded = encode(b"\0" * shift + raw).decode().rstrip("=")
            start = (0, 2, 3)[shift]
            end = len(encoded) - (1 if (len(raw) + shift) % 3 else 0)
            yield encoded[start:end]
    yield raw.hex()
    yield raw.hex().upper()
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield json.dumps(value)[1:-1].replace("/", "\\/")
    yield repr(value)[1:-1]


def handed_out_secrets(backends: Mapping[Any, Any] | None) -> HandedOutSecrets | None:
    """What a registry's backends hand out; `None` if none of them hands out secrets."""
    if backends is None or "secrets" not in backends:
        return None
    found = getattr(backends["secrets"], "handed_out", None)
    return found if isinstance(found, HandedOutSecrets) else None
