"""The tool `session_search`: words in what earlier calls returned."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from ethos_registry.recording._recorder import TurnRecorder
from ethos_registry.recording._rows import RecordingError
from ethos_registry.recording._sqlite import FoundCall, SqliteRecording
from ethos_registry.tools._arguments import (
    RefusalError,
    argument_tool,
    optional_whole_number,
    quoted,
    required_text,
    string,
    whole_number,
)
from ethos_registry.types import _checks
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._observer import RecordedCall
from ethos_registry.types._result import ToolResult, ok
from ethos_registry.types._tool import Tool

SearchedCalls: TypeAlias = Literal["session", "agent", "all"]
"""Which recorded calls a search sees: those of the call's session, those of its agent (else its
personality) in all sessions, or all."""

_DEFAULT_LIMIT = 10
_MAX_LIMIT = 50
_SHOWN_ARGS_CHARS = 120


@_checks.checked_signature
def session_search_tool(
    recording: TurnRecorder | str | os.PathLike[str], *, searches: SearchedCalls = "session"
) -> Tool:
    """The tool `session_search(query?, number?, limit?)`, in the toolset `memory`.

    Searches what a `TurnRecorder` recorded in SQLite: tool names, arguments and output, after
    redaction. `recording` is the recorder, whose calls until now are then found, or the path of a
    file that another process writes. `searches` bounds what a call can find: by default only calls
    of its own session; a wider choice lets one user's agent read the output of another's.

    With `query` it returns the calls that hold all of the words, the best first, each with its
    number; with `number` the whole output of one of them. The output is untrusted, as it may have
    been when it was recorded. No reducer: what is returned is already reduced, or chosen.
    """
    recorder = recording if isinstance(recording, TurnRecorder) else None
    place = recorder.place if recorder is not None else _checks.path(recording, "recording")
    if place.endswith(".parquet") or os.path.isdir(place):
        raise ConfigError(f"session_search needs a recording in SQLite, got {_checks.brief(place)}")
    if searches not in ("session", "agent", "all"):
        raise ConfigError(f'`searches` must be "session", "agent" or "all", got {searches!r}')
    stored = SqliteRecording(place)

    def work(values: Mapping[str, Any], context: ToolContext) -> ToolResult:
        if recorder is not None:
            recorder.flush()
        if not os.path.exists(place):
            return ok("No calls are recorded yet.", structured={"calls": 0})
        try:
            return _found(stored, values, context, searches)
        except RecordingError as error:
            raise RefusalError(f"{error}; tell the user", "execution_failed") from None

    return argument_tool(
        "session_search",
        "Search the arguments and output of earlier tool calls, also what was cut or is no longer "
        "in the conversation.",
        {
            "query": string("Words that the call must hold, such as `timeout config.toml`."),
            "number": whole_number("Return the whole output of the call with this number."),
            "limit": whole_number(
                f"Most calls to return. Default: {_DEFAULT_LIMIT}.", maximum=_MAX_LIMIT
            ),
        },
        work,
        toolset="memory",
        output_is_untrusted=True,
        idempotent=True,
    )


def _found(
    stored: SqliteRecording,
    values: Mapping[str, Any],
    context: ToolContext,
    searches: SearchedCalls,
) -> ToolResult:
    number = optional_whole_number(values, "number", minimum=1)
    if number is not None:
        call = stored.call(number)
        if call is None or not _may_see(call, context, searches):
            raise RefusalError(
                f"there is no call {number} to read; session_search with a query returns numbers"
            )
        return ok(call.value if call.raw is None else call.raw, structured={"number": number})
    query = required_text(values, "query", "timeout config.toml")
    limit = min(optional_whole_number(values, "limit", minimum=1) or _DEFAULT_LIMIT, _MAX_LIMIT)
    found = stored.search(
        query,
        session_id=context.session_id if searches == "session" else None,
        caller_id=_caller(context) if searches == "agent" else None,
        limit=limit,
    )
    if not found:
        return ok(
            f"No earlier call holds all words of {quoted(query)}; use fewer or other words.",
            structured={"calls": 0},
        )
    lines = [_line(each) for each in found]
    lines.append("The whole output of one: session_search with its number.")
    return ok("\n".join(lines), structured={"calls": len(found)})


def _may_see(call: RecordedCall, context: ToolContext, searches: SearchedCalls) -> bool:
    if searches == "session":
        return call.session_id == str(context.session_id)
    return searches == "all" or call.caller_id == _caller(context)


def _caller(context: ToolContext) -> str:
    return context.agent_id or context.personality_id or ""


def _line(found: FoundCall) -> str:
    call = found.call
    args = call.args
    if len(args) > _SHOWN_ARGS_CHARS:
        args = f"{args[:_SHOWN_ARGS_CHARS]}..."
    snippet = " ".join(found.snippet.split())
    return f"{call.number}. turn {call.turn}, {call.tool_name} {args}: {snippet}"
