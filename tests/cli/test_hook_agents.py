"""Real coding agents against a fake model: what their model is shown of a result.

`ETHOS_REGISTRY_AGENTS` names a folder with `node_modules/.bin` of the agents; `.ci/run --long`
installs them there. An agent that is not in it is skipped.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_program import run
from ethos_registry._cli.fake_model import FakeModel

SERVER = """
import json, sys
LINES = "".join(f"row {number} of the table\\n" for number in range(1_200))
TOOL = {"name": "list_rows", "description": "All rows.", "inputSchema": {"type": "object"}}
for message in map(json.loads, sys.stdin):
    result = {}
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "rows", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif message["method"] == "tools/list":
        result = {"tools": [TOOL]}
    elif message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": LINES}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
LONG = "seq -f 'compiled unit %g of it' 1 1000"
READ = ("read", "units.txt")
CLAUDE = (
    *("-p", "go", "--output-format", "json", "--dangerously-skip-permissions"),
    *("--mcp-config", "SERVERS"),
)
CODEX = (
    *("exec", "--json", "--skip-git-repo-check", "-m", "gpt-5.5"),
    *("--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"),
    *("-c", 'mcp_servers.rows={command="PYTHON",args=["SERVER"]}'),
    *("-c", 'model_provider="fake"', "-c"),
    (
        'model_providers.fake={name="fake",base_url="URL/v1",wire_api="responses",'
        'env_key="OPENAI_API_KEY"}'
    ),
    "go",
)
GEMINI = ("-m", "gemini-2.5-flash", "--yolo", "-o", "json", "-p", "go")
OPENCODE = ("run", "--model", "fake/fake", "go")
COMMANDS = {"claude": CLAUDE, "codex": CODEX, "gemini": GEMINI, "opencode": OPENCODE}
AGENTS = sorted(COMMANDS)
GEMINI_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}


def opencode_settings(url: str, server: list[str]) -> dict[str, Any]:
    limit = {"context": 200_000, "output": 4_000}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"fake": {"name": "fake", "tool_call": True, "limit": limit}},
    }
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": "fake/fake",
        "small_model": "fake/fake",
        "permission": {"bash": "allow"},
        "mcp": {"rows": {"type": "local", "command": server, "enabled": True}},
        "provider": {"fake": provider},
    }


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def filled(word: str, values: dict[str, str]) -> str:
    """A word of a command line with values in the place of their names, the longest first."""
    for name in sorted(values, key=len, reverse=True):
        word = word.replace(name, values[name])
    return word


def shown_to_model(agent: str, folder: Path, steps: list[Any], *, broken: bool = False) -> Any:
    """The results in the last request of an agent with our hooks in a home of its own."""
    programs = os.environ.get("ETHOS_REGISTRY_AGENTS", "")
    program = Path(programs, "node_modules", ".bin", agent)
    if not programs or not program.exists():
        pytest.skip(f"{agent} is not in $ETHOS_REGISTRY_AGENTS")
    home, project = folder / "home", folder / "project"
    (home / "tmp").mkdir(parents=True)
    project.mkdir()
    variables = {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": "",
        "CODEX_HOME": "",
        "XDG_CONFIG_HOME": "",
        "XDG_STATE_HOME": "",
    }
    (project / "units.txt").write_text("".join(f"unit {n} is compiled\n" for n in range(1_500)))
    server, servers = folder / "server.py", folder / "servers.json"
    server.write_text(SERVER)
    rows = {"command": sys.executable, "args": [str(server)]}
    write(servers, {"mcpServers": {"rows": rows}})
    values = {"SERVERS": str(servers), "SERVER": str(server), "PYTHON": sys.executable}
    steps = [("read", str(project / "units.txt")) if each == READ else each for each in steps]
    with FakeModel(steps) as model:
        if agent == "gemini":
            settings = GEMINI_SETTINGS | {"mcpServers": {"rows": rows | {"trust": True}}}
            write(home / ".gemini" / "settings.json", settings)
        if agent == "opencode":
            settings = opencode_settings(model.url, [sys.executable, str(server)])
            write(home / ".config" / "opencode" / "opencode.json", settings)
        assert run("hook", "install", "--agent", agent, cwd=project, **variables).returncode == 0
        if broken:
            for path in home.rglob("*"):
                if path.is_file() and "ethos-registry" in (text := path.read_text()):
                    ours = Path(sys.executable).with_name("ethos-registry")
                    path.write_text(text.replace(str(ours), "/bin/false"))
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "SHELL": "/bin/bash",
            "IS_SANDBOX": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "ETHOS_REGISTRY_OUTPUTS": str(folder / "outputs"),
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
        }
        done = subprocess.run(
            [
                str(program),
                *(filled(word, values | {"URL": model.url}) for word in COMMANDS[agent]),
            ],
            cwd=project,
            env=environment | model.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=240,
            check=False,
        )
        assert len(model.results) == len(steps), (done.stdout[-2_000:], done.stderr[-2_000:])
        return model.results


@pytest.mark.long
@pytest.mark.parametrize("agent", AGENTS)
def test_a_long_result_is_replaced_and_a_failure_keeps_its_status(
    agent: str, tmp_path: Path
) -> None:
    good, bad = shown_to_model(agent, tmp_path, [LONG, f"{LONG}; echo error: no door; exit 3"])
    assert "[all of it: " in good
    assert len(good) < 20_000
    assert "error: no door" in bad
    assert (
        "3" in bad.replace("error: no door", "").splitlines()[0]
        or "xit code 3" in bad
        or (agent == "codex" and "[exit code not known here]\n" in bad)
    )


@pytest.mark.long
@pytest.mark.parametrize("agent", AGENTS)
def test_a_result_of_an_mcp_tool_is_replaced(agent: str, tmp_path: Path) -> None:
    [shown] = shown_to_model(agent, tmp_path, [("mcp", "rows", "list_rows")])
    assert "row 0 of the table" in shown
    assert "[all of it: " in shown
    assert len(shown) < 20_000


@pytest.mark.long
@pytest.mark.parametrize("agent", ["claude", "gemini", "opencode"])
def test_a_file_is_replaced(agent: str, tmp_path: Path) -> None:
    [shown] = shown_to_model(agent, tmp_path, [READ])
    assert "unit 0 is compiled" in shown
    assert "more lines: read them with a range" in shown
    assert len(shown) < 20_000


@pytest.mark.long
@pytest.mark.parametrize("agent", AGENTS)
def test_a_hook_that_fails_changes_nothing(agent: str, tmp_path: Path) -> None:
    [shown] = shown_to_model(agent, tmp_path, [LONG], broken=True)
    assert "all of it" not in shown
    assert "unit 1000 of it" in shown


@pytest.mark.long
def test_claude_code_is_shown_a_reference_the_second_time(tmp_path: Path) -> None:
    lines = "seq 1000 1500"
    first, again = shown_to_model("claude", tmp_path, [lines, lines])
    assert first.rstrip().endswith("1500")
    assert again.startswith("[same 501 lines as seq above; all of it: ")
