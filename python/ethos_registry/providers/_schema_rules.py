"""The rules of each provider for tool schemas, one table a provider."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from ethos_registry.schema._dialect import Dialect, StrictBudget, StrictRules

_ANTHROPIC_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_GEMINI_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_UNIONS = frozenset({"allOf", "anyOf", "oneOf"})
_CONDITIONS = frozenset({"else", "if", "not", "then"})
_OPENAI_ROOT = _UNIONS | {"const", "enum", "not"}
_PLAIN_ROOT = _UNIONS | _CONDITIONS | {"const", "enum"}
_TIMES = frozenset({"date", "date-time", "duration", "time"})
_STRICT_FORMATS = _TIMES | {"email", "hostname", "ipv4", "ipv6", "uuid"}
_STRICT_KEYWORDS = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "description",
        "enum",
        "format",
        "items",
        "minItems",
        "properties",
        "required",
        "title",
        "type",
    }
)

ANTHROPIC = Dialect(
    "anthropic",
    property_name=_ANTHROPIC_NAME,
    refused_at_root=_UNIONS,
    boolean_schemas=True,
    strict=StrictRules(
        _STRICT_KEYWORDS | {"default"},
        _STRICT_FORMATS | {"uri"},
        optional_is_nullable=False,
        max_min_items=1,
        takes_recursion=False,
    ),
    budget=StrictBudget(tools=20, optional=24, unions=16),
)
OPENAI = Dialect(
    "openai",
    refused_at_root=_OPENAI_ROOT,
    array_needs_items=True,
    object_needs_properties=True,
    pattern="python",
    strict=StrictRules(
        _STRICT_KEYWORDS
        | {
            "exclusiveMaximum",
            "exclusiveMinimum",
            "maxItems",
            "maximum",
            "minimum",
            "multipleOf",
            "pattern",
        },
        _STRICT_FORMATS,
        optional_is_nullable=True,
        max_min_items=float("inf"),
        takes_recursion=True,
        max_object_levels=10,
        max_properties=5_000,
        max_enum_values=1_000,
        max_name_chars=120_000,
        max_large_enum_chars=15_000,
    ),
)
_GEMINI_KEYWORDS = frozenset(
    {
        "anyOf",
        "default",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "pattern",
        "properties",
        "required",
        "type",
    }
)
_GEMINI = Dialect(
    "gemini",
    property_name=_GEMINI_NAME,
    refused_at_root=_PLAIN_ROOT,
    keywords=_GEMINI_KEYWORDS | {"$defs", "$ref", "additionalProperties", "prefixItems"},
    formats=frozenset({"date-time", "enum"}),
    array_needs_items=True,
    const=False,
    max_items_sum=900,
)
_GEMINI_PARAMETERS = replace(
    _GEMINI,
    name="gemini_parameters",
    keywords=_GEMINI_KEYWORDS | {"maxProperties", "minProperties", "nullable"},
    string_enums=True,
    types="one",
    keeps_definitions=False,
)
_OLLAMA = Dialect(
    "ollama",
    refused_at_root=_PLAIN_ROOT,
    keywords=frozenset({"description", "enum", "items", "type"}),
    root_keywords=frozenset({"properties", "required", "type"}),
    const=False,
    types="joined",
    keeps_definitions=False,
    items_are_whole=True,
)
_OLLAMA_HTTP = replace(
    _OLLAMA,
    name="ollama_http",
    keywords=frozenset({"anyOf", "description", "enum", "items", "properties", "required", "type"}),
    types="list",
)
_BEDROCK = Dialect(
    "bedrock", property_name=_ANTHROPIC_NAME, refused_at_root=_UNIONS, boolean_schemas=True
)
_COHERE = replace(_BEDROCK, name="cohere")
_MOONSHOT = Dialect(
    "moonshot",
    refused_at_root=_OPENAI_ROOT,
    array_needs_items=True,
    object_needs_properties=True,
    const=False,
    any_value="any_of",
    type_beside_any_of=False,
    ref_siblings=False,
    strict=OPENAI.strict,
)
_LLAMA_CPP = Dialect(
    "llama_cpp",
    refused_at_root=_UNIONS | _CONDITIONS,
    without=_CONDITIONS
    | frozenset({"contains", "patternProperties", "prefixItems", "uniqueItems"}),
    any_value="type_list",
    type_beside_any_of=False,
    pattern="none",
    strict=OPENAI.strict,
)
_VLLM = Dialect(
    "vllm",
    refused_at_root=_PLAIN_ROOT,
    without=_CONDITIONS
    | {
        "contains",
        "dependentRequired",
        "dependentSchemas",
        "maxContains",
        "maxProperties",
        "minContains",
        "minProperties",
        "multipleOf",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
    },
    formats=_STRICT_FORMATS
    | {"json-pointer", "relative-json-pointer", "uri", "uri-reference", "uri-template"},
    any_value="type_list",
    type_beside_any_of=False,
    pattern="anchored",
    pattern_with_length=False,
    pattern_beside_properties=False,
    one_of_disjoint=True,
    strict=OPENAI.strict,
)

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        dialect.name: dialect
        for dialect in (
            ANTHROPIC,
            OPENAI,
            _GEMINI,
            _GEMINI_PARAMETERS,
            _OLLAMA,
            _OLLAMA_HTTP,
            _BEDROCK,
            _COHERE,
            _MOONSHOT,
            _LLAMA_CPP,
            _VLLM,
        )
    }
)
"""The rules by name."""
