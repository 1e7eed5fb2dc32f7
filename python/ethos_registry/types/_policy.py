"""Who may see and call what: filters of one batch, and personalities (seeds 000 and 001)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from ipaddress import ip_address
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

from ethos_registry._suggest import did_you_mean, nearest
from ethos_registry.types import _checks
from ethos_registry.types._checks import python_names, wire_name
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import ReadOnlyDict, freeze, thaw

# The capabilities that a tool declares.

CapabilityName: TypeAlias = Literal[
    "network", "secrets", "storage", "fs_reach", "process", "attachments"
]
CAPABILITY_NAMES: tuple[CapabilityName, ...] = get_args(CapabilityName)

CAPABILITY_ALIASES: Mapping[str, CapabilityName] = {"fs": "fs_reach", "kv": "storage"}
"""Other names of capabilities in JSON and in mappings of backends."""


_DECLARED_FIELDS: Mapping[str, tuple[str, ...]] = {
    "network": ("allowedHosts",),
    "storage": ("scope", "kind"),
    "fs_reach": ("read", "write"),
    "process": ("allowedBinaries",),
    "attachments": ("kinds",),
}


def _declared(value: Mapping[Any, Any], capability: str) -> dict[Any, Any]:
    """The declaration with the names of JSON; a misspelt one would be a capability of nothing."""
    fields = _DECLARED_FIELDS[capability]
    spelled = {"allowed_binaries": "allowedBinaries", "allowed_hosts": "allowedHosts"}
    declared = {}
    for name, item in value.items():
        known = spelled.get(name, name)
        if known not in fields and nearest(name, fields):
            raise ConfigError(
                f"`capabilities.{capability}` has no field {_checks.brief(name)}"
                f"{did_you_mean(name, fields)}; it has {', '.join(fields)}"
            )
        declared[known] = item
    return declared


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class ToolCapabilities:
    """The scoped objects that a tool needs; without a declaration it never receives one.

    An empty declaration is one too: `secrets=[]` requests the resolver.

    >>> ToolCapabilities(secrets=[]).declared
    ('secrets',)
    """

    network: Mapping[str, Any] | None = None
    """`{"allowedHosts": ["api.example.com", "*.example.org"]}`"""
    secrets: Sequence[str] | None = None
    """References of secrets, exact or `a/b/*`."""
    storage: Mapping[str, Any] | None = None
    """`{"scope": "tool" | "session" | "personality", "kind": "kv"}`"""
    fs_reach: Mapping[str, Any] | None = None
    """`{"read": ["/data"], "write": []}`"""
    process: Mapping[str, Any] | None = None
    """`{"allowedBinaries": ["git"]}`"""
    attachments: Mapping[str, Any] | None = None
    """`{"kinds": ["image"]}` or `{"kinds": "*"}`"""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if value is None:
                continue
            what = f"capabilities.{item.name}"
            if item.name == "secrets":
                object.__setattr__(self, "secrets", _checks.strings(value, what))
            else:
                _checks.instance(value, Mapping, what, "an object")
                object.__setattr__(self, item.name, freeze(_declared(value, item.name), what))

    @property
    def declared(self) -> tuple[CapabilityName, ...]:
        """The names of the declared capabilities, in the order of the fields."""
        return tuple(name for name in CAPABILITY_NAMES if getattr(self, name) is not None)

    def to_wire(self) -> dict[str, Any]:
        """The JSON object, without what is not declared."""
        return {
            wire_name(name): list(self.secrets or ())
            if name == "secrets"
            else thaw(getattr(self, name))
            for name in self.declared
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return ToolCapabilities, tuple(thaw(getattr(self, name)) for name in CAPABILITY_NAMES)

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> ToolCapabilities:
        """The capabilities that a JSON object describes; raises `ConfigError` for unknown ones.

        `fs` is read as `fs_reach` and `kv` as `storage`.

        >>> ToolCapabilities.from_wire({"fs": {"read": ["/data"]}}).declared
        ('fs_reach',)
        """
        kind = "tool capabilities"
        return cls(**python_names(payload, CAPABILITY_NAMES, kind, aliases=CAPABILITY_ALIASES))


class NoTools(tuple[str, ...]):
    """The type of `NO_TOOLS`: an allow list that denies every built-in tool."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NO_TOOLS"

    def __reduce__(self) -> str:
        return "NO_TOOLS"


