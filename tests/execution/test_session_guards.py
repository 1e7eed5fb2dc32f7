"""Each call is guarded for itself: objects with code of their own cost their own call only."""

from __future__ import annotations

import asyncio
import collections
import sys
import types
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from ethos_registry import InvocationFilter, ToolCall, ToolContext, ToolRegistry, ok
from ethos_registry.artifacts import MemoryArtifactStore
from ethos_registry.registry import DispatchContext, TurnAlreadySignalledError
from ethos_registry.tools import ArtifactReaders
from session_tools import answer, calls_of, code, quick, reason, registry_of, tool, until


class ForeignError(BaseException):
    """What no `except Exception` catches."""


def deep(number: int = 0) -> int:
    """Runs into the recursion limit."""
    return deep(number + 1)


RAISES = [SystemExit(3), ForeignError("foreign"), ValueError("mine"), asyncio.CancelledError()]


class HostileCall(dict[str, Any]):
    """A dict of its own class that fails when it is read."""

    def __init__(self, error: BaseException | None) -> None:
        super().__init__(id="h", name="quick", args={})
        self.error = error

    def get(self, key: str, default: Any = None) -> Any:
        if self.error is None:
            deep()
        assert self.error is not None
        raise self.error

    def __getitem__(self, key: str) -> Any:
        return self.get(key)


class HostileText(str):
    """A string of its own class whose every method fails."""

    __slots__ = ()

    def strip(self, *given: Any) -> Any:
        raise SystemExit(3)

    def __format__(self, how: str) -> str:
        raise SystemExit(3)

    def __len__(self) -> int:
        raise SystemExit(3)

    def __str__(self) -> str:
        raise SystemExit(3)

    def __getitem__(self, key: Any) -> Any:
        raise SystemExit(3)

    def __hash__(self) -> int:
        raise SystemExit(3)

    def __eq__(self, other: object) -> bool:
        raise SystemExit(3)


class Classless:
    """An argument whose class cannot be asked for."""

    @property
    def __class__(self) -> Any:
        raise SystemExit(3)


@pytest.mark.parametrize("error", [*RAISES, None], ids=lambda value: type(value).__name__)
async def test_a_call_that_cannot_be_read_is_answered_and_no_other_is_lost(
    task_start: str, error: BaseException | None
) -> None:
    ran: list[str] = []

    async def counted(args: Any, context: Any) -> Any:
        ran.append(context.tool_call_id)
        return ok("done")

    registry = registry_of(counted, quick)
    calls = [ToolCall("a", "counted"), HostileCall(error), ToolCall("b", "counted")]
    results = await registry.execute_parallel(calls, deadline_seconds=60)
    assert [result.ok for result in results] == [True, False, True]
    assert (code(results[1]), reason(results[1])) == ("input_invalid", "invalid_args")
    assert ran == ["a", "b"]


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("h", "quick", HostileText('{"a": 1}')),
        {"id": "h", "name": "quick", "args": HostileText("{}")},
        {"id": HostileText("h"), "name": "quick", "args": {}},
        {"id": "h", "name": HostileText("quick"), "args": {}},
        {"id": HostileText("h"), "name": HostileText("ghost"), "args": {}},
        ToolCall(HostileText("h"), HostileText("ghost"), {}),
        ToolCall("h", "quick", Classless()),
        ToolCall("h", "quick", {"a": Classless()}),
        ToolCall("h", "quick", HostileCall(SystemExit(3))),
    ],
    ids=range(9),
)
@pytest.mark.parametrize("dry_run", [False, True])
async def test_strings_and_arguments_of_hostile_classes_cost_their_own_call(
    call: Any, task_start: str, *, dry_run: bool
) -> None:
    registry = registry_of(quick)
    for untrusted in (False, True):
        registry.register(tool(quick, output_is_untrusted=untrusted), overwrite=True)
        results = await registry.execute_parallel(
            [*calls_of("quick"), call, *calls_of("quick")],
            ToolContext(dry_run=dry_run),
            deadline_seconds=60,
        )
        assert len(results) == 3
        assert results[0].ok
        assert results[2].ok
        assert all(type(result.text) is str for result in results)
        assert all(type(result.tool_call_id) is str for result in results)


