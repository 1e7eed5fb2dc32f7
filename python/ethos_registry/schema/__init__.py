"""Arguments: from a function's signature to a schema, a binding and a tool."""

from ethos_registry.schema.arguments import Arguments, function_schema
from ethos_registry.schema.decorator import FunctionTool, tool
from ethos_registry.schema.returned import to_result

__all__ = ["Arguments", "FunctionTool", "function_schema", "to_result", "tool"]
