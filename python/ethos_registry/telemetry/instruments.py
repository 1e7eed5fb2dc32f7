"""The metrics: how long tools run, and how often they are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ethos_registry.telemetry import names

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import Meter

__all__ = ["Instruments"]


class Instruments:
    """The histogram and the counter of one meter provider."""

    __slots__ = ("_duration", "_refusals")

    def __init__(self, meter: Meter) -> None:
        self._duration = meter.create_histogram(
            names.DURATION,
            unit="s",
            description="Duration of tool executions.",
            explicit_bucket_boundaries_advisory=names.DURATION_BUCKETS,
        )
        self._refusals = meter.create_counter(
            names.REFUSALS,
            unit="{call}",
            description="Calls that were answered without starting their tool.",
        )

    def executed(
        self,
        seconds: float,
        tool_name: str,
        agent_name: str | None,
        error_type: str | None,
        context: Context | None,
    ) -> None:
        """Count a tool that was started."""
        attributes = {names.TOOL_NAME: tool_name, names.TOOL_TYPE: names.FUNCTION}
        if agent_name is not None:
            attributes[names.AGENT_NAME] = agent_name
        if error_type is not None:
            attributes[names.ERROR_TYPE] = error_type
        self._duration.record(seconds, attributes, context)

    def refused(self, tool_name: str, reason: str, context: Context | None) -> None:
        """Count a call whose tool was not started."""
        self._refusals.add(1, {names.TOOL_NAME: tool_name, names.REASON: reason}, context)
