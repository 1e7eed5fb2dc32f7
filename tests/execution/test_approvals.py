"""Approvals that outlive a batch: pending calls, signed tokens, and what resuming guarantees."""

from __future__ import annotations

import base64
import json
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import (
    ConfigError,
    InvocationFilter,
    Pending,
    Personality,
    Tool,
    ToolCall,
    ToolContext,
    ToolRegistry,
    err,
    ok,
    tool,
)
from ethos_registry.agents import AgentCatalog
from ethos_registry.execution import (
    ApprovalError,
    Approvals,
    FileApprovalStore,
    MemoryApprovalStore,
)
from ethos_registry.registry import DispatchContext
from ethos_registry.usage import UsageLedger
from session_tools import calls_of, quick, reason, registry_of
from session_tools import tool as made

pytestmark = pytest.mark.every_python

KEY = b"k" * 32
CLERK = Personality("clerk", toolset=None)
ran: list[Any] = []


async def delete(args: Any, context: Any) -> Any:
    ran.append(args)
    return ok(f"deleted {args.get('path')}")


def ask(invocation: Any) -> Any:
    return Pending(f"deletes {invocation.args.get('path')}")


ASK = InvocationFilter(before=ask, tool_names=["delete"])
DELETE = Tool(
    "delete",
    "Delete a folder.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    delete,
    strict=True,
)
CALL = {"id": "c1", "name": "delete", "args": {"path": "build"}}


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


def registry_with(approvals: Approvals | None = None, *tools: Tool, **options: Any) -> ToolRegistry:
    options.setdefault("filters", [ASK])
    approvals = approvals or Approvals(KEY)
    return ToolRegistry([DELETE, *tools], approvals=approvals, **options)


async def pending_token(view: Any, **options: Any) -> str:
    run = getattr(view, "execute", None) or view.execute_parallel
    [result] = await run([CALL], **options)
    assert result.pending is not None
    return str(result.pending.token)


async def test_a_pending_call_is_answered_at_once_and_shows_what_it_waits_for(
    task_start: str,
) -> None:
    registry = registry_with(None, made(quick))
    results = await registry.view(CLERK).execute(
        [CALL, {"id": "c2", "name": "quick", "args": {}}], ToolContext(result_budget_chars=10)
    )
    waiting, done = results
    assert done.ok
    assert done.pending is None
    assert ran == []
    assert waiting.text == ("Tool delete has not run yet: it waits for approval: deletes build")
    assert not waiting.ok
    pending = waiting.pending
    assert pending is not None
    assert (pending.reason, pending.tool_name, pending.tool_call_id) == (
        "deletes build",
        "delete",
        "c1",
    )
    assert pending.arguments == {"path": "build"}
    assert pending.expires_at_seconds is not None
    assert pending.expires_at_seconds > time.time() + 80_000
    assert pending.token not in waiting.text
    assert pending.token not in repr(waiting)
    wire = json.loads(json.dumps(waiting.to_wire()))
    assert wire.keys() == {"toolCallId", "name", "result"}
    assert wire["result"]["pending"]["token"] == pending.token


async def test_an_approved_call_runs_and_a_declined_one_does_not() -> None:
    view = registry_with().view(CLERK)
    result = await view.resume(await pending_token(view), approved=True)
    assert (result.tool_call_id, result.text) == ("c1", "deleted build")
    assert ran == [{"path": "build"}]
    declined = await view.resume(
        await pending_token(view), approved=False, reason="ask me on Monday"
    )
    assert declined.text == "Tool delete was not run: the user declined: ask me on Monday"
    assert reason(declined) == "denied"
    assert len(ran) == 1


