"""The steps of one call, in their order: the table that a batch walks.

A step before the tool either answers the call, which ends it, or passes it on. Steps that apply to
a whole batch run once per batch, and steps that apply to a tool run once per tool and batch; a step
that cannot answer the calls of a tool is left out for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

from ethos_registry import _core
from ethos_registry._table.admission import Admission, is_available, refusal_under
from ethos_registry._table.entry import Binding, Entry
from ethos_registry.capabilities import _resolver
from ethos_registry.execution import _arguments, _refusals
from ethos_registry.execution._arguments import (
    BadArgumentsError,
    parse_json_arguments,
    repaired,
)
from ethos_registry.execution._call import BackendContext, Batch, Call, CallPlan
from ethos_registry.execution._finish import finish
from ethos_registry.execution._options import DEFAULT_OPTIONS, matching
from ethos_registry.execution._remote_batch import NO_TRIM, RemoteBatch, finish_order
from ethos_registry.execution._results import even_share
from ethos_registry.execution._run_tool import (
    async_execute_in_turn,
    execute,
    run_attempt,
    run_in_turn,
    run_remotely,
    run_with_retry,
)
from ethos_registry.reduction._finish import untouched_chars
from ethos_registry.types._blocking import measured
from ethos_registry.types._call import Repair, RepairLevel
from ethos_registry.types._checks import guarded
from ethos_registry.types._policy import Personality
from ethos_registry.types._reducer import ToolResultReducer
from ethos_registry.types._result import ToolError, ToolResult
from ethos_registry.types._tool import REGISTRY_DEFAULT
from ethos_registry.types._transport import ToolTransport

Scope: TypeAlias = Literal["batch", "verdict", "tool", "call", "run"]
Check: TypeAlias = Callable[[Call], ToolResult | None]
"""Answers a call before its tool runs, or returns `None`."""


# Steps of the verdict: the native core judges all names of a batch in one crossing.


def unknown(name: str, verdict: int, batch: Batch) -> ToolResult | None:
    """No tool has this name."""
    if verdict != _core.VERDICT_UNKNOWN:
        return None
    return _refusals.unknown_tool(name, batch.names_to_compare())


def permitted(name: str, verdict: int, batch: Batch) -> ToolResult | None:
    """The tool is excluded, or its gate does not permit it."""
    return _refusals.not_permitted(name, verdict) if verdict < 0 else None


# Steps of a call, before its tool.


def available(call: Call) -> ToolResult | None:
    """The tool's `is_available`, and whether it can run under the policy: once per caller."""
    entry, known = call.plan.entry, call.batch.availability
    if call.batch.options.callers is not None:
        known = {}
    problem = known.get(entry.name)
    if problem is None:
        problem = known[entry.name] = _unavailability(entry, call.batch.personality)
    return problem or None


def _unavailability(entry: Entry, personality: Personality | None) -> ToolError | Literal[False]:
    if not is_available(entry):
        return _refusals.unavailable(entry.name)
    reason = refusal_under(entry, personality)
    return _refusals.unavailable(entry.name, reason) if reason else False


def arguments(call: Call) -> ToolResult | None:
    """JSON text becomes a value, and none `{}`; a strict tool's must match its schema."""
    return guarded(_unreadable, _validated_arguments, call)  # they may be of a class of the host


def _unreadable(error: BaseException) -> ToolError:
    problem = _refusals.exception_text(error)
    return _refusals.bad_arguments(f"arguments cannot be read: {problem}")


def _validated_arguments(call: Call) -> ToolError | None:
    """Parse the arguments of a call, give them the tool's names, and validate them if it asks.

    Sets `call.args`; also `call.repairs` if only repairs made them valid. Returns the error about
    what the model sent. A function binds them again when it runs, and reports then.
    """
    entry, level = call.plan.entry, call.plan.repair_level
    check, binding = entry.argument_check, entry.binding
    if check is None and binding is None:
        level = "off"  # nothing would validate what was read
    args = call.args
    problem: ToolError | None = None
    repairs: tuple[Repair, ...] = ()
    if args is None:
        args = {}
    elif isinstance(args, str):
        args, problem, repairs = _read(entry, str.__str__(args), level)
        if problem is not None and not repairs:
            return problem
    if entry.sent_arguments is not None:
        try:
            args = entry.sent_arguments.restored(args)
        except ValueError as error:
            return problem or _refusals.bad_arguments(str(error))
    call.args = args
    if check is not None:
        wrong, failing = check.problems(args), check.failing
        if wrong is None:
            call.repairs = repairs
            return None
        problem = problem or wrong
    elif binding is not None and (repairs or call.plan.binds_early):
        if not _binds(call, binding):
            return problem
        call.repairs = repairs + call.repairs
        return None
    else:
        return None
    found = repaired(entry, args, failing, level)
    if found is None:
        return problem
    call.args, call.repairs = found[0], repairs + found[1]
    return None


