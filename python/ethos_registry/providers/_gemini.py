"""Gemini: `functionCall` parts, answered in one message of `functionResponse` parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from ethos_registry.providers._delta_merge import Text, fields_of, joined
from ethos_registry.providers._schema_rules import DIALECTS
from ethos_registry.providers._stream_parser import (
    ReplyParser,
    StreamedCall,
    json_text,
    listed,
    read_field,
    text_of,
)
from ethos_registry.providers._wire_format import (
    ProviderDefinition,
    WireFormat,
    call_id,
    cut_last,
    ended_well,
    items,
    named_call,
    no_reply,
    read,
    sent_parts,
    word,
)
from ethos_registry.providers._wire_types import GeminiMessage
from ethos_registry.schema._dialect import Dialect
from ethos_registry.types._call import CallResult, MalformedCall, ToolCall
from ethos_registry.types._content import MAX_CONTENT_BYTES
from ethos_registry.types._json_values import MAX_DEPTH

_WHOLE = ("FINISH_REASON_UNSPECIFIED", None)
_GENERATED_ID = re.compile(r"call_[0-9]+")


class Gemini(WireFormat[GeminiMessage]):
    """`generateContent`, of the Gemini API and of Vertex AI.

    Keys are in the SDK's spelling (`function_declarations`), which the REST API takes too.

    >>> Gemini().calls({"role": "model", "parts": [
    ...     {"functionCall": {"name": "stat", "args": {"path": "a"}}}]})
    [ToolCall(tool_call_id='call_0', name='stat', args={'path': 'a'})]
    """

    name: ClassVar[str] = "gemini"
    default_dialect: ClassVar[Dialect] = DIALECTS["gemini"]
    frame: ClassVar[str | None] = "function_declarations"

    def definition(self, tool: ProviderDefinition) -> dict[str, Any]:
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
        if calls and finish_reason not in _WHOLE and not ended_well(finish_reason):
            cut_last(calls, f"finishReason {finish_reason}")
        return calls

    def elements(self, reply: object) -> Sequence[Any]:
        """The parts of a response, a candidate or a content; of several the first."""
        return _parts(reply)[0]

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
    expected = "a GenerateContentResponse, a candidate or a content"
    raise no_reply("gemini", expected, reply)


def _call(call: object, position: int) -> ToolCall | MalformedCall:
    identifier = call_id(read(call, "id"), position)
    problem = ""
    if read(call, "will_continue", "willContinue") or read(call, "partial_args", "partialArgs"):
        problem = "the arguments of the call are not complete; call the tool again"
    return named_call(identifier, read(call, "name"), read(call, "args"), {}, problem)


_MEDIA_BYTES = dict.fromkeys(
    ("image/jpeg", "image/png", "image/webp", "application/pdf"), MAX_CONTENT_BYTES
)
"""What is sent, with the most bytes."""


def _response(result: CallResult) -> dict[str, Any]:
    text, blocks = sent_parts(result, _MEDIA_BYTES)
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


# Arguments that Gemini streams as values of paths.

_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]]+)|\[(?P<index>[0-9]{1,9})\]|\[(?P<quote>['"])(?P<quoted>.*?)(?P=quote)\]"""
)
_VALUES = ("string_value", "stringValue", "number_value", "numberValue", "bool_value", "boolValue")
_MAX_EXACT_FLOAT = 2**53


class PathArguments:
    """One object put together from `{jsonPath, stringValue | numberValue | ..., willContinue}`.

    >>> arguments = PathArguments()
    >>> for text, goes_on in (("Bos", True), ("ton", False)):
    ...     part = {"jsonPath": "$.places[0].city", "stringValue": text, "willContinue": goes_on}
    ...     arguments.add(part)
    >>> arguments.value(), arguments.is_whole, arguments.problem
    ({'places': [{'city': 'Boston'}]}, True, None)
    """

    __slots__ = ("_open_path", "_open_text", "_root", "problem")

    def __init__(self) -> None:
        self._root: dict[str, Any] = {}
        self._open_path: str | None = None
        self._open_text: Text | None = None
        self.problem: str | None = None
        """What is wrong with a path, if anything."""

    @property
    def is_whole(self) -> bool:
        """Whether no string waits for its rest, and every path could be read."""
        return self._open_path is None and self.problem is None

    def add(self, part: Any) -> None:
        """Put one value in its place, or append to a string that goes on."""
        path = read(part, "json_path", "jsonPath")
        if not isinstance(path, str):
            self.problem = "a part of the arguments has no path"
            return
        goes_on = bool(read(part, "will_continue", "willContinue"))
        value = _value_of(part)
        if self._open_text is not None and path == self._open_path and isinstance(value, str):
            self._open_text.pieces.append(value)
        else:
            text = Text(value) if isinstance(value, str) else None
            self._put(path, value if text is None else text)
            self._open_text = text
        self._open_path = path if goes_on else None
        if not goes_on:
            self._open_text = None

    def _put(self, path: str, value: Any) -> None:
        steps = _steps(path)
        if steps is None:
            self.problem = f"the path {path[:80]!r} cannot be read"
            return
        place: Any = self._root
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            last = following is None
            fresh: Any = value if last else ([] if isinstance(following, int) else {})
            if isinstance(step, int) and isinstance(place, list) and step <= len(place):
                if step == len(place):
                    place.append(fresh)
                elif last:
                    place[step] = fresh
            elif isinstance(step, str) and isinstance(place, dict):
                if last or step not in place:
                    place[step] = fresh
            else:
                self.problem = f"the path {path[:80]!r} does not fit the others"
                return
            place = place[step]

    def value(self) -> dict[str, Any]:
        """The object so far."""
        whole: dict[str, Any] = joined(self._root)
        return whole


