"""Secrets by reference, for tools: `context.secrets_resolver`."""

from __future__ import annotations

import base64
import codecs
import contextlib
import html
import json
import os
import re
import stat
import threading
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, quote_plus

from ethos_registry import _core
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError, EthosRegistryError
from ethos_registry.types._extras import missing_extra

# What tools were given as secrets, so that it can be found in their output.

_PERCENT = re.compile("%[0-9A-F]{2}")
_ESCAPE = re.compile(r"\\u[0-9a-f]{4}")


class IssuedSecrets:
    """The values that tools were given, so that they can be redacted from output.

    Each value is found in plain form and URL-encoded, in base64 (wrapped or not), in hex, as JSON,
    HTML and Python escape it, composed and decomposed; so are its lines, the strings of a value
    that is JSON, and the value without the line ends around it. Thread-safe.

    >>> handed_out = IssuedSecrets()
    >>> handed_out.add("correct-horse")
    >>> handed_out.redact("key=correct-horse")
    'key=[redacted: secret]'
    """

    __slots__ = ("_lock", "_values", "known")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: set[str] = set()
        self.known: _core.KnownSecrets | None = None
        """The search for the values; `None` if there are none."""

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
                self.known = _core.KnownSecrets(sorted(forms))

    def __bool__(self) -> bool:
        return self.known is not None

    def redact(self, text: str) -> str:
        """`text` without the values; the same object if it has none."""
        known = self.known
        return text if known is None else known.redact(text)

    def __repr__(self) -> str:
        return f"IssuedSecrets({len(self._values)} values)"

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
    escaped = json.dumps(value)[1:-1]
    yield escaped
    yield _ESCAPE.sub(lambda found: found[0].upper().replace("U", "u"), escaped)
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield escaped.replace("/", "\\/")
    yield from (repr(value)[1:-1], ascii(value)[1:-1], repr(raw)[2:-1])
    in_html = html.escape(value)
    yield from (in_html, html.escape(value, quote=False))
    yield in_html.replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
    yield from (unicodedata.normalize(form, value) for form in ("NFC", "NFD"))


def issued_secrets_of(backends: Mapping[Any, Any] | None) -> IssuedSecrets | None:
    """What a registry's backends hand out; `None` if none of them hands out secrets."""
    if backends is None or "secrets" not in backends:
        return None
    found = getattr(backends["secrets"], "issued_secrets", None)
    return found if isinstance(found, IssuedSecrets) else None


# Secrets in text that comes in pieces: a value that is split over two of them is found.


class SecretStream:
    """Replaces the values that tools were given in one stream of text.

    The end of a piece waits for the next one while it may be the start of a value: always fewer
    bytes than three times those of the longest value. All pieces together are what
    `IssuedSecrets.redact` makes of the whole text.

    >>> handed_out = IssuedSecrets()
    >>> handed_out.add("correct-horse")
    >>> stream = SecretStream(handed_out)
    >>> stream.add("key=correct-"), stream.add("horse, corr"), stream.flush()
    ('key=', '[redacted: secret], ', 'corr')
    """

    __slots__ = ("_issued_secrets", "waiting")

    def __init__(self, issued_secrets: IssuedSecrets) -> None:
        self._issued_secrets = issued_secrets
        self.waiting = ""
        """The end of the last piece."""

    def add(self, piece: str) -> str:
        """What can pass on; the same object if it is all of this piece and nothing more."""
        text = self.waiting + piece if self.waiting else piece
        known = self._issued_secrets.known
        ready, self.waiting = (text, "") if known is None else known.redact_start(text)
        return ready

    def flush(self) -> str:
        """What was waiting; nothing follows it."""
        text, self.waiting = self.waiting, ""
        return self._issued_secrets.redact(text)


class SecretByteStream:
    """The same for the output of a program: UTF-8, with U+FFFD for invalid bytes.

    Bytes pass unchanged until a value is handed out.
    """

    __slots__ = ("_decoder", "_issued_secrets", "_stream")

    def __init__(self, issued_secrets: IssuedSecrets) -> None:
        self._issued_secrets = issued_secrets
        self._stream = SecretStream(issued_secrets)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, piece: bytes) -> bytes:
        """What can pass on."""
        if not self._issued_secrets:
            return piece
        return self._stream.add(self._decoder.decode(piece)).encode()

    def flush(self) -> bytes:
        """What was waiting."""
        rest = self._stream.add(self._decoder.decode(b"", final=True))
        return (rest + self._stream.flush()).encode()


_MAX_REFERENCE_CHARS = 256


class SecretNotDeclaredError(EthosRegistryError, PermissionError):
    """A tool asked for a secret that it did not declare; the message never names it."""

    def __init__(self) -> None:
        super().__init__(
            "SECRET_NOT_DECLARED: requested secret is not permitted for this tool; "
            "add its reference to the tool's `secrets`"
        )


SecretSource: TypeAlias = Callable[[str], str | None]
"""Where secrets come from: the value of a reference, or `None`."""


