"""What each provider refuses, as far as it is reported: checked without the compiler.

Each rule has the public thread that quotes the refusal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema

Problems = Iterator[str]
UNIONS = ("anyOf", "oneOf", "allOf")
BY_NAME = ("properties", "patternProperties", "$defs", "dependentSchemas")
LISTS = (*UNIONS, "prefixItems")
SINGLE = (
    *("items", "additionalProperties", "not", "if", "then", "else"),
    *("contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties"),
)


def schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema with all schemas in it."""
    if not isinstance(schema, dict):
        return
    yield schema
    for keyword in BY_NAME:
        for inner in (schema.get(keyword) or {}).values():
            yield from schemas(inner)
    for keyword in LISTS:
        for inner in schema.get(keyword) or ():
            yield from schemas(inner)
    for keyword in SINGLE:
        yield from schemas(schema.get(keyword))


def properties(schema: Any) -> Iterator[tuple[str, Any]]:
    for node in schemas(schema):
        yield from (node.get("properties") or {}).items()


def is_of(node: dict[str, Any], kind: str) -> bool:
    given = node.get("type")
    return kind in given if isinstance(given, list) else given == kind


def object_root(schema: Any) -> Problems:
    """anthropics/claude-code#5319, earendil-works/pi#8279."""
    if schema.get("type") != "object":
        yield "the root is no object"


def no_union_at_root(schema: Any) -> Problems:
    """anthropics/claude-code#657, #5973, #44788."""
    yield from (f"{keyword} at the root" for keyword in UNIONS if keyword in schema)


def anthropic_names(schema: Any) -> Problems:
    """anthropics/claude-code#79418, ComposioHQ/composio#2330."""
    for name, _ in properties(schema):
        if re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name) is None:
            yield f"the property {name!r}"


def draft_2020_12(schema: Any) -> Problems:
    """anthropics/claude-code#586, #63673, #86665."""
    try:
        jsonschema.Draft202012Validator.check_schema(schema, format_checker=None)
    except jsonschema.SchemaError as error:
        yield f"not draft 2020-12: {error.message[:100]}"


def references_lead_somewhere(schema: Any) -> Problems:
    """yc-software/qm#622, google-gemini/gemini-cli#13326."""
    for node in schemas(schema):
        reference = node.get("$ref")
        if reference is None:
            continue
        value: Any = schema
        for step in reference.removeprefix("#").split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            value = value.get(key) if isinstance(value, dict) else None
        if not reference.startswith("#") or value is None:
            yield f"$ref leads nowhere: {reference}"


def openai_root(schema: Any) -> Problems:
    """langchain-ai/langchainjs#9804, mark3labs/mcp-go#596."""
    yield from (f"{word} at the root" for word in ("enum", "const", "not") if word in schema)
    if "properties" not in schema:
        yield "no properties"


def arrays_have_items(schema: Any) -> Problems:
    """mark3labs/mcphost#35, campfirein/byterover-cli#42, cline/cline#7339."""
    for node in schemas(schema):
        if is_of(node, "array") and "items" not in node:
            yield "an array without items"


def python_patterns(schema: Any) -> Problems:
    """BerriAI/litellm#40485, Alishahryar1/free-claude-code#1730."""
    for node in schemas(schema):
        try:
            re.compile(node.get("pattern", ""))
        except re.error:
            yield f"the pattern {node['pattern']!r}"


def gemini_keywords(schema: Any) -> Problems:
    """googleapis/python-genai#1732."""
    for node in schemas(schema):
        for word in ("const", "title", "examples", "exclusiveMinimum", "exclusiveMaximum"):
            if word in node:
                yield word


OPENAPI = (
    *("anyOf", "default", "description", "enum", "format", "items", "maxItems", "maxLength"),
    *("maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum"),
    *("nullable", "pattern", "properties", "required", "type"),
)


