"""The answers of one batch."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, overload

from ethos_registry import _core
from ethos_registry.execution._full_text import FullText
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
from ethos_registry.reduction._finish import Fence, add_line, trimmed_result
from ethos_registry.reduction._reducers import with_text
from ethos_registry.types import _checks
from ethos_registry.types._call import CallResult, Repair, RepairKind, results_table
from ethos_registry.types._tool import BoundedTextTool, Tool

# How the characters of a turn are shared among its calls.


def even_share(budget_chars: float, call_count: int) -> int:
    """The same share for every call, known before any starts.

    At most `sys.maxsize`: no text is longer.

    >>> even_share(9.9, 2)
    4
    """
    share = int(budget_chars // (call_count or 1))
    return min(sys.maxsize, share)


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

    if not TYPE_CHECKING:  # a type checker would accept every name

        def __getattr__(self, name: str) -> NoReturn:
            of_one = {} if name not in dir(CallResult) else {name: f"it is `results[0].{name}`"}
            raise _checks.no_attribute(self, "a list of results", name, of_one)

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
    @_checks.checked_signature
    def to_messages(self, provider_name: str) -> list[Any]:
        """The messages that carry the results back, in the shape of a provider (`"anthropic"`).

        Every call of the reply is answered, as providers demand. The types are those of the
        provider's SDK: `messages.extend(results.to_messages("anthropic"))`.
        """
        return provider(provider_name).messages(self)

    def to_wire(self) -> list[dict[str, Any]]:
        """A JSON array of `toolCallId`, `name`, `result`."""
        return [result.to_wire() for result in self]


# Outputs that are trimmed together, when all of a batch are ready.


class HeldOutput(NamedTuple):
    """A tool's output that is not trimmed yet."""

    position: int
    answer: CallResult
    cap: int
    """The most that it may have then."""
    fence: Fence | None
    """What is put around it."""
    full_text: FullText | None
    """Stored if part of it is not sent."""
    tool: Tool
    """One that fits its own text does."""


def trim_together(
    held: list[HeldOutput],
    budget_chars: float,
    even_count: int | None,
    callers: Sequence[Context] | None,
    finish: Callable[[CallResult], object],
) -> None:
    """Trim outputs so that together they fit into `budget_chars`, and `finish` each.

    They share it max-min fairly, or evenly with all `even_count` calls. What is cut is stored in
    the context variables of its caller.
    """
    held.sort(key=attrgetter("position"))
    wanted = [min(output.answer.sent_chars, output.cap) for output in held]
    if even_count is None:
        shares = fill_shares(budget_chars, wanted)
    else:
        share = even_share(budget_chars, even_count)
        shares = [min(chars, share) for chars in wanted]
    for output, chars in zip(held, shares, strict=True):
        if callers is None:
            _trim(output, chars)
        else:
            callers[output.position].copy().run(_trim, output, chars)
        finish(output.answer)


def _trim(output: HeldOutput, chars: int) -> None:
    answer, fence, full_text = output.answer, output.fence, output.full_text
    is_cut = answer.sent_chars > chars
    if (
        is_cut
        and isinstance(output.tool, BoundedTextTool)
        and (text := output.tool.fit(answer.result.text, chars)) is not None
    ):
        answer.result, answer.truncated_from = with_text(answer.result, text), answer.sent_chars
        answer.sent_chars, is_cut = len(text), False
    if fence is not None or is_cut:
        answer.result, answer.truncated_from = trimmed_result(
            answer.result, chars, fence, answer.reduced_chars
        )
        answer.sent_chars = len(answer.result.text)
    if full_text is not None and (is_cut or full_text.is_reduced):
        add_line(answer, full_text.artifact_line(answer.truncated_from, fence))


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
