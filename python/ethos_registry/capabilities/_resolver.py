"""Resolves the declared capabilities of a tool to scoped objects; fails closed."""

from __future__ import annotations

import functools
import inspect
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ethos_registry import _core
from ethos_registry._suggest import did_you_mean
from ethos_registry.capabilities._protected_paths import is_below
from ethos_registry.types._checks import check_callback
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._policy import (
    CAPABILITY_ALIASES,
    CAPABILITY_NAMES,
    CapabilityName,
    FsReach,
    NetworkPolicy,
    Personality,
    ToolCapabilities,
)

# Patterns of hosts.


def host_matches(pattern: str, host: str) -> bool:
    """Whether `host` is `pattern`: exact, `*.x` for subdomains of `x` at any depth, or `*`.

    >>> [host_matches("*.x.org", host) for host in ("a.b.x.org", "x.org", "notx.org")]
    [True, False, False]
    """
    pattern, host = pattern.lower(), host.lower()
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and len(host) > len(pattern) - 1
    return pattern == host


def covers_host(allowed: Iterable[str], declared: str) -> bool:
    """Whether the allow list covers `declared`; `*` means all that is allowed.

    >>> covers_host(["*.github.com"], "api.github.com"), covers_host(["*.github.com"], "github.com")
    (True, False)
    """
    return declared == "*" or any(host_matches(pattern, declared) for pattern in allowed)


# The directories that a tool may use: those it declared, within its personality's reach.

FROM_PERSONALITY = "from-personality"
"""A declaration that uses the paths of the personality."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Absolute directories and files that may be read and written."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


def narrowed_reach(
    declaration: Mapping[str, Any], allowed: FsReach | None, working_dir: str
) -> Reach:
    """The reach of a tool: its declaration within what the personality allows.

    Without a policy, the declaration applies unchanged. With one, a declared path inside an allowed
    one is kept, one that contains an allowed path is narrowed to it, and the rest is dropped. A
    path below one that may be written is dropped if it is a link that leads out of that: a tool may
    have made the link. `ConfigError` if the tool takes its reach from
    a personality that states none.

    >>> narrowed_reach({"read": ["/data"]}, FsReach(read=["/data/public"]), "/").read
    ('/data/public',)
    """
    declared = (_declared(declaration, allowed, "read"), _declared(declaration, allowed, "write"))
    permitted = None if allowed is None else (_expanded(allowed.read), _expanded(allowed.write))
    spelled = _spelled((*declared, *(permitted or ())), working_dir)
    return _narrowed(declared, permitted, working_dir, _real_paths(spelled))


_Paths: TypeAlias = tuple[str, ...]
_ReadAndWrite: TypeAlias = tuple[_Paths, _Paths]


def _declared(declaration: Mapping[str, Any], allowed: FsReach | None, access: str) -> _Paths:
    """What a tool declares for reading or writing; or the personality's paths."""
    paths = declaration.get(access, ())
    if paths == FROM_PERSONALITY:
        if allowed is None:
            raise ConfigError(
                f"the tool takes `fs_reach.{access}` from the personality, which states no "
                "`fs_reach`; add one to the personality"
            )
        paths = getattr(allowed, access)
    return _expanded(_checked_paths(paths, f"fs_reach.{access}"))


def _checked_paths(paths: object, what: str) -> Sequence[str]:
    if isinstance(paths, str) or not isinstance(paths, Sequence):
        raise ConfigError(f"`{what}` must be a list of paths, got {paths!r}")
    return paths


def _expanded(paths: Sequence[str]) -> _Paths:
    return tuple(map(os.path.expanduser, paths))


@functools.lru_cache(maxsize=1_024)
def _spelled(lists: tuple[_Paths, ...], working_dir: str) -> _Paths:
    """Each path once, absolute, with its links."""
    paths = (os.path.join(working_dir, path) for paths in lists for path in paths)
    return tuple(dict.fromkeys(paths))


def _real_paths(paths: _Paths) -> _Paths:
    """Where the paths lead now."""
    native = getattr(_core, "real_paths", None)
    if native is None:
        return tuple(map(os.path.realpath, paths))
    return tuple(
        os.path.realpath(path) if real is None else real  # of a missing one, as far as it exists
        for path, real in zip(paths, native(paths), strict=True)
    )


@functools.lru_cache(maxsize=1_024)
def _narrowed(
    declared: _ReadAndWrite, permitted: _ReadAndWrite | None, working_dir: str, real: _Paths
) -> Reach:
    """The reach, where the paths of `_spelled` lead to `real`: kept as long as they do."""
    spelled = _spelled((*declared, *(permitted or ())), working_dir)
    leads_to = dict(zip(spelled, real, strict=True))
    written = _spelled(((permitted or declared)[1],), working_dir)
    writable = [(os.path.normpath(path), leads_to[path]) for path in written]
    found = []
    for index, paths in enumerate(declared):
        reached = _absolute(paths, working_dir, writable, leads_to)
        if permitted is not None:
            within = _absolute(permitted[index], working_dir, writable, leads_to)
            reached = _intersection(reached, within)
        found.append(tuple(dict.fromkeys(reached)))
    return Reach(*found)


def uncovered_paths(
    declaration: Mapping[str, Any], allowed: FsReach | None, working_dir: str
) -> list[tuple[str, str]]:
    """`(access, path)` of what a tool declares and the personality does not fully cover."""
    missing = []
    for access in ("read", "write"):
        declared = declaration.get(access, ())
        if allowed is None or declared == FROM_PERSONALITY:
            continue
        given = _expanded(_checked_paths(declared, f"fs_reach.{access}"))
        paths = _spelled((given,), working_dir)
        permitted = _real_paths(_spelled((_expanded(getattr(allowed, access)),), working_dir))
        missing += [(access, path) for path in _real_paths(paths) if not is_below(path, permitted)]
    return missing


