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

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ethos_registry._core import __version__

if TYPE_CHECKING:  # at run time `__getattr__` imports a name's module when it is first used
    from ethos_registry._processes.supervised_process import (
        SupervisedProcess,
        SupervisorUnavailableError,
    )
    from ethos_registry._processes.supervisor import containment, start_supervised
    from ethos_registry.adapters._turn_collector import TurnCollector
    from ethos_registry.agents._agent import Agent
    from ethos_registry.agents._catalog import AgentCatalog
    from ethos_registry.agents._catalog_view import CatalogView
    from ethos_registry.artifacts._artifact import SpooledArtifact
    from ethos_registry.artifacts._content import ArtifactGoneError, ArtifactStoreError
    from ethos_registry.artifacts._spooled_store import SpooledArtifactStore
    from ethos_registry.artifacts._store import MemoryArtifactStore
    from ethos_registry.capabilities._address_guard import HostNotAllowedError
    from ethos_registry.capabilities._files import (
        AttachmentNotFoundError,
        Protection,
        ReachFiles,
        folder_storage,
    )
    from ethos_registry.capabilities._key_values import (
        KeyValueDatabase,
        KeyValueError,
        QuotaExceededError,
    )
    from ethos_registry.capabilities._network import (
        ConnectionPools,
        FetchLimits,
        FetchResponse,
        ResponseTooLargeError,
    )
    from ethos_registry.capabilities._process import ProgramRunner
    from ethos_registry.capabilities._resolver import CapabilityBackends
    from ethos_registry.capabilities._sandbox import (
        CommandSandbox,
        SandboxPolicy,
        UnconfinedError,
        sandbox_support,
    )
    from ethos_registry.capabilities._secrets import EnvironmentSecrets, FileSecrets, KeyringSecrets
    from ethos_registry.capabilities._standard import StandardBackends, standard_backends
    from ethos_registry.config._personalities import load_personalities, load_personality
    from ethos_registry.execution._approvals import (
        Approvals,
        FileApprovalStore,
        MemoryApprovalStore,
    )
    from ethos_registry.execution._options import (
        BatchControl,
        BatchOptions,
        Invocation,
        InvocationFilter,
        StreamOptions,
    )
    from ethos_registry.execution._results import CallResults
    from ethos_registry.mcp._bridge import McpBridge
    from ethos_registry.mcp._definitions import (
        McpAnnotations,
        McpPins,
        McpProblem,
        McpServerStatus,
        PinDifference,
        ToolsChanged,
    )
    from ethos_registry.mcp._gateway import McpGateway
    from ethos_registry.mcp._server import McpServer
    from ethos_registry.providers._by_name import provider
    from ethos_registry.providers._portable_name import portable_name
    from ethos_registry.providers._prefix import (
        CacheLoss,
        Prefix,
        PrefixChange,
        PrefixDiff,
        prefix_diff,
    )
    from ethos_registry.recording._recorder import (
        RecordedTurn,
        Recording,
        TurnRecorder,
        read_recording,
        recorded_turns,
    )
    from ethos_registry.recording._rows import RecordingError
    from ethos_registry.recording._sqlite import FoundCall, SqliteRecording
    from ethos_registry.reduction._formats import (
        FormatError,
        FormatsNotTrustedError,
        OutputFormat,
        built_in_formats,
        load_formats,
        register_format,
        registered_formats,
        trust_formats,
        unregister_format,
        user_formats_folder,
    )
    from ethos_registry.reduction._many import reduce_arrow, reduce_many, reduce_text
    from ethos_registry.reduction._redaction import redact_text
    from ethos_registry.reduction._reducers import (
        DefaultToolResultReducerRegistry,
        built_in_reducers,
        default_reducers,
    )
    from ethos_registry.registry._explain import CapabilityFinding, Explanation
    from ethos_registry.registry._frozen import FrozenToolRegistry, create_tool_registry
    from ethos_registry.registry._local_transport import LocalTransport
    from ethos_registry.registry._prefix_session import PrefixSession
    from ethos_registry.registry._search import ToolSearch
    from ethos_registry.registry._search_view import DeferredView, SearchView
    from ethos_registry.registry._stream import (
        BrokenStreamPolicy,
        DispatchedStream,
        StreamDispatcher,
        SyncStreamDispatcher,
    )
    from ethos_registry.registry._tool_registry import (
        DefaultToolRegistry,
        ToolRegistry,
        Turn,
        is_tool_registry,
    )
    from ethos_registry.registry._view import View
    from ethos_registry.schema._arguments import function_schema
    from ethos_registry.schema._function_tool import FunctionTool, tool
    from ethos_registry.telemetry._conventions import Langfuse, OpenInference, TracedCall
    from ethos_registry.telemetry._open_telemetry import OpenTelemetry
    from ethos_registry.tools._artifact_readers import ArtifactReaders
    from ethos_registry.tools._browser import Browser
    from ethos_registry.tools._fetch_url import fetch_url_tool
    from ethos_registry.tools._kanban import kanban_tools
    from ethos_registry.tools._list_files import list_files_tool
    from ethos_registry.tools._memory import memory_tools
    from ethos_registry.tools._patch_file import patch_file_tool
    from ethos_registry.tools._project_checks import lint_tool, run_tests_tool, typecheck_tool
    from ethos_registry.tools._read_attachment import read_attachment_tool
    from ethos_registry.tools._read_file import read_file_tool
    from ethos_registry.tools._ready import ready_tools
    from ethos_registry.tools._search_files import search_files_tool
    from ethos_registry.tools._session_search import session_search_tool
    from ethos_registry.tools._terminal import terminal_tool
    from ethos_registry.tools._todo import todo_tools
    from ethos_registry.tools._web_search import (
        BraveSearch,
        ScriptedSearch,
        SearchBackend,
        SearchError,
        SearchResult,
        TavilySearch,
        web_search_tool,
    )
    from ethos_registry.tools._write_file import write_file_tool
    from ethos_registry.transports._limits import WorkerLimits
    from ethos_registry.transports._mcp_transport import McpTransport
    from ethos_registry.transports._process_transport import ProcessTransport
    from ethos_registry.transports.ray._members import RaySessions
    from ethos_registry.transports.ray._pool import RayWorkers
    from ethos_registry.transports.ray._transport import RayTransport
    from ethos_registry.types._abort import AbortController, AbortSignal
    from ethos_registry.types._call import (
        ApprovalStore,
        CallResult,
        MalformedCall,
        Pending,
        PendingApproval,
        ToolCall,
    )
    from ethos_registry.types._content import Attachment, Audio, ContentBlock, Document, Image, Link
    from ethos_registry.types._context import (
        DEFAULT_BUDGET_CHARS,
        Audience,
        ReadMtime,
        ToolContext,
        ToolProgressEvent,
    )
    from ethos_registry.types._errors import (
        ApprovalError,
        ConfigError,
        EthosRegistryError,
        ToolAlreadyRegisteredError,
        TurnAlreadySignalledError,
    )
    from ethos_registry.types._extras import installed_extras
    from ethos_registry.types._json_values import call_checksum
    from ethos_registry.types._observer import (
        BatchObserver,
        CallObserver,
        CallRecorder,
        FinishedCall,
        Observer,
        RecordedCall,
        RecordedCalls,
        StartedBatch,
        StartedCall,
    )
    from ethos_registry.types._policy import (
        NO_TOOLS,
        FsReach,
        NetworkPolicy,
        Personality,
        ToolCapabilities,
        ToolFilterOpts,
    )
    from ethos_registry.types._ports import (
        ArtifactOrigin,
        ArtifactStore,
        KeyValueStore,
        ScopedAttachments,
        ScopedFetch,
        ScopedFs,
        ScopedProcess,
        ScopedSecretsResolver,
        SharedArtifactStore,
        Storage,
        ToolView,
        TurnScope,
        UsageRecorder,
    )
    from ethos_registry.types._reducer import (
        ReductionLevel,
        ReductionPolicy,
        ToolReducerContext,
        ToolResultReducer,
        ToolResultReducerRegistry,
    )
    from ethos_registry.types._remote_finish import FinishFacts, FinishOrder, SharedFolder
    from ethos_registry.types._result import (
        ErrorCode,
        ErrorReason,
        ToolError,
        ToolOk,
        ToolResult,
        err,
        ok,
        result_from_wire,
    )
    from ethos_registry.types._secret_names import is_secret_name
    from ethos_registry.types._tool import CollisionPolicy, DispatchMode, Registration, Retry, Tool
    from ethos_registry.types._transport import (
        LiveContext,
        ToolExecuteRequest,
        ToolTransport,
        TransportItem,
        TransportProgress,
        TransportReply,
        TransportStarted,
        TransportTraits,
    )
    from ethos_registry.types._turn import DispatchContext, ToolExecution, ToolForge, ToolResolver
    from ethos_registry.usage._ledger import UsageLedger, read_usage
    from ethos_registry.usage._record import UsageStoreError
    from ethos_registry.usage._report import AgentUsage, DayUsage, ToolUsage, UsageReport