def openapi_subset(schema: Any) -> Problems:
    """pydantic/pydantic-ai#1598, microsoft/azure-devops-mcp#139, google-gemini/gemini-cli#3178."""
    for node in schemas(schema):
        yield from (word for word in node if word not in OPENAPI)
        if not isinstance(node.get("type", ""), str):
            yield "a list of types"
        if not all(isinstance(value, str) for value in node.get("enum", ())):
            yield "an enum that holds something else than strings"
        if is_of(node, "string") and node.get("format", "enum") not in ("enum", "date-time"):
            yield f"the format {node['format']}"
        if "anyOf" in node and node.keys() - {"anyOf", "nullable"}:
            yield "keywords beside anyOf"  # patlux/pi-commandcode-provider#103
        if not set(node.get("required", ())) <= (node.get("properties") or {}).keys():
            yield "a required name that is not listed"  # iBUHub/AIStudioToAPI#154


def gemini_names(schema: Any) -> Problems:
    """The docstring of google-genai's FunctionDeclaration.parameters."""
    for name, _ in properties(schema):
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", name) is None:
            yield f"the property {name!r}"


def fields_of(names: tuple[str, ...]) -> Callable[[Any], Problems]:
    """ollama/ollama#13508, #11444: a property keeps these fields, `items` is kept whole."""

    def check(schema: Any) -> Problems:
        for node in properties_outside_items(schema):
            if not isinstance(node, dict):
                yield "a boolean schema"  # can1357/oh-my-pi#4488
            else:
                yield from (word for word in node if word not in names)
        yield from (word for word in schema if word not in ("type", "properties", "required"))

    return check


def properties_outside_items(schema: Any) -> Iterator[Any]:
    for inner in (schema.get("properties") or {}).values():
        yield inner
        if isinstance(inner, dict):
            yield from properties_outside_items(inner)
    for branch in schema.get("anyOf") or ():
        if isinstance(branch, dict):
            yield from properties_outside_items(branch)


def moonshot_nodes(schema: Any) -> Problems:
    """FTShare-Lab/FTShare-MCP#7, MoonshotAI/kimi-cli#2061, #1595."""
    for node in schemas(schema):
        if "anyOf" in node and "type" in node:
            yield "a type beside anyOf"
        if "$ref" in node and (len(node) > 1 or not node["$ref"].startswith("#/$defs/")):
            yield "$ref with keywords beside it, or not to $defs"
    for name, node in properties(schema):
        if not isinstance(node, dict) or not {"type", "anyOf", "oneOf", "$ref"} & node.keys():
            yield f"the property {name!r} has no type"


def without(*words: str) -> Callable[[Any], Problems]:
    """Keywords that the engine refuses or ignores (xgrammar 0.2.9, llguidance 1.9.1, tried)."""

    def check(schema: Any) -> Problems:
        for node in schemas(schema):
            yield from (word for word in words if word in node)

    return check


def anchored_patterns(schema: Any) -> Problems:
    """xgrammar reads a pattern as if it were anchored."""
    for node in schemas(schema):
        pattern = node.get("pattern")
        if pattern is not None and not (pattern.startswith("^") and pattern.endswith("$")):
            yield f"the pattern {pattern!r} is not anchored"


RULES: dict[str, tuple[Callable[[Any], Problems], ...]] = {
    "anthropic": (
        *(object_root, no_union_at_root, anthropic_names, draft_2020_12),
        references_lead_somewhere,
    ),
    "bedrock": (object_root, no_union_at_root, draft_2020_12, references_lead_somewhere),
    "cohere": (object_root, draft_2020_12, references_lead_somewhere),
    "openai": (
        *(object_root, no_union_at_root, openai_root, arrays_have_items, python_patterns),
        references_lead_somewhere,
    ),
    "gemini": (object_root, gemini_keywords, arrays_have_items, references_lead_somewhere),
    "gemini_parameters": (object_root, openapi_subset, gemini_names, arrays_have_items),
    "ollama": (object_root, fields_of(("type", "items", "description", "enum"))),
    "ollama_http": (
        object_root,
        fields_of(("anyOf", "type", "items", "description", "enum", "properties", "required")),
    ),
    "moonshot": (object_root, no_union_at_root, moonshot_nodes, references_lead_somewhere),
    "vllm": (
        *(object_root, no_union_at_root, anchored_patterns),
        without("multipleOf", "uniqueItems", "contains", "propertyNames", "not", "if"),
    ),
    "llama_cpp": (
        *(object_root, no_union_at_root, references_lead_somewhere),
        without("pattern", "not", "if", "contains", "uniqueItems"),
    ),
}
