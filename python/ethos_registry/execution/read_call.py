"""Reading one call, in whatever shape it comes: it is answered even if it cannot be read."""

from __future__ import annotations

import contextlib
from typing import Any, TypeAlias

from ethos_registry.contract.call import MalformedCall, ToolCall
from ethos_registry.contract.call_shapes import call_identity, call_parts
from ethos_registry.contract.errors import ConfigError
from ethos_registry.execution.refusals import exception_text

__all__ = ["ReadCall", "read_call"]

ReadCall: TypeAlias = tuple[str, str, Any, str | None]
"""Id, name, arguments, and what is wrong with the call, if anything."""


def read_call(call: Any, index: int) -> ReadCall:
    """The call, or why it cannot be read, under its id or its position."""
    if type(call) is dict and "args" in call and "input" not in call:
        tool_call_id, name = call.get("id"), call.get("name")
        if type(tool_call_id) is str and type(name) is str:  # the usual call takes the short way
            return tool_call_id, name, call["args"], None
    if isinstance(call, MalformedCall):
        return call.tool_call_id, call.name, None, call.problem
    try:
        if not isinstance(call, ToolCall):
            return *call_parts(call, index), None
        if not isinstance(call.tool_call_id, str) or not isinstance(call.name, str):
            raise ConfigError("its id and its name must be strings")
        return call.tool_call_id, call.name, call.args, None
    except Exception as problem:  # a mapping's own `get` may raise anything
        tool_call_id, name = None, ""
        with contextlib.suppress(Exception):
            tool_call_id, name = call_identity(call)
        return tool_call_id or str(index), name, None, f"malformed call: {exception_text(problem)}"
