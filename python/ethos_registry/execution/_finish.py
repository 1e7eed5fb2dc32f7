"""The finish step: from what a tool returned to what the model reads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from time import monotonic
from typing import Any

from ethos_registry import _core
from ethos_registry.artifacts._store import ArtifactTool
from ethos_registry.execution import _refusals
from ethos_registry.execution._call import Call
from ethos_registry.execution._full_text import FENCED_SOURCE_CHARS, ArtifactWriter, FullText
from ethos_registry.execution._options import ResultSink
from ethos_registry.execution._refusals import BadResultError, checked_result
from ethos_registry.execution._remote_batch import finished_locally, needs_full_text
from ethos_registry.execution._threads import NoThreadError, finish_threads
from ethos_registry.reduction._finish import (
    Fence,
    Finished,
    add_line,
    finish_result,
    is_large_result,
    sanitized,
)
from ethos_registry.reduction._python_reducer import report_failed
from ethos_registry.reduction._redaction import redacted_parts, redacted_text
from ethos_registry.reduction._reducers import reducer_identity
from ethos_registry.types._checks import guarded
from ethos_registry.types._ports import ArtifactOrigin
from ethos_registry.types._reducer import ToolResultReducer
from ethos_registry.types._remote_finish import FinishFacts, FinishOrder
from ethos_registry.types._result import ToolError, ToolResult


async def finish(call: Call, value: Any) -> Finished:
    """The result of a tool: checked, reduced, trimmed and fenced.

    A value that is not a result becomes an error that names it.
    """
    try:
        result = checked_result(value)
        facts = call.finish_facts
        if not is_large_result(result) and (facts is None or facts.file is None):
            return _finish_on_loop(call, result)
        try:
            job = finish_threads.submit(_finish, call, result, call.plan.reducer)
        except NoThreadError:
            return _finish(call, result, call.plan.reducer)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a result may contain objects with code of their own
        return _bad_result(call, _refusals.exception_text(error))
    finished, failure = await finish_threads.outcome(job)
    if failure is not None:
        return _bad_result(call, _refusals.exception_text(failure))
    done: Finished = finished
    return done


def _finish_on_loop(call: Call, result: ToolResult) -> Finished:
    reducer = call.plan.reducer
    if reducer is None:
        return _finish(call, result, None)
    begun = monotonic()
    finished = _finish(call, result, reducer)
    what = f"the reducer of tool `{call.plan.name}`"
    call.batch.runtime.report_blocking(what, monotonic() - begun)
    return finished


def finish_failure(call: Call, error: BaseException) -> Finished:
    """The result of a tool that raised: the message of the exception, trimmed, never reduced."""
    if type(error) is BadResultError:
        return _bad_result(call, str(error))
    if call.stop_reason is None:
        if call.batch.observers is not None:
            call.batch.exception_types[call.index] = _refusals.class_name(error)
        call.exception = _refusals.without_own_frames(error)
        _refusals.log_raised(call.plan.name, error, call.plan.redact)
    text = _refusals.exception_text(error)
    return _finish(call, ToolError(text, "execution_failed", "raised"), None)


def _bad_result(call: Call, problem: str) -> Finished:
    text = f"Tool {call.plan.name} returned no result: {problem}"
    redact = call.plan.redact
    shown = text if redact is None else redact(text)
    call.batch.runtime.log_message(shown, is_mistake=True)
    return _finish(call, ToolError(text, "execution_failed", "bad_result"), None)


def _finish(call: Call, result: ToolResult, reducer: ToolResultReducer | None) -> Finished:
    batch, plan, sink = call.batch, call.plan, call.batch.options.sink
    if sink is not None:
        return _finish_for_caller(call, result, reducer, sink)
    if call.finish_facts is not None:
        return _finished_remotely(call, result, call.finish_facts)
    fence, trims_now = fence_of(call), not batch.trims_at_end
    if call.worker_raw_chars is not None or call.has_registry_error:
        reducer = None  # it was reduced where its tool ran, or is not what a tool returned
    is_recorded = batch.observers is not None and bool(batch.observers.batch_recorded)
    finished = finish_result(
        result,
        plan.trim_cap,
        reducer,
        call.args,
        batch.context.current_turn,
        fence if trims_now else None,
        plan.reduction,
        redact=plan.redact,
        keeps_text=is_recorded or batch.artifacts is not None,
    )
    text = finished.raw_text
    if is_recorded and call.worker_raw_chars in (None, len(text)):
        call.raw_text = text
    if call.worker_raw_chars is not None:
        finished.raw_chars = call.worker_raw_chars
    if batch.artifacts is not None and not isinstance(plan.entry.tool, ArtifactTool):
        is_reduced = reducer is not None and finished.reduced_chars < len(text)
        _store_full_text(call, batch.artifacts, text, finished, is_reduced=is_reduced)
    return finished if trims_now or fence is None else sanitized(finished)


def _finish_for_caller(
    call: Call, result: ToolResult, reducer: ToolResultReducer | None, sink: ResultSink
) -> Finished:
    """The result for a registry elsewhere: shortened if that asks for it, else as it is.

    Without the secrets that were handed out here in either case.
    """
    known, order = call.plan.redact, sink.finish_order(call.index)
    if order is not None and (reducer is None or reducer_identity(reducer) == order.reducer):
        fence = _fence_of_order(call, order)
        try:
            done = finished_locally(order, call, result, reducer, fence)
        except KeyboardInterrupt as interrupt:
            if reducer is None or not call.batch.answers_interrupts:
                raise
            report_failed(reducer, interrupt)  # as whatever else a reducer raises
            done = finished_locally(order, call, result, None, fence)
        if done is not None:
            finished, facts = done
            sink.on_finished(call.index, finished.result, facts)
            return finished
    if known is not None:
        result = redacted_parts(redacted_text(result, known), known)
    finished = Finished()
    finished.result, finished.truncated_from = result, None
    finished.raw_chars = finished.reduced_chars = finished.sent_chars = len(result.text)
    return finished


def _finished_remotely(call: Call, result: ToolResult, facts: FinishFacts) -> Finished:
    """The result of a worker that finished it: what remains is the artifact of its full text."""
    batch, plan = call.batch, call.plan
    if batch.runtime.issued_secrets and plan.redact is not None:  # since the call was sent
        result = redacted_text(result, batch.runtime.issued_secrets.redact)
    finished = Finished()
    finished.result = result
    finished.raw_chars, finished.reduced_chars = facts.raw_chars, facts.reduced_chars
    finished.sent_chars, finished.truncated_from = len(result.text), facts.truncated_from
    if facts.file is not None and batch.artifacts is not None:
        is_reduced = plan.reducer is not None and facts.reduced_chars < facts.raw_chars
        _store_full_text(
            call, batch.artifacts, "", finished, is_reduced=is_reduced, file=facts.file
        )
    return finished


def _store_full_text(
    call: Call,
    artifacts: ArtifactWriter,
    text: str,
    finished: Finished,
    *,
    is_reduced: bool,
    file: str | None = None,
) -> None:
    """Store the full text if part of it is not sent, and name the artifact to the model.

    Text that is trimmed at the end of the batch is stored here already if it cannot be sent whole
    whatever the others need: large results are processed here, off the loop. With `file` a worker
    wrote it.
    """
    origin = ArtifactOrigin(call.plan.name, call.tool_call_id, source_of_call(call))
    content, trims = finished.result.content, not call.batch.trims_at_end
    full_text = FullText(artifacts, text, origin, content, is_reduced, file)
    is_needed = file is not None or needs_full_text(
        finished, call.plan.cap, is_reduced=is_reduced, trims=trims
    )
    if not trims:
        call.full_text = full_text
        if is_needed:
            full_text.store()
    elif is_needed:
        add_line(finished, full_text.artifact_line(finished.truncated_from, fence_of(call)))


def fence_of(call: Call) -> Fence | None:
    """The fence for the tool's text, if it needs one."""
    entry, batch = call.plan.entry, call.batch
    if not (entry.output_is_untrusted and batch.wraps_untrusted):
        return None
    source = source_of_call(call)
    if source is None:
        return None
    limit = None if batch.artifacts is None else FENCED_SOURCE_CHARS
    return entry.name, source[:limit]


