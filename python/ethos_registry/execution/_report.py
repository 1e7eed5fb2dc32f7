"""What recorders receive of a batch: arguments and output, redacted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any
from uuid import uuid4

from ethos_registry import _core
from ethos_registry.capabilities._secrets import IssuedSecrets
from ethos_registry.execution._arguments import (
    BadArgumentsError,
    BoundedArguments,
    parse_json_arguments,
)
from ethos_registry.execution._call import Batch
from ethos_registry.execution._refusals import class_name
from ethos_registry.execution._runtime import Observers
from ethos_registry.reduction._redaction import Redact, redacted_json
from ethos_registry.reduction._reducers import exit_code_of
from ethos_registry.types._checks import guarded
from ethos_registry.types._json_values import MAX_DEPTH
from ethos_registry.types._observer import FinishedCalls, FinishedRow, RecordedCall

MAX_ARGUMENT_CHARS = 1_000_000
"""Longer arguments are cut."""
_CALL_CHARS = 300
"""What a call takes beside its output, about."""
_MAX_HIDDEN_VALUES = 100
_MIN_HIDDEN_CHARS = 6
"""A shorter value under a secret-looking key is not searched for in the output."""

_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

RawOutputs = dict[int, tuple[Any, str | None]]
"""Position in the batch -> arguments and the tool's text."""


class RecordedBatch:
    """The calls of one batch; they are redacted when they are read."""

    __slots__ = ("_batch_id", "_finished", "_outputs", "_redact", "size_chars")

    def __init__(self, finished: FinishedCalls, recorded: RawOutputs, redact: Redact) -> None:
        self._finished = finished
        self._redact = redact
        self._batch_id = uuid4().hex
        size = 0
        self._outputs: RawOutputs = {}
        for index, answer, _, _ in finished.rows:
            args, raw = recorded.get(index, (None, None))
            args, args_chars = _snapshot(args)
            size += args_chars + answer.sent_chars + _CALL_CHARS + (0 if raw is None else len(raw))
            self._outputs[index] = (args, raw)
        self.size_chars = size
        """About how many characters the calls hold."""

    def __len__(self) -> int:
        return len(self._finished.rows)

    def calls(self) -> Sequence[RecordedCall]:
        """The calls, in the order of the batch."""
        finished = self._finished
        session_id = _clean(finished.context.session_id, self._redact)
        caller_id = _clean(finished.caller_id, self._redact)
        return [
            self._call(row, session_id, caller_id)
            for row in sorted(finished.rows, key=itemgetter(0))
        ]

    def _call(self, row: Any, session_id: str, caller_id: str) -> RecordedCall:
        index, answer, _, started = row
        finished, result = self._finished, answer.result
        args, raw = self._outputs[index]
        arguments, hide = _recorded_arguments(args, self._redact)
        text = result.text
        value = hide(text)
        return RecordedCall(
            finished.started_at_seconds
            if started is None
            else started + finished.clock_offset_seconds,
            session_id,
            finished.context.current_turn,
            self._batch_id,
            hide(str.__str__(answer.tool_call_id)),
            hide(answer.name),
            caller_id,
            arguments,
            result.ok,
            None if result.ok else result.code,
            None if result.ok else result.reason,
            value if raw is text else None if raw is None else hide(raw),
            value,
            answer.raw_chars,
            answer.reduced_chars,
            answer.sent_chars,
            exit_code_of(result),
            answer.duration_seconds,
            result.cost_usd,
        )


def _clean(text: str, redact: Redact) -> str:
    """Text that any store takes, without credentials."""
    return redact(_core.replace_surrogates(text))


def _snapshot(args: Any) -> tuple[Any, int]:
    """Arguments that no one else changes, and about how many characters they have."""
    if type(args) is dict:
        size = 0
        for value in args.values():
            size += len(value) if type(value) is str else 10
        return _core.isolated_arguments(args), size
    if type(args) is str:
        return args, len(args)
    if args is None:
        return None, 4
    # A mapping of the host's own class may change, or belong to this thread.
    plain = _Plain(str, MAX_ARGUMENT_CHARS, MAX_ARGUMENT_CHARS).value
    return guarded(lambda _: f'"[{class_name(args)}]"', plain, args, MAX_DEPTH), _CALL_CHARS


def _recorded_arguments(args: Any, redact: Redact) -> tuple[str, Callable[[str], str]]:
    """The arguments as JSON, and what takes secrets out of the output of their call."""
    if isinstance(args, str):
        try:
            args = parse_json_arguments(args)
        except BadArgumentsError:
            # Without its structure it is not known what in it is a secret.
            return json.dumps(f"[not JSON, {len(args)} characters]"), _hiding((), redact)
    shown = _RecordedArguments(redact)
    # A mapping or sequence may be of the host's own class.
    value = guarded(lambda _: f"[{class_name(args)}]", shown.value, args, MAX_DEPTH)
    hide = _hiding(shown.hidden, redact)
    if shown.hidden:
        value = redacted_json(value, hide)
    return _core.replace_surrogates(_to_json(value)), hide


