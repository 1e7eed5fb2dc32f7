"""Ready-made backends for every capability."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ethos_registry._suggest import did_you_mean
from ethos_registry.capabilities._address_guard import HostRules
from ethos_registry.capabilities._files import (
    DEFAULT_PROTECTION,
    Protection,
    ReachFiles,
    TurnAttachments,
)
from ethos_registry.capabilities._key_values import KeyValueDatabase
from ethos_registry.capabilities._network import ConnectionPools, FetchLimits
from ethos_registry.capabilities._process import ProgramRunner
from ethos_registry.capabilities._resolver import (
    PolicySource,
    current_personality,
    narrowed_reach,
    network_policy,
    personality_of,
)
from ethos_registry.capabilities._sandbox import (
    CommandSandbox,
    SandboxPolicy,
    UnconfinedError,
    missing_level,
)
from ethos_registry.capabilities._secrets import SecretsBackend, SecretSource, issued_secrets_of
from ethos_registry.types import _checks
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._extras import has_extra
from ethos_registry.types._policy import (
    CAPABILITY_ALIASES,
    CapabilityName,
    NetworkPolicy,
    Personality,
    required_level,
)

if TYPE_CHECKING:
    from ethos_registry.capabilities._fetch import ReachFetch

Factory = Callable[[str, Any, ToolContext], Any]


class StandardBackends(Mapping[CapabilityName, Factory]):
    """A mapping from capability to factory, as `ToolRegistry(capability_backends=…)` takes it.

    `redact` replaces every secret that was handed out, in whatever form; the registry applies it to
    each result. `fs` and `kv` are read as `fs_reach` and `storage`.
    """

    def __init__(
        self,
        factories: Mapping[CapabilityName, Factory],
        policies: PolicySource | None = None,
        protection: Protection = DEFAULT_PROTECTION,
    ) -> None:
        self._factories = dict(factories)
        self.policies = policies
        self.protection = protection
        self._issued_secrets = issued_secrets_of(self._factories)

    def __getitem__(self, name: str) -> Factory:
        return self._factories[CAPABILITY_ALIASES.get(name, cast("CapabilityName", name))]

    def __iter__(self) -> Iterator[CapabilityName]:
        return iter(self._factories)

    def __len__(self) -> int:
        return len(self._factories)

    def redact(self, text: str) -> str:
        """`text` without the secrets that were handed out; the same object if it has none."""
        return text if self._issued_secrets is None else self._issued_secrets.redact(text)

    def __repr__(self) -> str:
        return f"StandardBackends({', '.join(sorted(self._factories))})"


@_checks.checked_signature
def standard_backends(
    *,
    secrets: SecretSource | None = None,
    key_values: KeyValueDatabase | str | os.PathLike[str] | None = None,
    policies: PolicySource | None = None,
    protection: Protection = DEFAULT_PROTECTION,
    sandbox: CommandSandbox | None = None,
    pools: ConnectionPools | None = None,
    fetch_limits: FetchLimits | None = None,
) -> StandardBackends:
    """Backends for files, programs and attachments, and for what the arguments add.

    Args:
        secrets: Where secrets come from, for example `EnvironmentSecrets("TOOL_")`. Without it,
            calls of tools that declare secrets are refused.
        key_values: The store, or the path of its SQLite file, for tools that declare `storage`.
        policies: Returns the current personality of an id. It is asked once for each batch, for all
            its tools, so an edited policy takes effect at the next; if it raises, nothing is
            permitted. Default: the personality of the view.
        protection: Files that remain closed inside a permitted directory, for the file tools and
            commands too.
        sandbox: What confines programs under a personality with a reach or a network policy.
            Default: `CommandSandbox()`.
        pools: `ConnectionPools` for tools that declare `network`. Default: new pools if the
            extra `network` is installed; without it, calls of such tools are refused.
        fetch_limits: What one fetch may cost. Default: `FetchLimits()`.

    >>> sorted(standard_backends())[:2]
    ['attachments', 'fs_reach']

    """
    confines = CommandSandbox() if sandbox is None else sandbox
    if pools is None and has_extra("network"):
        pools = ConnectionPools()

    def requests(hosts: Sequence[str], context: ToolContext) -> ReachFetch:
        from ethos_registry.capabilities._fetch import ReachFetch

        assert pools is not None
        policy = network_policy(context, personality_of(context, policies))
        return ReachFetch(HostRules.of(hosts, policy), pools, fetch_limits or FetchLimits())

    def files(tool_name: str, declaration: Mapping[str, Any], context: ToolContext) -> ReachFiles:
        personality = personality_of(context, policies)
        allowed = None if personality is None else personality.fs_reach
        reach = narrowed_reach(declaration, allowed, context.working_dir)
        return ReachFiles(
            reach.read, reach.write, working_dir=context.working_dir, protection=protection
        )

    factories: dict[CapabilityName, Factory] = {
        "fs_reach": files,
        "process": _ProgramBackend(confines, policies, protection),
        "attachments": lambda tool_name, declaration, context: TurnAttachments(
            declaration,
            context.turn_attachments,
            None if pools is None else lambda host: requests([host], context),
        ),
    }
    if secrets is not None:
        factories["secrets"] = SecretsBackend(secrets)
    if key_values is not None:
        if not isinstance(key_values, KeyValueDatabase):
            key_values = KeyValueDatabase(key_values)
        database = key_values
        factories["storage"] = lambda tool_name, declaration, context: database.scope(
            storage_scope(tool_name, declaration, context)
        )
    if pools is not None:
        factories["network"] = lambda tool_name, declaration, context: requests(
            declaration.get("allowedHosts", ()), context
        )
    return StandardBackends(factories, policies, protection)


def sandbox_policy(
    context: ToolContext, policies: PolicySource | None, protection: Protection
) -> SandboxPolicy | None:
    """What programs of this call may access; `None` if the personality restricts nothing."""
    personality = personality_of(context, policies)
    reach = None if personality is None else personality.fs_reach
    is_open = _is_open(network_policy(context, personality))
    level = required_level(personality)
    if reach is None and is_open and level is None:
        return None
    wanted = ["/"] if reach is None else "from-personality"
    folders = narrowed_reach({"read": wanted, "write": wanted}, reach, context.working_dir)
    return SandboxPolicy(
        folders.read, folders.write, network=is_open, protection=protection, level=level
    )


def why_unconfined(what: str, personality: Personality, sandbox: CommandSandbox) -> str:
    """Why no command of `what` can run under a personality here; empty if commands can."""
    level = required_level(personality)
    if personality.fs_reach is None and _is_open(personality.network) and level is None:
        return ""
    problem = missing_level(sandbox.probe(), level)
    policy = f"the policy of `{personality.id}` requires"
    return problem and f"{what} cannot be confined here, as {policy}: {problem}"


def _is_open(network: NetworkPolicy | None) -> bool:
    return network is None or (
        (network.allow is None or "*" in network.allow)
        and not network.deny
        and network.allow_private_urls is not False
    )


@dataclass(frozen=True, slots=True)
class _ProgramBackend:
    """Makes the runner of declared programs: confined under a policy, or refused."""

    sandbox: CommandSandbox
    policies: PolicySource | None
    protection: Protection

    def __call__(
        self, tool_name: str, declaration: Mapping[str, Any], context: ToolContext
    ) -> ProgramRunner:
        policy = sandbox_policy(context, self.policies, self.protection)
        if policy is not None and (problem := missing_level(self.sandbox.probe(), policy.level)):
            raise UnconfinedError(f"programs cannot be confined here: {problem}")
        personality = personality_of(context, self.policies)
        return ProgramRunner(
            declaration.get("allowedBinaries", ()),
            working_dir=context.working_dir,
            sandbox=self.sandbox,
            policy=policy,
            abort_signal=context.abort_signal,
            commands=None if personality is None else personality.commands,
        )

    def why_refused(self, personality: Personality) -> str:
        """Why programs cannot run under a personality here; empty if they can."""
        current = current_personality(self.policies, personality, None) or personality
        return why_unconfined("programs", current, self.sandbox)


def storage_scope(tool_name: str, declaration: Mapping[str, Any], context: ToolContext) -> str:
    """The scope of a tool's values: `tool:NAME`, `session:ID` or `personality:ID`."""
    scope = declaration.get("scope", "tool")
    if scope in ("tool", "tool-private"):
        return f"tool:{tool_name}"
    if scope == "session":
        return f"session:{context.session_id}"
    if scope == "personality":
        if context.personality_id is None:
            raise ConfigError(
                "the tool stores values of a personality, and this call has none; run it through "
                "a view"
            )
        return f"personality:{context.personality_id}"
    near = did_you_mean(scope, ("tool", "session", "personality"))
    raise ConfigError(
        f"unknown storage scope {scope!r}{near}; known are tool, session, personality"
    )
