"""The arguments of one function: their schema, and how they are bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import GenericAlias
from typing import Any, NotRequired

from pydantic import ConfigDict, TypeAdapter
from pydantic.errors import (
    PydanticInvalidForJsonSchema,
    PydanticSchemaGenerationError,
    PydanticUserError,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema, PydanticSerializationError, from_json, to_json
from typing_extensions import TypedDict

from ethos_registry.schema._binding import Binder
from ethos_registry.schema._parameters import Parameters, innermost, read_docstring, read_parameters
from ethos_registry.schema._problems import KEYWORDS, clipped
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import freeze, thaw
from ethos_registry.types._result import ToolError

# JSON Schema for models: without titles that repeat names.


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


_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False)
_REASON_CHARS = 160
_make_typed_dict: Any = TypedDict


class Arguments:
    """How a model's arguments reach a function: made once per function, used at each call.

    Read-only, and what a tool runs does not depend on it.

    >>> def search(query: str, limit: int = 5): ...
    >>> arguments = Arguments(search)
    >>> arguments.bind({"query": "toad", "limit": "7"})
    {'query': 'toad', 'limit': 7}
    >>> arguments.bind({"query": "toad", "limit": "many"}).error
    "limit: should be a whole number, got 'many'"
    """

    __slots__ = ("binder", "parameters", "schema")

    parameters: Parameters
    schema: Mapping[str, Any]
    """JSON Schema of the arguments, read-only; its root is an object."""
    binder: Binder

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        tool_name: str | None = None,
        descriptions: Mapping[str, str] | None = None,
    ) -> None:
        name = tool_name or str(getattr(innermost(function), "__name__", function))
        parameters = read_parameters(function, name)
        fields = _fields(parameters)
        try:
            adapter, generated = _compiled(fields)
        except Exception as error:
            raise _guilty(fields, name, error) from error
        if descriptions is None:
            descriptions = read_docstring(_docstring(function)).parameters
        schema = _root(generated, parameters, descriptions)
        names = tuple(schema["properties"])
        reserved = frozenset(parameters.shown).difference(names)
        if parameters.context_name is not None:
            reserved |= {parameters.context_name}
        binder = Binder(
            adapter.validator.validate_python,
            names,
            reserved,
            parameters.context_name,
            parameters.keywords is not None,
        )
        for field, value in (
            ("parameters", parameters),
            ("schema", freeze(schema, "schema", keeps_surrogates=True)),
            ("binder", binder),
        ):
            object.__setattr__(self, field, value)

    def __setattr__(self, field: str, value: object) -> None:
        raise AttributeError(f"arguments are read-only; `{field}` cannot be set")

    def __delattr__(self, field: str) -> None:
        raise AttributeError(f"arguments are read-only; `{field}` cannot be removed")

    def bind(
        self, arguments: object, context: ToolContext | None = None
    ) -> dict[str, Any] | ToolError:
        """Keyword arguments for the function, or the `input_invalid` error that a model reads.

        Lax: `"5"` becomes 5. Unknown names are refused, defaults are filled in; models,
        dataclasses, enums and dates arrive as objects. `None` means no arguments.
        """
        return self.binder.bind(arguments, context)


def function_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """JSON Schema of a function's arguments, from its signature and its docstring.

    Properties keep the author's order. Descriptions come from `Field(description=...)`, else from
    the docstring. A parameter annotated `ToolContext` is left out. Raises `ConfigError` for a
    parameter that no model could fill.

    >>> def search(query: str, limit: int = 5):
    ...     '''Search.
    ...
    ...     Args:
    ...         query: What to look for.
    ...     '''
    >>> schema = function_schema(search)
    >>> schema["properties"]["query"], schema["properties"]["limit"]
    ({'type': 'string', 'description': 'What to look for.'}, {'type': 'integer', 'default': 5})
    """
    schema: dict[str, Any] = thaw(Arguments(function).schema)
    return schema


def _docstring(function: Callable[..., Any]) -> str | None:
    text = getattr(innermost(function), "__doc__", None)
    return text if isinstance(text, str) else None


def _fields(parameters: Parameters) -> dict[str, Any]:
    fields = {
        name: NotRequired[annotation] if name in parameters.optional else annotation
        for name, annotation in parameters.shown.items()
    }
    if parameters.keywords is not None:
        fields[KEYWORDS] = GenericAlias(dict, (str, parameters.keywords))
    return fields


def _compiled(fields: Mapping[str, Any]) -> tuple[TypeAdapter[Any], dict[str, Any]]:
    kind = _make_typed_dict("Arguments", dict(fields))
    kind.__pydantic_config__ = _CONFIG
    adapter = TypeAdapter(kind)
    return adapter, adapter.json_schema(schema_generator=ToolJsonSchema)


def _guilty(fields: Mapping[str, Any], tool_name: str, error: Exception) -> ConfigError:
    """The error about the first parameter that fails alone."""
    for name, annotation in fields.items():
        try:
            _compiled({name: annotation})
        except Exception as alone:
            error, parameter = alone, "**kwargs" if name == KEYWORDS else name
            break
    else:
        parameter = ", ".join(fields)
    if isinstance(error, PydanticSchemaGenerationError | PydanticInvalidForJsonSchema):
        problem = (
            "has a type that JSON cannot carry; annotate a JSON type, a pydantic model or a "
            "dataclass, or bind the value first: `functools.partial(function, "
            f"{parameter}=...)`"
        )
    else:
        problem = (
            f"has an annotation that pydantic refuses ({_reason(error)}); correct the annotation"
        )
    return ConfigError(
        f"tool `{tool_name}`: parameter `{parameter}` {problem}",
        context={"tool_name": tool_name, "field": parameter, "value": fields.get(parameter)},
    )


def _reason(error: Exception) -> str:
    if isinstance(error, PydanticUserError):
        return clipped(error.message, _REASON_CHARS)
    return " ".join(str(error).split())[-_REASON_CHARS:]  # compilers name the cause at the end


def _root(
    generated: dict[str, Any], parameters: Parameters, descriptions: Mapping[str, str]
) -> dict[str, Any]:
    """The schema of the object of arguments, with the descriptions that the fields lack."""
    properties = dict(generated.get("properties", {}))
    others: Any = False
    if parameters.keywords is not None:
        others = properties.pop(KEYWORDS).get("additionalProperties", True)
    for name, shown in zip(parameters.shown, properties, strict=True):
        about = descriptions.get(name)
        if about and "description" not in properties[shown]:
            properties[shown]["description"] = about
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    required = [name for name in generated.get("required", ()) if name in properties]
    if required:
        schema["required"] = required
    schema["additionalProperties"] = others
    if "$defs" in generated:
        schema["$defs"] = generated["$defs"]
    return schema
