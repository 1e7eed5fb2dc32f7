"""What a running tool knows of its session, turn and call."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import partial
from inspect import Parameter, Signature
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, ClassVar, Final, Literal, TypeAlias, TypedDict, TypeVar, Unpack, get_args

from ethos_registry._suggest import did_you_mean
from ethos_registry.types import _checks, _ports
from ethos_registry.types._abort import NEVER_ABORTED, AbortSignal
from ethos_registry.types._checks import check_callback, python_names, wire_name
from ethos_registry.types._content import Attachment
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._policy import NetworkPolicy
from ethos_registry.types._settings import Check, choice, instance_of, optional

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
        return _checks.to_wire(self, ReadMtime)

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> ReadMtime:
        """The entry that a JSON object describes; unknown fields are refused."""
        return cls(**_checks.from_wire(cls, payload, "entry of readMtimes"))


def _drop(event: ToolProgressEvent) -> None:
    """The default `emit`: events are dropped."""


class ContextFields(TypedDict, total=False):
    """The fields of a `ToolContext`, all with a default; the attributes explain them."""

    session_id: str
    session_key: str
    platform: str
    working_dir: str | os.PathLike[str] | None
    agent_id: str | None
    personality_id: str | None
    memory_scope: MemoryScope | None
    memory_scope_id: str | None
    team_id: str | None
    tenant_id: str | None
    run_id: str | None
    current_turn: int
    message_count: int
    abort_signal: AbortSignal | None
    emit: Callable[[ToolProgressEvent], object] | None
    result_budget_chars: float
    storage: _ports.Storage | None
    read_mtimes: MutableMapping[str, ReadMtime] | None
    network_policy: NetworkPolicy | None
    artifact_store: _ports.ArtifactStore | None
    kv_store: _ports.KeyValueStore | None
    secrets_resolver: _ports.ScopedSecretsResolver | None
    scoped_fetch: _ports.ScopedFetch | None
    scoped_fs: _ports.ScopedFs | None
    scoped_process: _ports.ScopedProcess | None
    attachments: _ports.ScopedAttachments | None
    dry_run: bool
    tool_call_id: str


def _folder(path: Any, field: str) -> str:
    if path is None:
        return os.getcwd()
    return _checks.text(os.fspath(path) if isinstance(path, os.PathLike) else path, field)


def _signal(signal: Any, field: str) -> AbortSignal:
    if signal is None:
        return NEVER_ABORTED
    way_out = "an `AbortController` has it as `signal`"
    _checks.instance(signal, AbortSignal, field, "an AbortSignal", way_out)
    return signal  # type: ignore[no-any-return]


def _callback(emit: Any, field: str) -> Callable[[ToolProgressEvent], object]:
    if emit is None:
        return _drop
    if emit is not _drop:
        check_callback(emit, field, "event")
    return emit  # type: ignore[no-any-return]


def _store(store: object, field: str) -> object:
    if not hasattr(store, "spool"):
        raise ConfigError(f"`{field}` must be an artifact store, got {type(store).__name__}")
    return store


_TEXT: Final = ("", _checks.text)
_OPTIONAL_TEXT: Final = (None, _checks.optional_text)
_ANYTHING: Final = (None, lambda value, field: value)
_DATA: Final[Mapping[str, tuple[Any, Check]]] = {
    "session_id": _TEXT,
    "session_key": _TEXT,
    "platform": ("cli", _checks.text),
    "working_dir": (None, _folder),
    "agent_id": _OPTIONAL_TEXT,
    "personality_id": _OPTIONAL_TEXT,
    "memory_scope": (None, optional(choice(MemoryScope))),
    "memory_scope_id": _OPTIONAL_TEXT,
    "team_id": _OPTIONAL_TEXT,
    "tenant_id": _OPTIONAL_TEXT,
    "run_id": _OPTIONAL_TEXT,
    "current_turn": (1, partial(_checks.finite_number, whole=True)),
    "message_count": (0, partial(_checks.finite_number, whole=True)),
    "result_budget_chars": (DEFAULT_BUDGET_CHARS, _checks.finite_number),
    "read_mtimes": (None, optional(instance_of(MutableMapping, "a dict of ReadMtime"))),
    "network_policy": (None, optional(instance_of(NetworkPolicy, "a NetworkPolicy"))),
    "dry_run": (False, _checks.boolean),
    "tool_call_id": _TEXT,
}
"""The default and the check of each field that is data, in their order on the wire."""
_SCOPED: Final = dict.fromkeys(
    (
        "kv_store",
        "secrets_resolver",
        "scoped_fetch",
        "scoped_fs",
        "scoped_process",
        "attachments",
    ),
    _ANYTHING,
)
_LIVE: Final[Mapping[str, tuple[Any, Check]]] = {
    "abort_signal": (NEVER_ABORTED, _signal),
    "emit": (_drop, _callback),
    "storage": _ANYTHING,
    "artifact_store": (None, optional(_store)),
    **_SCOPED,
}
"""The same of the fields that are objects of this process."""
_FIELDS: Final = {**_DATA, **_LIVE}
_DEFAULTS: Final = {field: default for field, (default, _) in _FIELDS.items()}
_LEFT_OUT: Final[dict[str, Any]] = {"dry_run": False, "tool_call_id": ""}

WIRE_FIELDS: tuple[str, ...] = tuple(_DATA)
LIVE_FIELDS: tuple[str, ...] = tuple(_LIVE)
CONTEXT_FIELDS: tuple[str, ...] = tuple(_FIELDS)


Init = TypeVar("Init", bound=Any)


def _with_fields(init: Init) -> Init:
    """Show the fields in the signature."""
    keyword = Parameter.KEYWORD_ONLY
    fields = [Parameter(name, keyword, default=each) for name, each in _DEFAULTS.items()]
    own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    init.__signature__ = Signature([own, *fields])
    return init


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

    @_with_fields
    def __init__(self, **fields: Unpack[ContextFields]) -> None:
        values = dict(_DEFAULTS)
        fields.setdefault("working_dir", None)  # the folder when the context is made
        for name, given in fields.items():
            if name not in _FIELDS:
                raise _checks.unknown_option("ToolContext", name, _FIELDS)
            values[name] = _FIELDS[name][1](given, name)
        self._abort_signal = values.pop("abort_signal")
        self._emit = values.pop("emit")
        self._budget = values.pop("result_budget_chars")
        self._tool_call_id = values.pop("tool_call_id")
        self._scoped: Mapping[str, Any] = {
            name: value for name in _SCOPED if (value := values.pop(name)) is not None
        }
        self._facts = SimpleNamespace(**values)

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
        return self._facts.storage  # type: ignore[no-any-return]

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

    def replace(self, **changes: Unpack[ContextFields]) -> ToolContext:
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
        differs = (f"{name}={value!r}" for name, value in shown.items() if value != _DEFAULTS[name])
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
            _checks.instance(mtimes, Mapping, "readMtimes", "an object")
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