__all__ = [
    "DEFAULT_BUDGET_CHARS",
    "NO_TOOLS",
    "AbortController",
    "AbortSignal",
    "Agent",
    "AgentCatalog",
    "AgentUsage",
    "ApprovalError",
    "ApprovalStore",
    "Approvals",
    "ArtifactGoneError",
    "ArtifactOrigin",
    "ArtifactReaders",
    "ArtifactStore",
    "ArtifactStoreError",
    "Attachment",
    "AttachmentNotFoundError",
    "Audience",
    "Audio",
    "BatchControl",
    "BatchObserver",
    "BatchOptions",
    "BraveSearch",
    "BrokenStreamPolicy",
    "Browser",
    "CacheLoss",
    "CallObserver",
    "CallRecorder",
    "CallResult",
    "CallResults",
    "CapabilityBackends",
    "CapabilityFinding",
    "CatalogView",
    "CollisionPolicy",
    "CommandSandbox",
    "ConfigError",
    "ConnectionPools",
    "ContentBlock",
    "DayUsage",
    "DefaultToolRegistry",
    "DefaultToolResultReducerRegistry",
    "DeferredView",
    "DispatchContext",
    "DispatchMode",
    "DispatchedStream",
    "Document",
    "EnvironmentSecrets",
    "ErrorCode",
    "ErrorReason",
    "EthosRegistryError",
    "Explanation",
    "FetchLimits",
    "FetchResponse",
    "FileApprovalStore",
    "FileSecrets",
    "FinishFacts",
    "FinishOrder",
    "FinishedCall",
    "FormatError",
    "FormatsNotTrustedError",
    "FoundCall",
    "FrozenToolRegistry",
    "FsReach",
    "FunctionTool",
    "HostNotAllowedError",
    "Image",
    "Invocation",
    "InvocationFilter",
    "KeyValueDatabase",
    "KeyValueError",
    "KeyValueStore",
    "KeyringSecrets",
    "Langfuse",
    "Link",
    "LiveContext",
    "LocalTransport",
    "MalformedCall",
    "McpAnnotations",
    "McpBridge",
    "McpGateway",
    "McpPins",
    "McpProblem",
    "McpServer",
    "McpServerStatus",
    "McpTransport",
    "MemoryApprovalStore",
    "MemoryArtifactStore",
    "NetworkPolicy",
    "Observer",
    "OpenInference",
    "OpenTelemetry",
    "OutputFormat",
    "Pending",
    "PendingApproval",
    "Personality",
    "PinDifference",
    "Prefix",
    "PrefixChange",
    "PrefixDiff",
    "PrefixSession",
    "ProcessTransport",
    "ProgramRunner",
    "Protection",
    "QuotaExceededError",
    "RaySessions",
    "RayTransport",
    "RayWorkers",
    "ReachFiles",
    "ReadMtime",
    "RecordedCall",
    "RecordedCalls",
    "RecordedTurn",
    "Recording",
    "RecordingError",
    "ReductionLevel",
    "ReductionPolicy",
    "Registration",
    "ResponseTooLargeError",
    "Retry",
    "SandboxPolicy",
    "ScopedAttachments",
    "ScopedFetch",
    "ScopedFs",
    "ScopedProcess",
    "ScopedSecretsResolver",
    "ScriptedSearch",
    "SearchBackend",
    "SearchError",
    "SearchResult",
    "SearchView",
    "SharedArtifactStore",
    "SharedFolder",
    "SpooledArtifact",
    "SpooledArtifactStore",
    "SqliteRecording",
    "StandardBackends",
    "StartedBatch",
    "StartedCall",
    "Storage",
    "StreamDispatcher",
    "StreamOptions",
    "SupervisedProcess",
    "SupervisorUnavailableError",
    "SyncStreamDispatcher",
    "TavilySearch",
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
    "ToolSearch",
    "ToolTransport",
    "ToolUsage",
    "ToolView",
    "ToolsChanged",
    "TracedCall",
    "TransportItem",
    "TransportProgress",
    "TransportReply",
    "TransportStarted",
    "TransportTraits",
    "Turn",
    "TurnAlreadySignalledError",
    "TurnCollector",
    "TurnRecorder",
    "TurnScope",
    "UnconfinedError",
    "UsageLedger",
    "UsageRecorder",
    "UsageReport",
    "UsageStoreError",
    "View",
    "WorkerLimits",
    "__version__",
    "built_in_formats",
    "built_in_reducers",
    "call_checksum",
    "containment",
    "create_tool_registry",
    "default_reducers",
    "err",
    "fetch_url_tool",
    "folder_storage",
    "function_schema",
    "installed_extras",
    "is_secret_name",
    "is_tool_registry",
    "kanban_tools",
    "lint_tool",
    "list_files_tool",
    "load_formats",
    "load_personalities",
    "load_personality",
    "memory_tools",
    "ok",
    "patch_file_tool",
    "portable_name",
    "prefix_diff",
    "provider",
    "read_attachment_tool",
    "read_file_tool",
    "read_recording",
    "read_usage",
    "ready_tools",
    "recorded_turns",
    "redact_text",
    "reduce_arrow",
    "reduce_many",
    "reduce_text",
    "register_format",
    "registered_formats",
    "result_from_wire",
    "run_tests_tool",
    "sandbox_support",
    "search_files_tool",
    "session_search_tool",
    "standard_backends",
    "start_supervised",
    "terminal_tool",
    "todo_tools",
    "tool",
    "trust_formats",
    "typecheck_tool",
    "unregister_format",
    "user_formats_folder",
    "web_search_tool",
    "write_file_tool",
]

