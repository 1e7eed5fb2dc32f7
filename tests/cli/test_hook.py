"""`ethos-registry hook AGENT`: answers to recorded and mutated payloads."""

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli_program import NATIVE, environment, program, run
from ethos_registry import _core
from hook_payloads import LONG, mutated, recorded, with_output

PROGRAM = "/opt/bin/ethos-registry"
RECORDED = recorded()


@pytest.fixture(autouse=True)
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ETHOS_REGISTRY_OUTPUTS", str(tmp_path / "outputs"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.delenv("ETHOS_REGISTRY_SAVE", raising=False)
    return tmp_path / "outputs"


def answer(agent: str, payload: Any) -> Any:
    text = _core.hook_answer(agent, json.dumps(payload).encode(), PROGRAM)
    return None if text is None else json.loads(text)


def payload_of(agent: str, case: str, **parts: str) -> Any:
    """The first recorded payload of a case whose parts are equal."""
    for name, its_case, payload in RECORDED:
        values = {
            key: payload.get(key) or payload.get("input", {}).get(key)
            if isinstance(payload.get("input", {}), dict)
            else payload.get(key)
            for key in parts
        }
        if (name, its_case) == (agent, case) and values == parts:
            return payload
    raise AssertionError((agent, case, parts))


def test_all_recorded_payloads_are_here() -> None:
    assert len(RECORDED) == 76


def test_no_short_result_is_replaced() -> None:
    answered = [
        (agent, payload["hook_event_name"])
        for agent, _, payload in RECORDED
        if answer(agent, payload) is not None
    ]
    assert answered == [("claude", "PreToolUse")] * 2


def shown_by(agent: str, payload: Any) -> str:
    """The text in an answer, wherever the agent takes it from."""
    document = answer(agent, payload)
    assert document is not None
    if agent == "claude":
        response = document["hookSpecificOutput"]["updatedToolOutput"]
        return response["stdout"] if "stdout" in response else response["file"]["content"]
    if agent == "codex":
        assert document["decision"] == "block"
        return document["reason"]
    if agent == "copilot":
        return document["modifiedResult"]["textResultForLlm"]
    if agent == "opencode":
        return document["output"]
    [block] = document["content"]
    return block["text"]


SUCCESSES = {
    "claude": ({"tool_name": "Bash", "hook_event_name": "PostToolUse"}, ("hello\nwarning",)),
    "codex": ({"hook_event_name": "PostToolUse"}, ("warning\nhello\n",)),
    "opencode": ({"tool": "bash"}, ("hello\nwarning\n",)),
    "pi": ({"toolName": "bash", "type": "tool_result"}, ("hello\nwarning\n",)),
}