@pytest.mark.parametrize("padding", [0, 330])
async def test_credentials_in_reasons_are_redacted_for_the_model_as_in_results(
    padding: int,
) -> None:
    secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6"
    text = "x " * (padding // 2) + secret  # the text for the model is cut in the secret

    def asks(invocation: Any) -> Any:
        return Pending(text)

    for redact, is_shown in ((True, False), (False, True)):
        view = registry_with(filters=[InvocationFilter(before=asks)], redact=redact).view(CLERK)
        [waiting] = await view.execute([CALL])
        assert waiting.pending is not None
        assert waiting.pending.reason == text
        declined = await view.resume(waiting.pending.token, approved=False, reason=text)
        for answer in (waiting, declined):
            assert ("ghp_" in answer.text) == is_shown
            assert ("[redacted" in answer.text) == (not is_shown)


async def test_edited_arguments_are_validated_and_the_token_stays_usable() -> None:
    view = registry_with().view(CLERK)
    token = await pending_token(view)
    wrong = await view.resume(token, approved=True, edited_args={"path": 5})
    assert reason(wrong) == "invalid_args"
    right = await view.resume(token, approved=True, edited_args={"path": "dist"})
    assert right.text == "deleted dist"
    assert ran == [{"path": "dist"}]
    with pytest.raises(ConfigError, match="approved=True"):
        await view.resume(token, approved=False, edited_args={"path": "dist"})


async def test_a_token_is_used_once() -> None:
    for first in (True, False):
        view = registry_with().view(CLERK)
        token = await pending_token(view)
        await view.resume(token, approved=first)
        for again in (True, False):
            with pytest.raises(ApprovalError) as caught:
                await view.resume(token, approved=again)
            assert caught.value.reason == "used"
        assert len(ran) == first
        ran.clear()


async def test_gates_availability_and_other_filters_are_checked_again() -> None:
    is_open = [True]
    gated = DELETE.replace(is_available=lambda: is_open[0])
    refuses = [False]

    def policy(invocation: Any) -> Any:
        return err("closed on Sundays", "not_available") if refuses[0] else None

    approvals = Approvals(KEY)
    registry = ToolRegistry(
        [gated], approvals=approvals, filters=[InvocationFilter(before=policy), ASK]
    )
    view = registry.view(CLERK)
    token = await pending_token(view)
    is_open[0] = False
    assert reason(await view.resume(token, approved=True)) == "unavailable"
    is_open[0], refuses[0] = True, True
    assert (await view.resume(token, approved=True)).text == "closed on Sundays"
    refuses[0] = False
    narrower = registry.view(Personality("clerk", toolset=None, exclude=["delete"]))
    assert reason(await narrower.resume(token, approved=True)) == "excluded"
    assert ran == []
    assert (await view.resume(token, approved=True)).ok


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (lambda approvals: registry_with(approvals, made(quick)).view(CLERK), "other_registry"),
        (
            lambda approvals: ToolRegistry(
                [DELETE.replace(description="Another.")], approvals=approvals, filters=[ASK]
            ).view(CLERK),
            "other_registry",
        ),
        (
            lambda approvals: registry_with(approvals).view(Personality("boss", toolset=None)),
            "other_caller",
        ),
        (lambda approvals: registry_with(approvals), "other_caller"),
        (lambda approvals: registry_with(Approvals(b"x" * 32)).view(CLERK), "forged"),
    ],
)
async def test_a_token_belongs_to_its_registry_caller_and_key(where: Any, expected: str) -> None:
    approvals = Approvals(KEY)
    token = await pending_token(registry_with(approvals).view(CLERK))
    with pytest.raises(ApprovalError) as caught:
        await where(approvals).resume(token, approved=True)
    assert caught.value.reason == expected
    assert ran == []


async def test_every_kind_of_copy_resumes_what_another_left() -> None:
    approvals = Approvals(KEY)
    registry = registry_with(approvals)
    turn = registry.turn(DispatchContext()).registry
    later = ToolRegistry([DELETE], approvals=approvals, filters=[ASK])
    views = [
        registry.view(CLERK),
        registry.freeze().view(CLERK),
        turn.view(CLERK),
        registry.for_turn().view(CLERK),
        later.view(CLERK),
    ]
    for asked in views:
        for resumed in views:
            result = await resumed.resume(await pending_token(asked), approved=True)
            assert result.text == "deleted build"
    [result] = await registry.execute_parallel([CALL])
    assert result.pending is not None
    assert (await turn.resume(result.pending.token, approved=True)).ok


