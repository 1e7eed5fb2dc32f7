"""The exceptions of the package. Models get `ToolError` values instead.

All exceptions belong to one tree:

    EthosRegistryError
    ├── ConfigError (also a ValueError)         an invalid name, schema, budget or policy
    │   ├── ToolAlreadyRegisteredError          two tools with one name
    │   ├── SignatureError (also a TypeError)   an unknown or missing argument of a function
    │   ├── ReducerAlreadyRegisteredError       two reducers for one tool (in `reduction`)
    │   └── MissingExtraError                   a package of an extra is not installed
    ├── ApprovalError                           a token that cannot resume a call here
    ├── McpRequestError                         an MCP server does not answer (in `mcp`)
    └── TurnAlreadySignalledError               a turn that is ended twice
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class EthosRegistryError(Exception):
    """The base of every exception that this package raises."""

    __module__ = "ethos_registry"

    def __reduce__(self) -> tuple[Any, ...]:
        reduced: Any = super().__reduce__()  # the arguments of an `OSError` have its file too
        return _rebuild, (*reduced[:2], self.__dict__)


class ConfigError(EthosRegistryError, ValueError):
    """An argument or a setting is invalid.

    The message is one line: what is wrong, the value and how to correct it. `context` has the same
    facts for programs: `tool_name`, `field` and `value` where they apply.
    """

    __module__ = "ethos_registry"

    code: ClassVar[str] = "E_CONFIG"

    def __init__(self, message: str, *, context: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.context: dict[str, Any] = dict(context or {})


class MissingExtraError(ConfigError, ModuleNotFoundError):
    """A package of an extra is not installed; the message has the command that installs it.

    Catch it as a `ConfigError`, or as the `ModuleNotFoundError` of an import.
    """

    __module__ = "ethos_registry.types"


class ToolAlreadyRegisteredError(ConfigError):
    """A tool of this name is already registered; the message shows how to replace it."""

    __module__ = "ethos_registry"

    code: ClassVar[str] = "E_TOOL_ALREADY_REGISTERED"
    status: ClassVar[int] = 409
    fatal: ClassVar[bool] = True

    def __init__(
        self,
        tool_name: str,
        *,
        owner: str | None = None,
        existing_owner: str | None = None,
        way_out: str = "pass `overwrite=True` to replace it",
    ) -> None:
        owners = f" (owner {existing_owner!r}, now {owner!r})" if owner or existing_owner else ""
        super().__init__(
            f"tool `{tool_name}` is already registered{owners}; {way_out}",
            context={"tool_name": tool_name, "owner": owner, "existing_owner": existing_owner},
        )
        self.tool_name = tool_name
        self.owner = owner
        self.existing_owner = existing_owner


class SignatureError(ConfigError, TypeError):
    """A function of this package was called with an argument that it does not have, or without one.

    The message names the nearest option and lists the known ones.
    """

    __module__ = "ethos_registry.types"


class ApprovalError(EthosRegistryError):
    """A token cannot resume a call here; the tool was not run.

    `reason` is `malformed`, `forged`, `expired`, `other_registry`, `other_caller` or `used`.
    """

    __module__ = "ethos_registry.execution"

    code: ClassVar[str] = "E_APPROVAL"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class TurnAlreadySignalledError(EthosRegistryError):
    """A turn was ended twice: it is acknowledged, or fails, only once."""

    __module__ = "ethos_registry.registry"

    code: ClassVar[str] = "E_LLM_EXECUTION_ALREADY_SIGNALLED"

    def __init__(self, outcome: str) -> None:
        super().__init__(
            f"the turn has ended already: it was {outcome}; make a new `DispatchContext` for each"
        )
        self.outcome = outcome


def _rebuild(
    kind: type[EthosRegistryError], arguments: tuple[Any, ...], state: dict[str, Any]
) -> EthosRegistryError:
    """Unpickle without `__init__`, whose parameters differ between classes."""
    error = kind.__new__(kind, *arguments)
    error.args = error.args or arguments  # a subclass of `OSError` leaves them to `__init__`
    error.__dict__.update(state)
    return error
