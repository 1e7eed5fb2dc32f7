"""`ethos-registry call`: calls as JSON in, results as JSON out, and an exit code that tells."""

import json
import signal
import subprocess
import sys
from typing import Any

import psutil
import pytest

from cli_program import (
    assert_one_error_line,
    environment,
    program,
    run,
    run_json,
    run_many,
    run_many_json,
)
from started import PATIENCE_SECONDS, started, wait_until

PLAIN = {"id": "p1", "name": "read_file", "args": {"path": "a.txt"}}
TOOL_USE = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a.txt"}}
TOOL_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "read_file", "arguments": '{"path": "a.txt"}'},
}
ANTHROPIC_REPLY = {
    "role": "assistant",
    "stop_reason": "tool_use",
    "content": [{"type": "text", "text": "I read it."}, TOOL_USE],
}
OPENAI_MESSAGE = {"role": "assistant", "content": None, "tool_calls": [TOOL_CALL]}
OPENAI_REPLY = {"choices": [{"finish_reason": "tool_calls", "message": OPENAI_MESSAGE}]}

TOOLS_MODULE = '''
from ethos_registry import ToolRegistry, tool

print("loaded")


@tool
def shout(text: str) -> str:
    """Say it loudly."""
    print("shouting")
    return text.upper()


@tool
def burst() -> str:
    """Fail."""
    raise RuntimeError("no [bold]\\x1b[31m luck")


several = [shout, burst]
registry = ToolRegistry()
registry.register(shout, plugin_id="loud")
number = 5


def make():
    return several


def broken():
    raise SystemExit("not today")


async def late():
    return several


frozen = registry.freeze()
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.txt").write_text("content of a\n")
    (tmp_path / "my_tools.py").write_text(TOOLS_MODULE)
    return tmp_path


SHAPES: list[tuple[Any, list[str]]] = [
    (PLAIN, ["p1"]),
    (TOOL_USE, ["t1"]),
    (TOOL_CALL, ["c1"]),
    ([PLAIN, TOOL_USE, TOOL_CALL], ["p1", "t1", "c1"]),
    (ANTHROPIC_REPLY, ["t1"]),
    (ANTHROPIC_REPLY["content"], ["t1"]),
    (OPENAI_REPLY, ["c1"]),
    (OPENAI_REPLY["choices"][0], ["c1"]),
    (OPENAI_MESSAGE, ["c1"]),
    ({"tool_calls": [TOOL_CALL]}, ["c1"]),
    ([], []),
    ({"role": "assistant", "stop_reason": "end_turn", "content": "done"}, []),
]


def test_every_shape_of_calls_is_run_and_answered_in_order(folder):
    cases = [(("call", "-"), json.dumps(document).encode()) for document, _ in SHAPES]
    for done, (_, ids) in zip(run_many(cases, folder), SHAPES, strict=True):
        assert (done.returncode, done.stderr) == (0, "")
        results = json.loads(done.stdout)
        assert [(result["toolCallId"], result["name"]) for result in results] == [
            (call_id, "read_file") for call_id in ids
        ]
        for result in results:
            assert set(result) == {"toolCallId", "name", "result"}
            assert result["result"]["ok"] is True
            assert result["result"]["value"] == "content of a\n"


def test_a_file_is_read_as_standard_input_is(folder):
    (folder / "calls.json").write_text("\ufeff" + json.dumps(PLAIN), encoding="utf-8")
    [result] = run_json("call", "calls.json", cwd=folder)
    assert result["result"]["value"] == "content of a\n"


def test_exit_1_and_every_answer_when_some_call_failed(folder):
    unknown = {"id": "u", "name": "nobody", "args": {}}
    first, second, third = run_json(
        "call", "-", cwd=folder, stdin=json.dumps([PLAIN, unknown, 5]), exit_code=1
    )
    assert first["result"]["ok"] is True
    assert second["result"] == {
        "ok": False,
        "error": "Unknown tool: nobody",
        "code": "not_available",
    }
    assert third["result"]["code"] == "input_invalid"


def test_a_personality_gates_the_calls(folder):
    (folder / "who.yaml").write_text(
        "reader:\n  toolset: [read_file]\nnobody:\n  toolset: []\n", encoding="utf-8"
    )
    calls = json.dumps(PLAIN).encode()
    reader, nobody = run_many(
        [
            (("call", "-", "--personality", "who.yaml", "--id", name), calls)
            for name in ("reader", "nobody")
        ],
        folder,
    )
    assert (reader.returncode, nobody.returncode) == (0, 1)
    assert json.loads(reader.stdout)[0]["result"]["ok"] is True
    [refused] = json.loads(nobody.stdout)
    assert refused["result"]["error"] == "Tool read_file is not permitted for this personality"


def test_budget_and_working_directory_reach_the_tools(folder):
    (folder / "below").mkdir()
    (folder / "below" / "a.txt").write_text("x" * 5_000)
    options = ("call", "-", "--budget", "100", "--working-dir", "below")
    [result] = run_json(*options, cwd=folder, stdin=json.dumps(PLAIN))
    assert result["result"]["value"].startswith("x" * 100)
    assert "5000" in result["result"]["value"]
    assert len(result["result"]["value"]) < 200


def test_messages_are_those_of_the_provider(folder):
    calls = json.dumps([PLAIN]).encode()
    anthropic, openai = run_many_json(
        [(("call", "-", "--messages", name), calls) for name in ("anthropic", "openai")], folder
    )
    block = {"type": "tool_result", "tool_use_id": "p1", "content": "content of a\n"}
    assert anthropic == [{"role": "user", "content": [block]}]
    assert openai == [{"role": "tool", "tool_call_id": "p1", "content": "content of a\n"}]


def test_tools_come_from_a_module_and_what_they_print_stays_out_of_the_json(folder):
    call = json.dumps({"id": "1", "name": "shout", "args": {"text": "hé"}}).encode()
    attributes = ("shout", "several", "make", "registry", "frozen")
    answers = run_many(
        [(("call", "-", "--tools", f"my_tools:{name}"), call) for name in attributes], folder
    )
    for done in answers:
        assert done.returncode == 0
        assert json.loads(done.stdout)[0]["result"] == {"ok": True, "value": "HÉ"}
    assert {done.stderr for done in answers} == {"loaded\nshouting\n"}


def test_a_tool_that_raises_is_an_answer_and_no_traceback(folder):
    call = {"id": "1", "name": "burst", "args": {}}
    done = run("call", "-", "--tools", "my_tools:burst", cwd=folder, stdin=json.dumps(call))
    assert done.returncode == 1
    [loaded, warning] = done.stderr.splitlines()
    assert loaded == "loaded"
    assert warning.startswith("warning: a call of tool `burst` raised: RuntimeError: no [bold]")
    assert "\x1b" not in done.stderr
    assert json.loads(done.stdout)[0]["result"]["error"] == "no [bold]\x1b[31m luck"
    assert "\x1b" not in done.stdout


BAD_REFERENCES = [
    ("my_tools", "takes `module:attribute`"),
    ("nowhere:tools", "ModuleNotFoundError: No module named 'nowhere'"),
    ("my_tools:nothing", "AttributeError"),
    ("my_tools:number", "is not a Tool, list of tools or ToolRegistry: int"),
    ("my_tools:broken", "SystemExit: not today"),
    ("my_tools:late", "is not a Tool, list of tools or ToolRegistry: coroutine"),
]


def test_tools_that_cannot_be_had_are_one_error_line(folder):
    cases = [(("call", "-", "--tools", reference), b"[]") for reference, _ in BAD_REFERENCES]
    for done, (_, says) in zip(run_many(cases, folder), BAD_REFERENCES, strict=True):
        done.stderr = done.stderr.removeprefix("loaded\n")
        assert_one_error_line(done, says)


NO_CALLS = [
    (b"", "<stdin>:1:1: invalid JSON"),
    (b'[\n  {"id": oops}]', "<stdin>:2:10: invalid JSON"),
    (b'[\n"\xff"]', "<stdin>:2:2: not UTF-8: byte 0xff"),
    (b"[NaN]", "NaN is not a JSON number"),
    (b"[" * 100_000, "nested too deeply"),
    (b"9" * 5_000, "invalid JSON"),
    (b'"text"', "a JSON object, a list of objects or a whole reply, got str"),
    (b'{"choices": []}', "`openai_chat`"),
]


def test_what_is_no_calls_is_one_error_line_with_its_place(folder):
    cases = [(("call", "-"), stdin) for stdin, _ in NO_CALLS]
    for done, (_, says) in zip(run_many(cases, folder), NO_CALLS, strict=True):
        assert_one_error_line(done, says)


BAD_USAGE: list[tuple[tuple[str, ...], str]] = [
    ((), "Missing argument 'FILE'"),
    (("missing.json",), "missing.json: cannot be read: No such file"),
    (("-", "--messages", "nobody"), "unknown provider 'nobody'"),
    (("-", "--working-dir", "nowhere"), "`--working-dir` is not a folder: 'nowhere'"),
    (("-", "--budget", "0"), "--budget"),
    (("-", "--budget", "many"), "--budget"),
    (("-", "--personality", "missing.yaml"), "missing.yaml:1: cannot be read"),
    (("-", "--personality", "two.yaml"), "choose with `--id` from `a`, `b`"),
    (("-", "--personality", "two.yaml", "--id", "c"), "unknown personality `c`"),
    (("-", "--personality", "wrong.yaml"), "wrong.yaml:2"),
    (("-", "--id", "a"), "give `--personality FILE` too"),
]


def test_bad_usage_is_one_error_line(folder):
    (folder / "two.yaml").write_text("a:\n  toolset: []\nb:\n  toolset: []\n")
    (folder / "wrong.yaml").write_text("id: a\nchildren: 5\n")
    cases = [(("call", *arguments), b"[]") for arguments, _ in BAD_USAGE]
    for done, (_, says) in zip(run_many(cases, folder), BAD_USAGE, strict=True):
        assert_one_error_line(done, says)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT of a process group")
def test_an_interrupt_ends_the_tools_and_exits_130(folder):
    call = {
        "id": "1",
        "name": "terminal",
        "args": {"command": "echo $$ > started; sleep 600"},
    }
    with started(
        program("call", "-"),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(call))
        process.stdin.close()
        process.stdin = None
        marker = folder / "started"
        wait_until(lambda: marker.exists() and marker.read_text().strip())
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, out, errors) == (130, "", "error: interrupted\n")
    # What was killed needs a processor to end.
    wait_until(lambda: not psutil.pid_exists(int(marker.read_text())))
