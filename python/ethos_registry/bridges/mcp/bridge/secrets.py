"""`secret:NAME` in the environment and headers of servers; values are never shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Protocol

from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.secret_names import is_secret_name

__all__ = ["Scrubber", "SecretSource", "references", "resolved"]

_REFERENCE = re.compile(r"(?:(?<=\s)|\A)secret:([\w./-]+)")
_MIN_CHARS = 6
"""Shorter values are not replaced in output: they would match by chance."""


class SecretSource(Protocol):
    """Where secrets come from, such as `EnvironmentSecrets`."""

    def __call__(self, reference: str, /) -> str | None:
        """The value of a reference; `None` if there is none."""


def references(value: str) -> list[str]:
    """The names of the secrets in a value.

    >>> references("Bearer secret:github/token")
    ['github/token']
    """
    return _REFERENCE.findall(value)


def resolved(values: Mapping[str, str], secrets: SecretSource, server: str) -> dict[str, str]:
    """The values with each `secret:NAME` replaced; `ConfigError` names a secret that is missing."""

    def value_of(found: re.Match[str]) -> str:
        value = secrets(found[1])
        if value is None:
            raise ConfigError(
                f"MCP server {server!r}: the secret {found[1]!r} is not defined; by default it is "
                f"the environment variable {re.sub(r'[^A-Za-z0-9]', '_', found[1]).upper()}"
            )
        return value

    return {name: _REFERENCE.sub(value_of, value) for name, value in values.items()}


class Scrubber:
    """Replaces secret values in text that is shown."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: tuple[str, ...] = ()

    def learn(self, given: Mapping[str, str], used: Mapping[str, str]) -> None:
        """Hide values that came from secrets, and those of variables with secret names."""
        found = {
            value for name, value in used.items() if value != given[name] or is_secret_name(name)
        }
        self._values = tuple(sorted({*self._values, *self._parts(found)}, key=len, reverse=True))

    @staticmethod
    def _parts(values: Iterable[str]) -> set[str]:
        """The values, and what follows the scheme of an `Authorization` header."""
        parts = {*values, *(value.split(" ", 1)[-1] for value in values)}
        return {part for part in parts if len(part) >= _MIN_CHARS}

    def __call__(self, text: str) -> str:
        """The text without the values."""
        for value in self._values:
            text = text.replace(value, "[secret]")
        return text