NO_TOOLS: Final = NoTools()
"""Pass it as `allowed_tools` to deny every built-in tool but those with `always_include`.

An allow list restricts only when it has entries, so `allowed_tools=[]` permits everything. That is
easily done by mistake; this value states the opposite by name.
"""


def _optional_strings(value: object, what: str) -> tuple[str, ...] | None:
    return None if value is None else _checks.strings(value, what)


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class ToolFilterOpts:
    """Filters beside the allow list; `None` does not filter, an empty list permits nothing.

    Lists are kept as tuples.

    >>> ToolFilterOpts(allowed_mcp_servers=["linear"]).to_wire()
    {'allowedMcpServers': ['linear']}
    """

    allowed_mcp_servers: Sequence[str] | None = None
    allowed_plugins: Sequence[str] | None = None
    allowed_mcp_tools: Mapping[str, Sequence[str]] | None = None
    """Server -> bare tool names; a server that is not named is not filtered by tool."""
    exclude_tools: Sequence[str] | None = None
    """Stronger than everything else."""

    def __post_init__(self) -> None:
        for name in ("allowed_mcp_servers", "allowed_plugins", "exclude_tools"):
            object.__setattr__(self, name, _optional_strings(getattr(self, name), name))
        tools = self.allowed_mcp_tools
        if tools is None:
            return
        if not isinstance(tools, Mapping):
            raise ConfigError(
                f"`allowed_mcp_tools` must map servers to tool names, got {type(tools).__name__}"
            )
        copied = {
            str.__str__(_checks.text(server, "a server in allowed_mcp_tools")): _checks.strings(
                names, f"allowed_mcp_tools[{server!r}]"
            )
            for server, names in tools.items()
        }
        object.__setattr__(self, "allowed_mcp_tools", ReadOnlyDict(copied))

    def __hash__(self) -> int:
        # Of all values: a cache of gates must not find a policy that was changed by force.
        tools = frozenset((self.allowed_mcp_tools or {}).items())
        return hash((self.allowed_mcp_servers, self.allowed_plugins, tools, self.exclude_tools))

    def __reduce__(self) -> tuple[Any, ...]:
        return ToolFilterOpts, tuple(getattr(self, name) for name in self.__match_args__)

    def to_wire(self) -> dict[str, Any]:
        """The JSON object, without the filters that are not set."""
        wire = _checks.to_wire(self, ToolFilterOpts)
        if self.allowed_mcp_tools is not None:
            tools = self.allowed_mcp_tools.items()
            wire["allowedMcpTools"] = {server: list(names) for server, names in tools}
        return wire

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> ToolFilterOpts:
        """The filters that a JSON object describes; raises `ConfigError` for unknown fields."""
        return cls(**_checks.from_wire(cls, payload, "tool filter"))


_HOST_PATTERN = re.compile(r"\*|(?:\*\.)?[^\s/:@?#*\[\]\\.][^\s/:@?#*\[\]\\]*")
_NO_PATH = re.compile(r"^\s*$|^\$\w|\$\{|[*\0]")


def _host_patterns(value: object, what: str) -> tuple[str, ...] | None:
    """Host patterns; one that can match no host would silently deny nothing."""
    patterns = _optional_strings(value, what)
    for pattern in patterns or ():
        if not _HOST_PATTERN.fullmatch(pattern):
            try:
                ip_address(pattern)
            except ValueError:
                raise ConfigError(
                    f"`{what}` must have hosts, as `example.com`, `*.example.com` or `10.0.0.1`, "
                    f"without scheme, port and path: {_checks.brief(pattern)}"
                ) from None
    return patterns


