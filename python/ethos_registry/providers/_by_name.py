"""Providers by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, overload

from ethos_registry._suggest import did_you_mean
from ethos_registry.providers._anthropic import AnthropicMessages, AnthropicStream
from ethos_registry.providers._bedrock import BedrockConverse, BedrockStream
from ethos_registry.providers._cohere import CohereChat, CohereStream
from ethos_registry.providers._gemini import Gemini, GeminiStream
from ethos_registry.providers._ollama import Ollama, OllamaStream
from ethos_registry.providers._openai_chat import OpenAIChat, OpenAIChatStream
from ethos_registry.providers._openai_responses import OpenAIResponses, OpenAIResponsesStream
from ethos_registry.providers._schema_rules import DIALECTS
from ethos_registry.providers._stream_parser import ReplyParser
from ethos_registry.providers._wire_format import WireFormat
from ethos_registry.types._errors import ConfigError

__all__ = ["PROVIDERS", "STREAMS", "ChatName", "provider", "reply_parser"]


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
            f"unknown provider {name!r}{did_you_mean(name, PROVIDERS)}; known are {known}",
            context={"field": "provider", "value": name},
        )
    if dialect is None:
        return found
    rules = DIALECTS.get(dialect)
    if rules is None:
        known = ", ".join(f"`{each}`" for each in DIALECTS)
        raise ConfigError(
            f"unknown dialect {dialect!r}{did_you_mean(dialect, DIALECTS)}; known are {known}",
            context={"field": "dialect", "value": dialect},
        )
    return type(found)(rules)


# Parsers of streams by the name of the provider.

STREAMS: Mapping[str, type[ReplyParser]] = MappingProxyType(
    {
        "anthropic": AnthropicStream,
        "openai": OpenAIChatStream,
        "openai_chat": OpenAIChatStream,
        "openrouter": OpenAIChatStream,
        "vllm": OpenAIChatStream,
        "mistral": OpenAIChatStream,
        "groq": OpenAIChatStream,
        "openai_responses": OpenAIResponsesStream,
        "responses": OpenAIResponsesStream,
        "gemini": GeminiStream,
        "ollama": OllamaStream,
        "bedrock": BedrockStream,
        "cohere": CohereStream,
    }
)
"""Every name that `dispatch(provider=...)` knows."""


def reply_parser(name: str) -> ReplyParser:
    """A parser for one streamed reply of that provider; `ConfigError` lists the known names.

    >>> reply_parser("openai").provider
    'openai_chat'
    """
    found = STREAMS.get(name) if isinstance(name, str) else None
    if found is None:
        known = ", ".join(f"`{each}`" for each in STREAMS)
        raise ConfigError(
            f"unknown provider {name!r}{did_you_mean(name, STREAMS)}; "
            f"streams of {known} can be dispatched",
            context={"field": "provider", "value": name},
        )
    parser = found()
    parser.given_name = name
    return parser
