"""`ethos-registry hook`: shortens the results of tools in coding agents."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ethos_registry._cli.console import (
    CommandError,
    fail_if,
    file_errors,
    make_app,
    print_line,
    visible,
    write_lines,
    write_stdout,
)
from ethos_registry._cli.fake_model import FakeModel
from ethos_registry._cli.hook_agents import (
    AGENTS,
    NAMES,
    CodingAgent,
    hook_file,
    is_our_handler,
    program_words,
)
from ethos_registry._cli.json_edit import append_item, parse_object, remove_item
from ethos_registry._cli.options import positive_number
from ethos_registry._persistence.files import write_whole_file

_SECONDS = 10.0
"""How long a version and an answer are waited for."""
_LIVE_SECONDS = 120.0
_LIMIT_CHARS = 16_000
"""The default of `--target-chars`."""
_NOTE = "[all of it: "
_BACKUP = ".before-ethos-registry"

app = make_app(
    no_args_is_help=True,
    help="Shorten tool results in coding agents.",
    epilog="`ethos-registry hook AGENT` is what the agents run: a payload on standard input, an "
    "answer or nothing on standard output, always exit code 0.",
)

AgentNames = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        metavar="NAME",
        help=f"Agent: {', '.join(NAMES)}; can be repeated. Default: those on this machine.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the changes, change nothing.")]
InProject = Annotated[
    bool, typer.Option("--project", help="Configure the current folder, not the user.")
]


@app.command()
def install(
    agent: AgentNames = None,
    project: InProject = False,
    dry_run: DryRun = False,
    failures: Annotated[
        bool,
        typer.Option(
            "--failures",
            help="Also run commands through `ethos-registry run --shell`, where the agent cannot "
            "replace a result: failing commands in Claude Code, code mode in Codex, all in Cursor "
            "and VS Code. Rules of the agent that name a command do not match it then.",
        ),
    ] = False,
    target_chars: Annotated[
        int | None,
        typer.Option(
            parser=positive_number,
            metavar="N",
            help="Longest result that stays as it is, in characters. Default: 16000.",
        ),
    ] = None,
) -> None:
    """Add the hooks to the configuration of coding agents; a second time changes nothing."""
    words = program_words()
    for each in _selected(agent, failures=failures):
        command = [*words, "hook", each.name]
        if target_chars is not None:
            command.append(str(target_chars))
        if not failures and each.version is None:
            print_line(f"{each.title}: needs --failures, as it can only rewrite commands")
            continue
        path = each.file(project=project)
        before = _read(path)
        after = _with_ours(each, before, str(path), command, failures)
        _apply(each, path, before, after, dry_run)
        if each.version is None:
            print_line(f"{each.title}: not verified with any version")
        elif (found := _version(each)) not in (None, each.version):
            print_line(f"{each.title}: not verified with {found}, only with {each.version}")
        if each.name == "codex":
            print_line("Codex CLI: it skips new hooks until you trust them: run /hooks there")


@app.command()
def uninstall(
    agent: AgentNames = None, project: InProject = False, dry_run: DryRun = False
) -> None:
    """Remove the hooks from the configuration of coding agents, and nothing else."""
    for each in _named(agent or NAMES):
        path = each.file(project=project)
        before = _read(path)
        after: str | None = None
        if before is not None and not each.is_own_file:
            after = _without_ours(each, before, str(path))
        _apply(each, path, before, after, dry_run)


@app.command()
def status(agent: AgentNames = None) -> None:
    """Show which agents are on this machine, and where hooks are configured."""
    for each in _named(agent or NAMES):
        files = {each.file(project=False), each.file(project=True)}
        places = [str(path) for path in files if _handlers(each, path)]
        here = "" if each.is_installed() else " (not on this machine)"
        write_stdout(f"{each.name}{here}: {visible(', '.join(sorted(places))) or 'no hooks'}\n")


@app.command()
def doctor(
    agent: AgentNames = None,
    project: InProject = False,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Start Claude Code, Codex CLI and Gemini CLI with a model on this machine that "
            "runs `seq`, and look at what it is shown.",
        ),
    ] = False,
) -> None:
    """Check the hooks of coding agents: configured, active, answering, firing.

    Exit code 1 if the hooks of an agent are not configured, are switched off, or do not answer.
    """
    all_work = True
    for each in _selected(agent, failures=agent is not None):
        path = each.file(project=project)
        handlers = _handlers(each, path)
        configured = _configured(path, handlers)
        words = _command(handlers[0]) if handlers else []
        limit_chars = int(words[-1]) if words[-1:] and words[-1].isdecimal() else _LIMIT_CHARS
        with tempfile.TemporaryDirectory() as folder:
            variables = os.environ | {"ETHOS_REGISTRY_OUTPUTS": os.path.join(folder, "outputs")}
            answers = (
                _answers(each, words, limit_chars, variables) if configured[0] else (False, "no")
            )
            fires = _fires(each, limit_chars, variables) if live else None
        facts = {
            "configured": configured,
            "active": _active(each, path, project),
            "answers": answers,
            "fires": fires or (None, _FIRES.get(each.name, _LIVE)),
        }
        write_stdout(f"{each.title}\n")
        for name, (works, text) in facts.items():
            write_stdout(f"  {name}: {visible(text)}\n")
            all_work = all_work and works is not False
    fail_if(not all_work)


_LIVE = "not checked without --live; in the agent, a long result must end in `[all of it: ...]`"
_FIRES = {
    "gemini": "not checked here; in the agent, a long result is replaced by `recall`",
    "cursor": "not checked here; in the agent, commands begin with `ethos-registry run`",
    "vscode": "not checked here; in the agent, commands begin with `ethos-registry run`",
}


def _named(names: Iterable[str]) -> list[CodingAgent]:
    for name in names:
        if name not in AGENTS:
            raise CommandError(f"unknown agent {name!r}: known are {', '.join(NAMES)}")
    return [AGENTS[name] for name in names]


def _selected(names: list[str] | None, *, failures: bool) -> list[CodingAgent]:
    if names:
        return _named(names)
    with_hooks = [each for each in AGENTS.values() if failures or each.version is not None]
    found = [each for each in with_hooks if each.is_installed()]
    if not found:
        raise CommandError(f"no coding agent found; name one: --agent {'|'.join(NAMES)}")
    return found


def _with_ours(
    agent: CodingAgent, before: str | None, name: str, words: list[str], failures: bool
) -> str:
    if agent.is_own_file:
        return agent.content(words)
    groups = dict(agent.groups(words)) if agent.groups is not None else {}
    if failures and agent.rewriting is not None:
        groups |= agent.rewriting(words)
    if before is not None:
        ours = list(_ours(agent, parse_object(before, name), name))
        if len(ours) == len(groups) and {place[1]: group for place, group, _ in ours} == groups:
            return before
    start = '{\n  "version": 1\n}\n' if agent.name == "cursor" else "{}\n"
    text = _without_ours(agent, start if before is None else before, name)
    for event, group in groups.items():
        hooks = parse_object(text, name).get("hooks")
        if hooks is None:
            text = append_item(text, (), {event: [group]}, "hooks")
        elif event not in hooks:
            text = append_item(text, ("hooks",), [group], event)
        else:
            if not isinstance(hooks[event], list):
                raise CommandError(f"{name}: not changed, because `hooks.{event}` is not a list")
            text = append_item(text, ("hooks", event), group)
    return text


def _ours(
    agent: CodingAgent, document: dict[str, Any], name: str
) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any], dict[str, Any]]]:
    """Each of our handlers: its place in the document, its group, and itself."""
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict):
        raise CommandError(f"{name}: not changed, because `hooks` is not an object")
    for event, groups in hooks.items():
        for number, group in enumerate(_list(groups)):
            if is_our_handler(group, agent.name):
                yield ("hooks", event, number), group, group
            elif isinstance(group, dict):
                for at, handler in enumerate(_list(group.get("hooks"))):
                    if is_our_handler(handler, agent.name):
                        yield ("hooks", event, number, "hooks", at), group, handler


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _without_ours(agent: CodingAgent, text: str, name: str) -> str:
    while found := next(_ours(agent, parse_object(text, name), name), None):
        path = found[0]
        text = remove_item(text, path)
        # What this emptied is removed too; what was empty before stays.
        while len(path) > 1:
            path = path[:-1]
            if path[-1] == "hooks" and len(path) == 4:
                path = path[:-1]
            value: Any = parse_object(text, name)
            for key in path:
                value = value[key]
            if value and not (isinstance(value, dict) and value.get("hooks") == []):
                break
            text = remove_item(text, path)
    return text


def _handlers(agent: CodingAgent, path: Path) -> list[dict[str, Any]]:
    """Our handlers in a file."""
    try:
        text = _read(path)
        if text is None:
            return []
        if agent.groups is None:
            match = re.search(r"^const command = (\[.*\])$", text, re.MULTILINE)
            words = json.loads(match[1]) if match else []
            return [{"command": words[0], "args": words[1:]}] if words else []
        document = parse_object(text, str(path))
        return [handler for _, _, handler in _ours(agent, document, str(path))]
    except (CommandError, ValueError, IndexError):
        return []


def _command(handler: dict[str, Any]) -> list[str]:
    if "args" in handler:
        return [handler["command"], *handler["args"]]
    return shlex.split(handler.get("command", handler.get("bash")), posix=os.name != "nt")


def _configured(path: Path, handlers: list[dict[str, Any]]) -> tuple[bool, str]:
    if not handlers:
        return False, f"no: {path}; ethos-registry hook install"
    program = _command(handlers[0])[0]
    if not (os.path.isfile(program) and os.access(program, os.X_OK)):
        return False, f"no: {program} in {path} is not a program; ethos-registry hook install"
    return True, f"yes: {path}"


def _active(agent: CodingAgent, path: Path, project: bool) -> tuple[bool | None, str]:
    if agent.name == "claude":
        folders = {path.parent, Path.cwd() / ".claude"}
        names = ("settings.json", "settings.local.json")
        for file in (folder / name for folder in sorted(folders) for name in names):
            text = _read(file)
            if text is not None and parse_object(text, str(file)).get("disableAllHooks"):
                return False, f"no: `disableAllHooks` in {file}"
        return None, "no `disableAllHooks` in the settings of user and project; others not checked"
    if agent.name == "codex":
        config = AGENTS["codex"].user_file().parent / "config.toml"
        try:
            state = tomllib.loads(_read(config) or "").get("hooks", {}).get("state", {})
        except tomllib.TOMLDecodeError:
            return None, f"unknown: {config} is not TOML"
        if any(str(key).startswith(f"{path}:") for key in state):
            return None, "some of its hooks are trusted; whether as they are now: /hooks in Codex"
        return False, "no: Codex skips hooks until you trust them: /hooks in Codex"
    if agent.name == "gemini" and project:
        return None, "only in a folder that Gemini CLI trusts, which is not checked"
    return None, "not checked"


def _answers(
    agent: CodingAgent, words: list[str], limit_chars: int, variables: Mapping[str, str]
) -> tuple[bool, str]:
    """Replay a payload with a long output; the answer must be JSON and shorter."""
    lines = range(limit_chars // 8)
    printed = "".join(f"compiled unit {number}\n" for number in lines) + "error: no door\n"
    payload = json.loads(hook_file("payloads.json"))[agent.name]
    text = json.dumps(payload).replace("OUTPUT", json.dumps(printed)[1:-1])
    started = time.perf_counter()
    try:
        done = subprocess.run(
            words,
            input=text.encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            env=variables,
        )
        milliseconds = (time.perf_counter() - started) * 1000
        answer = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, f"no: {words[0]}: {error}"
    except ValueError:
        return False, "no: nothing is printed for a recorded payload"
    if done.returncode != 0 or not isinstance(answer, dict):
        return False, f"no: exit code {done.returncode}, {len(done.stdout):,} bytes"
    return True, f"yes: {len(text):,} -> {len(done.stdout):,} bytes in {milliseconds:.0f} ms"


def _fires(
    agent: CodingAgent, limit_chars: int, variables: Mapping[str, str]
) -> tuple[bool | None, str] | None:
    """Start the agent with a model of ours, which runs a command and keeps what it is shown."""
    program = shutil.which(agent.program)
    if agent.live is None or program is None:
        return None
    with FakeModel([f"seq 1 {limit_chars * 3 // 8}"]) as model:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                [program, *agent.live(model.url)],
                env={**variables, **model.environment()},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LIVE_SECONDS,
                check=False,
            )
        shown = model.results
    if not shown:
        return None, "unknown: the agent ran no command for the model on this machine"
    if _NOTE not in shown[0]:
        return False, "no: the model was shown the original"
    return True, f"yes: the model was shown {len(shown[0]):,} characters of ours"


def _version(agent: CodingAgent) -> str | None:
    program = shutil.which(agent.program)
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    match = re.search(r"\d+(?:\.\d+)+", done.stdout)
    return match[0] if match else None


def _apply(
    agent: CodingAgent, path: Path, before: str | None, after: str | None, dry_run: bool
) -> None:
    """Write the file, or remove it if nothing is left; show the difference instead if asked to."""
    if before == after:
        write_stdout(f"{agent.title}: nothing to change in {visible(str(path))}\n")
        return
    if dry_run:
        lines = difflib.unified_diff(
            (before or "").splitlines(keepends=True),
            (after or "").splitlines(keepends=True),
            str(path),
            str(path),
        )
        write_lines(line.rstrip() for line in lines)
        return
    with file_errors(path, "written"):
        if after is None:
            path.unlink()
        else:
            _write(path, before, after)
    write_stdout(f"{agent.title}: changed {visible(str(path))}\n")


def _read(path: Path) -> str | None:
    with file_errors(path):
        try:
            with open(path, encoding="utf-8", newline="") as file:
                return file.read()
        except FileNotFoundError:
            return None


def _write(path: Path, before: str | None, after: str) -> None:
    """Replace the file in one step, with its mode; where it is a link, the file that it names."""
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = 0o600
    if before is not None:
        mode = path.stat().st_mode & 0o7777
        shutil.copy2(path, path.with_name(path.name + _BACKUP))
    write_whole_file(path, after, mode=mode)
