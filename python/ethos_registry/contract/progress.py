"""Progress events of running tools, and who may see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.wire import python_names

__all__ = ["Audience", "ToolProgressEvent"]

Audience: TypeAlias = Literal["internal", "user", "dashboard"]
"""Who may see an event: the framework's logs, the user, or operators' dashboards."""

_AUDIENCES: tuple[str, ...] = get_args(Audience)
_SEEN_BY: dict[str, frozenset[str]] = {
    "user": frozenset({"user"}),
    "dashboard": frozenset({"user", "dashboard"}),
    "internal": frozenset(_AUDIENCES),
}


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
        checks.text(self.message, "message")
        checks.text(self.tool_name, "tool_name")
        checks.text(self.tool_call_id, "tool_call_id")
        checks.one_of(self.audience, _AUDIENCES, "audience")
        object.__setattr__(self, "percent", _clamped(self.percent))

    def visible_to(self, audience: Audience) -> bool:
        """Whether a viewer of this kind may see the event.

        A user sees `user` events; a dashboard these and `dashboard` events; the framework
        (`internal`) sees all.
        """
        if audience not in _SEEN_BY:
            raise ConfigError(f"`audience` must be one of {', '.join(_AUDIENCES)}: {audience!r}")
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
            raise ConfigError(f"`type` must be 'progress': {checks.brief(payload['type'])}")
        if "message" not in values:
            raise ConfigError("a progress event needs `message`")
        return cls(**values)


def _clamped(percent: object) -> float | None:
    if isinstance(percent, bool) or not isinstance(percent, int | float) or percent != percent:
        return None
    return float(min(max(percent, 0), 100))