def success(agent: str, output: str = LONG) -> Any:
    if agent == "copilot":
        payload = next(
            each for name, _, each in RECORDED if name == "copilot" and "toolResult" in each
        )
        return with_output(payload, output, "warning\nhello\n")
    parts, printed = SUCCESSES[agent]
    if agent == "opencode":
        payload = next(
            each for name, _, each in RECORDED if name == agent and "output" in each["output"]
        )
    else:
        payload = payload_of(agent, "basic", **parts)
    return with_output(payload, output, *printed)


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "opencode", "pi"])
def test_a_long_result_is_shortened_keeps_its_error_and_says_where_all_of_it_is(
    agent: str, outputs: Path
) -> None:
    shown = shown_by(agent, success(agent))
    assert len(shown) < 17_000 < len(LONG)
    assert "error: unit 7: no door" in shown
    [saved] = outputs.glob("*.out")
    assert f"[all of it: {PROGRAM} recall {saved.stem}]" in shown
    assert saved.read_text().rstrip("\n") == LONG.rstrip("\n")


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "opencode", "pi"])
def test_the_same_payload_has_the_same_answer(agent: str) -> None:
    data = json.dumps(success(agent)).encode()
    answers = {_core.hook_answer(agent, data, PROGRAM) for _ in range(3)}
    assert len(answers) == 1


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "opencode", "pi"])
@pytest.mark.parametrize("data", [json.dumps([LONG]), "<?xml version='1.0'?>" + LONG, LONG + "\0"])
def test_output_for_programs_is_left_alone(agent: str, data: str) -> None:
    payload = success(agent, data)
    assert answer(agent, payload) is None


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "opencode", "pi"])
def test_where_nothing_can_be_saved_the_original_stays(
    agent: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ETHOS_REGISTRY_OUTPUTS", str(tmp_path / "file"))
    assert answer(agent, success(agent)) is None


def test_what_the_user_does_not_want_saved_is_not_saved(
    monkeypatch: pytest.MonkeyPatch, outputs: Path
) -> None:
    monkeypatch.setenv("ETHOS_REGISTRY_SAVE", "0")
    assert "recall" not in shown_by("claude", success("claude"))
    assert not outputs.exists()


def test_credentials_are_not_saved(outputs: Path) -> None:
    shown_by("claude", success("claude", LONG + "https://ada:correct-horse@example.org\n"))
    [saved] = outputs.glob("*.out")
    assert "correct-horse" not in saved.read_text()


def test_failures_keep_their_exit_code_and_their_error_flag() -> None:
    failed = [
        payload
        for name, _, payload in RECORDED
        if name == "copilot" and "exit code 3" in json.dumps(payload)
    ]
    shown = shown_by("copilot", with_output(failed[0], f"{LONG}<", "out\n<"))
    assert shown.endswith("\n<shellId: 1 completed with exit code 3>")
    failed = [payload for name, _, payload in RECORDED if name == "pi" and payload.get("isError")]
    payload = with_output(failed[0], LONG + "\n\nCommand", "out\n\n\nCommand")
    shown = shown_by("pi", payload)
    assert shown.endswith("\n\nCommand exited with code 3")
    failed = [
        payload
        for name, _, payload in RECORDED
        if name == "opencode" and payload["output"].get("metadata", {}).get("exit") == 3
    ]
    shown = shown_by("opencode", with_output(failed[0], LONG, "out\n"))
    assert shown.startswith("[exit code 3]\n")


def test_codex_keeps_every_failure_line_or_all() -> None:
    payload = success("codex")
    assert shown_by("codex", payload).startswith("[exit code not known here]\n")
    many = "".join(f"error {number}: {'x' * number}\n" for number in range(400))
    assert answer("codex", success("codex", many)) is None
    payload["tool_use_id"] = "exec-1"
    assert answer("codex", payload) is None


def test_codex_is_only_allowed_a_command_where_it_asks_for_nothing() -> None:
    payload = payload_of("codex", "basic", hook_event_name="PreToolUse")
    assert answer("codex", payload) is None
    payload["tool_use_id"] = "exec-1"
    answered = answer("codex", payload)["hookSpecificOutput"]
    assert answered["permissionDecision"] == "allow"
    assert answered["updatedInput"] == {
        "command": f"{PROGRAM} run --shell 'echo hello; echo warning >&2'"
    }
    assert answer("codex", payload | {"permission_mode": "default"}) is None


@pytest.mark.parametrize("rule", ["deny", "ask"])
def test_claude_code_is_not_rewritten_where_a_rule_may_match(rule: str, tmp_path: Path) -> None:
    payload = payload_of("claude", "basic", hook_event_name="PreToolUse", tool_name="Bash")
    payload["cwd"] = str(tmp_path / "project" / "folder")
    assert answer("claude", payload) is not None
    settings = tmp_path / "project" / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"permissions": {rule: ["Read(.env)"]}}))
    assert answer("claude", payload) is not None
    for rules in (["Bash(touch:*)"], ["*"], "all", [1]):
        settings.write_text(json.dumps({"permissions": {rule: rules}}))
        assert answer("claude", payload) is None
    settings.write_text("// not JSON\n{}")
    assert answer("claude", payload) is None


