"""The definition of a tool as a server lists it, and its digest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ethos_registry import _core
from ethos_registry.bridges.mcp.bridge.plain_text import cleaned, cleaned_schema
from ethos_registry.bridges.mcp.bridge.reports import McpAnnotations
from ethos_registry.contract.canonical_json import canonical_json, sha256_hex
from ethos_registry.contract.errors import ConfigError
from ethos_registry.schema.conjunction import types_of
from ethos_registry.schema.drafts import schema_of_2020_12
from ethos_registry.schema.validate import ArgumentValidator

if TYPE_CHECKING:
    from mcp_types import Tool as McpTool

__all__ = [
    "RemoteDefinition",
    "argument_validator",
    "compositions_at_root",
    "remote_definition",
]

_PINNED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_OPEN = frozenset(
    {
        "additionalProperties",
        "patternProperties",
        "unevaluatedProperties",
        "propertyNames",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "dependentSchemas",
        "$ref",
        "$dynamicRef",
    }
)
"""Keywords at the root that may permit arguments which are not listed under `properties`."""
_AT_ROOT = ("anyOf", "oneOf", "allOf", "not", "enum", "if", "$ref")


class RemoteDefinition:
    """What a server states of one tool: the JSON that a pin compares."""

    __slots__ = ("digest", "fields", "meta", "name")

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = {key: fields[key] for key in _PINNED if fields.get(key) is not None}
        self.name: str = self.fields["name"]
        given = fields.get("_meta")
        self.meta: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        self.digest = sha256_hex(canonical_json(self.fields))

    @property
    def description(self) -> str:
        """What a model reads."""
        return cleaned(self.fields.get("description") or self.fields.get("title") or "")

    @property
    def schema(self) -> Any:
        """The schema of the arguments, with clean descriptions.

        One that is not valid draft 2020-12, but can be read, is translated: many servers write
        older drafts, types of their programming language, or no type at the root.
        """
        schema = cleaned_schema(self.fields.get("inputSchema"))
        if not isinstance(schema, Mapping):
            return schema
        translated = schema_of_2020_12(schema)
        if "type" not in translated or "object" in types_of(translated):
            translated["type"] = "object"
        return schema if translated == schema else translated

    @property
    def annotations(self) -> McpAnnotations:
        """The server's hints; those of the wrong type count as not given."""
        given = self.fields.get("annotations")
        hints = given if isinstance(given, Mapping) else {}

        def hint(name: str, default: bool) -> bool:
            value = hints.get(name)
            return value if isinstance(value, bool) else default

        return McpAnnotations(
            read_only=hint("readOnlyHint", False),
            destructive=hint("destructiveHint", True),
            idempotent=hint("idempotentHint", False),
            open_world=hint("openWorldHint", True),
        )


def remote_definition(tool: McpTool) -> RemoteDefinition:
    """The definition of a listed tool."""
    return RemoteDefinition(tool.model_dump(mode="json", by_alias=True, exclude_none=True))


def argument_validator(name: str, schema: Mapping[str, Any]) -> ArgumentValidator:
    """The compiled schema of the arguments.

    Many servers ignore arguments that they do not know, so that a model would not notice its
    mistake: a name that the schema does not have is refused, if the schema names its properties and
    does not decide about others. A pattern that the engine does not support, such as one with
    look-around, is not checked here; the server checks it. `ConfigError` for a schema that cannot
    be compiled at all.
    """
    checked = dict(schema)
    if checked.get("properties") and not checked.keys() & _OPEN:
        checked["additionalProperties"] = False
    validator = ArgumentValidator(name, checked)
    try:
        validator.compile()
    except ConfigError:
        validator = ArgumentValidator(name, _without_foreign_patterns(checked))
        validator.compile()
    return validator


def _without_foreign_patterns(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: _without_foreign_patterns(value)
            for key, value in schema.items()
            if not (key == "pattern" and isinstance(value, str) and not _is_supported(value))
        }
    if isinstance(schema, list):
        return [_without_foreign_patterns(item) for item in schema]
    return schema


def _is_supported(pattern: str) -> bool:
    try:
        _core.SchemaValidator({"pattern": pattern})
    except ValueError:
        return False
    return True


def compositions_at_root(schema: Any) -> list[str]:
    """Keywords at the root of a schema that some providers refuse there."""
    return [key for key in _AT_ROOT if key in schema] if isinstance(schema, Mapping) else []
