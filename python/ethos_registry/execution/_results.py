"""The answers of one batch."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from contextvars import Context
from typing import Any, Literal, NamedTuple, overload

from ethos_registry import _core
from ethos_registry.execution._full_text import FullText
from ethos_registry.execution._options import OnResult, ResultSink
from ethos_registry.execution._runtime import Runtime
from ethos_registry.providers._by_name import ChatName, provider
from ethos_registry.providers._wire_types import (
    AnthropicMessage,
    BedrockMessage,
    CohereMessage,
    GeminiMessage,
    OllamaMessage,
    OpenAIChatMessage,
    OpenAIResponsesItem,
)
from ethos_registry.reduction._finish import Fence, trimmed_result
from ethos_registry.reduction._reducers import with_text
from ethos_registry.types._call import CallResult, Repair, RepairKind, results_table
from ethos_registry.types._tool import BoundedTextTool, Tool

__all__ = ["CallResults", "CollectedResults", "even_share", "fill_shares"]


# How the characters of a turn are shared among its calls.


def even_share(budget_chars: float, call_count: int) -> int:
    """The same share for every call, known before any starts.

    At most `sys.maxsize`: no text is longer.

    >>> even_share(9.9, 2)
    4
    """
    return min(math.floor(budget_chars // max(call_count, 1)), sys.maxsize)


def fill_shares(budget_chars: float, bodies_chars: Sequence[int]) -> list[int]:
    """How many characters each body keeps when all share one budget, max-min fair.

    A body that needs less than an equal share keeps all of it, and the rest is shared among the
    others: no body could keep more without taking from one that keeps less. Characters that do not
    divide evenly go to the bodies that come first.

    >>> fill_shares(100, [10, 80, 70])
    [10, 45, 45]
    """
    left = math.floor(budget_chars)
    shares = [0] * len(bodies_chars)
    by_size = sorted(range(len(bodies_chars)), key=bodies_chars.__getitem__)
    for place, index in enumerate(by_size):
        waiting = len(by_size) - place
        if bodies_chars[index] * waiting > left:
            share, extra = divmod(left, waiting)
            for order, cut in enumerate(sorted(by_size[place:])):
                shares[cut] = share + (order < extra)
            break
        shares[index] = bodies_chars[index]
        left -= bodies_chars[index]
    return shares


class CallResults(list[CallResult]):
    """One `CallResult` a call, in the order of the calls."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return results_table(self)

    @overload
    def to_messages(self, provider_name: Literal["anthropic"]) -> list[AnthropicMessage]: ...
    @overload
    def to_messages(self, provider_name: ChatName) -> list[OpenAIChatMessage]: ...
    @overload
    def to_messages(
        self, provider_name: Literal["openai_responses"]
    ) -> list[OpenAIResponsesItem]: ...
    @overload
    def to_messages(self, provider_name: Literal["gemini"]) -> list[GeminiMessage]: ...
    @overload
    def to_messages(self, provider_name: Literal["ollama"]) -> list[OllamaMessage]: ...
    @overload
    def to_messages(self, provider_name: Literal["bedrock"]) -> list[BedrockMessage]: ...
    @overload
    def to_messages(self, provider_name: Literal["cohere"]) -> list[CohereMessage]: ...
    @overload
    def to_messages(self, provider_name: str) -> list[Any]: ...
    def to_messages(self, provider_name: str) -> list[Any]:
        """The messages that carry the results back, in the shape of a provider (`"anthropic"`).

        Every call of the reply is answered, as providers demand. The types are those of the
        provider's SDK: `messages.extend(results.to_messages("anthropic"))`.
        """
        return provider(provider_name).messages(self)

    def to_wire(self) -> list[dict[str, Any]]:
        """A JSON array of `toolCallId`, `name`, `result`."""
        return [result.to_wire() for result in self]


# The results of one batch: in the order of the calls, reported as they come, within the budget.


class _Body(NamedTuple):
    """A tool's output that is not trimmed yet."""

    position: int
    answer: CallResult
    cap: int
    fence: Fence | None
    full_text: FullText | None
    tool: Tool | None