@pytest.mark.parametrize(
    "line",
    ["cd src", "cd a && make", "export A=1", "A=1", "sleep 9 &", "ethos-registry recall", "a 'b"],
)
def test_lines_that_a_child_cannot_run_equally_are_not_rewritten(line: str) -> None:
    payload = payload_of("claude", "basic", hook_event_name="PreToolUse", tool_name="Bash")
    payload["tool_input"]["command"] = line
    assert answer("claude", payload) is None


def test_a_spilled_output_is_read_from_its_file(tmp_path: Path) -> None:
    payload = payload_of("claude", "108,894 characters", hook_event_name="PostToolUse")
    saved = tmp_path / "spilled.txt"
    payload["tool_response"] |= {"persistedOutputPath": str(saved), "stdout": LONG[:3_000]}
    assert answer("claude", payload) is None
    saved.write_text(LONG)
    response = answer("claude", payload)["hookSpecificOutput"]["updatedToolOutput"]
    assert "error: unit 7: no door" in response["stdout"]
    assert f"[all of it: {saved}]" in response["stdout"]
    assert len(response["stdout"]) < 2_244
    assert response.keys().isdisjoint({"persistedOutputPath", "persistedOutputSize"})
    saved.write_text("something else")
    assert answer("claude", payload) is None


def test_a_read_is_cut_at_its_end_so_that_line_numbers_stay(tmp_path: Path) -> None:
    payload = payload_of("claude", "basic", hook_event_name="PostToolUse", tool_name="Read")
    payload["tool_response"]["file"]["content"] = LONG
    shown = shown_by("claude", payload)
    text, note = shown.rsplit("\n", 2)[0], shown.splitlines()[-1]
    assert LONG.startswith(text)
    assert int(note[1:].split()[0]) == LONG.count("\n") - text.count("\n") - 1
    payload["tool_input"]["limit"] = 2_000
    assert answer("claude", payload) is None


def test_blocks_of_an_mcp_tool_are_shortened_one_by_one() -> None:
    payload = payload_of("claude", "mcp tool", hook_event_name="PostToolUse")
    payload["tool_response"][1]["text"] = LONG
    first, second = answer("claude", payload)["hookSpecificOutput"]["updatedToolOutput"]
    assert first == {"type": "text", "text": "echo: hi"}
    assert second["type"] == "text"
    assert len(second["text"]) < len(LONG)
    payload["tool_response"].append({"type": "image", "data": "x"})
    assert answer("claude", payload) is None


@pytest.mark.parametrize("flag", [{"isError": False}, {"isError": None}, {}])
def test_an_mcp_result_without_an_error_flag_is_no_error_in_codex(flag: dict[str, Any]) -> None:
    payload = payload_of("codex", "mcp tool", hook_event_name="PostToolUse")
    response = {"content": [{"type": "text", "text": LONG}], **flag}
    assert "error: unit 7: no door" in shown_by("codex", payload | {"tool_response": response})
    for error in (True, 1, "x"):
        failed = payload | {"tool_response": response | {"isError": error}}
        assert answer("codex", failed) is None


def test_gemini_gets_a_call_that_prints_the_shortened_result_and_exits_equally(
    tmp_path: Path, outputs: Path
) -> None:
    [payload] = [
        each for name, _, each in RECORDED if name == "gemini" and "Exit Code: 3" in str(each)
    ]
    payload = with_output(payload, LONG, "out")
    call = answer("gemini", payload)["hookSpecificOutput"]["tailToolCallRequest"]
    assert call["name"] == "run_shell_command"
    words = call["args"]["command"].split()
    assert (words[0], words[1], words[3]) == (PROGRAM, "recall", "--exit-code")
    done = run(*words[1:], cwd=tmp_path, ETHOS_REGISTRY_OUTPUTS=str(outputs))
    assert done.returncode == 3
    assert "error: unit 7: no door" in done.stdout
    assert len(done.stdout) < 17_000
    assert answer("gemini", payload | {"original_request_name": "run_shell_command"}) is None


