"""Providers by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ethos_registry.contract.errors import ConfigError
from ethos_registry.providers.anthropic import AnthropicMessages
from ethos_registry.providers.openai_chat import OpenAIChat
from ethos_registry.providers.port import Provider

__all__ = ["PROVIDERS", "provider"]

_ANTHROPIC: Provider = AnthropicMessages()
_OPENAI_CHAT: Provider = OpenAIChat()

PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {"anthropic": _ANTHROPIC, "openai": _OPENAI_CHAT, "openai_chat": _OPENAI_CHAT}
)
"""Every name that `provider()` knows."""


def provider(name: str) -> Provider:
    """The provider of that name; `ConfigError` lists the known names.

    >>> provider("openai").name
    'openai_chat'
    """
    found = PROVIDERS.get(name) if isinstance(name, str) else None
    if found is None:
        known = ", ".join(f"`{each}`" for each in PROVIDERS)
        raise ConfigError(
            f"unknown provider {name!r}; known are {known}",
            context={"field": "provider", "value": name},
        )
    return found
