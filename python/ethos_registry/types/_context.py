"""What a running tool knows of its session, turn and call."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, ClassVar, Literal, TypeAlias, TypedDict, Unpack, get_args

from ethos_registry._suggest import did_you_mean
from ethos_registry.types import _checks, _ports
from ethos_registry.types._abort import NEVER_ABORTED, AbortSignal
from ethos_registry.types._checks import check_callback, python_names, wire_name
from ethos_registry.types._content import Attachment
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._policy import NetworkPolicy
from ethos_registry.types._ports import (
    ArtifactStore,
    KeyValueStore,
    ScopedAttachments,
    ScopedFetch,
    ScopedFs,
    ScopedProcess,
    ScopedSecretsResolver,
    Storage,
)

# Progress events of running tools, and who may see them.

Audience: TypeAlias = Literal["internal", "user", "dashboard"]
"""Who may see an event: the framework's logs, the user, or operators' dashboards."""

_AUDIENCES: tuple[str, ...] = get_args(Audience)
_SEEN_BY: dict[str, frozenset[str]] = {
    "user": frozenset({"user"}),
    "dashboard": frozenset({"user", "dashboard"}),
    "internal": frozenset(_AUDIENCES),
}


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class ToolProgressEvent:
    """One step of a running tool.

    The registry sets `tool_name` and `tool_call_id` to those of the call that really runs, and
    keeps `percent` in 0-100 (`None` for values that are not numbers).

    >>> ToolProgressEvent("indexing", percent=140, audience="user").percent
    100.0
    """

    type: ClassVar[Literal["progress"]] = "progress"

    message: str
    tool_name: str = ""
    percent: float | None = None
    audience: Audience = "internal"
    tool_call_id: str = field(default="", compare=False, repr=False)
    """The id of the call; not sent over the wire."""

    def __post_init__(self) -> None:
        _checks.text(self.message, "message")
        _checks.text(self.tool_name, "tool_name")
        _checks.text(self.tool_call_id, "tool_call_id")
        _checks.one_of(self.audience, _AUDIENCES, "audience")
        object.__setattr__(self, "percent", _clamped(self.percent))

    def visible_to(self, audience: Audience) -> bool:
        """Whether a viewer of this kind may see the event.

        A user sees `user` events; a dashboard these and `dashboard` events; the framework
        (`internal`) sees all.
        """
        if audience not in _SEEN_BY:
            raise ConfigError(
                f"`audience` must be one of {', '.join(_AUDIENCES)}: {audience!r}"
                f"{did_you_mean(audience, _AUDIENCES)}"
            )
        return self.audience in _SEEN_BY[audience]

    def to_wire(self) -> dict[str, Any]:
        """The event as a JSON object, without `audience` if it is `internal`."""
        wire: dict[str, Any] = {
            "type": "progress",
            "toolName": self.tool_name,
            "message": self.message,
        }
        if self.percent is not None:
            wire["percent"] = int(self.percent) if self.percent.is_integer() else self.percent
        if self.audience != "internal":
            wire["audience"] = self.audience
        return wire

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> ToolProgressEvent:
        """The event that a JSON object describes."""
        fields = ("type", "tool_name", "message", "percent", "audience")
        values = python_names(payload, fields, "progress event")
        if values.pop("type", "progress") != "progress":
            raise ConfigError(f"`type` must be 'progress': {_checks.brief(payload['type'])}")
        if "message" not in values:
            raise ConfigError("a progress event needs `message`")
        return cls(**values)


def _clamped(percent: object) -> float | None:
    if isinstance(percent, bool) or not isinstance(percent, int | float) or percent != percent:
        return None
    return float(min(max(percent, 0), 100))


# The keywords of `ToolContext.replace`, for type checkers.


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
    tenant_id: str | None
    run_id: str | None
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


DEFAULT_BUDGET_CHARS = 80_000
"""How many characters the results of one batch may have together."""

MemoryScope: TypeAlias = Literal["global", "per-personality"]


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class ReadMtime:
    """The modification time of a file when it was read, and the turn in which it was read."""

    mtime_ms: float
    read_at_turn: int
    stamp: str | None = field(default=None, compare=False, repr=False)
    """An opaque value of the reader for writers."""

    def __post_init__(self) -> None:
        _checks.finite_number(self.mtime_ms, "mtime_ms", minimum=-math.inf)
        _checks.finite_number(self.read_at_turn, "read_at_turn", whole=True)
        _checks.optional_text(self.stamp, "stamp")

    def to_wire(self) -> dict[str, Any]:
        """The entry as a JSON object."""
        wire: dict[str, Any] = {"mtimeMs": self.mtime_ms, "readAtTurn": self.read_at_turn}
        if self.stamp is not None:
            wire["stamp"] = self.stamp
        return wire

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> ReadMtime:
        """The entry that a JSON object describes; unknown fields are refused."""
        fields = ("mtime_ms", "read_at_turn")
        values = python_names(payload, (*fields, "stamp"), "entry of readMtimes")
        for name in fields:
            if name not in values:
                raise ConfigError(f"an entry of readMtimes needs `{wire_name(name)}`")
        return cls(**values)


def _drop(event: ToolProgressEvent) -> None:
    """The default `emit`: events are dropped."""


@_checks.checked_class
class ToolContext:
    """Read-only facts of one session, turn and call; every field has a default.

    The registry passes each call a context of its own: the caller's facts, and the call's own
    `tool_call_id`, `result_budget_chars` (its cap), `abort_signal` (fires for the turn and when
    this call is stopped), `emit` and scoped objects. Scoped objects that the caller set are not
    passed on: a tool receives only what it declared.

    >>> context = ToolContext(session_id="s1", current_turn=3)
    >>> context.session_id, context.platform, context.result_budget_chars
    ('s1', 'cli', 80000)
    """

    __slots__ = (
        "__weakref__",
        "_abort_signal",
        "_budget",
        "_emit",
        "_facts",
        "_scoped",
        "_tool_call_id",
    )

    def __init__(
        self,
        *,
        session_id: str = "",
        session_key: str = "",
        platform: str = "cli",
        working_dir: str | os.PathLike[str] | None = None,
        agent_id: str | None = None,
        personality_id: str | None = None,
        memory_scope: MemoryScope | None = None,
        memory_scope_id: str | None = None,
        team_id: str | None = None,
        tenant_id: str | None = None,
        run_id: str | None = None,
        current_turn: int = 1,
        message_count: int = 0,
        abort_signal: AbortSignal | None = None,
        emit: Callable[[ToolProgressEvent], object] | None = None,
        result_budget_chars: float = DEFAULT_BUDGET_CHARS,
        storage: _ports.Storage | None = None,
        read_mtimes: MutableMapping[str, ReadMtime] | None = None,
        network_policy: NetworkPolicy | None = None,
        artifact_store: ArtifactStore | None = None,
        kv_store: _ports.KeyValueStore | None = None,
        secrets_resolver: _ports.ScopedSecretsResolver | None = None,
        scoped_fetch: _ports.ScopedFetch | None = None,
        scoped_fs: _ports.ScopedFs | None = None,
        scoped_process: _ports.ScopedProcess | None = None,
        attachments: _ports.ScopedAttachments | None = None,
        dry_run: bool = False,
        tool_call_id: str = "",
    ) -> None:
        self._facts = _ContextFields(
            session_id=session_id,
            session_key=session_key,
            platform=platform,
            working_dir=_folder(working_dir),
            agent_id=agent_id,
            personality_id=personality_id,
            memory_scope=memory_scope,
            memory_scope_id=memory_scope_id,
            team_id=team_id,
            tenant_id=tenant_id,
            run_id=run_id,
            current_turn=current_turn,
            message_count=message_count,
            storage=storage,
            read_mtimes=read_mtimes,
            network_policy=network_policy,
            artifact_store=artifact_store,
            dry_run=dry_run,
        )
        if abort_signal is not None and not isinstance(abort_signal, AbortSignal):
            raise ConfigError(
                f"`abort_signal` must be an AbortSignal, got {type(abort_signal).__name__}; "
                "an `AbortController` has it as `signal`"
            )
        if emit is not None and emit is not _drop:
            check_callback(emit, "emit", "event")
        self._abort_signal = NEVER_ABORTED if abort_signal is None else abort_signal
        self._emit = _drop if emit is None else emit
        self._budget = _checks.finite_number(result_budget_chars, "result_budget_chars")
        self._tool_call_id = _checks.text(tool_call_id, "tool_call_id")
        scoped = {
            "kv_store": kv_store,
            "secrets_resolver": secrets_resolver,
            "scoped_fetch": scoped_fetch,
            "scoped_fs": scoped_fs,
            "scoped_process": scoped_process,
            "attachments": attachments,
        }
        self._scoped: Mapping[str, Any] = {
            name: value for name, value in scoped.items() if value is not None
        }

    session_id = property(attrgetter("_facts.session_id"), doc="Stable id of the session.")
    session_key = property(attrgetter("_facts.session_key"), doc="Readable key, as `cli:my-repo`.")
    platform = property(attrgetter("_facts.platform"), doc="The surface: `cli`, `slack`, ...")
    working_dir = property(attrgetter("_facts.working_dir"), doc="Anchor of relative paths.")
    agent_id = property(attrgetter("_facts.agent_id"), doc="The agent that runs the turn.")
    personality_id = property(attrgetter("_facts.personality_id"), doc="The active personality.")
    memory_scope = property(attrgetter("_facts.memory_scope"), doc="The turn's memory scope.")
    memory_scope_id = property(attrgetter("_facts.memory_scope_id"), doc="Its opaque id.")
    team_id = property(attrgetter("_facts.team_id"), doc="The active team, `None` when solo.")
    tenant_id = property(attrgetter("_facts.tenant_id"), doc="The customer, for usage limits.")
    run_id = property(attrgetter("_facts.run_id"), doc="One run of an agent, for usage limits.")
    current_turn = property(attrgetter("_facts.current_turn"), doc="The turn, counted from 1.")
    message_count = property(attrgetter("_facts.message_count"), doc="Messages so far.")
    read_mtimes = property(
        attrgetter("_facts.read_mtimes"),
        doc="Path -> `ReadMtime`: filled by readers, checked by writers; `None` = no check.",
    )
    network_policy = property(attrgetter("_facts.network_policy"), doc="The network's reach.")
    artifact_store = property(
        attrgetter("_facts.artifact_store"), doc="Stores the full text of cut results."
    )
    dry_run = property(attrgetter("_facts.dry_run"), doc="Whether tools must not run.")
    tool_call_id = property(attrgetter("_tool_call_id"), doc="The id of the running call.")
    abort_signal = property(attrgetter("_abort_signal"), doc="Fires when the turn is aborted.")
    emit = property(attrgetter("_emit"), doc="Takes a `ToolProgressEvent`; safe from threads.")
    result_budget_chars = property(
        attrgetter("_budget"),
        doc="Characters: of the batch for the caller, of the call's result for a tool.",
    )

    @property
    def storage(self) -> _ports.Storage | None:
        """The turn's file storage, or `None`; see `folder_storage`."""
        return self._facts.storage

    @property
    def kv_store(self) -> _ports.KeyValueStore | None:
        """The declared key-value store, or `None`."""
        return self._scoped.get("kv_store")

    @property
    def secrets_resolver(self) -> _ports.ScopedSecretsResolver | None:
        """The resolver of the declared secrets, or `None`."""
        return self._scoped.get("secrets_resolver")

    @property
    def scoped_fetch(self) -> _ports.ScopedFetch | None:
        """HTTP to the declared hosts, or `None`."""
        return self._scoped.get("scoped_fetch")

    @property
    def scoped_fs(self) -> _ports.ScopedFs | None:
        """Files in the declared reach, or `None`."""
        return self._scoped.get("scoped_fs")

    @property
    def scoped_process(self) -> _ports.ScopedProcess | None:
        """The declared programs, or `None`."""
        return self._scoped.get("scoped_process")

    @property
    def attachments(self) -> _ports.ScopedAttachments | None:
        """The attachments of the declared kinds, or `None`."""
        return self._scoped.get("attachments")

    @property
    def turn_attachments(self) -> tuple[Attachment, ...]:
        """The files of the turn, in the context that a backend receives; elsewhere empty."""
        return ()

    def report(
        self, message: str, *, percent: float | None = None, audience: Audience = "internal"
    ) -> None:
        """Emit one progress event; the registry fills in the tool's name."""
        self._emit(ToolProgressEvent(message, percent=percent, audience=audience))

    def _repaired(self, args: Any, failing: Callable[[Any], Any]) -> Any:
        """The arguments of a call that does not bind, repaired; `None` outside a registry."""
        return None

    _bound: dict[str, Any] | None = None
    """What the arguments were bound to before they came to the tool."""

    def _taken_bound(self, args: Any) -> dict[str, Any] | None:
        """What these arguments were bound to before they came to the tool, at most once."""
        return None

    def replace(self, **changes: Unpack[ContextChanges]) -> ToolContext:
        """A context with some fields changed.

        >>> ToolContext(platform="slack").replace(current_turn=2).platform
        'slack'
        """
        if unknown := changes.keys() - set(CONTEXT_FIELDS):
            name = min(unknown)
            raise ConfigError(
                f"a tool context has no field {name!r}{did_you_mean(name, CONTEXT_FIELDS)}; "
                f"it has {', '.join(CONTEXT_FIELDS)}"
            )
        return ToolContext(**{name: getattr(self, name) for name in CONTEXT_FIELDS} | dict(changes))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolContext):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in CONTEXT_FIELDS)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in WIRE_FIELDS}
        default = _DEFAULTS
        differs = (
            f"{name}={value!r}" for name, value in shown.items() if value != default.get(name)
        )
        return f"ToolContext({', '.join(differs)})"

    def to_wire(self) -> dict[str, Any]:
        """The data fields as a JSON object with camelCase names, without fields that are not set.

        Live objects (`emit`, `abort_signal`, `storage`, the scoped ones) cannot travel.
        """
        wire: dict[str, Any] = {}
        for name in WIRE_FIELDS:
            value = getattr(self, name)
            if value is None or value == _LEFT_OUT.get(name, ...):
                continue
            if name == "network_policy":
                value = value.to_wire()
            elif name == "read_mtimes":
                value = {path: item.to_wire() for path, item in value.items()}
            wire[wire_name(name)] = value
        return wire

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any], **live: Any) -> ToolContext:
        """The context that a JSON object describes, with the given live objects."""
        values = python_names(payload, WIRE_FIELDS, "tool context")
        if (policy := values.get("network_policy")) is not None:
            values["network_policy"] = NetworkPolicy.from_wire(policy)
        if (mtimes := values.get("read_mtimes")) is not None:
            if not isinstance(mtimes, Mapping):
                raise ConfigError(f"`readMtimes` must be an object, got {type(mtimes).__name__}")
            values["read_mtimes"] = {
                path: ReadMtime.from_wire(item) for path, item in mtimes.items()
            }
        for name in live:
            if name not in LIVE_FIELDS:
                raise ConfigError(
                    f"a tool context has no live field {_checks.brief(name)}"
                    f"{did_you_mean(name, LIVE_FIELDS)}; it has {', '.join(LIVE_FIELDS)}"
                )
        return cls(**values, **live)


