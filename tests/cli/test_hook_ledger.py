"""The session ledger in the hook of Claude Code: references only to what the model has."""

import json
import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_program import run, run_json
from ethos_registry import _core
from ethos_registry._cli.gain import measured_gain

PROGRAM = "/opt/bin/ethos-registry"
TEXT = "".join(f"unit {number} is built\n" for number in range(200))


class Session:
    """A session of Claude Code, seen from its hooks."""

    def __init__(self, folder: Path, name: str = "session") -> None:
        self.transcript = folder / f"{name}.jsonl"
        self.transcript.write_text("")
        self.name = name
        self.calls = 0
        self.prompt = "prompt-1"

    def event(self, name: str, **fields: Any) -> Any:
        payload = {
            "session_id": self.name,
            "prompt_id": self.prompt,
            "transcript_path": str(self.transcript),
            "cwd": "/",
            "hook_event_name": name,
        }
        answer = _core.hook_answer("claude", json.dumps(payload | fields).encode(), PROGRAM)
        return None if answer is None else json.loads(answer)["hookSpecificOutput"]

    def result(self, output: str, line: str = "make", **fields: Any) -> str:
        """What the model gets of a command, before the batch ends."""
        self.calls += 1
        response = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        answer = self.event(
            "PostToolUse",
            tool_name="Bash",
            tool_input={"command": line},
            tool_response=response,
            tool_use_id=f"call-{self.calls}",
            **fields,
        )
        return output if answer is None else answer["updatedToolOutput"]["stdout"]

    def end_batch(self, shown: str, line: str = "make", **fields: Any) -> None:
        call = {"tool_name": "Bash", "tool_input": {"command": line}, "tool_response": shown}
        call["tool_use_id"] = f"call-{self.calls}"
        assert self.event("PostToolBatch", tool_calls=[call], **fields) is None

    def run(self, output: str, line: str = "make", **fields: Any) -> str:
        shown = self.result(output, line, **fields)
        self.end_batch(shown, line, **fields)
        return shown

    def log(self) -> Path:
        [path] = Path(os.environ["ETHOS_REGISTRY_OUTPUTS"], "sessions").glob("claude-*")
        return path


