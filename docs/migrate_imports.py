"""Rewrites imports of `ethos_registry` to the paths of this version.

    python migrate_imports.py FILE ...          # rewrites the files
    python migrate_imports.py --check FILE ...  # exit 1 if a file would change; writes nothing

Names are found in `from ethos_registry import ...`, also over several lines and indented.
Attributes of `import ethos_registry` are left as they are.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

NAMES = {
    "ethos_registry.adapters": "TurnCollector",
    "ethos_registry.agents": "Agent AgentCatalog CatalogView",
    "ethos_registry.artifacts": (
        "ArtifactGoneError ArtifactOrigin ArtifactStore ArtifactStoreError "
        "MemoryArtifactStore SharedArtifactStore SpooledArtifact SpooledArtifactStore"
    ),
    "ethos_registry.capabilities": (
        "AttachmentNotFoundError CapabilityBackends CommandSandbox ConnectionPools "
        "EnvironmentSecrets FetchLimits FetchResponse FileSecrets FsReach HostNotAllowedError "
        "KeyValueDatabase KeyValueError KeyValueStore KeyringSecrets NetworkPolicy "
        "ProgramRunner Protection QuotaExceededError ReachFiles ResponseTooLargeError "
        "SandboxPolicy ScopedAttachments ScopedFetch ScopedFs ScopedProcess "
        "ScopedSecretsResolver StandardBackends Storage SupervisedProcess "
        "SupervisorUnavailableError ToolCapabilities UnconfinedError containment "
        "folder_storage sandbox_support standard_backends start_supervised"
    ),
    "ethos_registry.config": "load_personalities",
    "ethos_registry.execution": (
        "ApprovalError ApprovalStore Approvals BatchControl BatchOptions CallResults "
        "FileApprovalStore MemoryApprovalStore PendingApproval StreamOptions"
    ),
    "ethos_registry.mcp": (
        "McpAnnotations McpBridge McpGateway McpPins McpProblem McpServer McpServerStatus "
        "PinDifference ToolsChanged"
    ),
    "ethos_registry.providers": (
        "CacheLoss Prefix PrefixChange PrefixDiff portable_name prefix_diff"
    ),
    "ethos_registry.recording": (
        "FoundCall RecordedCall RecordedCalls RecordedTurn Recording "
        "RecordingError SqliteRecording TurnRecorder read_recording recorded_turns"
    ),
    "ethos_registry.reduction": (
        "FormatError FormatsNotTrustedError OutputFormat ReductionLevel ReductionPolicy "
        "ToolReducerContext ToolResultReducer ToolResultReducerRegistry built_in_formats "
        "built_in_reducers is_secret_name load_formats redact_text reduce_many "
        "register_format registered_formats trust_formats unregister_format "
        "user_formats_folder"
    ),
    "ethos_registry.registry": (
        "BrokenStreamPolicy CapabilityFinding DispatchContext DispatchedStream "
        "Explanation PrefixSession Registration StreamDispatcher "
        "SyncStreamDispatcher ToolExecution ToolForge ToolResolver ToolSearch ToolView Turn "
        "TurnAlreadySignalledError TurnScope is_tool_registry"
    ),
    "ethos_registry.schema": "FunctionTool function_schema",
    "ethos_registry.telemetry": (
        "FinishedCall Langfuse Observer OpenInference "
        "OpenTelemetry StartedBatch StartedCall TracedCall"
    ),
    "ethos_registry.tools": (
        "ArtifactReaders BraveSearch Browser ScriptedSearch SearchBackend SearchError "
        "SearchResult TavilySearch fetch_url_tool kanban_tools lint_tool list_files_tool "
        "memory_tools patch_file_tool read_attachment_tool read_file_tool ready_tools "
        "run_tests_tool search_files_tool session_search_tool terminal_tool todo_tools "
        "typecheck_tool web_search_tool write_file_tool"
    ),
    "ethos_registry.transports": (
        "FinishFacts FinishOrder LiveContext LocalTransport McpTransport ProcessTransport "
        "SharedFolder ToolExecuteRequest ToolTransport TransportItem TransportProgress "
        "TransportReply TransportStarted TransportTraits WorkerLimits"
    ),
    "ethos_registry.transports.ray": "RaySessions RayTransport RayWorkers",
    "ethos_registry.types": (
        "AbortController AbortSignal Attachment Audience Audio CollisionPolicy ContentBlock "
        "DEFAULT_BUDGET_CHARS DispatchMode Document ErrorCode ErrorReason Image Link "
        "MalformedCall ReadMtime Retry ToolProgressEvent call_checksum installed_extras "
        "result_from_wire"
    ),
    "ethos_registry.usage": (
        "AgentUsage DayUsage ToolUsage UsageLedger UsageReport UsageStoreError read_usage"
    ),
}
"""Path to import from -> names that were at the top level."""
MODULES = {
    "ethos_registry.bridges.agent_framework": "ethos_registry.adapters.agent_framework",
    "ethos_registry.bridges.anthropic": "ethos_registry.adapters.anthropic",
    "ethos_registry.bridges.claude_agent_sdk": "ethos_registry.adapters.claude_agent_sdk",
    "ethos_registry.bridges.fastmcp": "ethos_registry.adapters.fastmcp",
    "ethos_registry.bridges.google_adk": "ethos_registry.adapters.google_adk",
    "ethos_registry.bridges.langchain": "ethos_registry.adapters.langchain",
    "ethos_registry.bridges.openai_agents": "ethos_registry.adapters.openai_agents",
    "ethos_registry.bridges.pydantic_ai": "ethos_registry.adapters.pydantic_ai",
    "ethos_registry.bridges.turn_collector": "ethos_registry.adapters",
    "ethos_registry.toolkit": "ethos_registry.tools",
}
"""Module of the last version -> module of this one."""

_PATH_OF = {name: path for path, names in NAMES.items() for name in names.split()}
_IMPORT = re.compile(
    r"^(?P<indent>[ \t]*)from (?P<module>ethos_registry[\w.]*) import "
    r"(?:\((?P<many>[^()]*)\)|(?P<one>[\w, ]+))",
    re.MULTILINE,
)


def migrated(text: str) -> str:
    """The text with every import on its new path."""
    return _IMPORT.sub(_rewritten, text)


def _rewritten(found: re.Match[str]) -> str:
    module = found["module"]
    listed = re.sub(r"#.*", "", found["many"] or found["one"] or "")
    items = [item.strip() for item in listed.replace("\n", " ").split(",") if item.strip()]
    by_path: dict[str, list[str]] = {}
    for item in items:
        name = item.split()[0]
        path = MODULES.get(module, module)
        if module == "ethos_registry":
            path = _PATH_OF.get(name, module)
        by_path.setdefault(path, []).append(item)
    if list(by_path) == [module]:
        return found[0]
    indent = found["indent"]
    lines = []
    for path, names in sorted(by_path.items()):
        line = f"{indent}from {path} import {', '.join(names)}"
        if len(line) > 88:
            inner = "".join(f"{indent}    {name},\n" for name in names)
            line = f"{indent}from {path} import (\n{inner}{indent})"
        lines.append(line)
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Rewrite the files that the command line names; return the exit code."""
    is_check = arguments[:1] == ["--check"]
    changed = False
    for name in arguments[is_check:]:
        path = Path(name)
        before = path.read_text(encoding="utf-8")
        after = migrated(before)
        if after != before:
            changed = True
            sys.stdout.write(f"{path}\n")
            if not is_check:
                path.write_text(after, encoding="utf-8")
    return int(is_check and changed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
