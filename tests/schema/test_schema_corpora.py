"""Public tool schemas: every provider's form of them is one that it takes, and their calls bind."""

from __future__ import annotations

import functools
import json
import lzma
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import Tool, ToolRegistry, ok
from ethos_registry.mcp._definitions import RemoteDefinition
from ethos_registry.providers._schema_rules import DIALECTS
from ethos_registry.schema._compilation import NoSchemaError
from ethos_registry.schema._compiler import compile_schema
from ethos_registry.schema._drafts import schema_of_2020_12
from provider_rules import RULES

DATA = Path(__file__).parents[1] / "data"
CASES = json.loads((DATA / "schema_cases.json").read_text())


@functools.cache
def document(name: str) -> Any:
    return json.loads(lzma.decompress((DATA / name).read_bytes()))


def readable(schema: Any) -> Any:
    """The schema in draft 2020-12, as the bridge reads those of servers."""
    translated = schema_of_2020_12(schema)
    translated.setdefault("type", "object")
    return translated


def of_bfcl() -> list[Any]:
    return [readable(function["parameters"]) for function in document("bfcl.json.xz")["functions"]]


def of_servers() -> list[Any]:
    """Those of MCP servers on npm and PyPI, as the bridge takes them."""
    return [
        RemoteDefinition({"name": tool["name"], "inputSchema": tool["schema"]}).schema
        for tool in document("mcp_schemas.json.xz")
    ]


def of_cases() -> list[Any]:
    return [case["schema"] for case in CASES["schemas"]]


def compiled(schemas: list[Any], name: str) -> list[Any]:
    """The forms of all schemas that have one, as JSON."""
    found = []
    for schema in schemas:
        try:
            found.append(json.loads(json.dumps(compile_schema(schema, DIALECTS[name]).schema)))
        except NoSchemaError:
            continue
    return found


CORPORA = {of_bfcl: 2_405, of_servers: 291, of_cases: None}
"""With the number of forms; not every case has one."""


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.__name__)
def test_no_provider_refuses_what_it_is_sent(corpus: Any, name: str) -> None:
    problems: Counter[str] = Counter()
    forms = compiled(corpus(), name)
    for form in forms:
        for rule in RULES[name]:
            problems.update(rule(form))
    assert problems == Counter()
    assert CORPORA[corpus] in (None, len(forms))


def test_sdk_types_take_every_definition() -> None:
    genai = pytest.importorskip("google.genai.types")
    ollama = pytest.importorskip("ollama")
    anthropic = pytest.importorskip("anthropic.types")
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    from pydantic import TypeAdapter

    schemas = of_bfcl() + of_servers() + of_cases()
    adapters = {
        "anthropic": (TypeAdapter(anthropic.ToolParam), lambda s: {"name": "f", "input_schema": s}),
        "openai": (
            TypeAdapter(chat.ChatCompletionFunctionToolParam),
            lambda s: {"type": "function", "function": {"name": "f", "parameters": s}},
        ),
        "moonshot": (
            TypeAdapter(responses.FunctionToolParam),
            lambda s: {"type": "function", "name": "f", "parameters": s, "strict": False},
        ),
        "gemini": (
            TypeAdapter(genai.FunctionDeclaration),
            lambda s: {"name": "f", "parameters_json_schema": s},
        ),
        "gemini_parameters": (
            TypeAdapter(genai.FunctionDeclaration),
            lambda s: {"name": "f", "parameters": s},
        ),
        "ollama": (
            TypeAdapter(ollama.Tool),
            lambda s: {"type": "function", "function": {"name": "f", "parameters": s}},
        ),
    }
    for name, (adapter, definition) in adapters.items():
        for schema in compiled(schemas, name):
            made = adapter.validate_python(definition(schema))
            if name == "ollama":  # its model drops what it does not know
                sent = made.model_dump(exclude_none=True)["function"]["parameters"]
                assert sent == schema


NOT_LISTED = "a value that the definition does not list"
NOT_TEXT = "a boolean or a number where the definition lists strings"
EMPTY_TEXT = "an empty string for a required list"
CONTRADICTIONS = {
    1187: ("""x: should be a list, got "data['sales']";""", "names of variables for lists"),
    1388: ("elements[4]: should be a whole number, got 'elderberry'", "strings as integers"),
    1853: ("bank_hours_start: should be a list, got an empty string", EMPTY_TEXT),
    1859: ("atm_finder_start: should be a list, got an empty string", EMPTY_TEXT),
    2092: ("'openapi' or 'graphql', got 'openai'", NOT_LISTED),
    2557: ("is_unisex: should be a string and 'True', 'False' or 'dontcare', got true", NOT_TEXT),
    2600: ("number_of_rooms: should be a string and '1', '2', '3' or 'dontcare', got 2", NOT_TEXT),
    2601: ("number_of_rooms: should be a string and '1', '2', '3' or 'dontcare', got 1", NOT_TEXT),
    2736: ("in_unit_laundry: should be a string and 'True'", NOT_TEXT),
    2738: ("in_unit_laundry: should be a string and 'True'", NOT_TEXT),
    2740: ("in_unit_laundry: should be a string and 'True'", NOT_TEXT),
    2755: ("got 'Any'", NOT_LISTED),
    2761: ("got 'horror'", "a listed value in another case: `Horror`"),
    2840: ("got 'Reggaeton'", NOT_LISTED),
    2876: ("got 'Play'", NOT_LISTED),
    2952: ("got '5 minutes'", NOT_LISTED),
    2969: ("statement: is required, but missing", "an argument `question` for `statement`"),
    3102: ("got '침실, 공기청정기, 중지'", NOT_LISTED),
}
"""The expected calls that contradict their own definition, by number: part of the error, and why.

None has one reading: the guide to argument repair says why such values are never rewritten.
"""


def test_expected_calls_of_bfcl_bind() -> None:
    data = document("bfcl.json.xz")

    async def execute(args: Any, context: Any) -> Any:
        return ok(json.dumps(args, sort_keys=True))

    registry = ToolRegistry(
        [Tool(f"f{number}", "", schema, execute) for number, schema in enumerate(of_bfcl())],
        validate_arguments=True,
        repair_arguments="all",
    )
    calls = [
        {"id": str(number), "name": f"f{function}", "args": args}
        for number, (function, args) in enumerate(data["calls"])
    ]
    results = registry.execute_parallel_sync(calls, context=None, untrusted="mark")
    refused = {number: result.text for number, result in enumerate(results) if not result.ok}
    assert refused.keys() == CONTRADICTIONS.keys()
    for number, (part, contradiction) in CONTRADICTIONS.items():
        assert part in refused[number], contradiction
    assert sum(bool(result.repairs) for result in results) == 1
    for call, result in zip(calls, results, strict=True):
        if result.ok and not result.repairs and result.truncated_from is None:
            assert result.text == json.dumps(call["args"], sort_keys=True)