@pytest.fixture(autouse=True)
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ETHOS_REGISTRY_OUTPUTS", str(tmp_path / "outputs"))
    for name in ("ETHOS_REGISTRY_SAVE", "ETHOS_REGISTRY_LEDGER"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "outputs"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


def is_reference(shown: str) -> bool:
    return shown.startswith("[same 200 lines as make above; all of it: ")


def test_an_equal_result_is_a_reference_that_show_resolves(
    session: Session, tmp_path: Path
) -> None:
    assert session.run(TEXT) == TEXT
    shown = session.run(TEXT)
    assert is_reference(shown)
    words = shown.rstrip("]\n").split("all of it: ")[1].split()
    assert words[:2] == [PROGRAM, "show"]
    assert run(*words[1:], cwd=tmp_path).stdout == TEXT


def test_calls_that_run_together_do_not_refer_to_each_other(session: Session) -> None:
    assert session.result(TEXT) == TEXT
    assert session.result(TEXT) == TEXT


def test_failures_are_shown_again(session: Session) -> None:
    failing = TEXT + "error: unit 7: no door\n" + TEXT
    session.run(failing)
    shown = session.run(failing)
    assert "error: unit 7: no door\n" in shown
    assert len(shown) < len(failing) / 4


@pytest.mark.parametrize("line", ["git diff", "diff a b"])
def test_a_diff_is_shown_again(session: Session, line: str) -> None:
    session.run(TEXT)
    assert session.run(TEXT, line) == TEXT


def test_after_each_sign_of_a_lost_context_the_text_is_sent(session: Session) -> None:
    def compact(event: str, **fields: Any) -> None:
        session.event(event, **fields)

    def next_prompt() -> None:
        session.prompt += "1"

    def boundary() -> None:
        session.transcript.write_text('{"type": "system", "subtype": "compact_boundary"}\n')

    def cleared() -> None:
        with session.transcript.open("a") as file:
            file.write("[Old tool result content cleared]")

    def shortened() -> None:
        session.transcript.write_text("")

    def recalled() -> None:
        session.run(TEXT, "ethos-registry show 0123abcd")

    def killed_writer() -> None:
        with session.log().open("a") as file:
            file.write('{"prompt": "prompt')

    for sign in (
        lambda: compact("PreCompact", trigger="auto"),
        lambda: compact("PostCompact", trigger="auto"),
        lambda: compact("SessionStart", source="compact"),
        lambda: compact("SessionStart", source="clear"),
        lambda: compact("SessionStart", source="resume"),
        *(next_prompt, boundary, cleared, shortened, recalled, killed_writer),
        session.transcript.unlink,
    ):
        session.transcript.write_text("begun\n")
        session.run(TEXT)
        session.run(TEXT)
        assert is_reference(session.result(TEXT))
        sign()
        assert session.result(TEXT) == TEXT


def test_a_pause_and_a_clock_that_went_back_forget(session: Session) -> None:
    for shift in (-2_000, 2_000):
        session.event("SessionStart", source="clear")
        session.run(TEXT)
        path = session.log()
        key, record = map(json.loads, path.read_text().splitlines())
        record["time"] += shift
        path.write_text(f"{json.dumps(key)}\n{json.dumps(record)}\n")
        assert session.result(TEXT) == TEXT


def test_a_subagent_and_another_session_are_other_readers(session: Session, tmp_path: Path) -> None:
    session.run(TEXT)
    assert session.result(TEXT, agent_id="a1") == TEXT
    session.run(TEXT.replace("unit", "part"), agent_id="a1")
    assert session.result(TEXT.replace("unit", "part")) == TEXT.replace("unit", "part")
    assert Session(tmp_path, "other").result(TEXT) == TEXT


def test_a_replacement_that_the_agent_rejected_is_not_referred_to(session: Session) -> None:
    session.run(TEXT)
    assert is_reference(session.result(TEXT))
    session.end_batch("something else\n")
    lines = TEXT.replace("unit", "part")
    session.result(lines)
    session.end_batch("[a preview]")
    assert session.result(lines) == lines


@pytest.mark.parametrize("variable", ["ETHOS_REGISTRY_SAVE", "ETHOS_REGISTRY_LEDGER"])
def test_the_ledger_can_be_switched_off(
    session: Session, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.run(TEXT)
    monkeypatch.setenv(variable, "0")
    assert session.run(TEXT) == TEXT


def test_credentials_are_not_referred_to(session: Session) -> None:
    secret = TEXT + "https://ada:correct-horse@example.org\n"
    session.run(secret)
    assert session.run(secret) == secret


def test_a_file_that_is_read_again_keeps_its_line_numbers(session: Session) -> None:
    def read(content: str) -> str:
        fields: Any = {
            "tool_name": "Read",
            "tool_input": {"file_path": "/src/door.py"},
            "tool_use_id": f"read-{session.calls}",
        }
        response = {"type": "text", "file": {"content": content, "startLine": 1}}
        answer = session.event("PostToolUse", tool_response=response, **fields)
        shown = content
        if answer is not None:
            shown = answer["updatedToolOutput"]["file"]["content"]
        numbered = "\n".join(f"{at}\t{line}" for at, line in enumerate(shown.split("\n"), 1))
        session.event("PostToolBatch", tool_calls=[fields | {"tool_response": numbered}])
        return shown

    assert read(TEXT) == TEXT
    assert read(TEXT).startswith("[same 200 lines as door.py above; ")
    assert read("new\n" + TEXT).startswith("new\n[same 200 lines as door.py above; ")
    assert read(TEXT + "new\n") == TEXT + "new\n"


def work(folder: str, name: str) -> int:
    session = Session(Path(folder), "shared")
    for number in range(30):
        text = "".join(f"{name} {number} {line}\n" for line in range(50))
        session.calls = number
        session.end_batch(text)
    return 0


def test_two_processes_on_one_session_write_whole_records(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        pool.starmap(work, [(str(tmp_path), name) for name in ("one", "two")])
    session = Session(tmp_path, "shared")
    records = [json.loads(line) for line in session.log().read_text().splitlines()]
    assert [list(record) for record in records[:1]] == [["key"]]
    assert 50 < len(records) <= 61
    text = "".join(f"one 29 {line}\n" for line in range(50))
    other = "".join(f"two 29 {line}\n" for line in range(50))
    assert any(session.result(each) != each for each in (text * 3, other * 3))


def test_gain_counts_what_was_shown_and_what_was_asked_for_again(
    session: Session, tmp_path: Path
) -> None:
    for _ in range(3):
        session.run(TEXT)
    first = session.result(TEXT)
    assert session.result(TEXT) == first, "the same payload has the same answer"
    handle = first.rstrip("]\n").split()[-1]
    run("show", handle, cwd=tmp_path)
    found = run_json("gain", "--json", cwd=tmp_path)
    assert found["calls"] == 5
    assert found["applied"] == {"proven": 2, "assumed": 2}
    assert found["saved_by_reducers"] == 0
    assert found["saved_by_ledger"] == 4 * (len(TEXT) - len(first))
    assert found["recalled_chars"] == len(TEXT)
    assert found["net_saved_chars"] == found["saved_by_ledger"] - len(TEXT)
    text = run("gain", cwd=tmp_path).stdout
    assert text.splitlines()[:2] == ["Asked for again:", "  ledger: 1 of 1, no verdict"]
    assert run_json("gain", "--history", "--json", cwd=tmp_path)[0]["calls"] == 5
    assert run_json("gain", "--discover", "--json", cwd=tmp_path) == [
        {"program": "make", "calls": 1, "chars": len(TEXT)}
    ]
    low, high = run_json("gain", "--json", "--prices", "3.75,0.3", cwd=tmp_path)["usd"]
    assert 0 < low < high


def test_gain_counts_no_call_twice_and_nothing_that_was_rejected() -> None:
    row = {
        "time": time.time(),
        "agent": "claude",
        "session": "s",
        "call": "c",
        "part": 0,
        "host_chars": 100,
        "reduced_chars": 40,
        "sent_chars": 40,
        "hash": "1",
    }
    lines = [json.dumps(row), json.dumps(row), "{", "[]", json.dumps(row | {"shadow": True})]
    found = measured_gain(lines)
    assert (len(found.calls), found.duplicates, found.calls[0].saved_chars) == (1, 1, 60)
    delivered = {"time": time.time(), "session": "s", "delivered": "c", "hash": "2", "chars": 9}
    [call] = measured_gain([*lines, json.dumps(delivered)]).calls
    assert (call.applied, call.saved_chars) == ("rejected", 0)
    assert len(measured_gain(lines, shadow=True).calls) == 1
    longer = row | {"sent_chars": 130}
    assert measured_gain([json.dumps(longer)]).calls[0].saved_chars == -30


LINES = st.sampled_from(
    [*(f"unit {number} is built and tested" for number in range(12)), "", "error: no", "x" * 90]
)
TEXTS = st.lists(LINES, max_size=60).map("\n".join)


def rebuilt(context: list[str], folded: str, folds: list[tuple[int, int, int, int]]) -> str:
    """The text that a reader has who follows each reference."""
    lines = folded.split("\n")
    for shown, first, count, at in reversed(folds):
        lines[at : at + 1] = context[shown].split("\n")[first : first + count]
    return "\n".join(lines)


@given(st.lists(st.tuples(TEXTS, st.booleans()), max_size=8), TEXTS, st.booleans())
def test_what_the_reader_has_and_the_new_text_give_the_whole(
    shown: list[tuple[str, bool]], text: str, repeats: bool
) -> None:
    texts = _core.ShownTexts()
    context: list[str] = []
    forgotten = 0
    for each, forgets in shown:
        texts.record("make", each)
        context.append(each)
        if forgets:
            texts.forget()
            forgotten = len(context)
    if repeats and shown:
        text = f"{shown[-1][0]}\n{text}\n{shown[0][0]}\n"
    found = texts.fold(text, "show 1")
    if found is None:
        return
    folded, folds = found
    assert len(folded) < len(text)
    assert rebuilt(context, folded, folds) == text
    assert all(number >= forgotten for number, _, _, _ in folds)
    assert text.count("error: no") == folded.count("error: no")


class McpSession(Session):
    """Calls of an MCP tool, whose results are blocks."""

    def run_blocks(self, *texts: str, line: str = "mcp__rows__list") -> list[str]:
        self.calls += 1
        call = {"tool_name": line, "tool_input": {}, "tool_use_id": f"call-{self.calls}"}
        blocks = [{"type": "text", "text": each} for each in texts]
        answer = self.event("PostToolUse", tool_response=blocks, **call)
        shown = blocks if answer is None else answer["updatedToolOutput"]
        self.event("PostToolBatch", tool_calls=[call | {"tool_response": shown}])
        return [block["text"] for block in shown]


def test_blocks_of_an_mcp_tool_are_references_the_second_time(tmp_path: Path) -> None:
    session = McpSession(tmp_path)
    other = "".join(f"row {number} of the table\n" for number in range(200))
    failure = TEXT + "error: no door\n"
    assert session.run_blocks(TEXT, other) == [TEXT, other]
    again = session.run_blocks(other, "short", failure)
    assert again[0].startswith("[same 200 lines as mcp__rows__list above; all of it: ")
    assert again[1] == "short"
    assert again[2].endswith("error: no door\n")
    assert again[2].startswith("[same 200 lines as ")
    image = [{"type": "image", "data": ""}, {"type": "text", "text": TEXT}]
    call = {"tool_name": "mcp__rows__list", "tool_input": {}, "tool_use_id": "call-9"}
    assert session.event("PostToolUse", tool_response=image, **call) is None
    session.event("PostCompact")
    assert session.run_blocks(other) == [other]


def test_gain_proves_each_block_of_an_mcp_result(tmp_path: Path) -> None:
    session = McpSession(tmp_path)
    long = "".join(f"row {number} of the table\n" for number in range(1_200))
    shown = session.run_blocks(long, long.replace("row", "line"))
    assert all("[all of it: " in each for each in shown)
    gain = measured_gain(_core.OutputArchive().measured())
    assert [call.applied for call in gain.calls] == ["proven", "proven"]
    assert gain.delivered == {"call-1": ("mcp__rows__list", sum(map(len, shown)))}