def _fence_of_order(call: Call, order: FinishOrder) -> Fence | None:
    """The fence that the registry of the caller would put around the text."""
    if not order.fences:
        return None
    source = source_of(call.plan.name, call.args)
    return call.plan.name, source[: None if order.folder is None else FENCED_SOURCE_CHARS]


def source_of_call(call: Call) -> str | None:
    """Where the tool's output came from; `None` if its author vouches for it."""
    entry = call.plan.entry
    if not entry.output_is_untrusted:
        return None
    if entry.mcp_server is not None:
        return _core.replace_surrogates(f"mcp:{entry.mcp_server}"[:256])
    tool = entry.tool
    of_args = tool.source_of if isinstance(tool, ArtifactTool) else partial(source_of, entry.name)
    # Arguments may be a mapping of the host's own class.
    return guarded(lambda _: "unknown", of_args, call.args)


def source_of(name: str, args: Any) -> str:
    """Where untrusted output came from, according to the arguments."""
    if isinstance(args, Mapping):
        for key, prefix in _SOURCES:
            value = args.get(key)
            if isinstance(value, str):
                prefix = "file:" if key == "path" and name == "read_file" else prefix
                return _core.replace_surrogates(f"{prefix}{str.__str__(value)}"[:256])
    return "unknown"


_SOURCES = (("path", ""), ("url", ""), ("command", "cmd:"), ("query", "query:"))
