"""How a registry runs its calls, checked when it is created."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypedDict

from ethos_registry import _core
from ethos_registry.capabilities._resolver import CapabilityBackends, checked_backends
from ethos_registry.capabilities._secrets import IssuedSecrets, issued_secrets_of
from ethos_registry.execution._approvals import Approvals
from ethos_registry.execution._options import InvocationFilter
from ethos_registry.execution._runtime import Counters, Runtime
from ethos_registry.execution._threads import DaemonThreads, tool_threads
from ethos_registry.reduction._redaction import Redact, Redactor
from ethos_registry.types import _checks
from ethos_registry.types._blocking import called
from ethos_registry.types._call import RepairLevel
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._reducer import ReductionPolicy, ToolResultReducerRegistry
from ethos_registry.types._settings import checked_settings
from ethos_registry.types._transport import ToolTransport

DEFAULT_TIMEOUT_SECONDS = 120.0
"""The timeout of tools that set none."""


class RunOptions(TypedDict, total=False):
    """Settings of a registry for the execution of calls."""

    observers: Iterable[object]
    """Receive what happened to each call: see `Observer`. Default: none."""
    max_threads: int | None
    """How many plain functions run at once, on threads of this registry's own. Default: `None`,
    the threads that all such registries share, at most 1,024."""
    thread_wait_seconds: float | None
    """How long a plain function waits for a free thread before its call is answered
    `not_available`; `None` for no limit. Default: 5."""
    abandon_after_seconds: float
    """How long a call that was stopped may take to end before it is abandoned. Default: 2."""
    redact: bool
    """Whether credentials that identify themselves, and secrets that tools were given, are replaced
    in results. Default: `True`."""
    unredacted_tools: Iterable[str]
    """Names of tools whose results stay as they are. Default: none."""
    filters: Sequence[InvocationFilter]
    """Code of the host around each call of every batch, outside the filters of the batch. Default:
    none."""
    max_concurrency: int | None
    """How many calls run at once on one event loop, over all batches, views and turns of this
    registry. What a tool calls itself runs inside its own slot. Default: `None`, all of them."""
    approvals: Approvals | None
    """Signs the tokens of calls that wait for approval: see `Pending`. Default: none."""
    transports: Mapping[str, ToolTransport]
    """Where tools run: `tool:NAME`, `toolset:NAME` or `*` -> a `ToolTransport`; the most specific
    key counts. Default: in this process."""
    reduction: ReductionPolicy | None
    """How much of reduced results is kept, where neither the batch nor the tool sets it. Default:
    `None`, they are as short as their reducers make them."""
    repair_arguments: RepairLevel
    """Which wrong arguments are repaired, after they failed validation and if they have one
    reading; what was done is in `CallResult.repairs`. Never for `strict` tools. Default: `"safe"`.
    """
    repair_note: bool
    """Whether the model reads what was repaired, in a line of at most 120 characters after the
    result: `[arguments repaired: tags from JSON text]`. Default: `False`."""


_NAMED_OPTIONS = (
    "tools",
    "capability_backends",
    "reducer_registry",
    "default_timeout_seconds",
    "validate_arguments",
)


def checked_runtime(
    backends: CapabilityBackends | None,
    reducers: ToolResultReducerRegistry | None,
    /,
    default_timeout_seconds: float | None,
    *,
    max_threads: int | None = None,
    redact: bool = True,
    **settings: Any,
) -> Runtime:
    """The settings of a registry.

    `ConfigError` for one of the wrong kind, `SignatureError` for one that a registry does not have.
    """
    if unknown := settings.keys() - RunOptions.__annotations__.keys():
        known = (*_NAMED_OPTIONS, *RunOptions.__annotations__)
        raise _checks.unknown_option("ToolRegistry", min(unknown), known)
    if reducers is not None and not callable(getattr(reducers, "get", None)):
        raise ConfigError(
            f"`reducer_registry` must have `get(tool_name)`, got {type(reducers).__name__}; "
            "create one with `default_reducers()`"
        )
    threads = tool_threads
    if max_threads is not None:
        threads = DaemonThreads(_checks.whole_count(max_threads, "max_threads"))
    backends = checked_backends(backends)
    issued_secrets = issued_secrets_of(backends)
    redact_all = _redact_of(backends, issued_secrets)
    return checked_settings(
        Runtime,
        {"default_timeout_seconds": default_timeout_seconds, **settings},
        counters=Counters(),
        backends=backends,
        reducers=reducers,
        threads=threads,
        redact=redact_all if _checks.boolean(redact, "redact") else None,
        redact_recorded=redact_all,
        issued_secrets=issued_secrets,
    )


def _redact_of(backends: CapabilityBackends | None, issued_secrets: IssuedSecrets | None) -> Redact:
    """Credentials by their shape, and what the backends handed out."""
    own: Redact | None = getattr(backends, "redact", None)
    if callable(own):
        # The backends bring a database and sockets, which a registry without them does not need.
        from ethos_registry.capabilities._standard import StandardBackends

        if not isinstance(backends, StandardBackends):
            what = "`redact` of the capability backends"
            return Redactor(issued_secrets, partial(called, what, own))
    return _core.redact if issued_secrets is None else Redactor(issued_secrets)
