"""Observers for OpenTelemetry and the attribute sets of vendors."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.telemetry._conventions import Langfuse, OpenInference, TracedCall
    from ethos_registry.telemetry._open_telemetry import OpenTelemetry
    from ethos_registry.types._observer import (
        FinishedCall,
        Observer,
        StartedBatch,
        StartedCall,
    )

__all__ = [
    "FinishedCall",
    "Langfuse",
    "Observer",
    "OpenInference",
    "OpenTelemetry",
    "StartedBatch",
    "StartedCall",
    "TracedCall",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "telemetry._conventions": "Langfuse OpenInference TracedCall",
            "telemetry._open_telemetry": "OpenTelemetry",
            "types._observer": "FinishedCall Observer StartedBatch StartedCall",
        },
    )