def _binds(call: Call, binding: Binding) -> bool:
    """Bind the arguments, repaired if they have to be, and keep what they were bound to."""
    # Validators of the tool's author run, and mappings of the host's own classes are read.
    bound = guarded(lambda _: None, binding.bind, _core.isolated_arguments(call.args), call)
    if bound is None or isinstance(bound, ToolError):
        return False
    call._bound = bound
    return True


def _read(
    entry: Entry, text: str, level: RepairLevel
) -> tuple[Any, ToolError | None, tuple[Repair, ...]]:
    """The value of text, the error about text that had to be repaired, and the repairs."""
    problem: ToolError | None = None
    repairs: list[Repair] = []
    try:
        value = parse_json_arguments(text)
    except BadArgumentsError as error:
        problem = _refusals.bad_arguments(str(error))
        found = None if level == "off" else entry.repair.text(text, level)
        if found is None:
            return None, problem, ()
        value, repairs = found
    if type(value) is str and level != "off":
        whole = entry.repair.whole(value)
        if whole is not None:
            problem = problem or _refusals.bad_arguments(whole[1])
            value, repairs = whole[0], [*repairs, Repair("", "json_text")]
    return value, problem, tuple(repairs)


def backends(call: Call) -> ToolResult | None:
    """A tool must not run without the capabilities that it declares."""
    entry, given = call.plan.entry, call.batch.runtime.backends
    if given is None:
        return _refusals.no_backend(entry.name)
    failed = partial(_refusals.backend_failed, entry.name)
    # They may be a mapping of the host's own class.
    missing = guarded(failed, _resolver.first_missing_backend, entry.capabilities, given)
    return _refusals.no_backend(entry.name, missing) if isinstance(missing, str) else missing


def dry_run(call: Call) -> ToolResult | None:
    """A dry run ends here: it shows what would be called."""
    plan = call.plan
    return _arguments.dry_run_answer(plan.entry, call.args, call.batch.context, plan.redact)


def not_aborted(call: Call) -> ToolResult | None:
    """After an abort nothing starts."""
    batch = call.batch
    if batch.was_cancelled or batch.abort_signal._aborted:
        return _refusals.aborted_before_start(call.plan.name)
    return None


def capabilities(call: Call) -> ToolResult | None:
    """The backends make the scoped objects that the tool declares."""
    entry, runtime = call.plan.entry, call.batch.runtime
    assert runtime.backends is not None
    what = f"a capability backend of tool `{entry.name}`"
    make = partial(_resolver.resolve_capabilities, entry.name, entry.capabilities)
    failed, context = partial(_refusals.backend_failed, entry.name), BackendContext(call)
    with measured(partial(runtime.report_blocking, what)):
        scoped = guarded(failed, make, runtime.backends, context)
    if isinstance(scoped, ToolError):
        return scoped
    call.set_scoped(scoped)
    return None


# Steps of a batch and of a tool.


def share(batch: Batch) -> int:
    """The characters of one result: the budget divided by the number of calls.

    The whole budget if results are trimmed together at the end.
    """
    is_whole = batch.trims_at_end or batch.options.sink is not None
    count = 1 if is_whole else batch.call_count
    return even_share(batch.context.result_budget_chars, count or 1)


def cap(batch: Batch, entry: Entry) -> int:
    """The characters of one result of a tool: the share, or the tool's own limit."""
    limit = entry.max_result_chars
    return batch.share_chars if limit is None else min(batch.share_chars, limit)


class Step(NamedTuple):
    """One row of the table."""

    name: str
    scope: Scope
    """What it runs once for; `verdict` steps turn a native verdict into an answer, and `run` steps
    are the tool's own task."""
    function: Callable[..., Any]
    applies: Callable[[Batch, Entry], bool] | None = None
    """Whether the step can answer calls of this tool in this batch; `None` for always."""


def _may_be_unavailable(batch: Batch, entry: Entry) -> bool:
    return entry.is_available is not None or (
        entry.why_refused is not None and batch.personality is not None
    )