def _folder(path: str | os.PathLike[str] | None) -> Any:
    """The path as a string; values of another kind are left to the check of the field."""
    if path is None:
        return os.getcwd()
    return os.fspath(path) if isinstance(path, os.PathLike) else path


_OPTIONAL_IDS = (
    "agent_id",
    "personality_id",
    "memory_scope_id",
    "team_id",
    "tenant_id",
    "run_id",
)


@dataclass(frozen=True, slots=True)
class _ContextFields:
    """What all calls of a batch share."""

    session_id: str
    session_key: str
    platform: str
    working_dir: str
    agent_id: str | None
    personality_id: str | None
    memory_scope: MemoryScope | None
    memory_scope_id: str | None
    team_id: str | None
    tenant_id: str | None
    run_id: str | None
    current_turn: int
    message_count: int
    storage: _ports.Storage | None
    read_mtimes: MutableMapping[str, ReadMtime] | None
    network_policy: NetworkPolicy | None
    artifact_store: ArtifactStore | None
    dry_run: bool

    def __post_init__(self) -> None:
        for name in ("session_id", "session_key", "platform", "working_dir"):
            _checks.text(getattr(self, name), name)
        for name in _OPTIONAL_IDS:
            _checks.optional_text(getattr(self, name), name)
        if self.memory_scope is not None:
            _checks.one_of(self.memory_scope, get_args(MemoryScope), "memory_scope")
        _checks.finite_number(self.current_turn, "current_turn", whole=True)
        _checks.finite_number(self.message_count, "message_count", whole=True)
        _checks.boolean(self.dry_run, "dry_run")
        if self.read_mtimes is not None and not isinstance(self.read_mtimes, MutableMapping):
            raise ConfigError(
                f"`read_mtimes` must be a dict of ReadMtime, got {type(self.read_mtimes).__name__}"
            )
        if self.network_policy is not None and not isinstance(self.network_policy, NetworkPolicy):
            raise ConfigError(
                "`network_policy` must be a NetworkPolicy, "
                f"got {type(self.network_policy).__name__}"
            )
        if self.artifact_store is not None and not hasattr(self.artifact_store, "spool"):
            kind = type(self.artifact_store).__name__
            raise ConfigError(f"`artifact_store` must be an artifact store, got {kind}")


