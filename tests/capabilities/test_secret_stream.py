"""Secrets that come in pieces: a value that is split over two progress events is redacted."""

from __future__ import annotations

import asyncio
import base64
import threading
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import ToolContext, ToolRegistry, tool
from ethos_registry.capabilities import EnvironmentSecrets, ToolCapabilities, standard_backends
from ethos_registry.capabilities._secrets import IssuedSecrets, SecretByteStream, SecretStream
from ethos_registry.tools import terminal_tool
from ethos_registry.types import AbortController, ToolProgressEvent

SECRET = "p/ss w0rd+correct&horse"
FORMS = {
    "literal": SECRET,
    "URL-encoded": quote(SECRET, safe=""),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64 of a longer text": base64.b64encode(b"user:" + SECRET.encode() + b"!").decode(),
    "hexadecimal": SECRET.encode().hex(),
}


def issued_secrets(*values: str) -> IssuedSecrets:
    known = IssuedSecrets()
    for value in values:
        known.add(value)
    return known


def streamed(known: IssuedSecrets, pieces: list[str]) -> str:
    stream = SecretStream(known)
    out = []
    for piece in pieces:
        out.append(stream.add(piece))
        assert len(stream.waiting.encode()) < 3 * known.known.longest_bytes
    return "".join([*out, stream.flush()])


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted(min(place, len(text)) for place in places)
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


WORDS = st.sampled_from(
    [
        "correct-horse",
        "correct-horse-battery",
        "horse-battery-9",
        "é-staple-é",
        "cor",
        "-",
        "é",
        "x",
    ]
)


@given(st.lists(WORDS, max_size=12).map("".join), st.lists(st.integers(0, 60), max_size=6))
def test_pieces_give_what_the_whole_gives(text, places):
    known = issued_secrets(
        "correct-horse", "correct-horse-battery", "horse-battery-9", "é-staple-é"
    )
    assert streamed(known, cut(text, places)) == known.redact(text)


@given(st.lists(WORDS, max_size=12).map("".join), st.lists(st.integers(0, 60), max_size=6))
def test_bytes_give_what_the_whole_gives(text, places):
    known = issued_secrets("correct-horse", "é-staple-é")
    data = text.encode()
    ends = sorted(min(place, len(data)) for place in places)
    stream = SecretByteStream(known)
    out = [stream.add(data[a:b]) for a, b in zip([0, *ends], [*ends, len(data)], strict=True)]
    assert b"".join([*out, stream.flush()]).decode() == known.redact(text)


def test_text_that_cannot_be_the_start_of_a_value_passes_at_once_as_the_same_object():
    stream = SecretStream(issued_secrets("correct-horse"))
    text = "nothing like it"
    assert stream.add(text) is text
    assert stream.waiting == ""


@tool(name="report", capabilities=ToolCapabilities(secrets=["key"]))
async def report(pieces: list[str], context: ToolContext, ending: str = "return") -> str:
    """Ask for a secret and report text in pieces."""
    await context.secrets_resolver.get("key")
    for piece in pieces:
        context.report(piece, audience="user")
    if ending == "raise":
        raise RuntimeError("failed")
    if ending == "wait":
        await asyncio.Event().wait()
    return "done"


def registry_of(*tools, **settings) -> ToolRegistry:
    source = EnvironmentSecrets(environ={"KEY": SECRET})
    settings = {"capability_backends": standard_backends(secrets=source)} | settings
    return ToolRegistry(tools, **settings)


async def messages(registry, name, args, **context) -> list[str]:
    events: list[ToolProgressEvent] = []
    await registry.execute_parallel(
        [{"id": "1", "name": name, "args": args}], ToolContext(emit=events.append, **context)
    )
    return [event.message for event in events]


@pytest.mark.parametrize("form", FORMS)
async def test_a_secret_split_at_any_place_over_two_events_is_redacted(form):
    value = FORMS[form]
    text = f"sent {value} to it"
    registry = registry_of(report)
    expected = issued_secrets(SECRET).redact(text)
    assert expected != text
    for split in range(len(text) + 1):
        pieces = [text[:split], text[split:]]
        assert "".join(await messages(registry, "report", {"pieces": pieces})) == expected
    assert "".join(await messages(registry, "report", {"pieces": list(text)})) == expected


async def test_a_secrets_backend_that_is_used_alone_redacts_too():
    backend = standard_backends(secrets=EnvironmentSecrets(environ={"KEY": SECRET}))["secrets"]
    registry = ToolRegistry([report], capability_backends={"secrets": backend})
    assert await messages(registry, "report", {"pieces": [SECRET[:9], SECRET[9:]]}) == [
        "[redacted: secret]"
    ]
    assert SECRET not in repr(backend)


async def test_messages_stay_events_of_their_own():
    registry = registry_of(report)
    pieces = ["step 1: p", "step 2", "p/ss", "p/ss w", "end"]
    seen = await messages(registry, "report", {"pieces": pieces})
    assert seen == ["step 1: ", "p", "step 2", "p/ss", "p/ss w", "end"]


