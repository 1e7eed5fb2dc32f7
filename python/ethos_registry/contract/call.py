"""Calls of a model, and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ethos_registry.contract import checks
from ethos_registry.contract.approval import PendingApproval
from ethos_registry.contract.call_shapes import call_parts
from ethos_registry.contract.content import ContentBlock
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.html_table import html_table
from ethos_registry.contract.result import ToolResult, result_from_wire
from ethos_registry.contract.wire import python_names, wire_name

__all__ = ["CallResult", "MalformedCall", "ToolCall", "results_table"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool: any name, and arguments as a mapping or as JSON text.

    >>> ToolCall.parse({"type": "tool_use", "id": "t1", "name": "stat", "input": {"path": "a"}})
    ToolCall(tool_call_id='t1', name='stat', args={'path': 'a'})
    """

    tool_call_id: str
    name: str
    args: Any = None

    @classmethod
    def parse(cls, call: object) -> ToolCall:
        """A call in any known shape: plain, or a provider's, as a dict or as an object of its SDK.

        Raises `ConfigError` that names what is missing.
        """
        if isinstance(call, ToolCall):
            return call
        return cls(*call_parts(call))

    def to_wire(self) -> dict[str, Any]:
        """The call as a JSON object in the plain shape."""
        return {"toolCallId": self.tool_call_id, "name": self.name, "args": self.args}


@dataclass(frozen=True, slots=True)
class MalformedCall:
    """A call that must not run, such as one from a truncated reply; answered `input_invalid`."""

    tool_call_id: str
    name: str
    problem: str
    """The error text for the model."""


@dataclass(slots=True)
class CallResult:
    """The result of one call, and what happened to its text."""

    tool_call_id: str
    name: str
    result: ToolResult
    untrusted: bool = False
    """Whether the output comes from a tool with `output_is_untrusted`."""
    source: str | None = None
    """Where untrusted output came from, as `file:a.txt`."""
    raw_chars: int = 0
    """Characters of the text as the tool returned it."""
    reduced_chars: int = 0
    """The same after the reducer."""
    sent_chars: int = 0
    """The same after the trim, marker included: what the model reads."""
    truncated_from: int | None = None
    """Characters before the cut, if the trim or the `read_file` reducer cut."""
    duration_seconds: float = 0.0
    """From the start of the tool, or of its last attempt, to its end; 0 if it was not started."""
    exception: BaseException | None = field(default=None, repr=False, compare=False)
    """What the tool raised, in the process where it ran: never sent, saved or pickled."""

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        state = {name: getattr(self, name) for name in self.__slots__}
        return None, state | {"exception": None}

    @property
    def ok(self) -> bool:
        """Whether the result is a success."""
        return self.result.ok

    @property
    def text(self) -> str:
        """What the model reads: the value or the error."""
        return self.result.text

    @property
    def content(self) -> tuple[ContentBlock, ...]:
        """The images, documents, recordings and links beside the text."""
        return self.result.content

    def __repr__(self) -> str:
        state = "pending" if self.pending is not None else "ok" if self.ok else "error"
        shown = checks.brief(self.result.text)
        return (
            f"<CallResult {checks.brief(self.tool_call_id)} of {self.name[:64]}: {state}, {shown}>"
        )

    def _repr_html_(self) -> str:
        return results_table([self])

    @property
    def pending(self) -> PendingApproval | None:
        """The approval that the call waits for, with the token to resume it; else `None`."""
        found = self.result.extra.get("pending")
        return found if type(found) is PendingApproval else None

    def to_wire(self) -> dict[str, Any]:
        """The result as a JSON object: exactly `toolCallId`, `name` and `result`."""
        return {"toolCallId": self.tool_call_id, "name": self.name, "result": self.result.to_wire()}

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> CallResult:
        """The result that a JSON object describes."""
        values = python_names(payload, ("tool_call_id", "name", "result"), "call result")
        for needed in ("tool_call_id", "name", "result"):
            if needed not in values:
                raise ConfigError(f"a call result needs `{wire_name(needed)}`")
        result = result_from_wire(values["result"])
        chars = len(result.text)
        return cls(
            checks.text(values["tool_call_id"], "tool_call_id"),
            checks.text(values["name"], "name"),
            result,
            raw_chars=chars,
            reduced_chars=chars,
            sent_chars=chars,
        )


def results_table(results: Sequence[CallResult]) -> str:
    """The results as a table for notebooks."""
    rows = (
        (
            result.tool_call_id,
            result.name,
            "pending" if result.pending is not None else "ok" if result.ok else "error",
            result.result.text,
            result.sent_chars,
            f"{result.duration_seconds:.3f} s",
        )
        for result in results
    )
    failed = sum(not result.ok for result in results)
    caption = f"{len(results)} result{'' if len(results) == 1 else 's'}, {failed} not ok"
    headers = ("id", "tool", "state", "text", "characters", "time")
    return html_table(caption, headers, rows, len(results))
