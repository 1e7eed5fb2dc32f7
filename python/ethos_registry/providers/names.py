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
from ethos_registry.providers.schema_rules import DIALECTS
from ethos_registry.providers.wire_format import WireFormat

__all__ = ["PROVIDERS", "ChatName", "provider"]

ChatName: TypeAlias = Literal[
    "openai", "openai_chat", "openrouter", "vllm", "mistral", "groq", "moonshot", "llama_cpp"
]
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
        "vllm": OpenAIChat(DIALECTS["vllm"]),
        "mistral": _CHAT,
        "groq": _CHAT,
        "moonshot": OpenAIChat(DIALECTS["moonshot"]),
        "llama_cpp": OpenAIChat(DIALECTS["llama_cpp"]),
        "gemini_parameters": Gemini(DIALECTS["gemini_parameters"]),
        "ollama_http": Ollama(DIALECTS["ollama_http"]),
    }
)
"""Every name that `provider()` knows."""


@overload
def provider(name: Literal["anthropic"], dialect: str | None = None) -> AnthropicMessages: ...
@overload
def provider(name: ChatName, dialect: str | None = None) -> OpenAIChat: ...
@overload
def provider(name: Literal["openai_responses"], dialect: str | None = None) -> OpenAIResponses: ...
@overload
def provider(
    name: Literal["gemini", "gemini_parameters"], dialect: str | None = None
) -> Gemini: ...
@overload
def provider(name: Literal["ollama", "ollama_http"], dialect: str | None = None) -> Ollama: ...
@overload
def provider(name: Literal["bedrock"], dialect: str | None = None) -> BedrockConverse: ...
@overload
def provider(name: Literal["cohere"], dialect: str | None = None) -> CohereChat: ...
@overload
def provider(name: str, dialect: str | None = None) -> WireFormat[Any, Any]: ...
def provider(name: str, dialect: str | None = None) -> WireFormat[Any, Any]:
    """The provider of that name; `ConfigError` lists the known names.

    `"anthropic"` is Messages, `"openai"` Chat Completions (also of `"openrouter"`, `"vllm"`,
    `"mistral"`, `"groq"`), `"openai_responses"` Responses; then `"gemini"`, `"ollama"`,
    `"bedrock"` (Converse) and `"cohere"` (v2). `"vllm"`, `"moonshot"`, `"llama_cpp"`,
    `"gemini_parameters"` and `"ollama_http"` are the same formats with other rules for schemas;
    `dialect` names the rules where a server needs those of another.

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
    if dialect is None:
        return found
    rules = DIALECTS.get(dialect)
    if rules is None:
        raise ConfigError(
            f"unknown dialect {dialect!r}; known are {', '.join(f'`{each}`' for each in DIALECTS)}",
            context={"field": "dialect", "value": dialect},
        )
    return type(found)(rules)
