"""The keywords of functions that change a tool or a context, for type checkers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from ethos_registry.contract.abort import AbortSignal
    from ethos_registry.contract.capability import ToolCapabilities
    from ethos_registry.contract.context import MemoryScope, ReadMtime
    from ethos_registry.contract.policy import NetworkPolicy
    from ethos_registry.contract.ports import (
        ArtifactStore,
        KeyValueStore,
        ScopedAttachments,
        ScopedFetch,
        ScopedFs,
        ScopedProcess,
        ScopedSecretsResolver,
        Storage,
    )
    from ethos_registry.contract.progress import ToolProgressEvent
    from ethos_registry.contract.tool import CollisionPolicy, Execute

__all__ = ["ContextChanges", "RegisterOptions", "ToolChanges", "ToolOptions"]


class ToolOptions(TypedDict, total=False):
    """What `@tool` takes: the fields of a `Tool` but for `execute`."""

    name: str | None
    description: str | None
    schema: Mapping[str, Any] | None
    toolset: str | None
    max_result_chars: int | None
    capabilities: ToolCapabilities | Mapping[str, Any] | None
    is_available: Callable[[], bool] | None
    always_include: bool
    output_is_untrusted: bool
    ephemeral: bool
    on_collision: CollisionPolicy
    timeout_seconds: float | None
    idempotent: bool
    strict: bool


class RegisterOptions(ToolOptions, total=False):
    """What `@registry.tool` takes."""

    overwrite: bool
    plugin_id: str | None
    owner: str | None


class ToolChanges(TypedDict, total=False):
    """What `Tool.replace` takes: the fields of a `Tool`."""

    name: str
    description: str
    schema: Mapping[str, Any]
    execute: Execute
    toolset: str | None
    max_result_chars: int | None
    capabilities: ToolCapabilities | Mapping[str, Any] | None
    is_available: Callable[[], bool] | None
    always_include: bool
    output_is_untrusted: bool
    ephemeral: bool
    on_collision: CollisionPolicy
    timeout_seconds: float | None
    idempotent: bool
    strict: bool


class ContextChanges(TypedDict, total=False):
    """What `ToolContext.replace` takes: the fields of a `ToolContext`."""

    session_id: str
    session_key: str
    platform: str
    working_dir: str | os.PathLike[str] | None
    agent_id: str | None
    personality_id: str | None
    memory_scope: MemoryScope | None
    memory_scope_id: str | None
    team_id: str | None
    current_turn: int
    message_count: int
    abort_signal: AbortSignal | None
    emit: Callable[[ToolProgressEvent], object] | None
    result_budget_chars: float
    storage: Storage | None
    read_mtimes: MutableMapping[str, ReadMtime] | None
    network_policy: NetworkPolicy | None
    artifact_store: ArtifactStore | None
    kv_store: KeyValueStore | None
    secrets_resolver: ScopedSecretsResolver | None
    scoped_fetch: ScopedFetch | None
    scoped_fs: ScopedFs | None
    scoped_process: ScopedProcess | None
    attachments: ScopedAttachments | None
    dry_run: bool
    tool_call_id: str