@pytest.mark.parametrize("ending", ["return", "raise", "timeout", "abort"])
async def test_what_waited_is_reported_when_the_call_ends(ending):
    controller = AbortController()
    registry = registry_of(report, default_timeout_seconds=0.5 if ending == "timeout" else 100.0)
    events: list[ToolProgressEvent] = []

    def emit(event: ToolProgressEvent) -> None:
        events.append(event)
        if ending == "abort":
            controller.abort()

    args = {
        "pieces": ["log in: ", "p/ss w0rd"],
        "ending": {"timeout": "wait", "abort": "wait"}.get(ending, ending),
    }
    [result] = await registry.execute_parallel(
        [{"id": "1", "name": "report", "args": args}],
        ToolContext(emit=emit, abort_signal=controller.signal),
    )
    assert result.ok == (ending == "return")
    assert "".join(event.message for event in events) == "log in: p/ss w0rd"
    assert {(event.tool_name, event.audience) for event in events} == {("report", "user")}


async def test_audiences_and_events_without_text_keep_their_order():
    @tool(name="mixed", capabilities=ToolCapabilities(secrets=["key"]))
    async def mixed(context: ToolContext) -> str:
        """Report to several audiences."""
        await context.secrets_resolver.get("key")
        context.report("a p/s", audience="user", percent=10)
        context.report("b p/s", audience="dashboard")
        context.report("", audience="user", percent=20)
        context.report("s w0rd+correct&horse", audience="user", percent=30)
        context.report("s w0rd+correct&horse", audience="dashboard", percent=40)
        return "done"

    events: list[ToolProgressEvent] = []
    await registry_of(mixed).execute_parallel(
        [{"id": "1", "name": "mixed"}], ToolContext(emit=events.append)
    )
    assert [(event.audience, event.percent, event.message) for event in events] == [
        ("user", 10.0, "a "),
        ("dashboard", None, "b "),
        ("user", 10.0, "p/s"),
        ("user", 20.0, ""),
        ("user", 30.0, "s w0rd+correct&horse"),
        ("dashboard", 40.0, "[redacted: secret]"),
    ]


async def test_two_calls_of_one_batch_are_two_streams():
    events: list[ToolProgressEvent] = []
    calls = [
        {"id": str(number), "name": "report", "args": {"pieces": [piece, "."]}}
        for number, piece in enumerate((SECRET[:9], SECRET[9:]))
    ]
    await registry_of(report).execute_parallel(calls, ToolContext(emit=events.append))
    assert sorted("".join(event.message for event in events)) == sorted(f"{SECRET}..")


async def test_events_from_threads_are_joined_too():
    @tool(name="threaded", capabilities=ToolCapabilities(secrets=["key"]))
    def threaded(context: ToolContext) -> str:
        """Report from a plain function and from its thread."""
        value = context.secrets_resolver.get_sync("key")
        context.report(f"key {value[:7]}")
        helper = threading.Thread(target=lambda: context.report(f"{value[7:]}."))
        helper.start()
        helper.join()
        return "done"

    assert "".join(await messages(registry_of(threaded), "threaded", {})) == (
        "key [redacted: secret]."
    )


async def test_nothing_waits_while_no_secret_was_issued():
    @tool(name="plain")
    async def plain(context: ToolContext) -> str:
        """Report."""
        for piece in ("p/ss w0rd", "+correct&horse"):
            context.report(piece)
        return "done"

    registry = registry_of(plain, report)
    assert await messages(registry, "plain", {}) == ["p/ss w0rd", "+correct&horse"]
    await messages(registry, "report", {"pieces": []})
    assert await messages(registry, "plain", {}) == ["[redacted: secret]"]


async def test_a_registry_that_redacts_nothing_delivers_every_event_as_it_is():
    for settings in ({"redact": False}, {"unredacted_tools": ["report"]}):
        registry = registry_of(report, **settings)
        pieces = [SECRET[:9], SECRET[9:]]
        assert await messages(registry, "report", {"pieces": pieces}) == pieces


async def test_the_live_output_of_a_command_has_no_part_of_a_secret(tmp_path):
    registry = registry_of(report, terminal_tool())
    await messages(registry, "report", {"pieces": []})
    halves = f"printf 'key {SECRET[:9]}'; sleep 0.8; printf '{SECRET[9:]}\\nend p/s\\n'"
    seen = await messages(registry, "terminal", {"command": halves}, working_dir=str(tmp_path))
    assert "\n".join(seen).replace("\n[", "[") == "key [redacted: secret]\nend p/s"


async def test_output_that_is_cut_for_a_report_shows_no_part_of_a_secret(tmp_path):
    registry = registry_of(report, terminal_tool())
    await messages(registry, "report", {"pieces": []})
    for after in (1_990, 7_990):
        command = f"printf '%s%{after}s\\n' '{SECRET}' end"
        seen = await messages(registry, "terminal", {"command": command}, working_dir=str(tmp_path))
        assert not any(SECRET[-length:] in "".join(seen) for length in (4, 8, 12))
        assert seen[-1].endswith("end")


async def test_the_live_output_of_a_command_that_is_stopped_is_complete(tmp_path):
    registry = registry_of(report, terminal_tool())
    await messages(registry, "report", {"pieces": []})
    command = {"command": "echo one; printf 'two p/ss'; sleep 30", "timeout_seconds": 0.3}
    seen = await messages(registry, "terminal", command, working_dir=str(tmp_path))
    assert "\n".join(seen) == "one\ntwo p/ss"
    controller = AbortController()
    asyncio.get_running_loop().call_later(0.3, controller.abort)
    seen = await messages(
        registry,
        "terminal",
        {"command": "printf 'two p/ss'; sleep 30"},
        working_dir=str(tmp_path),
        abort_signal=controller.signal,
    )
    assert seen == ["two p/ss"]
