"""Gemini: `functionCall` parts, answered in one message of `functionResponse` parts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

from ethos_registry.contract.call import CallResult, MalformedCall, ToolCall
from ethos_registry.contract.errors import ConfigError
from ethos_registry.providers.schema_rules import DIALECTS
from ethos_registry.providers.shown_tool import ShownTool
from ethos_registry.providers.wire_format import WireFormat
from ethos_registry.providers.wire_types import GeminiMessage
from ethos_registry.providers.wire_value import DataBlock, call_id, items, read, sent_parts, word
from ethos_registry.schema.dialect import Dialect

__all__ = ["Gemini"]

_WHOLE = ("STOP", "FINISH_REASON_UNSPECIFIED", None)
_GENERATED_ID = re.compile(r"call_[0-9]+")


class Gemini(WireFormat[Any, GeminiMessage]):
    """`generateContent`, of the Gemini API and of Vertex AI.

    Keys are in the SDK's spelling (`function_declarations`), which the REST API takes too.

    >>> Gemini().calls({"role": "model", "parts": [
    ...     {"functionCall": {"name": "stat", "args": {"path": "a"}}}]})
    [ToolCall(tool_call_id='call_0', name='stat', args={'path': 'a'})]
    """

    name: ClassVar[str] = "gemini"
    default_dialect: ClassVar[Dialect] = DIALECTS["gemini"]
    frame: ClassVar[str | None] = "function_declarations"

    def definition(self, tool: ShownTool) -> dict[str, Any]:
        """`{description, name, parameters_json_schema}`; a list is one tool that declares all.

        The parameters are real JSON Schema, or with the dialect `gemini_parameters` the OpenAPI
        subset of the older field `parameters`. The order of the keys is the one in which the SDK
        sends them.
        """
        sent = self.sent(tool)
        if self.dialect.types == "one":
            declared: dict[str, Any] = {"description": sent.description, "name": sent.name}
            if sent.parameters.get("properties"):
                declared["parameters"] = sent.parameters
            return declared
        return {
            "description": sent.description,
            "name": sent.name,
            "parameters_json_schema": sent.parameters,
        }

    def calls(self, reply: object) -> list[ToolCall | MalformedCall]:
        """The function calls of a response, a candidate or a content; of several the first.

        Calls mostly have no id, and get `call_{position}`. Send the content back as it is: its
        parts carry a `thoughtSignature` that the API wants again.
        """
        parts, finish_reason = _parts(reply)
        found = [part for part in parts if read(part, "function_call", "functionCall") is not None]
        calls = [
            _call(read(part, "function_call", "functionCall"), position)
            for position, part in enumerate(found)
        ]
        if calls and finish_reason not in _WHOLE:
            last = calls[-1]
            calls[-1] = MalformedCall(
                last.tool_call_id,
                last.name,
                "the reply ended before the arguments were complete "
                f"(finishReason {finish_reason}); call the tool again",
            )
        return calls

    def messages(self, results: Iterable[CallResult]) -> list[GeminiMessage]:
        """One user message of `function_response` parts, under `output` or `error`.

        Images and PDFs are parts of the response, as `bytes`, which the SDK encodes.
        """
        parts = [{"function_response": _response(result)} for result in results]
        return [{"role": "user", "parts": parts}] if parts else []


def _parts(reply: object) -> tuple[list[Any], str | None]:
    """The parts of a reply, and why it ended."""
    candidates = items(read(reply, "candidates"))
    candidate = reply if candidates is None else (candidates[0] if candidates else None)
    content = read(candidate, "content")
    finish_reason = word(read(candidate, "finish_reason", "finishReason"))
    if content is None and candidates is None:
        content = reply
    parts = items(read(content, "parts"))
    if parts is not None:
        return list(parts), finish_reason
    if candidates is not None or content is not reply:
        return [], finish_reason  # blocked, or malformed: there is nothing to run
    raise ConfigError(
        "a reply of `gemini` is a GenerateContentResponse, a candidate or a content, "
        f"got {type(reply).__name__}",
        context={"field": "reply", "value": reply},
    )


def _call(call: object, position: int) -> ToolCall | MalformedCall:
    identifier = call_id(read(call, "id"), position)
    name = read(call, "name")
    if not isinstance(name, str) or not name:
        return MalformedCall(identifier, "", "the call names no tool")
    if read(call, "will_continue", "willContinue") or read(call, "partial_args", "partialArgs"):
        reason = "the arguments of the call are not complete; call the tool again"
        return MalformedCall(identifier, name, reason)
    args = read(call, "args")
    return ToolCall(identifier, name, {} if args is None else args)


_MEDIA_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf"})


def _shows(block: DataBlock) -> bool:
    return block.media_type in _MEDIA_TYPES


def _response(result: CallResult) -> dict[str, Any]:
    text, blocks = sent_parts(result, _shows)
    response: dict[str, Any] = {
        "name": result.name,
        "response": {"output" if result.ok else "error": text},
    }
    if _GENERATED_ID.fullmatch(result.tool_call_id) is None:
        response["id"] = result.tool_call_id
    if blocks:
        response["parts"] = [
            {"inline_data": {"mime_type": block.media_type, "data": block.data_bytes}}
            for block in blocks
        ]
    return response
