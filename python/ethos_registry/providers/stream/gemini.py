"""Gemini: parts of the first candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ethos_registry.providers.stream.call import StreamedCall
from ethos_registry.providers.stream.fields import field, json_text, listed, text_of
from ethos_registry.providers.stream.gemini_arguments import PathArguments
from ethos_registry.providers.stream.parser import ReplyParser

__all__ = ["GeminiStream"]

_NO_REASON = ("", "FINISH_REASON_UNSPECIFIED")
"""What some clients and servers give for a reply that goes on."""


class GeminiStream(ReplyParser):
    """A call comes whole in one part, and is closed and proven at once.

    A call that Vertex streams in parts (`willContinue`, `partialArgs`) is so by a part that does
    not continue it, or else when the reply goes on to another call or ends with `STOP`.
    """

    provider = "gemini"

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[tuple[dict[str, Any], StreamedCall | None, list[str]]] = []
        """Parts as they came, the call of each, and the pieces of its text."""
        self._open_call: StreamedCall | None = None
        self._partial = PathArguments()

    def _read(self, event: Any) -> None:
        error = field(event, "error") if isinstance(event, dict) else None
        if error is not None:
            self._break(text_of(error, "message") or "an error event")
            return
        candidates = listed(field(event, "candidates"))
        feedback = _either(event, "promptFeedback", "prompt_feedback")
        if not candidates:
            blocked = feedback and _either(feedback, "blockReason", "block_reason")
            if blocked:
                self._break(f"the prompt was blocked ({_name(blocked)})")
            return
        candidate = next((each for each in candidates if field(each, "index") in (0, None)), None)
        given = _either(candidate, "finishReason", "finish_reason")
        reason = None if given is None else _name(given)
        if reason in _NO_REASON:
            reason = None
        is_cut = reason not in (None, "STOP")
        for part in listed(field(field(candidate, "content"), "parts")):
            self._part(part, is_cut=is_cut)
        if reason is not None and self.end is None:
            if not is_cut:
                self._end_partial()
            self._end("" if reason == "STOP" else f"finishReason {reason}")

    def _part(self, part: Any, *, is_cut: bool) -> None:
        function_call = _either(part, "functionCall", "function_call")
        if function_call is None:
            self._other_part(part)
            return
        if self.end is not None:
            return
        name = text_of(function_call, "name")
        goes_on = bool(_either(function_call, "willContinue", "will_continue"))
        pieces = listed(_either(function_call, "partialArgs", "partial_args"))
        given_id = field(function_call, "id")
        call = self._open_call
        if call is None or (name and not (given_id and given_id == call.given_id)):
            self._end_partial()
            call = self._open(given_id, name)
            self._parts.append((_dumped(part), call, []))
        args = field(function_call, "args")
        if args:
            if isinstance(args, Mapping):
                call.arguments.set_value(dict(args))
            else:
                call.arguments.reset(json_text(args))
        if pieces:
            for piece in pieces:
                self._partial.add(piece)
            call.arguments.set_value(self._partial.value())
        if goes_on:
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
        text = field(part, "text")
        if not isinstance(text, str):
            dumped = {key: value for key, value in _dumped(part).items() if value is not None}
            if dumped:
                self._parts.append((dumped, None, []))
            return
        signature = _either(part, "thoughtSignature", "thought_signature")
        is_thought = bool(field(part, "thought"))
        if self._parts and signature is None:
            last, call, pieces = self._parts[-1]
            if (
                call is None
                and pieces
                and bool(last.get("thought")) is is_thought
                and "thoughtSignature" not in last
            ):
                pieces.append(text)
                return
        if not text and signature is None:
            return
        start: dict[str, Any] = {"thought": True} if is_thought else {}
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
                function_call: dict[str, Any] = {"name": _sent_name(call)}
                if call.given_id is not None:
                    function_call["id"] = call.tool_call_id
                function_call["args"] = call.arguments.for_reply()
                sent.pop("function_call", None)
                sent["functionCall"] = function_call
            elif pieces:
                sent = {"text": "".join(pieces)} | sent
            parts.append(sent)
        return {"role": "model", "parts": parts}

    def reply_messages(self) -> list[dict[str, Any]]:
        """The reply, unless it has no parts."""
        reply = self.reply()
        return [reply] if reply["parts"] else []

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


def _either(value: Any, camel: str, snake: str) -> Any:
    """A field by its name on the wire or in the SDK."""
    if isinstance(value, dict):
        found = value.get(camel)
        return value.get(snake) if found is None else found
    return getattr(value, snake, None)


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