async def test_ephemeral_tools_of_a_turn_do_not_matter_unless_they_are_called() -> None:
    registry = registry_with()

    def forge(description: str) -> Any:
        return registry.turn(
            DispatchContext(),
            lambda context: [Tool("peek", description, {"type": "object"}, quick)],
        ).registry.view(CLERK)

    token = await pending_token(forge("One."))
    assert (await forge("Another.").resume(token, approved=True)).ok


async def test_filters_of_a_batch_may_ask_too() -> None:
    registry = registry_with(filters=[])
    view = registry.view(CLERK)
    seen: list[bool] = []

    def before(invocation: Any) -> Any:
        seen.append(invocation.is_approved)
        return Pending("why")

    asks = InvocationFilter(before=before, tool_names=["delete"])
    token = await pending_token(view, filters=[asks])
    result = await view.resume(token, approved=True, filters=[asks])
    assert result.ok
    assert seen == [False, True]
    assert (await view.resume(await pending_token(view, filters=[ASK]), approved=True)).ok


async def test_an_approval_does_not_count_for_another_filter_in_the_same_place() -> None:
    def other(invocation: Any) -> Any:
        return Pending("another question")

    approvals = Approvals(KEY)
    token = await pending_token(registry_with(approvals).view(CLERK))
    later = registry_with(approvals, filters=[InvocationFilter(before=other)]).view(CLERK)
    result = await later.resume(token, approved=True)
    assert result.pending is not None
    assert result.pending.reason == "another question"
    assert ran == []


async def test_two_filters_that_ask_need_two_approvals_and_the_call_runs_once() -> None:
    def other(invocation: Any) -> Any:
        return None if invocation.is_approved else Pending("needs a second person")

    registry = registry_with(filters=[ASK, InvocationFilter(before=other)])
    view = registry.view(CLERK)
    first = await pending_token(view)
    second = await view.resume(first, approved=True)
    assert second.pending is not None
    assert second.pending.reason == "needs a second person"
    twin = await view.resume(first, approved=True)
    assert twin.pending is not None
    assert ran == []
    result = await view.resume(second.pending.token, approved=True)
    assert result.text == "deleted build"
    for token in (first, second.pending.token, twin.pending.token):
        with pytest.raises(ApprovalError) as caught:
            await view.resume(token, approved=False)
        assert caught.value.reason == "used"
    assert len(ran) == 1


async def test_tokens_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    view = registry_with(Approvals(KEY, expires_after_seconds=60)).view(CLERK)
    token = await pending_token(view)
    now = time.time()
    monkeypatch.setattr("ethos_registry.execution._approvals.time.time", lambda: now + 61)
    with pytest.raises(ApprovalError) as caught:
        await view.resume(token, approved=True)
    assert caught.value.reason == "expired"
    for_ever = registry_with(Approvals(KEY, expires_after_seconds=None)).view(CLERK)
    [result] = await for_ever.execute([CALL])
    assert result.pending is not None
    assert result.pending.expires_at_seconds is None


TOKEN_APPROVALS = Approvals(KEY)
TOKEN = TOKEN_APPROVALS.sign({"tool": "delete", "args": {"path": "build"}, "expires": None})


@given(st.integers(0, len(TOKEN) - 1), st.characters(codec="utf-8"))
def test_no_changed_character_passes(position: int, character: str) -> None:
    changed = TOKEN[:position] + character + TOKEN[position + 1 :]
    if changed == TOKEN:
        assert TOKEN_APPROVALS.read(changed)["tool"] == "delete"
        return
    with pytest.raises(ApprovalError) as caught:
        TOKEN_APPROVALS.read(changed)
    assert caught.value.reason in ("forged", "malformed")


@given(st.text())
def test_no_other_text_passes(text: str) -> None:
    with pytest.raises(ApprovalError):
        TOKEN_APPROVALS.read(text)