_NAMES = {
    "_processes.supervised_process": "SupervisedProcess SupervisorUnavailableError",
    "_processes.supervisor": "containment start_supervised",
    "adapters._turn_collector": "TurnCollector",
    "agents._agent": "Agent",
    "agents._catalog": "AgentCatalog",
    "agents._catalog_view": "CatalogView",
    "artifacts._artifact": "SpooledArtifact",
    "artifacts._content": "ArtifactGoneError ArtifactStoreError",
    "artifacts._spooled_store": "SpooledArtifactStore",
    "artifacts._store": "MemoryArtifactStore",
    "capabilities._address_guard": "HostNotAllowedError",
    "capabilities._files": "AttachmentNotFoundError Protection ReachFiles folder_storage",
    "capabilities._key_values": "KeyValueDatabase KeyValueError QuotaExceededError",
    "capabilities._network": "ConnectionPools FetchLimits FetchResponse ResponseTooLargeError",
    "capabilities._process": "ProgramRunner",
    "capabilities._resolver": "CapabilityBackends",
    "capabilities._sandbox": "CommandSandbox SandboxPolicy UnconfinedError sandbox_support",
    "capabilities._secrets": "EnvironmentSecrets FileSecrets KeyringSecrets",
    "capabilities._standard": "StandardBackends standard_backends",
    "config._personalities": "load_personalities load_personality",
    "execution._approvals": "Approvals FileApprovalStore MemoryApprovalStore",
    "execution._options": "BatchControl BatchOptions Invocation InvocationFilter StreamOptions",
    "execution._results": "CallResults",
    "mcp._bridge": "McpBridge",
    "mcp._definitions": (
        "McpAnnotations McpPins McpProblem McpServerStatus PinDifference ToolsChanged"
    ),
    "mcp._gateway": "McpGateway",
    "mcp._server": "McpServer",
    "providers._by_name": "provider",
    "providers._portable_name": "portable_name",
    "providers._prefix": "CacheLoss Prefix PrefixChange PrefixDiff prefix_diff",
    "recording._recorder": "RecordedTurn Recording TurnRecorder read_recording recorded_turns",
    "recording._rows": "RecordingError",
    "recording._sqlite": "FoundCall SqliteRecording",
    "reduction._formats": (
        "FormatError FormatsNotTrustedError OutputFormat built_in_formats load_formats "
        "register_format registered_formats trust_formats unregister_format "
        "user_formats_folder"
    ),
    "reduction._many": "reduce_arrow reduce_many reduce_text",
    "reduction._redaction": "redact_text",
    "reduction._reducers": ("DefaultToolResultReducerRegistry built_in_reducers default_reducers"),
    "registry._explain": "CapabilityFinding Explanation",
    "registry._frozen": "FrozenToolRegistry create_tool_registry",
    "registry._local_transport": "LocalTransport",
    "registry._prefix_session": "PrefixSession",
    "registry._search": "ToolSearch",
    "registry._search_view": "DeferredView SearchView",
    "registry._stream": (
        "BrokenStreamPolicy DispatchedStream StreamDispatcher SyncStreamDispatcher"
    ),
    "registry._tool_registry": "DefaultToolRegistry ToolRegistry Turn is_tool_registry",
    "registry._view": "View",
    "schema._arguments": "function_schema",
    "schema._function_tool": "FunctionTool tool",
    "telemetry._conventions": "Langfuse OpenInference TracedCall",
    "telemetry._open_telemetry": "OpenTelemetry",
    "tools._artifact_readers": "ArtifactReaders",
    "tools._browser": "Browser",
    "tools._fetch_url": "fetch_url_tool",
    "tools._kanban": "kanban_tools",
    "tools._list_files": "list_files_tool",
    "tools._memory": "memory_tools",
    "tools._patch_file": "patch_file_tool",
    "tools._project_checks": "lint_tool run_tests_tool typecheck_tool",
    "tools._read_attachment": "read_attachment_tool",
    "tools._read_file": "read_file_tool",
    "tools._ready": "ready_tools",
    "tools._search_files": "search_files_tool",
    "tools._session_search": "session_search_tool",
    "tools._terminal": "terminal_tool",
    "tools._todo": "todo_tools",
    "tools._web_search": (
        "BraveSearch ScriptedSearch SearchBackend SearchError SearchResult TavilySearch "
        "web_search_tool"
    ),
    "tools._write_file": "write_file_tool",
    "transports._limits": "WorkerLimits",
    "transports._mcp_transport": "McpTransport",
    "transports._process_transport": "ProcessTransport",
    "transports.ray._members": "RaySessions",
    "transports.ray._pool": "RayWorkers",
    "transports.ray._transport": "RayTransport",
    "types._abort": "AbortController AbortSignal",
    "types._call": "ApprovalStore CallResult MalformedCall Pending PendingApproval ToolCall",
    "types._content": "Attachment Audio ContentBlock Document Image Link",
    "types._context": "Audience DEFAULT_BUDGET_CHARS ReadMtime ToolContext ToolProgressEvent",
    "types._errors": (
        "ApprovalError ConfigError EthosRegistryError ToolAlreadyRegisteredError "
        "TurnAlreadySignalledError"
    ),
    "types._extras": "installed_extras",
    "types._json_values": "call_checksum",
    "types._observer": (
        "BatchObserver CallObserver CallRecorder FinishedCall Observer RecordedCall "
        "RecordedCalls StartedBatch StartedCall"
    ),
    "types._policy": ("FsReach NO_TOOLS NetworkPolicy Personality ToolCapabilities ToolFilterOpts"),
    "types._ports": (
        "ArtifactOrigin ArtifactStore KeyValueStore ScopedAttachments ScopedFetch ScopedFs "
        "ScopedProcess ScopedSecretsResolver SharedArtifactStore Storage ToolView TurnScope "
        "UsageRecorder"
    ),
    "types._reducer": (
        "ReductionLevel ReductionPolicy ToolReducerContext ToolResultReducer "
        "ToolResultReducerRegistry"
    ),
    "types._remote_finish": "FinishFacts FinishOrder SharedFolder",
    "types._result": ("ErrorCode ErrorReason ToolError ToolOk ToolResult err ok result_from_wire"),
    "types._secret_names": "is_secret_name",
    "types._tool": "CollisionPolicy DispatchMode Registration Retry Tool",
    "types._transport": (
        "LiveContext ToolExecuteRequest ToolTransport TransportItem TransportProgress "
        "TransportReply TransportStarted TransportTraits"
    ),
    "types._turn": "DispatchContext ToolExecution ToolForge ToolResolver",
    "usage._ledger": "UsageLedger read_usage",
    "usage._record": "UsageStoreError",
    "usage._report": "AgentUsage DayUsage ToolUsage UsageReport",
}
"""Module -> its public names: the imports above, at run time."""

_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
