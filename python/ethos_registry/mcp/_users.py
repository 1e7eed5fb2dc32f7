"""Who may use a gateway over HTTP, beside or instead of one common token."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ethos_registry.types import _checks
from ethos_registry.types._checks import check_callback
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._policy import Personality
from ethos_registry.types._settings import check_settings, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class McpUsers:
    """The users of one gateway, each behind a bearer token of its own.

    Every request is verified. A user has own gates, own sessions and an own context; a session of
    another user is unknown to it.

    >>> from mcp.server.auth.provider import AccessToken
    >>> class Verifier:
    ...     async def verify_token(self, token):
    ...         known = {"a-token": "ada"}
    ...         user = known.get(token)
    ...         return user and AccessToken(token=token, client_id=user, subject=user, scopes=[])
    >>> users = McpUsers(
    ...     verifier=Verifier(),
    ...     personality_of=lambda token: Personality(token.subject, toolset=["search"]),
    ... )
    >>> users.max_users
    1000

    Raises:
        ConfigError: A value is of the wrong kind.

    """

    verifier: Any
    """A `TokenVerifier` of the package `mcp`: `await verify_token(token)` returns its
    `AccessToken`, or `None` for a token that is not valid."""
    personality_of: Callable[[Any], Personality | None]
    """The gates of a user, from the `AccessToken`; `None` refuses the user."""
    context_of: Callable[[Any], Mapping[str, Any]] | None = None
    """Fields of the `ToolContext` of a user's calls, such as `working_dir` or `kv_store`."""
    resource_url: str | None = None
    """The public URL of the gateway, as an OAuth resource; needed for its metadata."""
    issuer_url: str | None = None
    """The OAuth authorization server whose tokens are accepted; clients are sent there."""
    required_scopes: Sequence[str] = setting(_checks.strings, default=())
    checks_resource: bool = setting(_checks.boolean, default=True)
    """Accept only tokens that were issued for `resource_url`, if there is one."""
    max_users: int = setting(_checks.whole_count, default=1000)
    """Users with sessions at the same time; further ones are answered 503."""

    def __post_init__(self) -> None:
        if not callable(getattr(self.verifier, "verify_token", None)):
            raise ConfigError(
                "`verifier` must have `async verify_token(token)`, got "
                f"{type(self.verifier).__name__}"
            )
        check_callback(self.personality_of, "personality_of", "token")
        if self.context_of is not None:
            check_callback(self.context_of, "context_of", "token")
        for name in ("resource_url", "issuer_url"):
            value = getattr(self, name)
            if value is not None and not str(value).startswith(("http://", "https://")):
                raise ConfigError(f"`{name}` must be a URL: {_checks.brief(value)}")
        check_settings(self)
