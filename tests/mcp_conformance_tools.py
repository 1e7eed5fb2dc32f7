"""The tools that scenarios of the official MCP conformance suite call."""

import asyncio

from ethos_registry import Tool, ToolContext, ToolRegistry, err, ok
from ethos_registry.types import Audio, Document, Image

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)
WAV = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"
NOTHING = {"type": "object", "properties": {}}

registry = ToolRegistry()


def tool(name, execute, schema=NOTHING):
    registry.register(Tool(name, f"For the scenario of {name}.", schema, execute))


async def progress(args, context: ToolContext):
    for percent in (0, 50, 100):
        context.report(f"{percent} of 100", percent=percent)
        await asyncio.sleep(0.02)
    return ok("done")


def text_document(text, media_type):
    return Document(text.encode(), media_type, "resource.txt")


tool("test_simple_text", lambda args, context: ok("This is a simple text response for testing."))
tool("test_image_content", lambda args, context: ok("", content=[Image(PNG)]))
tool("test_audio_content", lambda args, context: ok("", content=[Audio(WAV)]))
tool(
    "test_embedded_resource",
    lambda args, context: ok("", content=[text_document("embedded", "text/plain")]),
)
tool(
    "test_multiple_content_types",
    lambda args, context: ok(
        "Multiple content types test:",
        content=[Image(PNG), text_document('{"test":"data"}', "application/json")],
    ),
)
tool("test_error_handling", lambda args, context: err("This tool intentionally returns an error"))
tool("test_tool_with_progress", progress)
tool(
    "json_schema_2020_12_tool",
    lambda args, context: ok("valid"),
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
)
tool(
    "test_custom_headers",
    lambda args, context: ok(str(args.get("region"))),
    {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    },
)
tool(
    "test_trigger_tool_change",
    lambda args, context: (
        registry.register(Tool("added", "Added.", NOTHING, lambda a, c: ok("")), overwrite=True),
        ok("changed"),
    )[1],
)
