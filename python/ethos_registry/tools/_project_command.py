"""Tools that run a program of the project: which one, the project's files decide."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ethos_registry.tools._arguments import RefusalError, quoted
from ethos_registry.tools._command import (
    CommandCall,
    SandboxChoice,
    command_tool,
    ending_result,
    run_command,
    timeout_property,
)
from ethos_registry.types._policy import CommandPolicy
from ethos_registry.types._result import ToolResult
from ethos_registry.types._tool import Tool

__all__ = [
    "DEFAULT_TIMEOUT_SECONDS",
    "ProjectCommand",
    "ProjectProgram",
    "file_names",
    "file_text",
    "make_target",
    "node_script",
    "package_json",
    "project_program",
    "project_python",
    "project_tool",
    "pyproject_tools",
    "with_go_packages",
]


# The files of a project, and the programs that they choose.

_MAX_FILE_BYTES = 1_000_000
_MAX_NAMES = 5_000
_NODE_PROGRAMS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
)
_ENVIRONMENTS = (".venv", "venv")


@dataclass(frozen=True, slots=True)
class ProjectProgram:
    """One way to run a program of a project."""

    name: str
    reason: str
    """The file that speaks for it."""
    program: str
    before: Sequence[str] = ()
    """Arguments before those of the model."""
    after: Callable[[Sequence[str]], Sequence[str]] = lambda arguments: arguments
    """Converts the model's arguments for this program."""
    variables: Mapping[str, str] = field(default_factory=dict)

    def argv(self, arguments: Sequence[str]) -> list[str]:
        """The command line with the model's arguments."""
        return [self.program, *self.before, *self.after(arguments)]


def project_python(folder: str) -> str:
    """The interpreter of the project's own environment, else the one on `PATH`."""
    place = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    for environment in _ENVIRONMENTS:
        python = os.path.join(folder, environment, *place)
        if os.access(python, os.X_OK):
            return python
    return shutil.which("python3") or shutil.which("python") or sys.executable


def project_program(folder: str, name: str) -> str:
    """A program of the project's own environment or node modules, else its bare name."""
    scripts = "Scripts" if sys.platform == "win32" else "bin"
    places = [(environment, scripts) for environment in _ENVIRONMENTS]
    for place in (*places, ("node_modules", ".bin")):
        program = os.path.join(folder, *place, name)
        if os.access(program, os.X_OK):
            return program
    return name


def pyproject_tools(folder: str) -> Mapping[str, Any]:
    """The table `tool` of pyproject.toml; empty if there is none."""
    try:
        tools = tomllib.loads(file_text(folder, "pyproject.toml") or "").get("tool")
    except (ValueError, RecursionError):
        return {}
    return tools if isinstance(tools, dict) else {}


def package_json(folder: str) -> Mapping[str, Any]:
    """The object in package.json; empty if there is none."""
    try:
        package = json.loads(file_text(folder, "package.json") or "{}")
    except (ValueError, RecursionError):
        return {}
    return package if isinstance(package, dict) else {}


def node_script(folder: str, name: str) -> ProjectProgram | None:
    """A script of package.json, run by the program whose lock file is there."""
    scripts = package_json(folder).get("scripts")
    script = scripts.get(name) if isinstance(scripts, dict) else None
    if not isinstance(script, str) or not script.strip():
        return None
    present = set(file_names(folder))
    lock, program = next(
        ((lock, program) for lock, program in _NODE_PROGRAMS if lock in present), ("", "npm")
    )
    reason = f"package.json has a {name} script{f' and {lock} is there' if lock else ''}"
    is_test = name == "test"
    return ProjectProgram(
        f"{program} test" if is_test else f"{program} run {name}",
        reason,
        program,
        ("test",) if is_test and program != "bun" else ("run", name),
        lambda given: ["--", *given] if given and program == "npm" else given,
        {"CI": "true"},  # without it some programs watch for changes and never end
    )


def make_target(folder: str, name: str) -> ProjectProgram | None:
    """A target of a Makefile."""
    target = re.compile(rf"^{re.escape(name)}[ \t]*:(?!=)", re.MULTILINE)
    for file in ("GNUmakefile", "makefile", "Makefile"):
        if target.search(file_text(folder, file) or ""):
            return ProjectProgram(f"make {name}", f"{file} has a {name} target", "make", (name,))
    return None


def with_go_packages(arguments: Sequence[str]) -> Sequence[str]:
    """All packages, unless the arguments name some."""
    names_some = any(text.startswith(".") or "..." in text for text in arguments)
    return arguments if names_some else [*arguments, "./..."]


