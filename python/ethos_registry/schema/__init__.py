"""From a function's signature to a JSON Schema, and from arguments to a call."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.schema._arguments import function_schema
    from ethos_registry.schema._function_tool import FunctionTool

__all__ = [
    "FunctionTool",
    "function_schema",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "schema._arguments": "function_schema",
            "schema._function_tool": "FunctionTool",
        },
    )