def _checks_arguments(batch: Batch, entry: Entry) -> bool:
    return (
        entry.argument_check is not None
        or entry.sent_arguments is not None
        or _binds_early(batch, entry)
    )


def _binds_early(batch: Batch, entry: Entry) -> bool:
    """Whether something reads the arguments of a function before they are bound.

    What it reads must be what the tool gets, and binding may repair them.
    """
    if entry.binding is None or _repair_level(batch, entry) == "off":
        return False
    options = batch.options
    return (
        batch.is_dry_run
        or options.resumed is not None
        or transport_of(batch, entry) is not None
        or bool(matching(batch.runtime.filters + options.filters, entry))
    )


def _repair_level(batch: Batch, entry: Entry) -> RepairLevel:
    return entry.repair_arguments or batch.runtime.repair_arguments


def _declares(batch: Batch, entry: Entry) -> bool:
    return entry.declares_capabilities and transport_of(batch, entry) is None


def transport_of(batch: Batch, entry: Entry) -> ToolTransport | None:
    """What runs the tool elsewhere, which then makes its scoped objects too."""
    transports = batch.runtime.transports
    return None if transports is None else transports.of(entry)


class StepTable:
    """The rows in their order, and the steps of each scope."""

    __slots__ = ("call", "cap", "execute", "finish", "rows", "share", "verdict")

    def __init__(self, *rows: Step) -> None:
        self.rows = rows
        [self.share] = self._functions("batch")
        self.verdict = self._functions("verdict")
        [self.cap] = self._functions("tool")
        self.call = tuple(row for row in rows if row.scope == "call")
        self.execute, self.finish = self._functions("run")

    def _functions(self, scope: Scope) -> list[Callable[..., Any]]:
        return [row.function for row in self.rows if row.scope == scope]


STEPS = StepTable(
    Step("share", "batch", share),
    Step("unknown", "verdict", unknown),
    Step("permitted", "verdict", permitted),
    Step("available", "call", available, _may_be_unavailable),
    Step("arguments", "call", arguments, _checks_arguments),
    Step("backends", "call", backends, _declares),
    Step("dry run", "call", dry_run, lambda batch, entry: batch.is_dry_run),
    Step("aborted", "call", not_aborted, lambda batch, entry: batch.can_be_stopped),
    Step("cap", "tool", cap),
    Step("capabilities", "call", capabilities, _declares),
    Step("execute", "run", execute),
    Step("finish", "run", finish),
)
"""The order of the steps; documented with a drawing in `docs/concepts/one-call.md`."""


def verdict_answer(name: str, verdict: int, batch: Batch) -> ToolResult:
    """The answer to a call that the native verdict refuses."""
    for step in STEPS.verdict:
        answer: ToolResult | None = step(name, verdict, batch)
        if answer is not None:
            return answer
    raise AssertionError(f"verdict {verdict} has no answer")


_KEPT_KINDS, _KEPT_PLANS = 16, 1_000
"""How many kinds of batches a snapshot keeps plans for, and how many plans for each."""


def kept_plans(batch: Batch) -> dict[int, CallPlan] | None:
    """By slot, the plans that were made for batches like this one, or `None` if it is unusual.

    What makes plans differ is in their key, or makes the batch unusual.
    """
    kinds, observers = batch.admission.snapshot.plans, batch.observers
    if (
        kinds is None
        or batch.options is not DEFAULT_OPTIONS
        or batch.turn is not None
        or batch.call_count is None
        or batch.context.dry_run
        or batch.runtime.transports is not None
        or type(batch.admission) is not Admission  # others number their entries themselves
        or (observers is not None and observers.call_started)
    ):
        return None
    key = (batch.runtime, batch.share_chars, batch.personality is None, batch.can_be_stopped)
    known: dict[int, CallPlan] | None = kinds.get(key)
    if known is None:
        if len(kinds) >= _KEPT_KINDS:
            kinds.clear()
        known = kinds[key] = {}
    return known


def call_plan(batch: Batch, slot: int) -> CallPlan:
    """What the calls of one tool share in this batch; made once for batches that are alike."""
    entry, known = batch.admission.entry(slot), batch.kept_plans
    reducer = batch.runtime.reducer_of(entry.name)
    plan = None if known is None else known.get(slot)
    if plan is None or plan.reducer is not reducer:
        plan = _new_plan(batch, entry, reducer)
        if known is not None:
            if len(known) >= _KEPT_PLANS:
                known.clear()
            known[slot] = plan
    return plan