def _folders(value: object, what: str) -> tuple[str, ...]:
    """Paths; one that is empty would be the working directory, a pattern would match nothing."""
    paths = _checks.strings(value, what)
    for path in paths:
        if _NO_PATH.search(path):
            raise ConfigError(
                f"`{what}` must have paths; patterns and variables are not expanded: "
                f"{_checks.brief(path)}"
            )
    return paths


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """The network access of a personality.

    A pattern is a host, `*` or `*.example.com`, which is every host below `example.com` and that
    itself; but a tool that declares `example.com` by name needs it in `allow` by name. An `allow`
    of `None` permits all hosts, an empty one none; `deny` is judged first. Private addresses need
    `allow_private_urls`.
    """

    allow: Sequence[str] | None = None
    deny: Sequence[str] | None = None
    allow_private_urls: bool | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "allow", _host_patterns(self.allow, "network.allow"))
        object.__setattr__(self, "deny", _host_patterns(self.deny, "network.deny"))
        if self.allow_private_urls is not None:
            _checks.boolean(self.allow_private_urls, "network.allow_private_urls")

    def to_wire(self) -> dict[str, Any]:
        """The JSON object, without the fields that are not set."""
        return _checks.to_wire(self, NetworkPolicy)

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> NetworkPolicy:
        """The policy that a JSON object describes; raises `ConfigError` for unknown fields."""
        return cls(**_checks.from_wire(cls, payload, "network policy"))


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class FsReach:
    """The folders that a personality's tools may read and write."""

    read: Sequence[str] = ()
    write: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "read", _folders(self.read, "fs_reach.read"))
        object.__setattr__(self, "write", _folders(self.write, "fs_reach.write"))

    def to_wire(self) -> dict[str, Any]:
        """The JSON object with both lists."""
        return {"read": list(self.read), "write": list(self.write)}

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> FsReach:
        """The reach that a JSON object describes; raises `ConfigError` for unknown fields."""
        return cls(**_checks.from_wire(cls, payload, "fs_reach"))


@dataclass(frozen=True, slots=True)
class CommandPolicy:
    """How the commands of a personality's tools run: at which sandbox level, within what limits.

    `None` states nothing: the tool's own limits hold. Of two limits the smaller one holds. A
    command that exceeds one is ended with everything that it started; its result names the limit.

    >>> CommandPolicy(sandbox="namespaces", processes=100).to_wire()
    {'sandbox': 'namespaces', 'processes': 100}
    """

    sandbox: Literal["namespaces", "landlock", "seatbelt"] | None = None
    """The level that commands must be confined at; where the machine does not have it, no command
    runs."""
    processes: int | None = None
    """Processes of one command at the same time."""
    total_memory_bytes: int | None = None
    """Memory of all processes of one command together."""
    output_bytes: int | None = None
    """Output of one command, whether it is returned or left out."""

    def __post_init__(self) -> None:
        if self.sandbox is not None:
            _checks.one_of(self.sandbox, ("namespaces", "landlock", "seatbelt"), "commands.sandbox")
        for name in COMMAND_LIMITS:
            if (value := getattr(self, name)) is not None:
                _checks.finite_number(value, f"commands.{name}", minimum=1, whole=True)

    def narrowed(self, other: CommandPolicy | None) -> CommandPolicy:
        """The level of either, and the smaller one of each limit."""
        if other is None:
            return self
        smaller = {}
        for name in COMMAND_LIMITS:
            values = [getattr(one, name) for one in (self, other)]
            smaller[name] = min((value for value in values if value is not None), default=None)
        return CommandPolicy(self.sandbox or other.sandbox, **smaller)

    def to_wire(self) -> dict[str, Any]:
        """The JSON object, without the fields that are not set."""
        return _checks.to_wire(self, CommandPolicy)

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> CommandPolicy:
        """The policy that a JSON object describes; raises `ConfigError` for unknown fields."""
        return cls(**_checks.from_wire(cls, payload, "command policy"))