class CollectedResults:
    """One place for each call of a batch.

    With `trims_at_end` the outputs of tools are trimmed together when all are ready, and reported
    only then; with `reports_early` they are reported when they come, and trimmed in place later.
    Otherwise each was trimmed to its share before it came here.
    """

    __slots__ = (
        "_bodies",
        "_on_result",
        "_reports_early",
        "_runtime",
        "_sink",
        "answers",
        "trims_at_end",
    )

    def __init__(
        self,
        runtime: Runtime,
        on_result: OnResult | None,
        *,
        trims_at_end: bool,
        reports_early: bool = False,
        sink: ResultSink | None = None,
    ) -> None:
        self.answers: list[CallResult | None] = []
        self.trims_at_end = trims_at_end
        self._runtime = runtime
        self._on_result = on_result
        self._reports_early = reports_early
        self._sink = sink
        self._bodies: list[_Body] = []

    def reserve(self, count: int) -> int:
        """Make places for `count` calls; returns the position of the first."""
        first = len(self.answers)
        self.answers.extend([None] * count)
        return first

    def put(self, index: int, answer: CallResult, *, was_started: bool = False) -> None:
        """Answer a call with a result that needs no trim."""
        self.answers[index] = answer
        self._note_repairs(answer)
        if self._sink is not None:
            self._sink.on_result(index, answer.result, was_started=was_started)
        if self._on_result is not None:
            self._runtime.guard("`on_result`", self._on_result, answer)

    def hold(
        self,
        index: int,
        answer: CallResult,
        cap: int,
        fence: Fence | None,
        full_text: FullText | None,
        tool: Tool | None = None,
    ) -> None:
        """Answer a call with its tool's output, to be trimmed when all are ready.

        `cap` is the most that it may have then, `fence` is put around it, and `full_text` is stored
        if part of it is not sent. A `tool` that fits its own text does.
        """
        self.answers[index] = answer
        self._bodies.append(_Body(index, answer, cap, fence, full_text, tool))
        if self._reports_early and self._on_result is not None:
            self._runtime.guard("`on_result`", self._on_result, answer)

    def share_out(
        self, budget_chars: float, *, is_filled: bool, callers: Sequence[Context] | None = None
    ) -> None:
        """Trim the held outputs so that together they fit into `budget_chars`.

        With `is_filled` they share it max-min fairly, else evenly with the refused calls. What is
        cut is stored in the context variables of its caller.
        """
        bodies, self._bodies = sorted(self._bodies, key=_position), []
        if not bodies:
            return
        wanted = [min(body.answer.sent_chars, body.cap) for body in bodies]
        if is_filled:
            shares = fill_shares(budget_chars, wanted)
        else:
            share = even_share(budget_chars, len(self.answers))
            shares = [min(chars, share) for chars in wanted]
        for body, chars in zip(bodies, shares, strict=True):
            if callers is None:
                _trim(body, chars)
            else:
                callers[body.position].copy().run(_trim, body, chars)
            self._note_repairs(body.answer)
            if self._on_result is not None and not self._reports_early:
                self._runtime.guard("`on_result`", self._on_result, body.answer)

    def _note_repairs(self, answer: CallResult) -> None:
        """Tell the model what was repaired; a worker leaves that to the registry of its caller."""
        if answer.repairs and self._runtime.repair_note and self._sink is None:
            line = repair_line(answer.repairs)
            answer.result = with_text(answer.result, answer.result.text + line)
            answer.sent_chars += len(line)

    def all(self) -> CallResults:
        """Every result, in the order of the calls."""
        answers = self.answers
        # Not `None in answers`, which asks each result's `__eq__`.
        if not all(answers):  # the caller's cancellation came between two starts
            return CallResults(answer for answer in answers if answer is not None)
        return CallResults(answers)  # type: ignore[arg-type]


def _trim(body: _Body, chars: int) -> None:
    answer, fence, full_text = body.answer, body.fence, body.full_text
    is_cut = answer.sent_chars > chars
    if (
        is_cut
        and isinstance(body.tool, BoundedTextTool)
        and (text := body.tool.fit(answer.result.text, chars)) is not None
    ):
        answer.result, answer.truncated_from = with_text(answer.result, text), answer.sent_chars
        answer.sent_chars, is_cut = len(text), False
    if fence is not None or is_cut:
        answer.result, answer.truncated_from = trimmed_result(
            answer.result, chars, fence, answer.reduced_chars
        )
        answer.sent_chars = len(answer.result.text)
    if full_text is not None and (is_cut or full_text.is_reduced):
        line = full_text.artifact_line(answer.truncated_from, fence)
        answer.result = with_text(answer.result, answer.result.text + line)
        answer.sent_chars += len(line)


_READINGS: Mapping[RepairKind, str] = {
    "json_text": "from JSON text",
    "number_text": "from text",
    "boolean_text": "from text",
    "null_as_absent": "null as not given",
    "doubled_json": "given twice",
    "raw_control": "with raw line breaks",
    "single_as_list": "one value as a list",
    "null_text": "null from text",
    "trailing_text": "without the text after them",
}
_MAX_NOTE_CHARS = 120


def repair_line(repairs: Sequence[Repair]) -> str:
    r"""What a model reads about the repairs of its arguments, as the last line of a result.

    >>> repair_line([Repair("tags", "json_text"), Repair("limit", "null_as_absent")])
    '\n[arguments repaired: tags from JSON text; limit null as not given]'
    """
    stated = [f"{each.path} {_READINGS[each.kind]}".split() for each in repairs]
    parts = [" ".join(words) for words in stated]
    for count in range(len(parts), -1, -1):
        more = [f"{len(parts) - count} more"] if count < len(parts) else []
        line = f"\n[arguments repaired: {'; '.join(parts[:count] + more)}]"
        if len(line) <= _MAX_NOTE_CHARS:
            break
    return _core.replace_surrogates(line)


def _position(body: _Body) -> int:
    return body.position
