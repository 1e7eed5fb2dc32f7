"""Secrets by reference, for tools: `context.secrets_resolver`."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ethos_registry.capabilities.handed_out import HandedOutSecrets
from ethos_registry.contract.errors import ConfigError, EthosRegistryError
from ethos_registry.contract.extras import missing_extra

__all__ = [
    "DeclaredSecrets",
    "EnvironmentSecrets",
    "FileSecrets",
    "HandedOutSecrets",
    "KeyringSecrets",
    "SecretNotDeclaredError",
    "SecretSource",
    "SecretsBackend",
    "reference_matches",
]

_MAX_REFERENCE_CHARS = 256


class SecretNotDeclaredError(EthosRegistryError, PermissionError):
    """A tool asked for a secret that it did not declare; the message never names it."""

    def __init__(self) -> None:
        super().__init__(
            "SECRET_NOT_DECLARED: requested secret is not permitted for this tool; "
            "add its reference to the tool's `secrets`"
        )


class SecretSource(Protocol):
    """Where secrets come from: the value of a reference, or `None`."""

    def __call__(self, reference: str, /) -> str | None:
        """The value of a reference; `None` if there is none."""


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

    __slots__ = ("_declared", "_handed_out", "_source")

    def __init__(
        self,
        declared: Sequence[str],
        source: Callable[[str], str | None],
        handed_out: HandedOutSecrets,
    ) -> None:
        self._declared = tuple(declared)
        self._source = source
        self._handed_out = handed_out

    def get_sync(self, reference: str) -> str:
        """The secret, for plain functions; see `get`."""
        if not any(reference_matches(declared, reference) for declared in self._declared):
            raise SecretNotDeclaredError
        value = self._source(reference)
        if value is None:
            raise LookupError("SECRET_NOT_FOUND: a declared secret has no value here")
        self._handed_out.add(value)
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

    __slots__ = ("_source", "handed_out")

    def __init__(self, source: SecretSource) -> None:
        self._source = source
        self.handed_out = HandedOutSecrets()

    def __call__(
        self, tool_name: str, declaration: Sequence[str], context: object
    ) -> DeclaredSecrets:
        """The resolver of a tool."""
        return DeclaredSecrets(declaration, self._source, self.handed_out)

    def __repr__(self) -> str:
        return f"SecretsBackend({self._source!r})"