def _new_plan(batch: Batch, entry: Entry, reducer: ToolResultReducer | None) -> CallPlan:
    runtime = batch.runtime
    plan = CallPlan()
    plan.entry, plan.name, plan.execute = entry, entry.name, entry.execute
    plan.cap = STEPS.cap(batch, entry)
    plan.run, plan.finish = STEPS.execute, STEPS.finish
    plan.trim_cap = NO_TRIM if batch.trims_at_end else plan.cap
    timeout = entry.timeout_seconds
    plan.timeout_seconds = (
        runtime.default_timeout_seconds if timeout is REGISTRY_DEFAULT else timeout
    )
    plan.repair_level = _repair_level(batch, entry)
    plan.binds_early = _binds_early(batch, entry)
    plan.checks, plan.parsed_checks = _checks(batch, entry)
    filters = runtime.filters + batch.options.filters
    plan.filters = matching(filters, entry) if filters else ()
    plan.reducer = reducer
    plan.reduction = batch.options.reduction or entry.reduction or runtime.reduction
    if batch.turn is not None and entry.is_coroutine:
        plan.execute = async_execute_in_turn(entry, batch.turn)
    plan.redact = runtime.redact_of(entry.name)
    plan.has_fast_call = (
        entry.is_coroutine
        and not plan.filters
        and entry.retry is None
        and entry.throttle is None
        and batch.options.limits is None
        and batch.options.resumed is None
        and (batch.observers is None or not batch.observers.call_started)
    )
    plan.run_tool = run_attempt if entry.retry is None else run_with_retry
    loses_text, plan.finish_order = False, None
    transport = transport_of(batch, entry)
    if transport is not None:
        remote_batches: dict[int, RemoteBatch] = batch.remote_batches
        remote_batch = remote_batches.setdefault(id(transport), RemoteBatch(batch, transport))
        # Attempts are repeated where the tool runs: what it raises is known there.
        plan.run_tool, plan.has_fast_call = partial(run_remotely, remote_batch.run), False
        loses_text = remote_batch.loses_text
        plan.finish_order = finish_order(batch, plan, transport.traits)
    if batch.options.limits is not None:
        plan.run_tool = partial(batch.options.limits.run, plan.run_tool)
    if entry.throttle is not None and batch.options.sink is None:  # else its caller waits
        plan.run_tool = partial(run_in_turn, plan.run_tool)
    is_fenced = batch.wraps_untrusted and entry.output_is_untrusted
    stores_any_text = batch.artifacts is not None and batch.trims_at_end
    plan.fast_path_chars = (
        -1
        if is_fenced or stores_any_text or loses_text
        else min(plan.trim_cap, untouched_chars(plan.reducer))
    )
    plan.has_fast_finish = (
        not entry.output_is_untrusted
        and not batch.trims_at_end
        and batch.options.on_result is None
        and batch.options.max_concurrency is None
        and runtime.max_concurrency is None
    )
    if batch.options.sink is not None:
        _leave_rest_to_caller(plan, batch.options.sink.fast_path_chars, runtime.backends)
    return plan


def _leave_rest_to_caller(
    plan: CallPlan, fast_path_chars: int, backends: _resolver.CapabilityBackends | None
) -> None:
    """A registry elsewhere counts the time of these calls and decides how results are finished.

    It recognises credentials by their shape; secrets that were handed out are known only here.
    """
    if plan.redact is not None:
        issued_secrets = getattr(backends, "redact", None)
        plan.redact = issued_secrets if callable(issued_secrets) else None
    plan.timeout_seconds = None
    plan.fast_path_chars = min(fast_path_chars, untouched_chars(plan.reducer))
    plan.trim_cap = NO_TRIM
    plan.has_fast_finish = plan.has_fast_call = False


def _checks(batch: Batch, entry: Entry) -> tuple[tuple[Check, ...], tuple[Check, ...]]:
    """The steps that can answer a call of this tool: with any arguments, and with a dict."""
    all_checks: list[Check] = []
    parsed_checks: list[Check] = []
    for step in STEPS.call:
        applies = step.applies is None or step.applies(batch, entry)
        if applies:
            parsed_checks.append(step.function)
        if applies or step.function is arguments:
            all_checks.append(step.function)
    return tuple(all_checks), tuple(parsed_checks)
