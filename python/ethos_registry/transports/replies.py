"""What a worker sends back about a call: its result, and the files that its tool has read."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

from ethos_registry.contract.context import ReadMtime
from ethos_registry.contract.execute_request import ToolExecuteRequest
from ethos_registry.contract.result import ToolError, ToolOk, ToolResult
from ethos_registry.contract.transport import TransportReply
from ethos_registry.execution.refusals import exception_text
from ethos_registry.transports.json_lines import json_bytes

__all__ = ["TrackedMtimes", "bounded_result", "reply_line", "tracked_mtimes", "written_mtimes"]


class TrackedMtimes(dict[str, ReadMtime]):
    """Records the entries that tools write, which go back to the caller."""

    def __init__(self, entries: Any) -> None:
        super().__init__(entries)
        self._written: dict[str, ReadMtime] = {}

    def __setitem__(self, path: str, entry: ReadMtime) -> None:
        super().__setitem__(path, entry)
        self._written[path] = entry

    def update(self, *args: Any, **kwargs: Any) -> None:
        """As of a dict; the entries are recorded."""
        for path, entry in dict(*args, **kwargs).items():
            self[path] = entry

    def take_written(self) -> dict[str, ReadMtime]:
        """The entries that were written since the last time."""
        written, self._written = self._written, {}
        return written


def tracked_mtimes(request: ToolExecuteRequest) -> TrackedMtimes | None:
    """The map of a request's context, which from now on records what tools write."""
    facts = request.context._facts
    if facts.read_mtimes is None:
        return None
    if not isinstance(facts.read_mtimes, TrackedMtimes):
        object.__setattr__(facts, "read_mtimes", TrackedMtimes(facts.read_mtimes))
    return cast("TrackedMtimes", facts.read_mtimes)


def written_mtimes(mtimes: TrackedMtimes | None) -> dict[str, ReadMtime] | None:
    """What tools wrote into a map since the last time."""
    return None if mtimes is None else mtimes.take_written()


def bounded_result(result: ToolResult, max_bytes: int) -> ToolResult:
    r"""The result with the start and the end of text that is too long.

    >>> bounded_result(ToolOk("a" * 50 + "b" * 50), 20).text
    'aaaaaaaaaa\n[80 characters left out here: the result exceeds 20 bytes]\nbbbbbbbbbb'
    """
    text = result.text
    if len(text) * 4 <= max_bytes or len(text.encode("utf-8", "surrogatepass")) <= max_bytes:
        return result
    per_char = -(-len(text.encode("utf-8", "surrogatepass")) // len(text))
    half = max(max_bytes // per_char // 2, 1)
    left_out = len(text) - 2 * half
    note = f"\n[{left_out:,} characters left out here: the result exceeds {max_bytes:,} bytes]\n"
    shown = text[:half] + note + text[-half:]
    if isinstance(result, ToolOk):
        return dataclasses.replace(result, value=shown)
    return dataclasses.replace(result, error=shown)


def reply_line(position: int, reply: TransportReply) -> bytes:
    """The reply to the request at a position as JSON; an error if its result has no JSON form."""
    try:
        return json_bytes(["reply", position, reply.to_wire()])
    except Exception as error:
        failed = ToolError(f"the result cannot be sent: {exception_text(error)}")
        return json_bytes(["reply", position, TransportReply(reply.index, failed).to_wire()])