def _absolute(
    paths: _Paths,
    working_dir: str,
    writable: Sequence[tuple[str, str]],
    leads_to: Mapping[str, str],
) -> list[str]:
    """Paths without links, so that two spellings of one directory compare equal.

    Left out are those that links below a `writable` path lead out of it.
    """
    found = []
    for path in _spelled((paths,), working_dir):
        resolved, spelled = leads_to[path], os.path.normpath(path)
        if all(
            spelled == root or not is_below(spelled, (root,)) or is_below(resolved, (target,))
            for root, target in writable
        ):
            found.append(resolved)
    return found


def _intersection(declared: Sequence[str], allowed: Sequence[str]) -> list[str]:
    found = []
    for path in declared:
        if is_below(path, allowed):
            found.append(path)
        else:
            found += [root for root in allowed if is_below(root, (path,))]
    return found


CapabilityBackends: TypeAlias = Mapping[CapabilityName, Callable[[str, Any, ToolContext], Any]]
"""Capability -> `make(tool_name, declaration, context)`, plain, which returns the scoped object.

`context.turn_attachments` holds the files that came with the turn.
"""

_CONTEXT_FIELDS: dict[CapabilityName, str] = {
    "network": "scoped_fetch",
    "secrets": "secrets_resolver",
    "storage": "kv_store",
    "fs_reach": "scoped_fs",
    "process": "scoped_process",
    "attachments": "attachments",
}


def checked_backends(backends: object) -> CapabilityBackends | None:
    """The backends; raises `ConfigError` for anything but a mapping of factories."""
    if backends is None:
        return None
    if not isinstance(backends, Mapping):
        raise ConfigError(
            "`capability_backends` must map capabilities to factories, "
            f"got {type(backends).__name__}"
        )
    if CAPABILITY_ALIASES.keys() & backends.keys():
        given = backends
        backends = {CAPABILITY_ALIASES.get(name, name): given[name] for name in given}
        if len(backends) < len(given):
            raise ConfigError("`capability_backends` names a capability twice, by two names")
    for name, factory in backends.items():
        if name not in CAPABILITY_NAMES:
            raise ConfigError(
                f"`capability_backends` has an unknown capability {name!r}"
                f"{did_you_mean(name, CAPABILITY_NAMES)}; known are {', '.join(CAPABILITY_NAMES)}"
            )
        check_callback(factory, f"the backend of {name}", "a name", "a declaration", "a context")
    return backends


def first_missing_backend(
    capabilities: ToolCapabilities, backends: CapabilityBackends
) -> CapabilityName | None:
    """The first declared capability without a backend: the tool must not run without it."""
    return next((name for name in capabilities.declared if name not in backends), None)


def resolve_capabilities(
    tool_name: str,
    capabilities: ToolCapabilities,
    backends: CapabilityBackends,
    context: ToolContext,
) -> dict[str, Any]:
    """The scoped objects by the names of their context fields.

    An exception of a factory propagates. Raises `ConfigError` if a factory returns no object: the
    tool must not run without what it declared.
    """
    scoped: dict[str, Any] = {}
    for name in capabilities.declared:
        made = backends[name](tool_name, getattr(capabilities, name), context)
        if made is None or inspect.isawaitable(made):
            if inspect.iscoroutine(made):
                made.close()
            kind = type(made).__name__
            raise ConfigError(f"the backend of `{name}` must return an object, got {kind}")
        scoped[_CONTEXT_FIELDS[name]] = made
    return scoped


# The policy that a call runs under, looked up once for each batch.

_logger = logging.getLogger("ethos_registry")

PolicySource: TypeAlias = Callable[[str], Personality | None]
"""The current personality of an id; `None` if there is none."""


def current_personality(
    policies: PolicySource | None, personality: Personality | None, named: str | None
) -> Personality | None:
    """What `policies` returns now for a personality, else the personality itself.

    `named` is the id that the caller's context names; it comes first. If `policies` raises, nothing
    is permitted.
    """
    found_id = personality.id if named is None and personality is not None else named
    if policies is None or found_id is None:
        return personality
    try:
        found = policies(found_id)
    except Exception:
        _logger.warning("the source of policies raised for `%s`", found_id, exc_info=True)
        return Personality(found_id, fs_reach=FsReach(), network=NetworkPolicy(allow=[]))
    return personality if found is None else found


def personality_of(
    context: ToolContext, policies: PolicySource | None = None
) -> Personality | None:
    """The personality of a call; a batch has asked for it, other contexts ask now."""
    if hasattr(context, "personality"):
        found: Personality | None = context.personality
        return found
    return current_personality(policies, None, context.personality_id)


def network_policy(context: ToolContext, personality: Personality | None) -> NetworkPolicy | None:
    """The policy of the call: a request must satisfy the personality's and the context's."""
    return joined_network_policy(
        context.network_policy, None if personality is None else personality.network
    )


def joined_network_policy(
    given: NetworkPolicy | None, stated: NetworkPolicy | None
) -> NetworkPolicy | None:
    """What both policies permit."""
    if stated is None or given is None:
        return stated or given
    allow = stated.allow if given.allow is None else given.allow
    if stated.allow is not None and given.allow is not None:
        allow = [*_covered(given.allow, stated.allow), *_covered(stated.allow, given.allow)]
    return NetworkPolicy(
        allow,
        [*(stated.deny or ()), *(given.deny or ())],
        bool(stated.allow_private_urls and given.allow_private_urls),
    )


def _covered(hosts: Sequence[str], by: Sequence[str]) -> Iterator[str]:
    """The patterns that lie within what another list allows."""
    for host in hosts:
        if "*" in by or (host != "*" and covers_host(by, host)):
            yield host
