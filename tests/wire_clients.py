"""Replies as the objects of the providers' SDKs."""

from typing import Any

from anthropic.types import Message
from google.genai.types import GenerateContentResponse
from ollama import ChatResponse
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.responses import Response

_KINDS: dict[str, Any] = {
    "anthropic": Message.construct,
    "openai": ChatCompletion.construct,
    "openai message": ChatCompletionMessage.construct,
    "openai_responses": Response.construct,
    "gemini": lambda **fields: GenerateContentResponse.model_validate(fields),
    "ollama": lambda **fields: ChatResponse.model_validate(fields),
}


def sdk_objects(replies: dict[str, Any]) -> dict[str, Any]:
    return {name: _KINDS[name](**reply) for name, reply in replies.items() if name in _KINDS}
