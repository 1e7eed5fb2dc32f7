"""What one reader was shown: results that repeat it refer to it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from ethos_registry import _core
from ethos_registry.reduction._reducers import with_text
from ethos_registry.types._call import CallResult
from ethos_registry.types._context import ToolContext
from ethos_registry.types._result import ToolResult, err, ok
from ethos_registry.types._tool import Tool

R = TypeVar("R", bound=list[CallResult])

_ID_CHARS = 8
_MAX_OUTPUTS = 200
_PARAMETERS = {
    "type": "object",
    "properties": {"id": {"type": "string", "description": "The id in the reference."}},
    "required": ["id"],
}


class SessionLedger:
    r"""What one model was shown in one conversation: results that repeat it refer to it.

    A step after the results are finished, which you call: without it a result depends on nothing
    but its call. Use one ledger for each model and conversation, never for two users. Call
    `forget` when old results leave the context, as after a compaction.

    Only results that succeeded are shortened, and only where at least 150 characters of whole
    lines were shown in the same order, in one of the last 40 results and 200,000 characters. Lines
    that may state a failure, diffs, output for programs (JSON, XML, base64) and results of tools
    with untrusted output stay. Results of one batch do not refer to each other.

    >>> from ethos_registry import ToolRegistry
    >>> from ethos_registry.reduction import SessionLedger
    >>> registry = ToolRegistry()
    >>> @registry.tool
    ... def pages() -> str: return "".join(f"page {number}\n" for number in range(300))
    >>> ledger = SessionLedger()
    >>> calls = [{"id": "1", "name": "pages", "args": {}}]
    >>> ledger.refer(registry.execute_parallel_sync(calls))[0].text.splitlines()[0]
    'page 0'
    >>> again = ledger.refer(registry.execute_parallel_sync(calls))[0].text
    >>> again
    '[same 300 lines as pages above; all of it: show_output 2702a6bf]\n'
    >>> len(ledger.show("2702a6bf").splitlines())
    300
    """

    def __init__(self, *, tool_name: str = "show_output") -> None:
        """Start a ledger; `tool_name` is the name of `tool` in references."""
        self._tool_name = tool_name
        self._shown = _core.ShownTexts()
        self._outputs: dict[str, str] = {}

    def refer(self, results: R) -> R:
        """The results with references to what was shown before; they count as shown now."""
        referring = results.__class__(map(self._referring, results))
        # Who asks for an output again missed something: everything is shown again.
        if any(result.name == self._tool_name for result in results):
            self.forget()
        else:
            for result in referring:
                if not result.untrusted:
                    self._shown.record(result.name, result.text)
        return referring

    def forget(self) -> None:
        """Refer to nothing that was shown until now: the model may have lost it."""
        self._shown.forget()

    def show(self, output_id: str) -> str | None:
        """The whole text to which a reference points, for the last 200; `None` for another id."""
        return self._outputs.get(output_id)

    def tool(self) -> Tool:
        """A tool with which the model reads what a reference points to."""

        def show_output(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
            text = self.show(args["id"])
            return err(f"no output {args['id']!r}", "input_invalid") if text is None else ok(text)

        return Tool(
            name=self._tool_name,
            description="Read the whole output that a reference in a result names.",
            schema=_PARAMETERS,
            execute=show_output,
        )

    def _referring(self, result: CallResult) -> CallResult:
        text = result.text
        if not result.ok or result.untrusted or _core.is_data(text):
            return result
        if result.name == self._tool_name:
            return result
        output_id = hashlib.sha256(text.encode()).hexdigest()[:_ID_CHARS]
        folded = self._shown.fold(text, f"{self._tool_name} {output_id}")
        if folded is None or self._outputs.get(output_id, text) != text:
            return result
        self._outputs[output_id] = self._outputs.pop(output_id, text)  # now the newest
        if len(self._outputs) > _MAX_OUTPUTS:
            del self._outputs[next(iter(self._outputs))]
        changed = with_text(result.result, folded[0])
        return replace(result, result=changed, sent_chars=len(folded[0]))
