from typing import Any

import anthropic
import ollama
import openai
from anthropic.types import MessageParam
from anthropic.types.beta import BetaMessageParam
from google import genai
from google.genai import types
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam

from ethos_registry import View, provider
from ethos_registry.execution import CallResults


def anthropic_turn(view: View, results: CallResults, client: anthropic.Anthropic) -> None:
    messages: list[MessageParam] = []
    messages.extend(results.to_messages("anthropic"))
    reply = client.messages.create(
        model="m", max_tokens=1, messages=messages, tools=view.definitions("anthropic")
    )
    provider("anthropic").calls(reply)
    beta: list[BetaMessageParam] = []
    beta.extend(results.to_messages("anthropic"))
    client.beta.messages.create(
        model="m", max_tokens=1, messages=beta, tools=view.definitions("anthropic")
    )


def chat_turn(view: View, results: CallResults, client: openai.OpenAI) -> None:
    messages: list[ChatCompletionMessageParam] = []
    messages.extend(results.to_messages("openai"))
    messages.extend(results.to_messages("groq"))
    reply = client.chat.completions.create(
        model="m", messages=messages, tools=view.definitions("openai")
    )
    provider("openai").calls(reply)


def responses_turn(view: View, results: CallResults, client: openai.OpenAI) -> None:
    items: list[ResponseInputItemParam] = []
    items.extend(results.to_messages("openai_responses"))
    client.responses.create(model="m", input=items, tools=view.definitions("openai_responses"))


def gemini_turn(view: View, results: CallResults, client: genai.Client) -> None:
    contents: list[types.ContentUnionDict] = []
    contents.extend(results.to_messages("gemini"))
    client.models.generate_content(
        model="m",
        contents=contents,
        config=types.GenerateContentConfig(tools=view.definitions("gemini")),
    )
    client.models.generate_content(
        model="m", contents=contents, config={"tools": view.definitions("gemini")}
    )


def ollama_turn(view: View, results: CallResults, client: ollama.Client) -> None:
    messages: list[ollama.Message | dict[str, Any]] = []
    more: list[Any] = [*messages, *results.to_messages("ollama")]
    client.chat(model="m", messages=results.to_messages("ollama"), tools=view.definitions("ollama"))
    client.chat(model="m", messages=more)