def test_arguments_that_are_nested_too_deeply_for_the_stack_are_an_approval_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As when a call was signed near the start of a stack, and is resumed deep in another."""
    approvals = Approvals(KEY)
    text = '{"expires":null,"args":' + "[" * 100_000 + "]" * 100_000 + "}"
    with monkeypatch.context() as patch:
        patch.setattr(json, "dumps", lambda *arguments, **options: text)
        token = approvals.sign({})
    with pytest.raises(ApprovalError, match="nested too deeply") as caught:
        approvals.read(token)
    assert caught.value.reason == "malformed"


def test_a_body_under_the_signature_of_another_is_refused() -> None:
    body = base64.urlsafe_b64encode(b'{"tool":"other","expires":null}').decode()
    version, _, signature = TOKEN.split(".")
    with pytest.raises(ApprovalError):
        TOKEN_APPROVALS.read(f"{version}.{body}.{signature}")


def test_an_older_key_is_accepted_and_no_longer_makes_tokens() -> None:
    old, new = b"o" * 32, b"n" * 32
    rotated = Approvals([new, old])
    assert rotated.read(Approvals(old).sign({"expires": None})) == {"expires": None}
    with pytest.raises(ApprovalError):
        Approvals(old).read(rotated.sign({"expires": None}))


async def test_streams_answer_pending_calls_and_their_messages() -> None:
    view = registry_with().view(CLERK)
    async with view.dispatch(provider="openai") as reply:
        function = {"name": "delete", "arguments": '{"path": "build"}'}
        call = {"index": 0, "id": "c1", "function": function}
        reply.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
        reply.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    [result] = await reply.results()
    assert result.pending is not None
    assert "waits for approval" in reply.messages()[-1]["content"]
    assert (await view.resume(result.pending.token, approved=True)).ok


async def test_agents_of_a_catalogue_resume_their_own_calls_only() -> None:
    class Agent:
        def __init__(self, agent_id: str, tools: list[Tool]) -> None:
            self.id, self.tools = agent_id, tools

        def register_tools(self, catalog: AgentCatalog) -> None:
            for each in self.tools:
                catalog.register(each)

    catalog = AgentCatalog(
        [Agent("clerk", [DELETE]), Agent("boss", [])], approvals=Approvals(KEY), filters=[ASK]
    )
    catalog.start()
    catalog.grant("boss", "delete")
    token = await pending_token(catalog.view("clerk"))
    with pytest.raises(ApprovalError) as caught:
        await catalog.view("boss").resume(token, approved=True)
    assert caught.value.reason == "other_caller"
    assert (await catalog.view("clerk").resume(token, approved=True)).ok


async def test_observers_see_a_pending_call_as_not_started() -> None:
    ledger = UsageLedger()
    view = registry_with(observers=[ledger]).view(CLERK)
    token = await pending_token(view)
    await view.resume(token, approved=True)
    [row] = ledger.report().tools
    assert (row.invocations, row.refusals) == (1, 1)
    assert dict(row.outcomes) == {"refused": 1, "ok": 1}
    ledger.close()


async def test_without_approvals_the_model_and_the_programmer_read_why() -> None:
    registry = ToolRegistry([DELETE], filters=[ASK])
    [result] = await registry.execute_parallel([CALL])
    assert reason(result) == "bad_result"
    assert "has no `approvals`" in result.text
    with pytest.raises(ConfigError, match="approvals"):
        await registry.resume("text", approved=True)
    with_object = ToolCall("c1", "quick", {"value": object()})
    asks = InvocationFilter(before=lambda one: Pending("why"))
    registry = registry_of(quick, approvals=Approvals(KEY), filters=[asks])
    [result] = await registry.execute_parallel([with_object])
    assert "not JSON values" in result.text


async def test_a_tool_cannot_pretend_that_it_waits_for_approval() -> None:
    async def pretends(args: Any, context: Any) -> Any:
        return err("waiting", pending={"token": "x", "reason": "y"})

    [result] = await registry_of(pretends).execute_parallel(calls_of("pretends"))
    assert result.pending is None


async def test_a_dry_run_uses_no_approval_and_a_function_is_bound_again() -> None:
    @tool
    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount + 0}"

    asks = InvocationFilter(before=lambda invocation: Pending("money"), tool_names="pay")
    view = ToolRegistry([pay], approvals=Approvals(KEY), filters=[asks]).view(CLERK)
    [result] = await view.execute([{"id": "1", "name": "pay", "args": {"amount": "7"}}])
    assert result.pending is not None
    token = result.pending.token
    dry = await view.resume(token, approved=True, context=ToolContext(dry_run=True))
    assert dry.text.startswith("[dry-run]")
    assert (await view.resume(token, approved=True)).text == "paid 7"


async def test_a_store_that_fails_runs_nothing() -> None:
    class Broken:
        async def claim(self, approval_id: str, expires_at_seconds: float | None) -> bool:
            raise OSError("disk full")

    view = registry_with(Approvals(KEY, store=Broken())).view(CLERK)
    result = await view.resume(await pending_token(view), approved=True)
    assert (result.text, ran) == ("disk full", [])


PROGRAM = """
import asyncio, sys
from ethos_registry import InvocationFilter, Pending, Personality, Tool, ToolRegistry, ok
from ethos_registry.execution import ApprovalError, Approvals, FileApprovalStore

