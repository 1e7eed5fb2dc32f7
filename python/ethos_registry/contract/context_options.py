"""The keywords of `ToolContext.replace`, for type checkers."""

from __future__ import annotations

import os
from collections.abc import Callable, MutableMapping
from typing import Any, Literal, TypedDict

from ethos_registry.contract.abort import AbortSignal
from ethos_registry.contract.policy import NetworkPolicy
from ethos_registry.contract.ports import (
    ArtifactStore,
)
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.contract.scoped_ports import (
    KeyValueStore,
    ScopedAttachments,
    ScopedFetch,
    ScopedFs,
    ScopedProcess,
    ScopedSecretsResolver,
    Storage,
)

__all__ = ["ContextChanges"]


class ContextChanges(TypedDict, total=False):
    """What `ToolContext.replace` takes: the fields of a `ToolContext`."""

    session_id: str
    session_key: str
    platform: str
    working_dir: str | os.PathLike[str] | None
    agent_id: str | None
    personality_id: str | None
    memory_scope: Literal["global", "per-personality"] | None
    memory_scope_id: str | None
    team_id: str | None
    current_turn: int
    message_count: int
    abort_signal: AbortSignal | None
    emit: Callable[[ToolProgressEvent], object] | None
    result_budget_chars: float
    storage: Storage | None
    read_mtimes: MutableMapping[str, Any] | None
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
