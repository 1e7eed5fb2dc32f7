"""`hook doctor --live` with an agent of ours, and formats of the user and of a project in hooks."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_program import NATIVE, environment, program, run

AGENT = f"""#!{sys.executable}
# A coding agent with the hooks of Claude Code: it runs what its model asks for, until that ends.
import json, os, subprocess, urllib.request
from pathlib import Path

COMMAND = {{"type": "object", "properties": {{"command": {{"type": "string"}}}}}}
messages = [{{"role": "user", "content": "go"}}]
while True:
    body = {{"tools": [{{"name": "Bash", "input_schema": COMMAND}}], "messages": messages}}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    answer = json.load(urllib.request.urlopen(url, json.dumps(body).encode()))
    messages.append({{"role": "assistant", "content": answer["content"]}})
    calls = [block for block in answer["content"] if block["type"] == "tool_use"]
    if not calls:
        break
    [call] = calls
    done = subprocess.run(call["input"]["command"], shell=True, capture_output=True, text=True)
    response = {{"stdout": done.stdout, "stderr": done.stderr, "interrupted": False}}
    payload = {{
        "session_id": "s", "cwd": os.getcwd(), "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_input": call["input"], "tool_response": response,
        "tool_use_id": call["id"], "duration_ms": 1,
    }}
    settings = json.loads(Path(os.environ["HOME"], ".claude", "settings.json").read_text())
    for group in settings.get("hooks", {{}}).get("PostToolUse", ()):
        for handler in group["hooks"]:
            words = [handler["command"], *handler["args"]]
            printed = subprocess.run(words, input=json.dumps(payload).encode(), capture_output=True)
            if printed.stdout:
                response = json.loads(printed.stdout)["hookSpecificOutput"]["updatedToolOutput"]
    text = response["stdout"]
    result = {{"type": "tool_result", "tool_use_id": call["id"], "content": text}}
    messages.append({{"role": "user", "content": [result]}})
"""
pytestmark = pytest.mark.slow
FORMAT = """name = "oakc"
commands = ["oakc build"]
fact = ["^compiled src/(777|888|999)[.]oak"]
noise = ["^compiled "]
"""
OUTPUT = "".join(f"compiled src/{number}.oak in 0.{number} s\n" for number in range(2_000))


def doctor(home: Path, agent: str) -> subprocess.CompletedProcess[str]:
    """`doctor --live` where `agent` is the program of Claude Code."""
    programs = home / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "claude").write_text(agent)
    (programs / "claude").chmod(0o755)
    variables = {"HOME": str(home), "CLAUDE_CONFIG_DIR": "", "XDG_CONFIG_HOME": ""}
    variables |= {"XDG_STATE_HOME": "", "PATH": f"{programs}:/usr/bin:/bin"}
    if not (home / ".claude").exists():
        run("hook", "install", "--agent", "claude", cwd=home, **variables)
    return run("hook", "doctor", "--live", "--agent", "claude", cwd=home, **variables)


def test_the_doctor_sees_a_hook_that_fires_and_leaves_nothing_behind(tmp_path: Path) -> None:
    done = doctor(tmp_path, AGENT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fires: yes: the model was shown " in done.stdout
    assert not (tmp_path / ".local").exists()


def test_the_doctor_sees_a_hook_that_does_not_fire(tmp_path: Path) -> None:
    done = doctor(tmp_path, AGENT.replace('"PostToolUse", ()', '"OtherEvent", ()'))
    assert done.returncode == 1
    assert "answers: yes" in done.stdout
    assert "fires: no: the model was shown the original" in done.stdout


@pytest.mark.parametrize("agent", ["#!/bin/sh\nexit 1\n", "not a program\n"])
def test_an_agent_that_does_not_start_is_not_called_a_failure_of_the_hook(
    agent: str, tmp_path: Path
) -> None:
    done = doctor(tmp_path, agent)
    assert done.returncode == 0
    assert "fires: unknown: the agent ran no command" in done.stdout


def test_the_doctor_fires_with_a_limit_that_is_longer_than_its_output(tmp_path: Path) -> None:
    variables = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": "", "XDG_STATE_HOME": ""}
    install = ("hook", "install", "--agent", "claude", "--target-chars", 90_000)
    assert run(*install, cwd=tmp_path, **variables).returncode == 0
    done = doctor(tmp_path, AGENT)
    assert done.returncode == 0, done.stdout
    assert "answers: yes" in done.stdout
    assert "fires: yes" in done.stdout


def programs() -> list[Any]:
    skip = pytest.mark.skipif(NATIVE is None, reason="needs a wheel with the native program")
    return [
        pytest.param(program(), id="python"),
        pytest.param([str(NATIVE)], id="native", marks=skip),
    ]


BOTH = pytest.mark.parametrize("words", programs())


def shown(words: list[str], folder: Path, home: Path) -> str:
    """What the model of an agent is shown of an output, by a hook that runs in a folder."""
    payload = {
        "session_id": "s",
        "cwd": str(folder),
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "oakc build --all"},
        "tool_response": {"stdout": OUTPUT, "stderr": "", "interrupted": False},
    }
    done = subprocess.run(
        [*words, "hook", "claude", "4000"],
        input=json.dumps(payload).encode(),
        cwd=folder,
        env=environment(
            HOME=str(home),
            XDG_CONFIG_HOME=str(home / "config"),
            ETHOS_REGISTRY_OUTPUTS=str(home / "outputs"),
        ),
        capture_output=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    text: str = json.loads(done.stdout)["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert "[all of it: " in text
    return text.rpartition("[all of it: ")[0]


def has_facts(text: str) -> bool:
    return all(f"compiled src/{number}.oak in" in text for number in (777, 888, 999))


def write_format(folder: Path, text: str = FORMAT) -> None:
    (folder / "oakc").mkdir(parents=True, exist_ok=True)
    (folder / "oakc" / "format.toml").write_text(text)


@BOTH
def test_a_hook_uses_a_format_of_the_user(words: list[str], tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    without = shown(words, project, tmp_path)
    write_format(tmp_path / "config" / "ethos-registry" / "formats")
    with_format = shown(words, project, tmp_path)
    assert not has_facts(without)
    assert has_facts(with_format)
    assert len(with_format) <= 4_200


@BOTH
def test_a_hook_uses_a_format_of_a_project_only_as_it_was_trusted(
    words: list[str], tmp_path: Path
) -> None:
    project = tmp_path / "project"
    inner = project / "src" / "deep"
    inner.mkdir(parents=True)
    without = shown(words, inner, tmp_path)
    write_format(project / ".ethos" / "formats")
    assert shown(words, inner, tmp_path) == without
    assert not has_facts(without)
    variables = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    trusted = run("formats", "trust", cwd=project, **variables)
    assert trusted.returncode == 0, trusted.stderr
    assert has_facts(shown(words, inner, tmp_path))
    write_format(project / ".ethos" / "formats", FORMAT + "# another text\n")
    assert shown(words, inner, tmp_path) == without


@BOTH
def test_a_format_that_is_not_valid_changes_no_answer(words: list[str], tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    without = shown(words, project, tmp_path)
    write_format(tmp_path / "config" / "ethos-registry" / "formats", "name = 1\n")
    assert shown(words, project, tmp_path) == without
