"""`ethos-registry tools`, and what holds for the command line as a whole."""

import json
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import ethos_registry
from cli_program import (
    assert_one_error_line,
    environment,
    program,
    run,
    run_json,
    run_many,
    run_many_json,
)
from ethos_registry.capabilities import containment, sandbox_support
from ethos_registry.tools import ready_tools
from started import PATIENCE_SECONDS, started

FIRST_HOUR = Path(__file__).parents[2] / "docs" / "first-hour.md"

TOOLS_MODULE = """
from ethos_registry import Tool, ToolRegistry


async def execute(args, context):
    return {"ok": True, "value": ""}


def unavailable():
    return False


def raising():
    raise RuntimeError("no [red]\\nluck")


schema = {"type": "object"}
strange = Tool(
    "strange", "\\n [bold]Red[/bold] \\x1b[31m\\u202e here\\nsecond line", schema, execute,
    toolset="[dim]odd",
)
away = Tool("away", "Is not here.", schema, execute, is_available=unavailable)
burst = Tool("burst", "Raises when asked.", schema, execute, is_available=raising)
all_tools = (strange, away, burst)
registry = ToolRegistry()
registry.register(strange, plugin_id="plug")
registry.register(Tool("mcp__linear__search", "Searches.", schema, execute))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my_tools.py").write_text(TOOLS_MODULE)
    (tmp_path / "who.yaml").write_text(
        "id: reader\ntoolset: [read_file, misspelt, 'toolset:none']\nplugins: [gone]\n"
    )
    return tmp_path


def test_the_ready_tools_are_listed(folder):
    done = run("tools", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    header, _, *rows = done.stdout.splitlines()
    assert header.split() == ["Tool", "Toolset", "Segment", "Description"]
    assert any(row.split()[:3] == ["read_file", "file", "built-in"] for row in rows)
    assert any(row.split()[:5] == ["terminal", "terminal", "built-in", "Run", "a"] for row in rows)


def test_a_personality_shows_why_a_tool_is_hidden_and_which_entries_match_nothing(folder):
    done = run("tools", "--personality", "who.yaml", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == (
        "error: invalid personality 'reader': unknown tool 'misspelt', unknown toolset 'none', "
        "unknown plugin 'gone'; `allow_unmatched=True` permits entries that only other programs "
        "know\n"
    )
    assert "`terminal` is not in the toolset of `reader`" in done.stdout
    assert "`toolset` has entries that match nothing: `misspelt`, `toolset:none`" in done.stdout
    assert "`plugins` has entries that match nothing: `gone`" in done.stdout
    assert "`read_file` is visible" not in done.stdout


def test_json_holds_what_the_table_shows(folder):
    misspelt, right = run_many(
        [(("tools", "--personality", "who.yaml", "--json"), b""), (("tools", "--json"), b"")],
        folder,
    )
    assert (misspelt.returncode, right.returncode) == (2, 0)
    listed, plain = json.loads(misspelt.stdout), json.loads(right.stdout)
    assert listed["personality"] == "reader"
    outcomes = {tool["name"]: tool["outcome"] for tool in listed["tools"]}
    assert outcomes.pop("read_file") == "visible"
    assert outcomes["terminal"] == "toolset"
    assert set(outcomes.values()) == {"toolset"}
    assert listed["unmatched"] == {"toolset": ["misspelt", "toolset:none"], "plugins": ["gone"]}
    assert plain["personality"] is None
    assert {tool["outcome"] for tool in plain["tools"]} == {None}
    assert [tool["name"] for tool in plain["tools"]] == [tool.name for tool in ready_tools()]


def test_a_registry_keeps_its_tags_and_every_segment_is_named(folder):
    listed = run_json("tools", "--tools", "my_tools:registry", "--json", cwd=folder)
    assert [(tool["name"], tool["segment"]) for tool in listed["tools"]] == [
        ("strange", "plugin"),
        ("mcp__linear__search", "mcp"),
    ]


def test_a_probe_that_says_no_or_raises_is_the_reason(folder):
    (folder / "all.yaml").write_text("id: everyone\n")
    done = run("tools", "--tools", "my_tools:all_tools", "--personality", "all.yaml", cwd=folder)
    assert done.returncode == 0
    assert "`away` is permitted, but its `is_available` returned false" in done.stdout
    assert "`burst` is permitted, but its `is_available` returned false" in done.stdout
    assert done.stderr.startswith("warning: `is_available` of tool `burst` raised: RuntimeError")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("width", ["40", "100"])
def test_texts_of_tools_are_neither_markup_nor_terminal_commands(width, folder):
    done = run("tools", "--tools", "my_tools:strange", cwd=folder, COLUMNS=width)
    assert "[bold]Red[/bold] \\x1b[31m" in done.stdout
    assert "\\u202e" in done.stdout
    assert "[dim]odd" in done.stdout
    assert "second line" not in done.stdout
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout


def test_definitions_are_those_that_the_model_is_shown(folder):
    registry = ethos_registry.ToolRegistry(ready_tools())
    view = registry.view(ethos_registry.Personality("all"))
    reader = registry.view(ethos_registry.Personality("reader", toolset=["read_file"]))
    providers = ("anthropic", "openai")
    (folder / "only.yaml").write_text("id: reader\ntoolset: [read_file]\n")
    every = [(("tools", "--definitions", name), b"") for name in providers]
    gated = [((*arguments, "--personality", "only.yaml"), b"") for arguments, _ in every]
    assert run_many_json([*every, *gated], folder) == [
        json.loads(json.dumps(shown.definitions(name)))
        for shown in (view, reader)
        for name in providers
    ]


def test_definitions_without_a_personality_hold_plugin_and_mcp_tools_too(folder):
    shown = run_json(
        "tools", "--tools", "my_tools:registry", "--definitions", "anthropic", cwd=folder
    )
    assert [tool["name"] for tool in shown] == ["strange", "mcp__linear__search"]


BAD_USAGE: list[tuple[tuple[str, ...], str]] = [
    (("tools", "--definitions", "nobody"), "unknown provider 'nobody'"),
    (("tools", "--unknown"), "--unknown"),
    (("nothing",), "nothing"),
    (("demo", "extra"), "extra"),
    (("demo", "--save", "nowhere/file"), "nowhere/file: cannot be written: No such file"),
    (
        ("tools", *("--tools", "ethos_registry.tools:ready_tools") * 2),
        "`--tools` gives two tools named `lint`; leave out one",
    ),
]


def test_bad_usage_is_one_error_line(folder):
    cases = [(arguments, b"") for arguments, _ in BAD_USAGE]
    for done, (_, says) in zip(run_many(cases, folder), BAD_USAGE, strict=True):
        assert_one_error_line(done, says)


def test_help_and_version_need_no_command(folder):
    version, *helps = run_many([(("--version",), b""), ((), b""), (("--help",), b"")], folder)
    assert (version.returncode, version.stderr) == (0, "")
    assert version.stdout == f"ethos-registry {ethos_registry.__version__}\n"
    for helped in helps:
        assert (helped.returncode, helped.stderr) == (0, "")
        for command in ("demo", "call", "tools"):
            assert f"  {command} " in helped.stdout


@pytest.mark.parametrize("group", ["formats", "mcp", "prefix", "recordings"])
def test_a_group_without_a_command_prints_its_help_and_cuts_no_summary(folder, group):
    bare, helped = run_many([((group,), b""), ((group, "--help"), b"")], folder)
    for done in (bare, helped):
        assert (done.returncode, done.stderr) == (0, "")
        commands = done.stdout.partition("Commands:")[2]
        assert commands
        assert "..." not in commands


EACH_ALONE = """
import os
from ethos_registry._cli.app import _MODULES, load_command
for name in _MODULES:
    if not (process := os.fork()):
        load_command(name)
        os._exit(0)
    print(name, os.waitpid(process, 0)[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_each_command_is_loaded_without_the_others():
    done = subprocess.run([sys.executable, "-c", EACH_ALONE], capture_output=True, text=True)
    assert done.stderr == ""
    statuses = dict(line.split() for line in done.stdout.splitlines())
    assert len(statuses) > 15
    assert set(statuses.values()) == {"0"}


@pytest.mark.parametrize(
    ("missing", "reported"),
    [
        (["typer"], "typer"),
        (["platformdirs"], "platformdirs"),
        (["rich", "typer"], "rich and typer"),
        (["platformdirs", "rich", "typer"], "platformdirs, rich and typer"),
    ],
)
def test_without_the_extra_one_line_says_what_to_install(missing, reported, folder):
    code = (
        f"import sys; sys.modules |= dict.fromkeys({missing!r}); "
        "from ethos_registry._cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment()
    )
    advice = "pip install '.[cli]' in a checkout, else pip install 'ethos-registry[cli]'"
    assert_one_error_line(done, f"the command line needs {reported}: {advice}")


def test_an_interrupt_while_the_modules_are_read_is_one_line(folder):
    code = (
        "import importlib.util, sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'ethos_registry._cli.app': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from ethos_registry._cli import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment())
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"error: interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="SIGPIPE")
@pytest.mark.parametrize("arguments", [("tools",), ("demo",), ("--help",)])
def test_a_reader_that_goes_away_is_no_error(arguments, folder):
    process = subprocess.Popen(
        program(*arguments),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=200)
    assert (process.returncode, errors) == (141, b"")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full")
def test_a_full_disk_is_one_error_line(folder):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            program("tools"), cwd=folder, stdout=full, stderr=subprocess.PIPE, env=environment()
        )
    assert (done.returncode, done.stderr) == (2, b"error: No space left on device\n")


@pytest.mark.slow
def test_a_misspelt_personality_is_an_error_that_suggests_the_right_name(folder):
    (folder / "typo.yaml").write_text("id: ops\ntoolset: [termnal, toolset:fil]\n")
    (folder / "two.yaml").write_text("reader:\n  toolset: []\nwriter:\n  toolset: []\n")
    (folder / "calls.json").write_text('{"name": "list_files", "args": {}}')
    for command in (
        ("call", "calls.json"),
        ("tools",),
        ("tools", "--definitions", "anthropic"),
    ):
        done = run(*command, "--personality", "typo.yaml", cwd=folder)
        assert done.returncode == 2
        assert "unknown tool 'termnal' (did you mean 'terminal'?)" in done.stderr
        assert "(did you mean 'file'?)" in done.stderr
        if command != ("tools",):
            assert done.stdout == ""
    done = run("tools", "--personality", "two.yaml", "--id", "reade", cwd=folder)
    assert_one_error_line(done, "`reade` (did you mean 'reader'?); there are `reader`, `writer`")


@pytest.mark.slow
def test_a_shell_completes_commands_options_and_providers(folder):
    def completed(line):
        words = line.split(" ")
        done = subprocess.run(
            program(),
            cwd=folder,
            env=environment(
                _ETHOS_REGISTRY_COMPLETE="complete_bash",
                COMP_WORDS=line,
                COMP_CWORD=str(len(words) - 1),
            ),
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()

    assert completed("ethos-registry re") == ["reduce", "recall", "recordings"]
    assert completed("ethos-registry call --messages o") == ["openai", "openai_responses", "ollama"]
    assert "--personality" in completed("ethos-registry tools --")
    assert "--install-completion" in run("--help", cwd=folder).stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_while_python_imports_the_package_prints_no_traceback(folder):
    """At twelve moments of the start, from the first action of the program on."""
    for step in range(12):
        program = (
            "import signal, sys\n"
            "set_handler = signal.signal\n"
            "def first(*arguments):\n"
            "    before = set_handler(*arguments)\n"
            "    signal.signal = set_handler\n"
            "    print('on', flush=True)\n"
            "    return before\n"
            "signal.signal = first\n"
            "sys.argv[1:] = ['tools']\n"
            "from ethos_registry_cli import main\n"
            "sys.exit(main())\n"
        )
        with started(
            [sys.executable, "-c", program],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            text=True,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.02 + step * 0.02)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE_SECONDS)
        assert "Traceback" not in errors
        assert process.returncode in (0, 130, -signal.SIGINT)


def test_the_installed_program_starts_without_the_package():
    settings = tomllib.loads((FIRST_HOUR.parent.parent / "pyproject.toml").read_text())
    assert settings["project"]["scripts"] == {"ethos-registry-python": "ethos_registry_cli:main"}
    assert "ethos_registry_cli" in settings["tool"]["maturin"]["python-packages"]
    code = "import sys, ethos_registry_cli; print('ethos_registry' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n"


CHECKED_MODULE = """
from ethos_registry import ToolRegistry, tool
from ethos_registry.capabilities import CommandSandbox, ToolCapabilities, standard_backends
from ethos_registry.tools import terminal_tool


@tool(capabilities=ToolCapabilities(fs_reach={"read": ["/srv", "/data/x"]}))
def wide() -> str:
    \"\"\"Read.\"\"\"
    return ""


@tool(capabilities=ToolCapabilities(secrets=["search/key"]))
def secret() -> str:
    \"\"\"Use a secret.\"\"\"
    return ""


@tool
def plain() -> str:
    \"\"\"Touch nothing.\"\"\"
    return ""


unconfined = terminal_tool(sandbox="off")
bare = ToolRegistry([wide])
full = ToolRegistry([secret], capability_backends=standard_backends(secrets=lambda name: "x"))


@tool(capabilities=ToolCapabilities(process={"allowedBinaries": ["git"]}))
def programs() -> str:
    \"\"\"Run programs.\"\"\"
    return ""


nothing = CommandSandbox(levels=())
unbound = ToolRegistry(
    [programs, terminal_tool(sandbox=nothing)],
    capability_backends=standard_backends(sandbox=nothing),
)
"""


@pytest.fixture
def checked(tmp_path):
    (tmp_path / "checked.py").write_text(CHECKED_MODULE)
    (tmp_path / "p.yaml").write_text("id: p\nfs_reach: {read: [/data], write: []}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("names", "exit_code", "expected"),
    [
        (["wide"], 0, {("wide", "not_covered", "fs_reach.read")}),
        (["secret"], 1, {("secret", "no_backend", "secrets")}),
        (["plain", "unconfined"], 0, {("plain", "undeclared", ""), ("terminal", "undeclared", "")}),
        (
            ["bare"],
            1,
            {("wide", "no_backend", "fs_reach"), ("wide", "not_covered", "fs_reach.read")},
        ),
        (["full"], 0, set()),
        (
            ["unbound"],
            1,
            {("programs", "not_bindable", "process"), ("terminal", "not_bindable", "")},
        ),
    ],
)
def test_a_check_names_what_a_personality_does_not_get(checked, names, exit_code, expected):
    references = [part for name in names for part in ("--tools", f"checked:{name}")]
    command = ("tools", "--check", "--personality", "p.yaml", *references)
    report = run_json(*command, "--json", cwd=checked, exit_code=exit_code)
    found = {(item["tool"], item["kind"], item["capability"]) for item in report["findings"]}
    assert found == expected
    assert report["sandbox"] in ("namespaces", "landlock", "seatbelt", "none")
    done = run(*command, cwd=checked)
    assert done.returncode == exit_code
    lines = done.stdout.decode() if isinstance(done.stdout, bytes) else done.stdout
    for tool, kind, _ in expected:
        assert f"{kind}: {tool}: " in lines
    assert f"sandbox: {report['sandbox']}" in lines


def test_a_check_needs_a_personality(checked):
    assert_one_error_line(run("tools", "--check", cwd=checked), "`--personality FILE`")


def test_doctor_shows_what_this_machine_can_enforce(tmp_path):
    done = run("doctor", cwd=tmp_path)
    assert done.returncode == 0
    shown = done.stdout.decode() if isinstance(done.stdout, bytes) else done.stdout
    assert f"{sandbox_support().level}: " in shown
    assert f"{containment()}: " in shown