def _value_of(part: Any) -> Any:
    value = read(part, *_VALUES)
    is_whole = type(value) is float and value.is_integer()
    return int(value) if is_whole and abs(value) < _MAX_EXACT_FLOAT else value


def _steps(path: str) -> list[str | int] | None:
    """The keys and indexes of a path such as `$.a.b[0]`."""
    steps: list[str | int] = []
    at = 1 if path.startswith("$") else 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or len(steps) == MAX_DEPTH:
            return None
        index = match["index"]
        name = match["name"] if match["name"] is not None else match["quoted"]
        steps.append(name if index is None else int(index))
        at = match.end()
    return steps if steps and isinstance(steps[0], str) else None


# Gemini: parts of the first candidate.

_NO_REASON = ("", "FINISH_REASON_UNSPECIFIED")
"""What some clients and servers give for a reply that goes on."""


_OF_TEXT = ("text", "thought", "thoughtSignature", "thought_signature")
_OF_CALLS = ("id", "name", "args", "willContinue", "will_continue", "partialArgs", "partial_args")


class GeminiStream(ReplyParser):
    """A call comes whole in one part, and is closed and proven at once.

    A call that Vertex streams in parts (`willContinue`, `partialArgs`) is so by a part that does
    not continue it, or else when the reply goes on to another call or ends with `STOP`, as is
    one whose arguments are text in pieces.
    """

    provider = "gemini"

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[tuple[dict[str, Any], StreamedCall | None, list[str]]] = []
        """Parts as they came, the call of each, and the pieces of its text."""
        self._open_call: StreamedCall | None = None
        self._partial = PathArguments()

    def _is_known(self, event: Any) -> bool:
        usage = ("usage_metadata", "usageMetadata")
        feedback = ("prompt_feedback", "promptFeedback")
        return read(event, "candidates", "error", *feedback, *usage) is not None

    def _read(self, event: Any) -> None:
        error = read_field(event, "error") if isinstance(event, dict) else None
        if error is not None:
            self._break(text_of(error, "message") or "an error event")
            return
        candidates = listed(read_field(event, "candidates"))
        if not candidates:
            feedback = read(event, "prompt_feedback", "promptFeedback")
            blocked = read(feedback, "block_reason", "blockReason")
            if blocked:
                self._break(f"the prompt was blocked ({_name(blocked)})")
            return
        candidate = next(
            (each for each in candidates if read_field(each, "index") in (0, None)), None
        )
        given = read(candidate, "finish_reason", "finishReason")
        reason = None if given is None else _name(given)
        if reason in _NO_REASON:
            reason = None
        is_cut = reason is not None and not ended_well(reason)
        for part in listed(read_field(read_field(candidate, "content"), "parts")):
            self._part(part, is_cut=is_cut)
        if reason is not None and self.end is None:
            if is_cut:
                self._cut(f"finishReason {reason}")
            else:  # a server may give `STOP` beside each call
                self._end_partial()
                self._stop("", ())

    def _part(self, part: Any, *, is_cut: bool) -> None:
        function_call = read(part, "function_call", "functionCall")
        if function_call is None:
            self._other_part(part)
            return
        if self.end is not None:
            return
        name = text_of(function_call, "name")
        goes_on = bool(read(function_call, "will_continue", "willContinue"))
        pieces = listed(read(function_call, "partial_args", "partialArgs"))
        given_id = read_field(function_call, "id")
        call = self._open_call
        is_same = call is not None and (not given_id or call.given_id in (None, given_id))
        if call is not None and is_same and self._goes_on_with_name(call, name):
            self._take_name(call, name)
            self._take_id(call, given_id)
        elif call is None or (name and not (given_id and given_id == call.given_id)):
            self._end_partial()
            call = self._open(given_id, name)
            self._parts.append((_dumped(part), call, []))
        if call is self._open_call:  # a part that goes on may have the signature
            start = next(start for start, known, _ in reversed(self._parts) if known is call)
            for field, value in _dumped(part).items():
                start.setdefault(field, value)
        args = read_field(function_call, "args")
        if isinstance(args, Mapping):
            if args:
                call.arguments.set_value(dict(args))
        elif args:
            if call.arguments.came_whole:
                call.arguments.reset()
            self._add(call, json_text(args))
        if pieces:
            for piece in pieces:
                self._partial.add(piece)
            call.arguments.set_value(self._partial.value())
        is_piece = isinstance(args, str) and not call.arguments.is_object
        if goes_on or is_piece:
            self._open_call = call
            return
        self._open_call = None
        self._end_call(call, is_cut=is_cut)

    def _end_call(self, call: StreamedCall, *, is_cut: bool) -> None:
        partial, self._partial = self._partial, PathArguments()
        if not partial.is_whole:
            call.problem = (
                f"the arguments cannot be put together: {partial.problem}"
                if partial.problem
                else "the arguments end within a string; call the tool again"
            )
        elif not is_cut:
            self._prove(call)

    def _end_partial(self) -> None:
        """The reply went on, or ended well, without closing a call that it streamed in parts."""
        call, self._open_call = self._open_call, None
        if call is not None:
            self._end_call(call, is_cut=False)

    def _other_part(self, part: Any) -> None:
        text = read_field(part, "text")
        if not isinstance(text, str):
            dumped = {key: value for key, value in _dumped(part).items() if value is not None}
            if dumped:
                self._parts.append((dumped, None, []))
            return
        signature = read(part, "thought_signature", "thoughtSignature")
        is_thought = bool(read_field(part, "thought"))
        others = {
            name: value
            for name, value in _dumped(part).items()
            if name not in _OF_TEXT and value is not None
        }
        if self._parts and signature is None and not others:
            last, call, pieces = self._parts[-1]
            if (
                call is None
                and pieces
                and bool(last.get("thought")) is is_thought
                and "thoughtSignature" not in last
            ):
                pieces.append(text)
                return
        if not text and signature is None and not others:
            return
        start: dict[str, Any] = {"thought": True, **others} if is_thought else others
        if signature is not None:
            start["thoughtSignature"] = signature
        self._parts.append((start, None, [text]))

    # The message

    def reply(self) -> dict[str, Any]:
        """`{role: "model", parts}`, with the signatures of thoughts."""
        parts = []
        for start, call, pieces in self._parts:
            sent = dict(start)
            if call is not None:
                given = sent.pop("function_call", None) or sent.get("functionCall") or {}
                function_call: dict[str, Any] = {"name": _sent_name(call)}
                if call.given_id is not None:
                    function_call["id"] = call.tool_call_id
                function_call["args"] = call.arguments.for_reply()
                others = {
                    name: value
                    for name, value in fields_of(given).items()
                    if value is not None and name not in _OF_CALLS
                }
                sent["functionCall"] = function_call | others
            elif pieces:
                sent = {"text": "".join(pieces)} | sent
            parts.append(sent)
        return {"role": "model", "parts": parts}

    def answers(self, messages: Sequence[Any]) -> Sequence[Any]:
        """The same under the names and ids that the reply has."""
        return [
            message
            | {
                "parts": [
                    {"function_response": _answer(part["function_response"], call)}
                    for part, call in zip(message["parts"], self.calls, strict=True)
                ]
            }
            for message in messages
        ]


def _sent_name(call: StreamedCall) -> str:
    return call.name or "unknown_tool"


def _answer(response: dict[str, Any], call: StreamedCall) -> dict[str, Any]:
    answer = response | {"name": _sent_name(call)}
    answer.pop("id", None)
    return answer if call.given_id is None else answer | {"id": call.tool_call_id}


def _name(reason: Any) -> str:
    return str(getattr(reason, "value", reason))


def _dumped(part: Any) -> dict[str, Any]:
    """A part as a dict. The SDK's signatures stay bytes: it would encode a string once more."""
    if isinstance(part, dict):
        return dict(part)
    dump = getattr(part, "model_dump", None)
    return dump(by_alias=True, exclude_none=True, warnings=False) if dump is not None else {}
