"""JSON Schema for models: without titles that repeat names."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema, PydanticSerializationError, from_json, to_json

__all__ = ["ToolJsonSchema"]


class ToolJsonSchema(GenerateJsonSchema):
    """Pydantic's JSON Schema with only the titles that an author wrote.

    Defaults without a JSON form (objects, infinity) are left out; they still fill the argument.
    """

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as the base class declares it

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        """The schema as it was built: `Tool` orders the keywords of every schema."""
        return value

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never: a title made from the field's name repeats the name."""
        return False

    def encode_default(self, dft: Any) -> Any:
        """The default as a JSON value; pydantic leaves it out if this raises its error."""
        if dft is None or isinstance(dft, bool) or type(dft) in (str, int):
            return dft  # pydantic would compile a serializer for the default's type
        try:
            return from_json(to_json(super().encode_default(dft)), allow_inf_nan=False)
        except ValueError as error:
            raise PydanticSerializationError(str(error)) from error

    def generate(self, schema: CoreSchema, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        """The schema, without titles that only repeat the name of a definition."""
        generated = super().generate(schema, mode)
        for name, definition in generated.get("$defs", {}).items():
            if name.endswith(self.normalize_name(definition.get("title", " "))):
                del definition["title"]
        return generated
