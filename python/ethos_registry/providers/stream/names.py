"""Parsers of streams by the name of the provider."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ethos_registry.contract.errors import ConfigError
from ethos_registry.providers.stream.anthropic import AnthropicStream
from ethos_registry.providers.stream.bedrock import BedrockStream
from ethos_registry.providers.stream.cohere import CohereStream
from ethos_registry.providers.stream.gemini import GeminiStream
from ethos_registry.providers.stream.ollama import OllamaStream
from ethos_registry.providers.stream.openai_chat import OpenAIChatStream
from ethos_registry.providers.stream.openai_responses import OpenAIResponsesStream
from ethos_registry.providers.stream.parser import ReplyParser

__all__ = ["STREAMS", "reply_parser"]

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
            f"unknown provider {name!r}; streams of {known} can be dispatched",
            context={"field": "provider", "value": name},
        )
    return found()
