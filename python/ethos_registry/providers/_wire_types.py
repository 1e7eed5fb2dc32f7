"""The values of the wire for type checkers: structurally those of the providers' SDKs.

A checker takes one `TypedDict` for another only if both have the same keys, the same keys are
required, and the types of each key are the same. So every key that an SDK names is here; what is
nested in a type of the SDK's own is `Any`, which is the same as everything.
"""

from __future__ import annotations

from typing import Any, Literal, Required

from typing_extensions import TypedDict


class PlainDefinition(TypedDict):
    """A tool without a provider."""

    name: str
    description: str
    parameters: dict[str, Any]


class AnthropicTool(TypedDict, total=False):
    """`anthropic.types.ToolParam`."""

    name: Required[str]
    description: str
    input_schema: Required[Any]
    strict: bool
    cache_control: Any
    allowed_callers: Any
    defer_loading: bool
    eager_input_streaming: bool | None
    input_examples: Any
    type: Literal["custom"] | None


class AnthropicMessage(TypedDict):
    """`anthropic.types.MessageParam`, its user's side."""

    role: Literal["user"]
    content: Any


class OpenAIChatTool(TypedDict):
    """`openai.types.chat.ChatCompletionFunctionToolParam`."""

    type: Literal["function"]
    function: Any


class OpenAIChatMessage(TypedDict):
    """`openai.types.chat.ChatCompletionToolMessageParam`."""

    role: Literal["tool"]
    tool_call_id: str
    content: Any


OpenAIResponsesTool = TypedDict(
    "OpenAIResponsesTool",
    {
        "type": Required[Literal["function"]],
        "name": Required[str],
        "description": str | None,
        "parameters": Required[dict[str, object] | None],
        "strict": Required[bool | None],
        "allowed_callers": Any,
        "async": bool,
        "defer_loading": bool,
        "output_schema": dict[str, object] | None,
    },
    total=False,
)
"""`openai.types.responses.FunctionToolParam`."""


class OpenAIResponsesItem(TypedDict, total=False):
    """`openai.types.responses.response_input_item_param.FunctionCallOutput`."""

    type: Required[Literal["function_call_output"]]
    call_id: str | None
    output: Required[Any]
    id: str | None
    caller: Any
    name: str | None
    namespace: str | None
    status: Literal["in_progress", "completed", "incomplete"] | None


class GeminiMessage(TypedDict, total=False):
    """`google.genai.types.ContentDict`."""

    role: str | None
    parts: Any


class OllamaTool(TypedDict):
    """An item of `tools` of Ollama's `/api/chat`."""

    type: Literal["function"]
    function: dict[str, Any]


class OllamaMessage(TypedDict, total=False):
    """A message of Ollama's `/api/chat` with the role `tool`."""

    role: Required[Literal["tool"]]
    content: Required[str]
    images: list[str]
    tool_name: Required[str]


class BedrockTool(TypedDict):
    """An item of `toolConfig.tools` of Bedrock's `converse`."""

    toolSpec: dict[str, Any]


class BedrockMessage(TypedDict):
    """A message of Bedrock's `converse`."""

    role: Literal["user"]
    content: list[dict[str, Any]]


class CohereTool(TypedDict):
    """An item of `tools` of Cohere's `/v2/chat`."""

    type: Literal["function"]
    function: dict[str, Any]


class CohereMessage(TypedDict):
    """A message of Cohere's `/v2/chat` with the role `tool`."""

    role: Literal["tool"]
    tool_call_id: str
    content: str
