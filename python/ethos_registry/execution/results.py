"""The answers of one batch."""

from __future__ import annotations

from typing import Any, Literal, overload

from ethos_registry.contract.call import CallResult, results_table
from ethos_registry.providers.names import ChatName, provider
from ethos_registry.providers.wire_types import (
    AnthropicMessage,
    BedrockMessage,
    CohereMessage,
    GeminiMessage,
    OllamaMessage,
    OpenAIChatMessage,
    OpenAIResponsesItem,
)

__all__ = ["CallResults"]


class CallResults(list[CallResult]):
    """One `CallResult` a call, in the order of the calls."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return results_table(self)

    @overload
    def to_messages(self, provider_name: Literal["anthropic"]) -> list[AnthropicMessage]: ...
    @overload
    def to_messages(self, provider_name: ChatName) -> list[OpenAIChatMessage]: ...
    @overload
    def to_messages(
        self, provider_name: Literal["openai_responses"]
    ) -> list[OpenAIResponsesItem]: ...
    @overload
    def to_messages(self, provider_name: Literal["gemini"]) -> list[GeminiMessage]: ...
    @overload
    def to_messages(self, provider_name: Literal["ollama"]) -> list[OllamaMessage]: ...
    @overload
    def to_messages(self, provider_name: Literal["bedrock"]) -> list[BedrockMessage]: ...
    @overload
    def to_messages(self, provider_name: Literal["cohere"]) -> list[CohereMessage]: ...
    @overload
    def to_messages(self, provider_name: str) -> list[Any]: ...
    def to_messages(self, provider_name: str) -> list[Any]:
        """The messages that carry the results back, in the shape of a provider (`"anthropic"`).

        Every call of the reply is answered, as providers demand. The types are those of the
        provider's SDK: `messages.extend(results.to_messages("anthropic"))`.
        """
        return provider(provider_name).messages(self)

    def to_wire(self) -> list[dict[str, Any]]:
        """A JSON array of `toolCallId`, `name`, `result`."""
        return [result.to_wire() for result in self]