def _hiding(hidden: Sequence[str], redact: Redact) -> Callable[[str], str]:
    if not hidden:
        return lambda text: _clean(text, redact)
    # Credentials of a known shape are replaced first: a value that is part of one would break its
    # shape. What is left of a value after that is replaced too.
    remains = [redact(value) for value in hidden]
    values = IssuedSecrets()
    for value in hidden:
        values.add(value)
    searched = sorted(
        {*hidden, *(text for text in remains if not text.startswith("[redacted: "))},
        key=len,
        reverse=True,
    )

    def hide(text: str) -> str:
        text = values.redact(_clean(text, redact))
        for value in searched:
            text = text.replace(value, "[redacted: secret]")
        return text

    return hide


class _Plain(BoundedArguments):
    """Arguments as plain JSON, secrets included: they are replaced when the batch is read."""

    __slots__ = ()

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        return {
            str.__str__(key) if isinstance(key, str) else str(key): self.value(item, depth - 1)
            for key, item in value.items()
        }


class _RecordedArguments(BoundedArguments):
    """Arguments in full, up to a bound; remembers what it hides."""

    __slots__ = ("hidden",)

    def __init__(self, redact: Redact) -> None:
        super().__init__(redact, MAX_ARGUMENT_CHARS, MAX_ARGUMENT_CHARS)
        self.hidden: list[str] = []

    def text(self, text: str) -> str:
        """A string, redacted; cut if the arguments are too long."""
        text = self._redact(text)
        if len(text) > self.chars_left:
            text = f"{text[: max(self.chars_left, 0)]}...[truncated, {len(text)} chars]"
        self.chars_left -= len(text)
        return text

    def hide(self, value: Any) -> None:
        """A value that is not shown; its strings are searched for in the output of the call."""
        self._collect(value, MAX_DEPTH)

    def _collect(self, value: Any, depth: int) -> None:
        if depth == 0 or len(self.hidden) >= _MAX_HIDDEN_VALUES:
            return
        if isinstance(value, str):
            if len(value) >= _MIN_HIDDEN_CHARS and not value.isspace():
                self.hidden.append(_core.replace_surrogates(str.__str__(value)))
        elif isinstance(value, Mapping):
            for item in value.values():
                self._collect(item, depth - 1)
        elif isinstance(value, list | tuple):
            for item in value:
                self._collect(item, depth - 1)
        elif isinstance(value, int) and not isinstance(value, bool):
            self._collect(str(value), depth)


# What the observers of a registry receive of one batch.


class BatchReport:
    """Collects the calls of a batch; created only if the registry has observers.

    A call costs one tuple. Objects for observers are created when an observer reads them.
    """

    __slots__ = ("_calls", "_observers", "_runtime", "add", "recorded")

    add: Callable[[FinishedRow], object]
    """Take the row of a call that has its result, from its tool or without starting it."""
    recorded: RawOutputs | None
    """Arguments and output for recorders; `None` if there are none."""

    def __init__(self, batch: Batch, observers: Observers) -> None:
        self._runtime = batch.runtime
        self._observers = observers
        context = batch.context
        personality_id = context.personality_id
        self._calls = FinishedCalls(
            [],
            context,
            batch.personality_id if personality_id is None else personality_id,
            batch.started_at_seconds - batch.started_at_monotonic,
            batch.exception_types,
            batch.attempts,
            batch.started_at_seconds,
        )
        self.recorded = {} if observers.batch_recorded else None
        has_call_observers = observers.call_finished or observers.call_refused
        # Bound once: without observers of single calls nothing runs between call and list.
        self.add = self._add_and_notify if has_call_observers else self._calls.rows.append

    def _add_and_notify(self, row: FinishedRow) -> None:
        self._calls.rows.append(row)
        observers = self._observers
        name, callbacks = (
            ("call_refused", observers.call_refused)
            if row[3] is None
            else ("call_finished", observers.call_finished)
        )
        for callback in callbacks:
            self._runtime.guard(f"the `{name}` of an observer", callback, self._calls.call(row))

    def batch_finished(self) -> None:
        """All calls have their results."""
        for callback in self._observers.batch_finished:
            self._runtime.guard("the `batch_finished` of an observer", callback, self._calls)
        if self.recorded is not None:
            self._runtime.guard("recording", self._record, self.recorded)

    def _record(self, recorded: RawOutputs) -> None:
        runtime = self._runtime
        batch = RecordedBatch(self._calls, recorded, runtime.redact_recorded)
        for callback in self._observers.batch_recorded:
            runtime.guard("the `batch_recorded` of an observer", callback, batch)
