"""The tool registry for LLM agents.

Register tools, show each agent only what it may use, run what the model asks for, and get every
answer, in order and inside one budget. The layering: values (`contract`), names and gates
(`table`), schemas (`schema`), execution (`execution`), and the registry over them.

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

from ethos_registry._core import __version__
from ethos_registry.artifacts.artifact import SpooledArtifact
from ethos_registry.artifacts.errors import ArtifactGoneError, ArtifactStoreError
from ethos_registry.artifacts.spooled_store import SpooledArtifactStore
from ethos_registry.artifacts.store import MemoryArtifactStore
from ethos_registry.capabilities.resolver import CapabilityBackends
from ethos_registry.config.personalities import load_personalities, load_personality
from ethos_registry.contract.abort import AbortController, AbortSignal
from ethos_registry.contract.artifact import ArtifactOrigin
from ethos_registry.contract.attachment import Attachment
from ethos_registry.contract.call import CallResult, MalformedCall, ToolCall, ToolExecuteRequest
from ethos_registry.contract.canonical_json import call_checksum
from ethos_registry.contract.capability import ToolCapabilities
from ethos_registry.contract.content import Audio, ContentBlock, Document, Image, Link
from ethos_registry.contract.context import DEFAULT_BUDGET_CHARS, ReadMtime, ToolContext
from ethos_registry.contract.dispatch import DispatchContext, ToolExecution
from ethos_registry.contract.errors import (
    ConfigError,
    EthosRegistryError,
    ToolAlreadyRegisteredError,
    TurnAlreadySignalledError,
)
from ethos_registry.contract.policy import (
    NO_TOOLS,
    FsReach,
    NetworkPolicy,
    Personality,
    ToolFilterOpts,
)
from ethos_registry.contract.ports import (
    ArtifactStore,
    KeyValueStore,
    ScopedAttachments,
    ScopedFetch,
    ScopedFs,
    ScopedProcess,
    ScopedSecretsResolver,
    Storage,
    ToolForge,
    ToolResolver,
    ToolView,
    TurnScope,
    UsageRecorder,
)
from ethos_registry.contract.progress import Audience, ToolProgressEvent
from ethos_registry.contract.reducer import (
    ToolReducerContext,
    ToolResultReducer,
    ToolResultReducerRegistry,
)
from ethos_registry.contract.registration import Registration
from ethos_registry.contract.result import (
    ErrorCode,
    ErrorReason,
    ToolError,
    ToolOk,
    ToolResult,
    err,
    ok,
    result_from_wire,
)
from ethos_registry.contract.tool import CollisionPolicy, Tool
from ethos_registry.execution.filters import Invocation, InvocationFilter
from ethos_registry.execution.results import CallResults
from ethos_registry.providers.names import provider
from ethos_registry.providers.portable_name import portable_name
from ethos_registry.providers.prefix import Prefix
from ethos_registry.providers.prefix_diff import PrefixChange, PrefixDiff, prefix_diff
from ethos_registry.reduction.arrow import reduce_arrow
from ethos_registry.reduction.built_in import built_in_reducers, default_reducers
from ethos_registry.reduction.many import reduce_many, reduce_text
from ethos_registry.reduction.registry import DefaultToolResultReducerRegistry
from ethos_registry.registry.explain import Explanation
from ethos_registry.registry.frozen import FrozenToolRegistry, create_tool_registry
from ethos_registry.registry.prefix_session import PrefixSession
from ethos_registry.registry.tool_registry import (
    DefaultToolRegistry,
    ToolRegistry,
    is_tool_registry,
)
from ethos_registry.registry.turn import Turn
from ethos_registry.registry.view import View
from ethos_registry.schema import FunctionTool, function_schema, tool
from ethos_registry.toolkit import (
    ArtifactReaders,
    kanban_tools,
    list_files_tool,
    patch_file_tool,
    read_file_tool,
    ready_tools,
    run_tests_tool,
    search_files_tool,
    terminal_tool,
    write_file_tool,
)

__all__ = [
    "DEFAULT_BUDGET_CHARS",
    "NO_TOOLS",
    "AbortController",
    "AbortSignal",
    "ArtifactGoneError",
    "ArtifactOrigin",
    "ArtifactReaders",
    "ArtifactStore",
    "ArtifactStoreError",
    "Attachment",
    "Audience",
    "Audio",
    "CallResult",
    "CallResults",
    "CapabilityBackends",
    "CollisionPolicy",
    "ConfigError",
    "ContentBlock",
    "DefaultToolRegistry",
    "DefaultToolResultReducerRegistry",
    "DispatchContext",
    "Document",
    "ErrorCode",
    "ErrorReason",
    "EthosRegistryError",
    "Explanation",
    "FrozenToolRegistry",
    "FsReach",
    "FunctionTool",
    "Image",
    "Invocation",
    "InvocationFilter",
    "KeyValueStore",
    "Link",
    "MalformedCall",
    "MemoryArtifactStore",
    "NetworkPolicy",
    "Personality",
    "Prefix",
    "PrefixChange",
    "PrefixDiff",
    "PrefixSession",
    "ReadMtime",
    "Registration",
    "ScopedAttachments",
    "ScopedFetch",
    "ScopedFs",
    "ScopedProcess",
    "ScopedSecretsResolver",
    "SpooledArtifact",
    "SpooledArtifactStore",
    "Storage",
    "Tool",
    "ToolAlreadyRegisteredError",
    "ToolCall",
    "ToolCapabilities",
    "ToolContext",
    "ToolError",
    "ToolExecuteRequest",
    "ToolExecution",
    "ToolFilterOpts",
    "ToolForge",
    "ToolOk",
    "ToolProgressEvent",
    "ToolReducerContext",
    "ToolRegistry",
    "ToolResolver",
    "ToolResult",
    "ToolResultReducer",
    "ToolResultReducerRegistry",
    "ToolView",
    "Turn",
    "TurnAlreadySignalledError",
    "TurnScope",
    "UsageRecorder",
    "View",
    "__version__",
    "built_in_reducers",
    "call_checksum",
    "create_tool_registry",
    "default_reducers",
    "err",
    "function_schema",
    "is_tool_registry",
    "kanban_tools",
    "list_files_tool",
    "load_personalities",
    "load_personality",
    "ok",
    "patch_file_tool",
    "portable_name",
    "prefix_diff",
    "provider",
    "read_file_tool",
    "ready_tools",
    "reduce_arrow",
    "reduce_many",
    "reduce_text",
    "result_from_wire",
    "run_tests_tool",
    "search_files_tool",
    "terminal_tool",
    "tool",
    "write_file_tool",
]
