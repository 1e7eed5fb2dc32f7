"""Providers by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar, overload

from ethos_registry._suggest import did_you_mean
from ethos_registry.providers._schema_rules import DIALECTS
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError

if TYPE_CHECKING:
    from ethos_registry.providers._anthropic import AnthropicMessages
    from ethos_registry.providers._bedrock import BedrockConverse
    from ethos_registry.providers._cohere import CohereChat
    from ethos_registry.providers._gemini import Gemini
    from ethos_registry.providers._ollama import Ollama
    from ethos_registry.providers._openai_chat import OpenAIChat
    from ethos_registry.providers._openai_responses import OpenAIResponses
    from ethos_registry.providers._stream_parser import ReplyParser
    from ethos_registry.providers._wire_format import WireFormat

ChatName: TypeAlias = Literal[
    "openai", "openai_chat", "openrouter", "vllm", "mistral", "groq", "moonshot", "llama_cpp"
]
"""Chat Completions, and servers that speak it."""


class _Format(NamedTuple):
    module: str
    wire: str
    """The class of the request side."""
    stream: str
    """The class that reads streams."""
    dialect: str = ""
    """The rules for schemas, where they are not the format's own."""

    def load(self, name: str) -> Any:
        """One of the classes. A batch of plain calls needs none, so none is imported before."""
        module = importlib.import_module(f"ethos_registry.providers.{self.module}")
        return getattr(module, name)


_ANTHROPIC = _Format("_anthropic", "AnthropicMessages", "AnthropicStream")
_CHAT = _Format("_openai_chat", "OpenAIChat", "OpenAIChatStream")
_MISTRAL = _Format("_openai_chat", "MistralChat", "MistralStream")
_RESPONSES = _Format("_openai_responses", "OpenAIResponses", "OpenAIResponsesStream")
_GEMINI = _Format("_gemini", "Gemini", "GeminiStream")
_OLLAMA = _Format("_ollama", "Ollama", "OllamaStream")
_BEDROCK = _Format("_bedrock", "BedrockConverse", "BedrockStream")
_COHERE = _Format("_cohere", "CohereChat", "CohereStream")

V = TypeVar("V")


class _Loaded(Mapping[str, V]):
    """What belongs to each name, loaded when it is first asked for."""

    def __init__(self, load: Callable[[_Format], V], names: Mapping[str, _Format]) -> None:
        self._load = cache(load)
        self._names = names

    def __getitem__(self, name: str) -> V:
        return self._load(self._names[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


_KNOWN: Mapping[str, _Format] = {
    "anthropic": _ANTHROPIC,
    "openai": _CHAT,
    "openai_chat": _CHAT,
    "openai_responses": _RESPONSES,
    "gemini": _GEMINI,
    "ollama": _OLLAMA,
    "bedrock": _BEDROCK,
    "cohere": _COHERE,
    "openrouter": _CHAT,
    "vllm": _CHAT._replace(dialect="vllm"),
    "mistral": _MISTRAL,
    "groq": _CHAT,
    "moonshot": _CHAT._replace(dialect="moonshot"),
    "llama_cpp": _CHAT._replace(dialect="llama_cpp"),
    "gemini_parameters": _GEMINI._replace(dialect="gemini_parameters"),
    "ollama_http": _OLLAMA._replace(dialect="ollama_http"),
}

PROVIDERS: Mapping[str, WireFormat[Any]] = _Loaded(
    lambda form: form.load(form.wire)(DIALECTS.get(form.dialect)), _KNOWN
)
"""Every name that `provider()` knows."""


def _named(known: Mapping[str, V], what: str, name: object, there_are: str = "known are {}") -> V:
    if not isinstance(name, str) or name not in known:
        names = ", ".join(f"`{each}`" for each in known)
        raise ConfigError(
            f"unknown {what} {name!r}{did_you_mean(name, known)}; {there_are.format(names)}",
            context={"field": what, "value": name},
        )
    return known[name]


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
def provider(name: str, dialect: str | None = None) -> WireFormat[Any]: ...
@_checks.checked_signature
def provider(name: str, dialect: str | None = None) -> WireFormat[Any]:
    """The provider of that name; `ConfigError` lists the known names.

    `"anthropic"` is Messages, `"openai"` Chat Completions (also of `"openrouter"`, `"vllm"`,
    `"mistral"`, `"groq"`), `"openai_responses"` Responses; then `"gemini"`, `"ollama"`,
    `"bedrock"` (Converse) and `"cohere"` (v2). `"vllm"`, `"moonshot"`, `"llama_cpp"`,
    `"gemini_parameters"` and `"ollama_http"` are the same formats with other rules for schemas;
    `dialect` names the rules where a server needs those of another.

    >>> provider("openai").name
    'openai_chat'
    """
    found = _named(PROVIDERS, "provider", name)
    return found if dialect is None else type(found)(_named(DIALECTS, "dialect", dialect))


# Parsers of streams by the name of the provider.

STREAMS: Mapping[str, type[ReplyParser]] = _Loaded(
    lambda form: form.load(form.stream), {**_KNOWN, "responses": _RESPONSES}
)
"""Every name that `dispatch(provider=...)` knows."""


def reply_parser(name: str) -> ReplyParser:
    """A parser for one streamed reply of that provider; `ConfigError` lists the known names.

    >>> reply_parser("openai").provider
    'openai_chat'
    """
    parser = _named(STREAMS, "provider", name, "streams of {} can be dispatched")()
    parser.given_name = name
    return parser