class BadName(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise SystemExit(3)

    def __repr__(cls) -> str:
        raise SystemExit(3)

    def __instancecheck__(cls, instance: object) -> bool:
        raise SystemExit(3)


class BadMeta(Exception, metaclass=BadName):
    def __str__(self) -> str:
        raise ForeignError("no text")

    def __repr__(self) -> str:
        raise ForeignError("no repr")


class BadClass(Exception):
    @property
    def __class__(self) -> Any:
        raise SystemExit(3)

    def __str__(self) -> str:
        raise SystemExit(3)


class Recursive(Exception):
    def __str__(self) -> str:
        return str(deep())


@pytest.mark.parametrize("kind", [BadMeta, BadClass, Recursive], ids=["meta", "class", "text"])
@pytest.mark.parametrize("plain", [False, True], ids=["async", "plain"])
async def test_an_exception_whose_class_misbehaves_is_a_failure_at_once(
    kind: Any, task_start: str, *, plain: bool
) -> None:
    async def coroutine(args: Any, context: Any) -> Any:
        raise kind

    def function(args: Any, context: Any) -> Any:
        raise kind

    loop = asyncio.get_running_loop()
    unhandled: list[Any] = []
    loop.set_exception_handler(lambda loop, context: unhandled.append(context))
    registry = registry_of(tool(function if plain else coroutine, "failing"), quick)
    began = loop.time()
    results = await registry.execute_parallel(calls_of("failing", "quick"))
    assert (code(results[0]), reason(results[0])) == ("execution_failed", "raised")
    assert results[0].text == type.__dict__["__name__"].__get__(kind)
    assert results[1].text == "done"
    assert loop.time() - began < 5
    assert unhandled == []


async def test_a_key_error_reaches_the_model_with_its_name() -> None:
    class MissingCity(KeyError):
        pass

    class Worded(KeyError):
        def __str__(self) -> str:
            return "no such city"

    texts = {"KeyError": KeyError("Oslo"), "MissingCity": MissingCity("Oslo")}
    for name, error in texts.items():

        async def fail(args: Any, context: Any, error: Any = error) -> Any:
            raise error

        assert (await answer(fail)).text == f"{name}: 'Oslo'"

    async def fail_worded(args: Any, context: Any) -> Any:
        raise Worded("Oslo")

    assert (await answer(fail_worded)).text == "no such city"


@pytest.mark.parametrize("left", [20, 40, 60, 80, 100, 120, 150, 190, 230])
def test_near_the_recursion_limit_every_call_is_answered_and_nothing_is_left(left: int) -> None:
    ran: list[str] = []

    async def counted(args: Any, context: Any) -> Any:
        ran.append(context.tool_call_id)
        return ok("done")

    registry = registry_of(counted)

    async def nested(depth: int) -> Any:
        if depth:
            return await nested(depth - 1)
        return await registry.execute_parallel(calls_of("counted", "ghost", "counted"))

    async def run() -> Any:
        used = len(_frames())
        return await nested(sys.getrecursionlimit() - used - left)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            results = asyncio.run(run())
        except RecursionError:
            assert ran == []  # nothing had started
            return
    assert [result.ok for result in results] == [True, False, True]
    assert ran == ["c0", "c2"]


def _frames() -> list[Any]:
    frame: Any = sys._getframe()
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def test_a_batch_without_a_loop_runs_near_the_recursion_limit() -> None:
    registry = registry_of(quick)

    def nested(depth: int) -> Any:
        if depth:
            return nested(depth - 1)
        return registry.execute_parallel_sync(calls_of("quick"))

    for left in range(40, 240, 20):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            [result] = nested(sys.getrecursionlimit() - len(_frames()) - left)
            assert result.text == "done"


# Dry run


class Owner(NamedTuple):
    name: str
    password: str


class Custom(Mapping[str, Any]):
    def __init__(self, **values: Any) -> None:
        self.values_ = values

    def __getitem__(self, key: str) -> Any:
        return self.values_[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)


SECRETS = [
    types.MappingProxyType({"password": "hunter2", "city": "Oslo"}),
    collections.UserDict({"password": "hunter2", "city": "Oslo"}),
    collections.ChainMap({"city": "Oslo"}, {"password": "hunter2"}),
    collections.OrderedDict(password="hunter2", city="Oslo"),
    Custom(password="hunter2", city="Oslo"),
]


@pytest.mark.parametrize("args", SECRETS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("nest", [lambda value: value, lambda value: {"in": [value]}])
async def test_a_dry_run_redacts_secrets_in_every_kind_of_mapping(args: Any, nest: Any) -> None:
    call = {"id": "1", "name": "quick", "args": nest(args)}
    [result] = await registry_of(quick).execute_parallel([call], ToolContext(dry_run=True))
    assert "hunter2" not in result.text
    assert '"password":"[redacted]"' in result.text
    assert '"city":"Oslo"' in result.text


@pytest.mark.parametrize(
    "value",
    [
        Owner("Ada", "hunter2"),
        collections.deque([{"password": "hunter2"}]),
        {"items": {"api_key": "hunter2"}}.items(),
        types.SimpleNamespace(password="hunter2"),
        [collections.UserDict(token="hunter2")],
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_dry_run_shows_no_secret_that_is_inside_other_objects(value: Any) -> None:
    call = {"id": "1", "name": "quick", "args": {"value": value}}
    [result] = await registry_of(quick).execute_parallel([call], ToolContext(dry_run=True))
    assert "hunter2" not in result.text


# Filters


@pytest.mark.parametrize("is_async", [False, True])
async def test_an_after_that_raises_cancelled_error_keeps_the_result(
    task_start: str, *, is_async: bool
) -> None:
    async def after_async(invocation: Any, result: Any) -> Any:
        raise asyncio.CancelledError

    def after(invocation: Any, result: Any) -> Any:
        raise asyncio.CancelledError

    item = InvocationFilter(after=after_async if is_async else after)
    [result] = await registry_of(quick).execute_parallel(calls_of("quick"), filters=[item])
    assert result.text == "done"


async def test_filters_nest_like_an_onion() -> None:
    log: list[str] = []

    def layer(name: str) -> InvocationFilter:
        return InvocationFilter(
            before=lambda invocation: log.append(f"before {name}"),
            after=lambda invocation, result: log.append(f"after {name}"),
        )

    await registry_of(quick).execute_parallel(
        calls_of("quick"), filters=[layer("outer"), layer("inner")]
    )
    assert log == ["before outer", "before inner", "after inner", "after outer"]


# Turns


def test_a_turn_is_a_context_manager() -> None:
    registry = registry_of(quick)
    with registry.turn(DispatchContext()) as turn:
        assert not turn.context.is_signalled
    assert turn.context.is_acked
    with pytest.raises(OSError, match="disk"), registry.turn(DispatchContext()) as failed:
        raise OSError("disk")
    assert isinstance(failed.context.nack_error, OSError)
    with pytest.raises(TurnAlreadySignalledError):
        failed.begin_iteration()


def test_a_dispatch_context_is_a_context_manager_and_may_end_inside_its_block() -> None:
    with DispatchContext() as context:
        context.nack()
    assert not context.is_acked
    with pytest.raises(KeyboardInterrupt), DispatchContext() as interrupted:
        raise KeyboardInterrupt
    assert isinstance(interrupted.nack_error, KeyboardInterrupt)


@pytest.mark.parametrize("policy", ["even", "fill"])
async def test_the_artifact_store_is_given_once_per_turn(policy: Any) -> None:
    async def long(args: Any, context: Any) -> Any:
        return ok("line\n" * 500)

    store = MemoryArtifactStore()
    with registry_of(long).turn(DispatchContext(), ArtifactReaders(store)) as turn:
        [result] = await turn.registry.execute_parallel(
            calls_of("long"), ToolContext(result_budget_chars=50), budget_policy=policy
        )
        [artifact] = store.artifacts()
        assert f"[artifact {artifact.id}: " in result.text
        turn.begin_iteration()
        assert "artifact_grep" in turn.registry.list()


async def test_the_store_of_a_calls_own_context_comes_first() -> None:
    async def long(args: Any, context: Any) -> Any:
        return ok("line\n" * 500)

    of_turn, own = MemoryArtifactStore(), MemoryArtifactStore()
    turn = registry_of(long).turn(DispatchContext(), [ArtifactReaders(of_turn)])
    await turn.registry.execute_parallel(
        calls_of("long"), ToolContext(result_budget_chars=50, artifact_store=own)
    )
    assert (len(own.artifacts()), len(of_turn.artifacts())) == (1, 0)


# Feeding a session call by call


async def test_a_session_is_fed_call_by_call_and_trims_to_the_final_share(task_start: str) -> None:
    from ethos_registry.execution._batch_run import BatchRun
    from ethos_registry.execution._call import BatchRequest
    from ethos_registry.execution._options import CheckedOptions

    seen: list[int] = []
    may_end = asyncio.Event()

    async def long(args: Any, context: Any) -> Any:
        seen.append(context.result_budget_chars)
        await may_end.wait()
        return ok("x" * 500)

    registry = ToolRegistry([tool(long), tool(long, "capped", max_result_chars=80), tool(quick)])
    request = BatchRequest(
        None,
        ToolContext(result_budget_chars=300),
        CheckedOptions(),
        registry._admission(None, None),
        registry._settings(),
    )
    batch = BatchRun(request)
    for name in ("long", "capped", "ghost", "quick"):
        batch.start(calls_of(name))
        await asyncio.sleep(0)
    may_end.set()
    results = await batch.finish()
    assert seen == [300, 80]
    assert [result.text[:75].count("x") for result in results] == [75, 75, 0, 0]
    assert [result.truncated_from for result in results] == [500, 500, None, None]
    assert [result.name for result in results] == ["long", "capped", "ghost", "quick"]


async def test_timeouts_count_while_a_session_is_fed(task_start: str) -> None:
    from ethos_registry.execution._batch_run import BatchRun
    from ethos_registry.execution._call import BatchRequest
    from ethos_registry.execution._options import CheckedOptions
    from session_tools import hang

    ended: list[Any] = []
    registry = ToolRegistry([tool(hang, timeout_seconds=0.03)])
    request = BatchRequest(
        None,
        ToolContext(),
        CheckedOptions(),
        registry._admission(None, None),
        registry._settings(),
    )
    batch = BatchRun(request)
    batch.start(calls_of("hang"))
    await until(lambda: batch.pending == 0)
    ended = list(await batch.finish())
    assert [reason(result) for result in ended] == ["timeout"]