@_checks.checked_class
class EnvironmentSecrets:
    """Secrets in environment variables: `providers/exa/key` is `PROVIDERS_EXA_KEY`.

    `prefix` comes before the name, so that tools reach only the variables meant for them.

    >>> source = EnvironmentSecrets(prefix="TOOL_", environ={"TOOL_EXA_KEY": "s3cret-value"})
    >>> source("exa/key")
    's3cret-value'
    """

    __slots__ = ("_environ", "_prefix")

    def __init__(self, prefix: str = "", environ: Mapping[str, str] | None = None) -> None:
        self._prefix = prefix
        self._environ = environ

    def __call__(self, reference: str, /) -> str | None:
        """The variable's value."""
        name = "".join(char if char.isalnum() else "_" for char in reference).upper()
        environ = os.environ if self._environ is None else self._environ
        return environ.get(self._prefix + name)

    def __repr__(self) -> str:
        return f"EnvironmentSecrets(prefix={self._prefix!r})"


@_checks.checked_class
class FileSecrets:
    """Secrets in a file of `reference=value` lines that only its owner may read.

    The file is read at each request, so an edit takes effect at once. `ConfigError` if
    others may read it.
    """

    __slots__ = ("_path",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def __call__(self, reference: str, /) -> str | None:
        """The value in the file; `ConfigError` if others may read it."""
        with self._path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if os.name == "posix" and mode & 0o077:
                raise ConfigError(
                    f"{self._path} has mode {mode:04o}: others may read it; run chmod 600 on it"
                )
            lines = file.read().decode().splitlines()
        for line in lines:
            name, equals, value = line.partition("=")
            if equals and not name.lstrip().startswith("#") and name.strip() == reference:
                return value.strip()
        return None

    def __repr__(self) -> str:
        return f"FileSecrets({str(self._path)!r})"


@_checks.checked_class
class KeyringSecrets:
    """Secrets in the system's keyring (extra `keyring`), under one service name."""

    __slots__ = ("_service",)

    def __init__(self, service: str = "ethos-registry") -> None:
        self._service = service

    def __call__(self, reference: str, /) -> str | None:
        """The password stored in the keyring under this name."""
        try:
            import keyring
        except ImportError:
            raise missing_extra("the keyring", "keyring") from None
        value: str | None = keyring.get_password(self._service, reference)
        return value

    def __repr__(self) -> str:
        return f"KeyringSecrets({self._service!r})"


def reference_matches(declared: str, reference: str) -> bool:
    """Whether a declaration, exact or `a/b/*` (strictly deeper), covers a reference.

    >>> reference_matches("providers/exa/*", "providers/exa/main")
    True
    >>> reference_matches("providers/exa/*", "providers/exa")
    False
    """
    if not _is_plain(reference):
        return False
    if declared.endswith("/*"):
        return _is_plain(declared[:-2]) and reference.startswith(declared[:-1])
    return declared == reference


def _is_plain(reference: str) -> bool:
    """Whether each segment is an ordinary name: no `..`, escape, blank or wildcard."""
    if not 0 < len(reference) <= _MAX_REFERENCE_CHARS:
        return False
    return all(
        segment not in ("", ".", "..")
        and segment == segment.strip()
        and segment.isprintable()
        and not any(char in segment for char in "\\%*?")
        for segment in reference.split("/")
    )


class DeclaredSecrets:
    """The secrets that one tool declared: `await resolver.get("providers/exa/key")`.

    Every value that is handed out is added to `handed_out`, which redacts it from output.
    """

    __slots__ = ("_declared", "_issued_secrets", "_source")

    def __init__(
        self,
        declared: Sequence[str],
        source: SecretSource,
        issued_secrets: IssuedSecrets,
    ) -> None:
        self._declared = tuple(declared)
        self._source = source
        self._issued_secrets = issued_secrets

    def get_sync(self, reference: str) -> str:
        """The secret, for plain functions; see `get`."""
        if not any(reference_matches(declared, reference) for declared in self._declared):
            raise SecretNotDeclaredError
        value = self._source(reference)
        if value is None:
            raise LookupError("SECRET_NOT_FOUND: a declared secret has no value here")
        self._issued_secrets.add(value)
        return value

    async def get(self, reference: str) -> str:
        """The secret behind a declared reference.

        Raises `SecretNotDeclaredError` for a reference that the tool did not declare, `LookupError`
        for one without a value. No message contains the reference or the value.
        """
        return self.get_sync(reference)

    resolve = get

    def __repr__(self) -> str:
        return f"DeclaredSecrets({len(self._declared)} references)"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("secrets are never pickled")


class SecretsBackend:
    """Makes the resolvers of one registry's tools, which share what was handed out.

    The registry takes `handed_out` out of results, also where this is one backend among others:
    `{"secrets": standard_backends(secrets=EnvironmentSecrets())["secrets"], ...}`.
    """

    __slots__ = ("_source", "issued_secrets")

    def __init__(self, source: SecretSource) -> None:
        self._source = source
        self.issued_secrets = IssuedSecrets()

    def __call__(
        self, tool_name: str, declaration: Sequence[str], context: object
    ) -> DeclaredSecrets:
        """The resolver of a tool."""
        return DeclaredSecrets(declaration, self._source, self.issued_secrets)

    def __repr__(self) -> str:
        return f"SecretsBackend({self._source!r})"