def ask(invocation):
    return Pending("deletes")

async def delete(args, context):
    return ok("deleted " + args["path"])

schema = {"type": "object", "properties": {"path": {"type": "string"}}}
approvals = Approvals(b"k" * 32, store=FileApprovalStore(sys.argv[1]))
registry = ToolRegistry(
    [Tool("delete", "Delete.", schema, delete)],
    approvals=approvals,
    filters=[InvocationFilter(before=ask)],
)
view = registry.view(Personality("clerk", toolset=None))
calls = [{"id": "1", "name": "delete", "args": {"path": "build"}}]
if len(sys.argv) == 2:
    [result] = asyncio.run(view.execute(calls))
    print(result.pending.token)
else:
    try:
        edited = {"path": sys.argv[3]} if len(sys.argv) == 4 else None
        print(asyncio.run(view.resume(sys.argv[2], approved=True, edited_args=edited)).text)
    except ApprovalError as error:
        print(error.reason)
"""


def test_another_process_resumes_a_call_once(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path / "used"), *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    token = run()
    assert [run(token), run(token)] == ["deleted build", "used"]
    token = run()
    assert run(f"{token[:-1]}{'A' if token[-1] != 'A' else 'B'}") == "forged"
    assert [run(token, "dist"), run(token, "src")] == ["deleted dist", "used"]


def test_stores_claim_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for store in (MemoryApprovalStore(), FileApprovalStore(tmp_path / "used")):
        assert [store.claim("../a", None), store.claim("../a", None)] == [True, False]
        assert store.claim("b", None)
    assert len(list((tmp_path / "used").iterdir())) == 2
    memory = MemoryApprovalStore()
    for number in range(3_000):
        memory.claim(str(number), 0.0)
    assert len(memory._claimed) < 1_100


@pytest.mark.parametrize(
    ("key", "options"),
    [
        (b"short", {}),
        ("text" * 8, {}),
        ([], {}),
        ([b"k" * 32, "x"], {}),
        (KEY, {"expires_after_seconds": -1}),
        (KEY, {"store": 5}),
    ],
)
def test_settings_of_the_wrong_kind_are_refused(key: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Approvals(key, **options)
    with pytest.raises(ConfigError):
        ToolRegistry(approvals=KEY)  # type: ignore[arg-type]


def test_the_key_is_never_shown_and_errors_travel() -> None:
    assert "k" * 8 not in repr(Approvals(KEY))
    error = pickle.loads(pickle.dumps(ApprovalError("expired", "it has expired")))
    assert (error.reason, str(error)) == ("expired", "it has expired")


async def test_a_token_belongs_to_the_session_that_it_was_made_in() -> None:
    view = registry_with(Approvals(KEY)).view(CLERK)
    [result] = await view.execute([CALL], ToolContext(session_id="one"))
    assert result.pending is not None
    token = result.pending.token
    with pytest.raises(ApprovalError) as caught:
        await view.resume(token, approved=True, context=ToolContext(session_id="two"))
    assert caught.value.reason == "other_caller"
    assert (await view.resume(token, approved=True, context=ToolContext(session_id="one"))).ok
