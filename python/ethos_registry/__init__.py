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
    from ethos_registry.agents.agent import Agent
    from ethos_registry.agents.catalog import AgentCatalog
    from ethos_registry.agents.catalog_view import CatalogView
    from ethos_registry.artifacts.artifact import SpooledArtifact
    from ethos_registry.artifacts.errors import ArtifactGoneError, ArtifactStoreError
    from ethos_registry.artifacts.spooled_store import SpooledArtifactStore
    from ethos_registry.artifacts.store import MemoryArtifactStore
    from ethos_registry.bridges.mcp.bridge.bridge import McpBridge
    from ethos_registry.bridges.mcp.bridge.pins import McpPins, PinDifference
    from ethos_registry.bridges.mcp.bridge.reports import (
        McpAnnotations,
        McpProblem,
        McpServerStatus,
        ToolsChanged,
    )
    from ethos_registry.bridges.mcp.bridge.server import McpServer
    from ethos_registry.bridges.mcp.gateway.gateway import McpGateway
    from ethos_registry.bridges.turn_collector import TurnCollector
    from ethos_registry.capabilities.attachments import AttachmentNotFoundError
    from ethos_registry.capabilities.files import ReachFiles, folder_storage
    from ethos_registry.capabilities.key_values import (
        KeyValueDatabase,
        KeyValueError,
        QuotaExceededError,
    )
    from ethos_registry.capabilities.network.exchange import (
        FetchLimits,
        FetchResponse,
        ResponseTooLargeError,
    )
    from ethos_registry.capabilities.network.hosts import HostNotAllowedError
    from ethos_registry.capabilities.network.pools import ConnectionPools
    from ethos_registry.capabilities.protected import Protection
    from ethos_registry.capabilities.resolver import CapabilityBackends
    from ethos_registry.capabilities.sandbox.command_sandbox import (
        CommandSandbox,
        UnconfinedError,
        sandbox_support,
    )
    from ethos_registry.capabilities.sandbox.policy import SandboxPolicy
    from ethos_registry.capabilities.scoped_process import ProgramRunner
    from ethos_registry.capabilities.secrets import EnvironmentSecrets, FileSecrets, KeyringSecrets
    from ethos_registry.capabilities.standard import StandardBackends, standard_backends
    from ethos_registry.config.personalities import load_personalities, load_personality
    from ethos_registry.contract.abort import AbortController, AbortSignal
    from ethos_registry.contract.approval import ApprovalStore, Pending, PendingApproval
    from ethos_registry.contract.artifact import ArtifactOrigin
    from ethos_registry.contract.attachment import Attachment
    from ethos_registry.contract.call import CallResult, MalformedCall, ToolCall
    from ethos_registry.contract.canonical_json import call_checksum
    from ethos_registry.contract.capability import ToolCapabilities
    from ethos_registry.contract.content import Audio, ContentBlock, Document, Image, Link
    from ethos_registry.contract.context import DEFAULT_BUDGET_CHARS, ReadMtime, ToolContext
    from ethos_registry.contract.dispatch import DispatchContext, ToolExecution
    from ethos_registry.contract.errors import (
        ApprovalError,
        ConfigError,
        EthosRegistryError,
        ToolAlreadyRegisteredError,
        TurnAlreadySignalledError,
    )
    from ethos_registry.contract.execute_request import ToolExecuteRequest
    from ethos_registry.contract.extras import installed_extras
    from ethos_registry.contract.finish_elsewhere import FinishFacts, FinishOrder, SharedFolder
    from ethos_registry.contract.observer import (
        BatchObserver,
        CallObserver,
        FinishedCall,
        Observer,
        StartedBatch,
        StartedCall,
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
        SharedArtifactStore,
        ToolView,
        TurnScope,
        UsageRecorder,
    )
    from ethos_registry.contract.progress import Audience, ToolProgressEvent
    from ethos_registry.contract.recorded_call import CallRecorder, RecordedCall, RecordedCalls
    from ethos_registry.contract.reducer import (
        ToolReducerContext,
        ToolResultReducer,
        ToolResultReducerRegistry,
    )
    from ethos_registry.contract.reduction_policy import ReductionLevel, ReductionPolicy
    from ethos_registry.contract.registration import Registration
    from ethos_registry.contract.resolver import ToolForge, ToolResolver
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
    from ethos_registry.contract.retry import Retry
    from ethos_registry.contract.scoped_ports import (
        KeyValueStore,
        ScopedAttachments,
        ScopedFetch,
        ScopedFs,
        ScopedProcess,
        ScopedSecretsResolver,
        Storage,
    )
    from ethos_registry.contract.secret_names import is_secret_name
    from ethos_registry.contract.tool import CollisionPolicy, DispatchMode, Tool
    from ethos_registry.contract.transport import (
        LiveContext,
        ToolTransport,
        TransportItem,
        TransportProgress,
        TransportReply,
        TransportStarted,
        TransportTraits,
    )
    from ethos_registry.execution.approvals import (
        Approvals,
        FileApprovalStore,
        MemoryApprovalStore,
    )
    from ethos_registry.execution.control import BatchControl
    from ethos_registry.execution.filters import Invocation, InvocationFilter
    from ethos_registry.execution.options import BatchOptions, StreamOptions
    from ethos_registry.execution.results import CallResults
    from ethos_registry.processes.supervised_process import (
        SupervisedProcess,
        SupervisorUnavailableError,
    )
    from ethos_registry.processes.supervisor import containment, start_supervised
    from ethos_registry.providers.names import provider
    from ethos_registry.providers.portable_name import portable_name
    from ethos_registry.providers.prefix import Prefix
    from ethos_registry.providers.prefix_diff import (
        CacheLoss,
        PrefixChange,
        PrefixDiff,
        prefix_diff,
    )
    from ethos_registry.recording.errors import RecordingError
    from ethos_registry.recording.recorder import TurnRecorder
    from ethos_registry.recording.recording import (
        RecordedTurn,
        Recording,
        read_recording,
        recorded_turns,
    )
    from ethos_registry.recording.sqlite_recording import FoundCall, SqliteRecording
    from ethos_registry.reduction.arrow import reduce_arrow
    from ethos_registry.reduction.built_in import built_in_reducers, default_reducers
    from ethos_registry.reduction.formats import (
        FormatError,
        OutputFormat,
        built_in_formats,
        register_format,
        registered_formats,
        unregister_format,
    )
    from ethos_registry.reduction.load_formats import (
        FormatsNotTrustedError,
        load_formats,
        trust_formats,
        user_formats_folder,
    )
    from ethos_registry.reduction.many import reduce_many, reduce_text
    from ethos_registry.reduction.redacted_text import redact_text
    from ethos_registry.reduction.registry import DefaultToolResultReducerRegistry
    from ethos_registry.registry.capability_check import CapabilityFinding
    from ethos_registry.registry.default_tool_registry import DefaultToolRegistry
    from ethos_registry.registry.deferred_view import DeferredView
    from ethos_registry.registry.dispatched_stream import DispatchedStream, SyncStreamDispatcher
    from ethos_registry.registry.dispatcher import BrokenStreamPolicy, StreamDispatcher
    from ethos_registry.registry.explain import Explanation
    from ethos_registry.registry.frozen import FrozenToolRegistry, create_tool_registry
    from ethos_registry.registry.local_transport import LocalTransport
    from ethos_registry.registry.prefix_session import PrefixSession
    from ethos_registry.registry.search_view import SearchView
    from ethos_registry.registry.tool_registry import ToolRegistry, Turn, is_tool_registry
    from ethos_registry.registry.tool_search import ToolSearch
    from ethos_registry.registry.view import View
    from ethos_registry.schema import FunctionTool, function_schema, tool
    from ethos_registry.telemetry.open_telemetry import OpenTelemetry
    from ethos_registry.telemetry.presets import Langfuse, OpenInference
    from ethos_registry.telemetry.traced_call import TracedCall
    from ethos_registry.toolkit import (
        ArtifactReaders,
        BraveSearch,
        Browser,
        ScriptedSearch,
        SearchBackend,
        SearchError,
        SearchResult,
        TavilySearch,
        fetch_url_tool,
        kanban_tools,
        lint_tool,
        list_files_tool,
        memory_tools,
        patch_file_tool,
        read_attachment_tool,
        read_file_tool,
        ready_tools,
        run_tests_tool,
        search_files_tool,
        session_search_tool,
        terminal_tool,
        todo_tools,
        typecheck_tool,
        web_search_tool,
        write_file_tool,
    )
    from ethos_registry.transports.limits import WorkerLimits
    from ethos_registry.transports.mcp_transport import McpTransport
    from ethos_registry.transports.process_transport import ProcessTransport
    from ethos_registry.transports.ray_pool import RayWorkers
    from ethos_registry.transports.ray_sessions import RaySessions
    from ethos_registry.transports.ray_transport import RayTransport
    from ethos_registry.usage.errors import UsageStoreError
    from ethos_registry.usage.ledger import UsageLedger
    from ethos_registry.usage.read_usage import read_usage
    from ethos_registry.usage.report import AgentUsage, DayUsage, ToolUsage, UsageReport


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
    "is_secret_name",
    "installed_extras",
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
    "agents.agent": "Agent",
    "agents.catalog": "AgentCatalog",
    "agents.catalog_view": "CatalogView",
    "artifacts.artifact": "SpooledArtifact",
    "artifacts.errors": "ArtifactGoneError ArtifactStoreError",
    "artifacts.spooled_store": "SpooledArtifactStore",
    "artifacts.store": "MemoryArtifactStore",
    "bridges.mcp.bridge.bridge": "McpBridge",
    "bridges.mcp.bridge.pins": "McpPins PinDifference",
    "bridges.mcp.bridge.reports": "McpAnnotations McpProblem McpServerStatus ToolsChanged",
    "bridges.mcp.bridge.server": "McpServer",
    "bridges.mcp.gateway.gateway": "McpGateway",
    "bridges.turn_collector": "TurnCollector",
    "capabilities.attachments": "AttachmentNotFoundError",
    "capabilities.files": "ReachFiles folder_storage",
    "capabilities.key_values": "KeyValueDatabase KeyValueError QuotaExceededError",
    "capabilities.network.exchange": "FetchLimits FetchResponse ResponseTooLargeError",
    "capabilities.network.hosts": "HostNotAllowedError",
    "capabilities.network.pools": "ConnectionPools",
    "capabilities.protected": "Protection",
    "capabilities.resolver": "CapabilityBackends",
    "capabilities.sandbox.command_sandbox": "CommandSandbox UnconfinedError sandbox_support",
    "capabilities.sandbox.policy": "SandboxPolicy",
    "capabilities.scoped_process": "ProgramRunner",
    "capabilities.secrets": "EnvironmentSecrets FileSecrets KeyringSecrets",
    "capabilities.standard": "StandardBackends standard_backends",
    "config.personalities": "load_personalities load_personality",
    "contract.abort": "AbortController AbortSignal",
    "contract.approval": "ApprovalStore Pending PendingApproval",
    "contract.artifact": "ArtifactOrigin",
    "contract.attachment": "Attachment",
    "contract.call": "CallResult MalformedCall ToolCall",
    "contract.canonical_json": "call_checksum",
    "contract.capability": "ToolCapabilities",
    "contract.content": "Audio ContentBlock Document Image Link",
    "contract.context": "DEFAULT_BUDGET_CHARS ReadMtime ToolContext",
    "contract.dispatch": "DispatchContext ToolExecution",
    "contract.errors": (
        "ApprovalError ConfigError EthosRegistryError ToolAlreadyRegisteredError "
        "TurnAlreadySignalledError"
    ),
    "contract.execute_request": "ToolExecuteRequest",
    "contract.extras": "installed_extras",
    "contract.finish_elsewhere": "FinishFacts FinishOrder SharedFolder",
    "contract.observer": (
        "BatchObserver CallObserver FinishedCall Observer StartedBatch StartedCall"
    ),
    "contract.policy": "FsReach NO_TOOLS NetworkPolicy Personality ToolFilterOpts",
    "contract.ports": "ArtifactStore SharedArtifactStore ToolView TurnScope UsageRecorder",
    "contract.progress": "Audience ToolProgressEvent",
    "contract.recorded_call": "CallRecorder RecordedCall RecordedCalls",
    "contract.reducer": "ToolReducerContext ToolResultReducer ToolResultReducerRegistry",
    "contract.reduction_policy": "ReductionLevel ReductionPolicy",
    "contract.registration": "Registration",
    "contract.resolver": "ToolForge ToolResolver",
    "contract.result": "ErrorCode ErrorReason ToolError ToolOk ToolResult err ok result_from_wire",
    "contract.retry": "Retry",
    "contract.scoped_ports": (
        "KeyValueStore ScopedAttachments ScopedFetch ScopedFs ScopedProcess "
        "ScopedSecretsResolver Storage"
    ),
    "contract.secret_names": "is_secret_name",
    "contract.tool": "CollisionPolicy DispatchMode Tool",
    "execution.approvals": "Approvals FileApprovalStore MemoryApprovalStore",
    "contract.transport": (
        "LiveContext ToolTransport TransportItem TransportProgress TransportReply "
        "TransportStarted TransportTraits"
    ),
    "execution.control": "BatchControl",
    "execution.filters": "Invocation InvocationFilter",
    "execution.options": "BatchOptions StreamOptions",
    "execution.results": "CallResults",
    "processes.supervised_process": "SupervisedProcess SupervisorUnavailableError",
    "processes.supervisor": "containment start_supervised",
    "providers.names": "provider",
    "providers.portable_name": "portable_name",
    "providers.prefix": "Prefix",
    "providers.prefix_diff": "CacheLoss PrefixChange PrefixDiff prefix_diff",
    "recording.errors": "RecordingError",
    "recording.recorder": "TurnRecorder",
    "recording.recording": "RecordedTurn Recording read_recording recorded_turns",
    "recording.sqlite_recording": "FoundCall SqliteRecording",
    "reduction.arrow": "reduce_arrow",
    "reduction.built_in": "built_in_reducers default_reducers",
    "reduction.formats": (
        "FormatError OutputFormat built_in_formats register_format registered_formats "
        "unregister_format"
    ),
    "reduction.load_formats": (
        "FormatsNotTrustedError load_formats trust_formats user_formats_folder"
    ),
    "reduction.many": "reduce_many reduce_text",
    "reduction.redacted_text": "redact_text",
    "reduction.registry": "DefaultToolResultReducerRegistry",
    "registry.capability_check": "CapabilityFinding",
    "registry.default_tool_registry": "DefaultToolRegistry",
    "registry.deferred_view": "DeferredView",
    "registry.dispatched_stream": "DispatchedStream SyncStreamDispatcher",
    "registry.dispatcher": "BrokenStreamPolicy StreamDispatcher",
    "registry.explain": "Explanation",
    "registry.frozen": "FrozenToolRegistry create_tool_registry",
    "registry.local_transport": "LocalTransport",
    "registry.prefix_session": "PrefixSession",
    "registry.search_view": "SearchView",
    "registry.tool_registry": "ToolRegistry Turn is_tool_registry",
    "registry.tool_search": "ToolSearch",
    "registry.view": "View",
    "schema": "FunctionTool function_schema tool",
    "telemetry.open_telemetry": "OpenTelemetry",
    "telemetry.presets": "Langfuse OpenInference",
    "telemetry.traced_call": "TracedCall",
    "toolkit": (
        "ArtifactReaders BraveSearch Browser ScriptedSearch SearchBackend SearchError "
        "SearchResult TavilySearch fetch_url_tool kanban_tools lint_tool list_files_tool "
        "memory_tools patch_file_tool read_attachment_tool read_file_tool ready_tools "
        "run_tests_tool search_files_tool session_search_tool terminal_tool todo_tools "
        "typecheck_tool web_search_tool write_file_tool"
    ),
    "transports.limits": "WorkerLimits",
    "transports.mcp_transport": "McpTransport",
    "transports.process_transport": "ProcessTransport",
    "transports.ray_pool": "RayWorkers",
    "transports.ray_sessions": "RaySessions",
    "transports.ray_transport": "RayTransport",
    "usage.errors": "UsageStoreError",
    "usage.ledger": "UsageLedger",
    "usage.read_usage": "read_usage",
    "usage.report": "AgentUsage DayUsage ToolUsage UsageReport",
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
