"""`ethos-registry hook install`, `uninstall`, `status` and `doctor` on files of real agents."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_program import assert_one_error_line, run
from ethos_registry._cli.hook_agents import AGENTS, is_our_handler
from ethos_registry._cli.json_edit import append_item, parse_object, remove_item

SETTINGS = """{
    "model": "opus",
    "permissions": {"allow": ["Bash(ls:*)",   "Read"], "deny": []},
    "hooks": {
        "PostToolUse": [
            {"matcher": "Edit", "hooks": [{"type": "command", "command": "prettier --write"}]}
        ],
        "Stop": [],
        "PreToolUse": [ ]
    },

    "env": { "A": "1" }
}
"""
MERGED = ("claude", "codex", "gemini")


def hook(home: Path, *arguments: object, folder: Path | None = None, **variables: str) -> Any:
    return run(
        "hook",
        *arguments,
        cwd=folder or home,
        HOME=str(home),
        CLAUDE_CONFIG_DIR="",
        CODEX_HOME="",
        COPILOT_HOME="",
        XDG_CONFIG_HOME="",
        XDG_STATE_HOME="",
        **variables,
    )


def file_of(agent: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    path = AGENTS[agent].file(project=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@pytest.mark.parametrize("agent", MERGED)
def test_what_install_adds_uninstall_removes_and_nothing_else(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file_of(agent, tmp_path, monkeypatch)
    path.write_text(SETTINGS)
    path.chmod(0o640)
    done = hook(tmp_path, "install", "--agent", agent, "--failures")
    assert done.returncode == 0
    installed = path.read_text()
    assert installed != SETTINGS
    for line in SETTINGS.splitlines():
        assert line.rstrip(",]").strip() in installed
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.with_name(path.name + ".before-ethos-registry").read_text() == SETTINGS
    again = hook(tmp_path, "install", "--agent", agent, "--failures")
    assert "nothing to change" in again.stdout
    assert path.read_text() == installed
    assert hook(tmp_path, "uninstall", "--agent", agent).returncode == 0
    assert json.loads(path.read_text()) == json.loads(SETTINGS) | {
        "hooks": {
            event: groups
            for event, groups in json.loads(SETTINGS)["hooks"].items()
            if groups or agent == "gemini" or event != "PreToolUse"
        }
    }


@pytest.mark.slow
@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_a_second_install_updates_the_first(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file_of(agent, tmp_path, monkeypatch)
    hook(tmp_path, "install", "--agent", agent, "--failures")
    hook(tmp_path, "install", "--agent", agent, "--failures", "--target-chars", 4_000)
    text = path.read_text()
    assert "4000" in text
    hook(tmp_path, "install", "--agent", agent, "--failures")
    assert "4000" not in path.read_text()
    hook(tmp_path, "uninstall", "--agent", agent)
    assert not path.exists() or "ethos" not in path.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "// mine\n{}",
        '{"a": 1,}',
        "[]",
        '{"hooks": []}',
        '{"hooks": {"AfterTool": {}}}',
        '{"a": 1, "a": 2}',
        "\ufeff{}",
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file_of("gemini", tmp_path, monkeypatch)
    path.write_text(text)
    assert_one_error_line(hook(tmp_path, "install", "--agent", "gemini"), str(path), "not changed")
    assert path.read_text() == text
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    done = hook(tmp_path, "install", "--agent", "claude", "--dry-run")
    assert done.returncode == 0
    assert '+          "matcher": "Bash|Read|Grep|mcp__.*",' in done.stdout.splitlines() or (
        '"matcher": "Bash|Read|Grep|mcp__.*"' in done.stdout
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_stays_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of("claude", tmp_path, monkeypatch)
    target = tmp_path / "dotfiles.json"
    target.write_text("{}")
    path.symlink_to(target)
    hook(tmp_path, "install", "--agent", "claude")
    assert path.is_symlink()
    assert "hook" in target.read_text()


def test_a_project_has_its_own_file(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    hook(tmp_path, "install", "--agent", "claude", "--project", folder=folder)
    assert (folder / ".claude" / "settings.json").exists()
    assert not (tmp_path / ".claude").exists()


def test_editors_are_configured_only_on_request(tmp_path: Path) -> None:
    done = hook(tmp_path, "install", "--agent", "cursor")
    assert "needs --failures" in done.stderr
    done = hook(tmp_path, "install", "--agent", "cursor", "--failures")
    assert "not verified" in done.stderr


def test_only_agents_on_this_machine_are_configured(tmp_path: Path) -> None:
    assert_one_error_line(hook(tmp_path, "install", PATH=str(tmp_path)), "no coding agent found")
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".pi" / "agent").mkdir(parents=True)
    done = hook(tmp_path, "install", PATH=str(tmp_path))
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["Codex CLI", "Pi"]
    assert "/hooks" in done.stderr
    assert "codex: " + str(tmp_path / ".codex" / "hooks.json") in hook(tmp_path, "status").stdout


def test_an_unknown_agent_is_one_error_line(tmp_path: Path) -> None:
    assert_one_error_line(hook(tmp_path, "install", "--agent", "claud"), "'claud'", "claude")


@pytest.mark.slow
def test_the_doctor_replays_a_payload_of_each_agent(tmp_path: Path) -> None:
    options = [word for agent in AGENTS for word in ("--agent", agent)]
    done = hook(tmp_path, "doctor", *options)
    assert done.returncode == 1
    assert done.stdout.count("configured: no") == len(AGENTS)
    hook(tmp_path, "install", "--failures", *options)
    done = hook(tmp_path, "doctor", *options)
    assert done.stdout.count("configured: yes") == len(AGENTS)
    assert done.stdout.count("answers: yes") == len(AGENTS)
    assert "active: no: Codex skips hooks until you trust them" in done.stdout
    assert done.returncode == 1
    done = hook(tmp_path, "doctor", "--agent", "pi")
    assert done.returncode == 0
    assert not (tmp_path / ".local").exists()


def test_the_doctor_sees_hooks_that_are_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file_of("claude", tmp_path, monkeypatch)
    path.write_text('{"disableAllHooks": true}')
    hook(tmp_path, "install", "--agent", "claude")
    done = hook(tmp_path, "doctor", "--agent", "claude")
    assert done.returncode == 1
    assert "active: no: `disableAllHooks`" in done.stdout


@pytest.mark.parametrize(
    ("handler", "ours"),
    [
        ({"command": "/a b/ethos-registry", "args": ["hook", "claude"]}, True),
        ({"command": "'/a b/ethos-registry' hook claude 4000"}, True),
        ({"command": "python -m ethos_registry hook claude"}, True),
        ({"bash": "ethos-registry hook claude"}, True),
        ({"command": "ethos-registry hook codex"}, False),
        ({"command": "my-hook hook claude"}, False),
        ({"command": "echo 'open"}, False),
        ({"command": 1}, False),
        ("ethos-registry hook claude", False),
    ],
)
def test_our_handlers_are_recognised(handler: object, ours: bool) -> None:
    assert is_our_handler(handler, "claude") is ours


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(max_size=5), JSON, max_size=4),
    JSON,
    st.sampled_from([None, 0, 2, "\t"]),
    st.booleans(),
)
def test_an_item_that_is_added_and_removed_leaves_the_text_as_it_was(
    document: dict[str, Any], item: Any, indent: Any, is_windows: bool
) -> None:
    document.pop("new", None)
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    if is_windows:
        text = text.replace("\n", "\r\n")
    added = append_item(text, (), item, "new")
    assert parse_object(added, "x") == document | {"new": item}
    if document:
        assert remove_item(added, ("new",)) == text
    for key in document:
        rest = {name: value for name, value in document.items() if name != key}
        assert parse_object(remove_item(text, (key,)), "x") == rest