COMMAND_LIMITS = ("processes", "total_memory_bytes", "output_bytes")


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class Personality:
    """The tools that one agent may use; what is not named is not permitted.

    Lists are kept as tuples.

    >>> reader = Personality("reader", toolset=["read_file", "toolset:search"])
    >>> reader.tool_names, reader.groups, reader.mcp_servers
    (('read_file',), ('search',), ())
    """

    id: str
    toolset: Sequence[str] | None = None
    """Names of tools, or `toolset:<group>`; `None` admits every built-in tool, `[]` none."""
    mcp_servers: Sequence[str] = ()
    plugins: Sequence[str] = ()
    exclude: Sequence[str] = ()
    """Names that are never permitted, whatever else permits them."""
    fs_reach: FsReach | None = None
    network: NetworkPolicy | None = None
    commands: CommandPolicy | None = None
    """How commands run: the sandbox level that they need, and their limits."""

    def __post_init__(self) -> None:
        if not _checks.text(self.id, "id"):
            raise ConfigError("`id` of a personality must not be empty")
        object.__setattr__(self, "toolset", _optional_strings(self.toolset, "toolset"))
        for name in ("mcp_servers", "plugins", "exclude"):
            # YAML gives None for a key without a value; missing and empty both mean none.
            value = getattr(self, name)
            object.__setattr__(self, name, () if value is None else _checks.strings(value, name))
        for name, kind in _POLICIES.items():
            value = getattr(self, name)
            if isinstance(value, Mapping):
                object.__setattr__(self, name, kind.from_wire(value))
            elif value is not None and not isinstance(value, kind):
                options = ", ".join(f"{field.name}=..." for field in fields(kind))
                raise ConfigError(
                    f"`{name}` must be a {kind.__name__}, got {type(value).__name__}; "
                    f"`{kind.__name__}({options})` makes one"
                )

    @property
    def tool_names(self) -> tuple[str, ...] | None:
        """The entries of `toolset` that are names of tools."""
        if self.toolset is None:
            return None
        return tuple(entry for entry in self.toolset if not entry.startswith("toolset:"))

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that `toolset` names as `toolset:<group>`."""
        prefix = "toolset:"
        return tuple(
            entry.removeprefix(prefix) for entry in self.toolset or () if entry.startswith(prefix)
        )

    def to_wire(self) -> dict[str, Any]:
        """The JSON object of a policy file, without the fields that are not set."""
        return _checks.to_wire(self, Personality)

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> Personality:
        """The personality that a JSON object describes; raises `ConfigError` for unknown fields."""
        values = python_names(payload, cls.__match_args__, "personality")
        if "id" not in values:
            raise ConfigError("a personality needs an `id`")
        return cls(**values)


_POLICIES: Mapping[str, type[FsReach | NetworkPolicy | CommandPolicy]] = {
    "fs_reach": FsReach,
    "network": NetworkPolicy,
    "commands": CommandPolicy,
}


# Whether a tool's own function follows the reach and network policy of its personality.

WhyRefused: TypeAlias = Callable[[Personality], str]
"""Why no call can run under a personality on this machine; empty if calls can."""
F = TypeVar("F")
_ATTRIBUTE = "__policy_binding__"
_REFUSAL = "__policy_refusal__"


def binds_itself(execute: F, refused: WhyRefused | None = None) -> F:
    """Mark a function that asks for the personality's policy and follows it.

    `refused` is asked at each list of definitions and each batch, so it has to be quick.
    """
    setattr(execute, _ATTRIBUTE, "bound")
    if refused is not None:
        setattr(execute, _REFUSAL, refused)
    return execute


def without_confinement(execute: F) -> F:
    """Mark a function whose commands run unconfined because the host chose so."""
    setattr(execute, _ATTRIBUTE, "off")
    return execute


def why_refused(execute: Any) -> WhyRefused | None:
    """What a marked function was given as `refused`."""
    refused: WhyRefused | None = getattr(execute, _REFUSAL, None)
    return refused


def restricts(personality: Personality) -> bool:
    """Whether a personality states a reach, a network policy or a sandbox level."""
    if personality.fs_reach is not None or personality.network is not None:
        return True
    return required_level(personality) is not None


def required_level(personality: Personality | None) -> str | None:
    """The sandbox level that commands of a personality need; `None` if it states none."""
    if personality is None or personality.commands is None:
        return None
    return personality.commands.sandbox


def is_unbound(execute: Any, *, is_declared: bool) -> bool:
    """Whether no policy binds a tool: it declares nothing, or runs commands unconfined."""
    binding = getattr(execute, _ATTRIBUTE, None)
    return binding == "off" or not (is_declared or binding == "bound")


def policy_note(execute: Any, *, is_declared: bool, personality: Personality) -> str:
    """What of a tool the policy of a personality does not bind; empty if nothing."""
    if not restricts(personality) or not is_unbound(execute, is_declared=is_declared):
        return ""
    if getattr(execute, _ATTRIBUTE, None) == "off":
        return (
            'runs commands unconfined (sandbox="off"): '
            f"the policy of `{personality.id}` does not bind them"
        )
    return f"declares no capability: it runs, and the policy of `{personality.id}` does not bind it"
