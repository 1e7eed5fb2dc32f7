"""A server of the SDK over stdio with resources, templates, prompts and completions.

The names are those that scenarios of the official conformance suite ask for.
"""

from __future__ import annotations

import base64
from typing import Any

from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import Completion, EmbeddedResource, ImageContent, TextResourceContents

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="
)
server = MCPServer("resources", version="1")


@server.resource("test://static-text", mime_type="text/plain", description="Text.")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png", description="An image.")
def static_binary() -> bytes:
    return PNG


@server.resource("test://template/{id}/data", mime_type="application/json")
def by_template(id: str) -> str:  # noqa: A002 - the suite's template
    return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'


@server.prompt()
def test_simple_prompt() -> str:
    """Says one thing."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Says two things."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:
    """Embeds a resource."""
    contents = TextResourceContents(uri=resourceUri, mime_type="text/plain", text="Embedded.")
    embedded = EmbeddedResource(type="resource", resource=contents)
    return [UserMessage(embedded), UserMessage("Please process the embedded resource above.")]


@server.prompt()
def test_prompt_with_image() -> list[Any]:
    """Shows an image."""
    image = Image(data=PNG, format="png").to_image_content()
    assert isinstance(image, ImageContent)
    return [UserMessage(image), UserMessage("Please analyze the image above.")]


@server.completion()
async def complete(reference: Any, argument: Any, context: Any) -> Completion:
    words = ["paris", "park", "party", "test"]
    return Completion(values=[word for word in words if word.startswith(argument.value)])


@server.tool()
def count(uri: str) -> int:
    """How many characters a URI has."""
    return len(uri)


if __name__ == "__main__":
    server.run()
