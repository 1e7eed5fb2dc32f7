"""Attributes that backends read beside those of the semantic conventions."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ethos_registry.contract.read_only import thaw
from ethos_registry.telemetry.names import MAX_DESCRIPTION_CHARS, gist
from ethos_registry.telemetry.traced_call import AttributeValue, TracedCall

__all__ = ["Langfuse", "OpenInference"]

_MAX_SCHEMA_CHARS = 8_192


@dataclass(frozen=True, slots=True)
class OpenInference:
    """The attributes of OpenInference, which Phoenix and Arize read.

    >>> from ethos_registry import OpenTelemetry
    >>> OpenTelemetry(extra_attributes=OpenInference())
    OpenTelemetry(extra_attributes=[OpenInference()])
    """

    def __call__(self, traced: TracedCall) -> dict[str, AttributeValue]:
        """The attributes of one call; input and output only if content is captured."""
        attributes: dict[str, AttributeValue] = {
            "openinference.span.kind": "TOOL",
            "tool.name": traced.tool_name,
            "tool.id": gist(traced.call.tool_call_id),
        }
        if traced.tool is not None:
            description = gist(traced.tool.description, MAX_DESCRIPTION_CHARS)
            attributes["tool.description"] = description
            schema = json.dumps(thaw(traced.tool.schema), ensure_ascii=False)
            if len(schema) <= _MAX_SCHEMA_CHARS:  # a part of it would not be JSON
                attributes["tool.parameters"] = schema
        session_id = traced.call.context.session_id
        if session_id:
            attributes["session.id"] = gist(session_id)
        if traced.arguments is not None:
            attributes["input.value"] = traced.arguments
            attributes["input.mime_type"] = "application/json"
        if traced.result is not None:
            attributes["output.value"] = traced.result
            attributes["output.mime_type"] = "text/plain"
        return attributes


@dataclass(frozen=True, slots=True)
class Langfuse:
    """The attributes of Langfuse, which shows input and output of tools only from its own.

    >>> from ethos_registry import OpenTelemetry
    >>> OpenTelemetry(capture_content=True, extra_attributes=[Langfuse()])
    OpenTelemetry(capture_content=True, extra_attributes=[Langfuse()])
    """

    def __call__(self, traced: TracedCall) -> dict[str, AttributeValue]:
        """The attributes of one call; input and output only if content is captured."""
        attributes: dict[str, AttributeValue] = {"langfuse.observation.type": "tool"}
        session_id = traced.call.context.session_id
        if session_id:
            attributes["langfuse.session.id"] = attributes["session.id"] = gist(session_id)
        if traced.error_type is not None:
            attributes["langfuse.observation.level"] = "ERROR"
            attributes["langfuse.observation.status_message"] = traced.error_type
        if traced.arguments is not None:
            attributes["langfuse.observation.input"] = traced.arguments
        if traced.result is not None:
            attributes["langfuse.observation.output"] = traced.result
        return attributes
