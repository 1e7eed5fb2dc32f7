"""The tool registry for LLM agents.

Register tools, show each agent only what it may use, run the calls of a model's reply in parallel,
and get one result per call, in order and within one budget.

>>> from ethos_registry import Personality, ToolRegistry
>>> registry = ToolRegistry()
>>> @registry.tool(toolset="numbers")
... def add(first: int, second: int) -> int:
...     '''Add two numbers.'''
...     return first + second
>>> view = registry.view(Personality("clerk", toolset=["toolset:numbers"]))
>>> [shown["name"] for shown in view.definitions("anthropic")]
['add']
>>> call = {"id": "1", "name": "add", "args": {"first": 1, "second": "2"}}
>>> [result] = registry.execute_parallel_sync([call])  # or `await view.execute([call])`
>>> result.ok, result.text
(True, '3')
"""

from typing import TYPE_CHECKING

from ethos_registry._core import __version__
from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.artifacts._artifact import SpooledArtifact as SpooledArtifact
    from ethos_registry.capabilities._resolver import CapabilityBackends as CapabilityBackends
    from ethos_registry.config._personalities import load_personality
    from ethos_registry.execution._options import Invocation, InvocationFilter
    from ethos_registry.providers._by_name import provider
    from ethos_registry.reduction._many import reduce_text
    from ethos_registry.reduction._reducers import (
        DefaultToolResultReducerRegistry,
        default_reducers,
    )
    from ethos_registry.registry._frozen import FrozenToolRegistry, create_tool_registry
    from ethos_registry.registry._tool_registry import DefaultToolRegistry, ToolRegistry
    from ethos_registry.registry._view import View
    from ethos_registry.schema._function_tool import tool
    from ethos_registry.types._abort import AbortSignal as AbortSignal
    from ethos_registry.types._call import CallResult, Pending, ToolCall
    from ethos_registry.types._content import Attachment as Attachment
    from ethos_registry.types._context import ToolContext
    from ethos_registry.types._context import ToolProgressEvent as ToolProgressEvent
    from ethos_registry.types._errors import (
        ConfigError,
        EthosRegistryError,
        ToolAlreadyRegisteredError,
    )
    from ethos_registry.types._policy import NO_TOOLS, Personality, ToolFilterOpts
    from ethos_registry.types._policy import ToolCapabilities as ToolCapabilities
    from ethos_registry.types._ports import KeyValueStore as KeyValueStore
    from ethos_registry.types._ports import ScopedAttachments as ScopedAttachments
    from ethos_registry.types._ports import ScopedFetch as ScopedFetch
    from ethos_registry.types._ports import ScopedFs as ScopedFs
    from ethos_registry.types._ports import ScopedProcess as ScopedProcess
    from ethos_registry.types._ports import ScopedSecretsResolver as ScopedSecretsResolver
    from ethos_registry.types._ports import Storage as Storage
    from ethos_registry.types._reducer import ToolReducerContext as ToolReducerContext
    from ethos_registry.types._reducer import ToolResultReducer as ToolResultReducer
    from ethos_registry.types._reducer import ToolResultReducerRegistry as ToolResultReducerRegistry
    from ethos_registry.types._result import ToolError, ToolOk, ToolResult, err, ok
    from ethos_registry.types._tool import Tool
    from ethos_registry.types._turn import DispatchContext as DispatchContext
    from ethos_registry.types._turn import ToolResolver as ToolResolver

__all__ = [
    "NO_TOOLS",
    "CallResult",
    "ConfigError",
    "DefaultToolRegistry",
    "DefaultToolResultReducerRegistry",
    "EthosRegistryError",
    "FrozenToolRegistry",
    "Invocation",
    "InvocationFilter",
    "Pending",
    "Personality",
    "Tool",
    "ToolAlreadyRegisteredError",
    "ToolCall",
    "ToolContext",
    "ToolError",
    "ToolFilterOpts",
    "ToolOk",
    "ToolRegistry",
    "ToolResult",
    "View",
    "__version__",
    "create_tool_registry",
    "default_reducers",
    "err",
    "load_personality",
    "ok",
    "provider",
    "reduce_text",
    "tool",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "artifacts._artifact": "SpooledArtifact",
            "capabilities._resolver": "CapabilityBackends",
            "config._personalities": "load_personality",
            "execution._options": "Invocation InvocationFilter",
            "providers._by_name": "provider",
            "reduction._many": "reduce_text",
            "reduction._reducers": "DefaultToolResultReducerRegistry default_reducers",
            "registry._frozen": "FrozenToolRegistry create_tool_registry",
            "registry._tool_registry": "DefaultToolRegistry ToolRegistry",
            "registry._view": "View",
            "schema._function_tool": "tool",
            "types._abort": "AbortSignal",
            "types._call": "CallResult Pending ToolCall",
            "types._content": "Attachment",
            "types._context": "ToolContext ToolProgressEvent",
            "types._errors": "ConfigError EthosRegistryError ToolAlreadyRegisteredError",
            "types._policy": "NO_TOOLS Personality ToolCapabilities ToolFilterOpts",
            "types._ports": (
                "KeyValueStore ScopedAttachments ScopedFetch ScopedFs ScopedProcess "
                "ScopedSecretsResolver Storage"
            ),
            "types._reducer": "ToolReducerContext ToolResultReducer ToolResultReducerRegistry",
            "types._result": "ToolError ToolOk ToolResult err ok",
            "types._tool": "Tool",
            "types._turn": "DispatchContext ToolResolver",
        },
    )
