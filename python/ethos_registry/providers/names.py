"""Providers by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, overload

from ethos_registry.contract.errors import ConfigError
from ethos_registry.providers.anthropic import AnthropicMessages
from ethos_registry.providers.bedrock import BedrockConverse
from ethos_registry.providers.cohere import CohereChat
from ethos_registry.providers.gemini import Gemini
from ethos_registry.providers.ollama import Ollama
from ethos_registry.providers.openai_chat import OpenAIChat
from ethos_registry.providers.openai_responses import OpenAIResponses
from ethos_registry.providers.wire_format import WireFormat

__all__ = ["PROVIDERS", "ChatName", "provider"]

ChatName: TypeAlias = Literal["openai", "openai_chat", "openrouter", "vllm", "mistral", "groq"]
"""Chat Completions, and servers that speak it."""

_CHAT = OpenAIChat()

PROVIDERS: Mapping[str, WireFormat[Any, Any]] = MappingProxyType(
    {
        "anthropic": AnthropicMessages(),
        "openai": _CHAT,
        "openai_chat": _CHAT,
        "openai_responses": OpenAIResponses(),
        "gemini": Gemini(),
        "ollama": Ollama(),
        "bedrock": BedrockConverse(),
        "cohere": CohereChat(),
        "openrouter": _CHAT,
        "vllm": _CHAT,
        "mistral": _CHAT,
        "groq": _CHAT,
    }
)
"""Every name that `provider()` knows."""


@overload
def provider(name: Literal["anthropic"]) -> AnthropicMessages: ...
@overload
def provider(name: ChatName) -> OpenAIChat: ...
@overload
def provider(name: Literal["openai_responses"]) -> OpenAIResponses: ...
@overload
def provider(name: Literal["gemini"]) -> Gemini: ...
@overload
def provider(name: Literal["ollama"]) -> Ollama: ...
@overload
def provider(name: Literal["bedrock"]) -> BedrockConverse: ...
@overload
def provider(name: Literal["cohere"]) -> CohereChat: ...
@overload
def provider(name: str) -> WireFormat[Any, Any]: ...
def provider(name: str) -> WireFormat[Any, Any]:
    """The provider of that name; `ConfigError` lists the known names.

    `"anthropic"` is Messages, `"openai"` Chat Completions (also of `"openrouter"`, `"vllm"`,
    `"mistral"`, `"groq"`), `"openai_responses"` Responses; then `"gemini"`, `"ollama"`,
    `"bedrock"` (Converse) and `"cohere"` (v2).

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