@pytest.mark.skipif(os.name == "nt", reason="there are no such links here")
def test_a_folder_that_others_may_write_to_is_not_used(outputs: Path) -> None:
    outputs.mkdir()
    outputs.chmod(0o777)
    assert answer("claude", success("claude")) is None


def has_error_flags(agent: str, payload: Any, document: Any) -> bool:
    """Whether an answer keeps what says that a call failed."""
    text = json.dumps(document)
    if agent == "copilot":
        status = payload["toolResult"]["textResultForLlm"].rsplit("\n", 1)[-1]
        is_shell = payload["toolName"] in ("bash", "powershell")
        return not is_shell or json.dumps(status)[1:-1] in text
    if agent == "opencode" and "output" in document and payload["input"]["tool"] == "bash":
        return f"[exit code {payload['output']['metadata']['exit']}]" in text
    if agent == "pi" and payload["isError"]:
        code = payload["content"][0]["text"].rsplit("\n\n", 1)[1]
        return document["content"][0]["text"].endswith(code)
    if agent == "codex" and document.get("decision") == "block":
        return payload["tool_name"] != "Bash" or "[exit code not known here]" in text
    if agent == "claude":
        return "Failure" not in payload["hook_event_name"]
    return True


def check_mutations(count: int, seed: int) -> int:
    rng = random.Random(seed)
    answered = 0
    for _ in range(count):
        agent, _, payload = rng.choice(RECORDED)
        data = mutated(payload, rng)
        text = _core.hook_answer(agent, data, PROGRAM)
        if text is None:
            continue
        answered += 1
        document = json.loads(text)
        assert isinstance(document, dict), data
        assert has_error_flags(agent, json.loads(data), document), (agent, data[:2_000], text[:500])
        assert len(text) < len(data) + 1_000, (agent, data[:2_000])
    return answered


def test_mutated_payloads_have_valid_answers_or_none() -> None:
    assert check_mutations(3_000, seed=1) > 50


@pytest.mark.long
def test_many_mutated_payloads_have_valid_answers_or_none() -> None:
    assert check_mutations(100_000, seed=2) > 1_000


def hook(
    agent: str, data: bytes, folder: Path, *, words: list[str] | None = None, **variables: str
) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [*(words or program()), "hook", agent],
        input=data,
        capture_output=True,
        cwd=folder,
        env=environment(**variables),
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def check_processes(count: int, folder: Path, words: list[str] | None = None) -> None:
    rng = random.Random(count)
    for _ in range(count):
        agent, _, payload = rng.choice(RECORDED)
        code, out, errors = hook(agent, mutated(payload, rng), folder, words=words)
        assert (code, errors) == (0, b"")
        assert out == b"" or json.loads(out)


def test_a_process_always_exits_with_zero(tmp_path: Path) -> None:
    check_processes(6, tmp_path)
    for data in (b"", b"\xff", b"[" * 100_000, b"null", b'{"tool_name": "\\ud800"}'):
        assert hook("claude", data, tmp_path) == (0, b"", b"")
    done = run("hook", "claude", "many", cwd=tmp_path, stdin=json.dumps(success("claude")))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.long
def test_many_processes_exit_with_zero(tmp_path: Path) -> None:
    check_processes(500, tmp_path)


@pytest.mark.skipif(NATIVE is None, reason="needs a wheel with the native program")
def test_many_native_processes_exit_with_zero(tmp_path: Path) -> None:
    check_processes(500, tmp_path, [str(NATIVE)])


def test_a_process_answers_and_can_be_switched_off(tmp_path: Path) -> None:
    data = json.dumps(success("codex")).encode()
    code, out, errors = hook("codex", data, tmp_path)
    assert (code, errors) == (0, b"")
    assert json.loads(out)["decision"] == "block"
    assert hook("codex", data, tmp_path, ETHOS_REGISTRY_HOOK="0") == (0, b"", b"")


def test_an_unknown_agent_is_an_error() -> None:
    with pytest.raises(ValueError, match="`claud`; known are claude, codex"):
        _core.hook_answer("claud", b"{}", PROGRAM)