WIRE_FIELDS: tuple[str, ...] = (
    "session_id",
    "session_key",
    "platform",
    "working_dir",
    "agent_id",
    "personality_id",
    "memory_scope",
    "memory_scope_id",
    "team_id",
    "tenant_id",
    "run_id",
    "current_turn",
    "message_count",
    "result_budget_chars",
    "read_mtimes",
    "network_policy",
    "dry_run",
    "tool_call_id",
)
"""The fields that are data, in their order on the wire."""

LIVE_FIELDS: tuple[str, ...] = (
    "abort_signal",
    "emit",
    "storage",
    "artifact_store",
    "kv_store",
    "secrets_resolver",
    "scoped_fetch",
    "scoped_fs",
    "scoped_process",
    "attachments",
)
"""The fields that are objects of this process."""

CONTEXT_FIELDS: tuple[str, ...] = (*WIRE_FIELDS, *LIVE_FIELDS)

_LEFT_OUT: dict[str, Any] = {"dry_run": False, "tool_call_id": ""}
_DEFAULTS: dict[str, Any] = {
    "session_id": "",
    "session_key": "",
    "platform": "cli",
    "current_turn": 1,
    "message_count": 0,
    "result_budget_chars": DEFAULT_BUDGET_CHARS,
    "dry_run": False,
    "tool_call_id": "",
}
