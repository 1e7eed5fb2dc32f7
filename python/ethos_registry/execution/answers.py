"""The answers of one batch: in order, told as they come, inside the budget."""

from __future__ import annotations

from typing import NamedTuple

from ethos_registry.contract.call import CallResult
from ethos_registry.execution.budget import fill_shares
from ethos_registry.execution.options import OnResult
from ethos_registry.execution.results import CallResults
from ethos_registry.execution.runtime import Runtime
from ethos_registry.execution.whole_text import WholeText
from ethos_registry.reduction.finish import Fence, trimmed_result
from ethos_registry.reduction.parts import with_text

__all__ = ["Answers"]


class Body(NamedTuple):
    """What a tool said, before the bodies share the budget."""

    place: int
    answer: CallResult
    cap: int
    fence: Fence | None
    whole: WholeText | None


class Answers:
    """One place for each call of a batch.

    With `fill_budget_chars` the bodies are trimmed together once all are there, and told only
    then; without it each was trimmed to its share when it came.
    """

    __slots__ = ("_answers", "_bodies", "_fill_budget_chars", "_on_result", "_runtime")

    def __init__(
        self, runtime: Runtime, on_result: OnResult | None, fill_budget_chars: float | None
    ) -> None:
        self._runtime = runtime
        self._on_result = on_result
        self._fill_budget_chars = fill_budget_chars
        self._answers: list[CallResult | None] = []
        self._bodies: list[Body] = []

    def reserve(self, count: int) -> int:
        """Make places for that many calls; the position of the first."""
        first = len(self._answers)
        self._answers.extend([None] * count)
        return first

    def put(self, index: int, answer: CallResult) -> None:
        """Answer a call with a text that stands."""
        self._answers[index] = answer
        if self._on_result is not None:
            self._runtime.guard("`on_result`", self._on_result, answer)

    def hold(
        self,
        index: int,
        answer: CallResult,
        cap: int,
        fence: Fence | None,
        whole: WholeText | None,
    ) -> None:
        """Answer a call with what its tool said, until the bodies share the budget.

        `cap` is what it may keep of it at most, `fence` the one to be put around it then, `whole`
        the text that an artifact keeps if something of it is not sent.
        """
        self._answers[index] = answer
        self._bodies.append(Body(index, answer, cap, fence, whole))

    def share_out(self) -> None:
        """Let the bodies share the budget, once all calls have ended (contract 3.8: `fill`)."""
        if self._fill_budget_chars is None:
            return
        bodies, self._bodies = sorted(self._bodies, key=_place), []
        wanted = [min(body.answer.sent_chars, body.cap) for body in bodies]
        shares = fill_shares(self._fill_budget_chars, wanted)
        for body, share in zip(bodies, shares, strict=True):
            answer, fence, whole = body.answer, body.fence, body.whole
            is_cut = answer.sent_chars > share
            if fence is not None or is_cut:
                answer.result, answer.truncated_from = trimmed_result(answer.result, share, fence)
                answer.sent_chars = len(answer.result.text)
            if whole is not None and (is_cut or whole.is_reduced):
                line = whole.line(answer.truncated_from, fence)
                answer.result = with_text(answer.result, answer.result.text + line)
                answer.sent_chars += len(line)
            if self._on_result is not None:
                self._runtime.guard("`on_result`", self._on_result, answer)

    def all(self) -> CallResults:
        """Every answer, in the order of the calls; each place has been filled."""
        return CallResults(answer for answer in self._answers if answer is not None)


def _place(body: Body) -> int:
    return body.place
