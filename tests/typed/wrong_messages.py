import openai
from anthropic.types import MessageParam
from openai.types.chat import ChatCompletionMessageParam

from ethos_registry import View
from ethos_registry.execution import CallResults


def turn(view: View, results: CallResults, client: openai.OpenAI) -> None:
    messages: list[MessageParam] = []
    messages.extend(results.to_messages("openai"))  # refused
    others: list[ChatCompletionMessageParam] = []
    others.extend(results.to_messages("anthropic"))  # refused
    client.responses.create(model="m", input=[], tools=view.definitions("openai"))  # refused
    client.responses.create(model="m", input=[], tools=view.definitions("openai_responses"))
