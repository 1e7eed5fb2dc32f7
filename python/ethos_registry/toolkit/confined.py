"""Commands of ready tools under the policy of the personality that runs them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from ethos_registry.capabilities.protected import DEFAULT_PROTECTION
from ethos_registry.capabilities.sandbox.command_sandbox import (
    CommandSandbox,
    CommandSandboxPort,
    UnconfinedError,
)
from ethos_registry.capabilities.sandbox.policy import PreparedCommand, SandboxPolicy
from ethos_registry.capabilities.standard import sandbox_policy, why_unconfined
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.policy import Personality
from ethos_registry.toolkit.arguments import RefusalError

__all__ = ["Confinement", "SandboxChoice", "blocked_note", "checked_sandbox"]

SandboxChoice: TypeAlias = CommandSandboxPort | Literal["policy", "required", "off"]
"""`"policy"`: confined if the personality states a reach or a network policy. `"required"`: always,
to the working directory if there is no policy. `"off"`: never, whatever the personality states."""

_SHARED = CommandSandbox()
_REFUSED_PATH = re.compile(
    r"(?P<path>/[^\s:'\"`]+)['\"`]?:? *(?:\S+ )?"
    r"(?:Permission denied|Read-only file system|Operation not permitted)"
)
_NAMED_PATHS = 3
_PATH_IN_QUOTES = re.compile(
    r"(?:Permission denied|Read-only file system|Operation not permitted): ['\"](?P<path>/[^'\"]+)"
)
_NO_NETWORK = re.compile(
    r"could not resolve|temporary failure in name resolution|network is unreachable|"
    r"name or service not known|nodename nor servname|getaddrinfo|no route to host",
    re.IGNORECASE,
)


class Confinement:
    """How the commands of one tool are confined."""

    __slots__ = ("_is_off", "_is_required", "_sandbox", "_tool_name")

    def __init__(self, choice: SandboxChoice, tool_name: str) -> None:
        self._tool_name = tool_name
        self._is_off = choice == "off"
        self._is_required = choice == "required"
        self._sandbox = _SHARED if isinstance(choice, str) else choice

    @property
    def is_available(self) -> bool:
        """Whether commands can run: `False` if they must be confined and cannot be."""
        return not self._is_required or self._sandbox.probe().level != "none"

    def why_refused(self, personality: Personality) -> str:
        """Why no command can run under a personality here; empty if commands can."""
        if self._is_off:
            return ""
        return why_unconfined(self._tool_name, personality, self._sandbox)

    def policy(self, context: ToolContext) -> SandboxPolicy | None:
        """What the commands of this call may touch; `None` if nothing restricts them."""
        if self._is_off:
            return None
        policy = sandbox_policy(context, None, DEFAULT_PROTECTION)
        if policy is None and self._is_required:
            return SandboxPolicy(write=[context.working_dir])
        return policy

    def prepared(
        self,
        argv: Sequence[str],
        policy: SandboxPolicy,
        *,
        directory: str,
        environment: Mapping[str, str],
    ) -> PreparedCommand:
        """The confined command line; a refusal if this machine cannot confine it."""
        try:
            return self._sandbox.wrap(argv, policy, directory=directory, environment=environment)
        except UnconfinedError as error:
            reason = str(error).partition(": ")[2]
            raise RefusalError(
                f"{self._tool_name} cannot be confined here, and this personality requires it: "
                f"{reason}",
                "not_available",
            ) from None


def checked_sandbox(choice: object, tool_name: str) -> Confinement:
    """The confinement of a tool; `ConfigError` for an unknown choice."""
    if choice in ("policy", "required", "off") or callable(getattr(choice, "wrap", None)):
        return Confinement(choice, tool_name)  # type: ignore[arg-type]
    raise ConfigError(
        f'`sandbox` must be "policy", "required", "off" or a command sandbox, got {choice!r}'
    )


def blocked_note(output: str, policy: SandboxPolicy) -> str:
    """One sentence on what the sandbox blocked, as far as the output names it; else empty.

    The sentence names at most three paths, in the order of the output.
    """
    tail = output[-8_000:]
    refused = [*_REFUSED_PATH.finditer(tail), *_PATH_IN_QUOTES.finditer(tail)]
    refused.sort(key=lambda match: match.start("path"))
    paths = list(dict.fromkeys(match["path"] for match in refused))
    if paths:
        named, more = paths[:_NAMED_PATHS], len(paths) - _NAMED_PATHS
        return f"The sandbox blocked {', '.join(named)}{f' and {more} more' if more > 0 else ''}."
    if not policy.network and _NO_NETWORK.search(tail):
        return (
            "The sandbox gives commands of this personality no network: they get one only from a "
            "policy that allows every host, not from a list of hosts."
        )
    return ""