def file_text(folder: str, name: str) -> str | None:
    """The text of a small regular file; `None` if it cannot be read."""
    path = os.path.join(folder, name)
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _MAX_FILE_BYTES:
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def file_names(folder: str) -> list[str]:
    """The sorted names in a folder; empty if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for _, entry in zip(range(_MAX_NAMES), entries, strict=False)]
    except OSError:
        return []
    return sorted(names)


DEFAULT_TIMEOUT_SECONDS = 600.0
_MAX_OUTPUT_BYTES = 1024 * 1024
_MAX_NAMED_FOLDERS = 10


@dataclass(frozen=True, slots=True)
class ProjectCommand:
    """What one of these tools runs, and its words for it."""

    tool_name: str
    description: str
    find: Callable[[str], list[ProjectProgram]]
    """All programs that a folder is set up for; the first is the one to use."""
    looked_for: tuple[str, ...]
    kind: str
    """As `test runner`."""
    activity: str
    """As `the tests are run by`."""
    example: str
    """Arguments that a model may add."""
    default: str
    """What happens without arguments."""
    otherwise: str
    """What to do if nothing is found."""


def project_tool(
    command: ProjectCommand,
    default_timeout_seconds: float,
    sandbox: SandboxChoice,
    commands: CommandPolicy | None,
) -> Tool:
    """The tool that runs such a command."""
    return command_tool(
        command.tool_name,
        command.description,
        {
            "arguments": {
                "type": "string",
                "description": "Arguments to add to the runner's command line, such as "
                f"`{command.example}`. Default: none, so {command.default}.",
            },
            "cwd": {
                "type": "string",
                "description": "Folder of the project, inside the working directory. "
                "Default: itself.",
            },
            "timeout_seconds": timeout_property("the run", default_timeout_seconds),
        },
        partial(_run, command),
        default_timeout_seconds=default_timeout_seconds,
        sandbox=sandbox,
        commands=commands,
    )


async def _run(command: ProjectCommand, call: CommandCall) -> ToolResult:
    root, directory = call.root, call.directory
    arguments = _arguments(call.values)
    runners = command.find(directory)
    if not runners:
        raise RefusalError(_nothing_found(command, root, directory))
    runner, *others = runners
    if shutil.which(runner.program) is None:
        raise RefusalError(
            f"{command.activity} {runner.name} ({runner.reason}), but {quoted(runner.program)} "
            "is not installed; tell the user",
            "not_available",
        )
    argv = runner.argv(arguments)
    try:
        ending = await run_command(
            argv, call, max_output_bytes=_MAX_OUTPUT_BYTES, variables=runner.variables
        )
    except (OSError, ValueError) as error:
        raise RefusalError(
            f"{quoted(shlex.join(argv))} could not be started: {error}", "execution_failed"
        ) from None
    line = _shown_command(root, argv)
    first_line = _first_line(runner, others, line)
    return ending_result(ending, f"{first_line}\n", runner=runner.name, command=line)


def _arguments(values: Mapping[str, Any]) -> list[str]:
    """Split as a shell would; a list is used unchanged."""
    given = values.get("arguments", "")
    if isinstance(given, list) and all(isinstance(text, str) for text in given):
        return list(given)
    if not isinstance(given, str):
        raise RefusalError(f"`arguments` must be a string, got {type(given).__name__}")
    try:
        return shlex.split(given)
    except ValueError as error:
        raise RefusalError(
            f"`arguments` {quoted(given)} cannot be split: {str(error).lower()}; close the quote"
        ) from None


def _shown_command(root: str, argv: list[str]) -> str:
    """The command line; a program inside the working directory is shown relative to it."""
    program = argv[0]
    if program.startswith(root + os.sep):
        program = os.path.relpath(program, root)
    return shlex.join([program, *argv[1:]])


def _first_line(runner: ProjectProgram, others: list[ProjectProgram], line: str) -> str:
    also = ""
    if others:
        names = ", ".join(other.name for other in others)
        also = f"; {names} would fit too: run it in the terminal if that is meant"
    return f"Ran {quoted(line)} ({runner.reason}{also})."


def _nothing_found(command: ProjectCommand, root: str, directory: str) -> str:
    start = f"no {command.kind} was found; looked for {', '.join(command.looked_for)}"
    places = []
    with os.scandir(directory) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    for name in names:
        if not name.startswith(".") and command.find(os.path.join(directory, name)):
            places.append(quoted(os.path.relpath(os.path.join(directory, name), root)))
        if len(places) == _MAX_NAMED_FOLDERS:
            break
    if places:
        return f"{start}. There is one in {', '.join(places)}: give that as cwd"
    return f"{start}. {command.otherwise}"
