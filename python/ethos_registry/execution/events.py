"""What tools emit, as progress events."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.progress import ToolProgressEvent

__all__ = ["event_of"]


def event_of(tool_name: str, tool_call_id: str, emitted: Any) -> ToolProgressEvent:
    """The event under the name and id of the call that runs; `ConfigError` for any other value."""
    if isinstance(emitted, Mapping):
        emitted = ToolProgressEvent.from_wire({"message": ""} | dict(emitted))
    if not isinstance(emitted, ToolProgressEvent):
        raise ConfigError(f"`emit` takes a ToolProgressEvent, got {type(emitted).__name__}")
    return dataclasses.replace(emitted, tool_name=tool_name, tool_call_id=tool_call_id)
