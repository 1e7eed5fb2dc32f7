"""The tools `run_tests`, `lint` and `typecheck`: which program runs, the project's files decide."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from ethos_registry.tools._arguments import RefusalError, quoted, string
from ethos_registry.tools._command import CommandCall, SandboxChoice, command_tool, run_command
from ethos_registry.types import _checks
from ethos_registry.types._policy import CommandPolicy
from ethos_registry.types._result import ToolResult
from ethos_registry.types._tool import Tool

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
_NO_TEST_SCRIPT = "no test specified"
"""In the script that `npm init` writes."""
_ENVIRONMENTS = (".venv", "venv")


_After: TypeAlias = Callable[[Sequence[str]], Sequence[str]]


def _as_given(arguments: Sequence[str]) -> Sequence[str]:
    return arguments


@dataclass(frozen=True, slots=True)
class ProjectProgram:
    """One way to run a program of a project."""

    name: str
    reason: str
    """The file that speaks for it."""
    program: str
    before: Sequence[str] = ()
    """Arguments before those of the model."""
    after: _After = _as_given
    """Converts the model's arguments for this program."""
    variables: Mapping[str, str] = field(default_factory=dict)

    def argv(self, arguments: Sequence[str]) -> list[str]:
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


def node_script(folder: str, names: set[str], name: str) -> ProjectProgram | None:
    """A script of package.json, run by the program whose lock file is there."""
    scripts = package_json(folder).get("scripts")
    script = scripts.get(name) if isinstance(scripts, dict) else None
    is_test = name == "test"
    if not isinstance(script, str) or not script.strip() or (is_test and _NO_TEST_SCRIPT in script):
        return None
    lock, program = next(
        ((lock, program) for lock, program in _NODE_PROGRAMS if lock in names), ("", "npm")
    )
    reason = f"package.json has a {name} script{f' and {lock} is there' if lock else ''}"
    return ProjectProgram(
        f"{program} test" if is_test else f"{program} run {name}",
        reason,
        program,
        ("test",) if is_test and program != "bun" else ("run", name),
        lambda given: ["--", *given] if given and program == "npm" else given,
        {"CI": "true"},  # without it some programs watch for changes and never end
    )


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
    return command_tool(
        command.tool_name,
        command.description,
        {
            "arguments": string(
                f"Arguments to add to the runner's command line, such as `{command.example}`. "
                f"Default: none, so {command.default}."
            ),
        },
        partial(_run, command),
        what="the run",
        folder="Folder of the project",
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
    line = _shown_command(root, argv)
    return await run_command(
        argv,
        call,
        max_output_bytes=_MAX_OUTPUT_BYTES,
        variables=runner.variables,
        first_line=_first_line(runner, others, line),
        runner=runner.name,
        command=line,
    )


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
    return f"Ran {quoted(line)} ({runner.reason}{also}).\n"


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


# The programs that lint and type-check a project, by the project's files.

LINTERS_LOOKED_FOR = (
    "settings of ruff, flake8 or pylint (pyproject.toml or files of their own)",
    "a lint script in package.json",
    "settings of eslint or biome",
    "Cargo.toml",
    "go.mod",
    "a lint target in a Makefile",
)
TYPE_CHECKERS_LOOKED_FOR = (
    "settings of mypy, pyright, ty or pyrefly (pyproject.toml or files of their own)",
    "a typecheck script in package.json",
    "tsconfig.json",
    "Cargo.toml",
    "go.mod",
    "a typecheck target in a Makefile",
)
"""The first one found is used."""

_THERE = "is there"
_SETTINGS = "has settings for it"

_Find: TypeAlias = Callable[[str, set[str]], ProjectProgram | None]
"""The program of a folder with these names; `None` if the folder is not set up for it."""


def _or_here(arguments: Sequence[str]) -> Sequence[str]:
    """The folder itself, unless the arguments name a path."""
    names_some = any(not text.startswith("-") for text in arguments)
    return arguments if names_some else [*arguments, os.curdir]


def _all_in(finders: Sequence[_Find], folder: str) -> list[ProjectProgram]:
    """All programs that the folder is set up for; the first is the one to use.

    Only files of this folder are examined (and the names in its folder of tests). Files that
    cannot be read or parsed are ignored.
    """
    names = set(file_names(folder))
    return [found for find in finders if (found := find(folder, names)) is not None]


def _by_file(
    name: str,
    files: Sequence[str],
    program: str,
    *before: str,
    after: _After = _as_given,
    is_of_project: bool = False,
) -> _Find:
    """A program that one of the files speaks for; the project may have one of its own."""

    def find(folder: str, names: set[str]) -> ProjectProgram | None:
        there = next((file for file in files if file in names), None)
        if there is None:
            return None
        place = project_program(folder, program) if is_of_project else program
        return ProjectProgram(name, f"{there} {_THERE}", place, before, after)

    return find


def _by_settings(name: str, files: Sequence[str], *before: str, after: _After = _as_given) -> _Find:
    """A Python tool that settings speak for; `-m` starts its module."""

    def find(folder: str, names: set[str]) -> ProjectProgram | None:
        reason = _python_reason(folder, names, name, files)
        if not reason:
            return None
        is_module = before[:1] == ("-m",)
        program = project_python(folder) if is_module else project_program(folder, name)
        return ProjectProgram(name, reason, program, before, after)

    return find


def _by_script(*scripts: str) -> _Find:
    """The first of these scripts of package.json."""

    def find(folder: str, names: set[str]) -> ProjectProgram | None:
        found = (node_script(folder, names, script) for script in scripts)
        return next(filter(None, found), None)

    return find


def _by_target(name: str) -> _Find:
    """A target of a Makefile."""
    target = re.compile(rf"^{re.escape(name)}[ \t]*:(?!=)", re.MULTILINE)

    def find(folder: str, names: set[str]) -> ProjectProgram | None:
        for file in ("GNUmakefile", "makefile", "Makefile"):
            if target.search(file_text(folder, file) or ""):
                reason = f"{file} has a {name} target"
                return ProjectProgram(f"make {name}", reason, "make", (name,))
        return None

    return find


def _python_reason(folder: str, names: set[str], tool: str, files: Sequence[str]) -> str:
    """Which file has settings for a Python tool; empty if none has."""
    if tool in pyproject_tools(folder):
        return f"pyproject.toml {_SETTINGS}"
    for name in files:
        if name in names:
            return f"{name} {_THERE}"
    for name in ("setup.cfg", "tox.ini"):
        if name in names and any(
            section == tool or section.startswith(f"{tool}-")
            for section in _ini(folder, name).sections()
        ):
            return f"{name} {_SETTINGS}"
    return ""


def _ini(folder: str, name: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(file_text(folder, name) or "")
    except configparser.Error:
        return configparser.RawConfigParser()
    return parser


def _mypy(folder: str, names: set[str]) -> ProjectProgram | None:
    wanted = ("files", "modules", "packages")
    settings = pyproject_tools(folder).get("mypy")
    names_files = isinstance(settings, dict) and any(name in settings for name in wanted)
    names_files = names_files or any(
        _ini(folder, file).has_option("mypy", name)
        for file in ("mypy.ini", ".mypy.ini", "setup.cfg")
        for name in wanted
    )
    after = _as_given if names_files else _or_here
    return _by_settings("mypy", ("mypy.ini", ".mypy.ini"), "-m", "mypy", after=after)(folder, names)


def _eslint(folder: str, names: set[str]) -> ProjectProgram | None:
    settings = [
        name
        for name in sorted(names)
        if name.startswith(("eslint.config.", ".eslintrc.")) or name == ".eslintrc"
    ]
    if settings:
        reason = f"{settings[0]} {_THERE}"
    elif "eslintConfig" in package_json(folder):
        reason = f"package.json {_SETTINGS}"
    else:
        return None
    return ProjectProgram("eslint", reason, project_program(folder, "eslint"), (), _or_here)


def _go_linter(folder: str, names: set[str]) -> ProjectProgram | None:
    settings = [f".golangci.{ending}" for ending in ("yml", "yaml", "toml", "json")]
    linter = _by_file("golangci-lint", settings, "golangci-lint", "run")(folder, names)
    return linter if linter and "go.mod" in names else _GO_VET(folder, names)


_CARGO, _GO = ("Cargo.toml",), ("go.mod",)
_GO_VET = _by_file("go vet", _GO, "go", "vet", after=with_go_packages)
_LINTERS = (
    _by_settings("ruff", ("ruff.toml", ".ruff.toml"), "check"),
    _by_settings("flake8", (".flake8",), "-m", "flake8"),
    _by_settings(
        "pylint", (".pylintrc", "pylintrc"), "-m", "pylint", "--recursive=y", after=_or_here
    ),
    _by_script("lint"),
    _eslint,
    _by_file("biome", ("biome.json", "biome.jsonc"), "biome", "lint", is_of_project=True),
    _by_file("clippy", _CARGO, "cargo", "clippy"),
    _go_linter,
    _by_target("lint"),
)
_TYPE_CHECKERS = (
    _mypy,
    _by_settings("pyright", ("pyrightconfig.json",)),
    _by_settings("ty", ("ty.toml",), "check"),
    _by_settings("pyrefly", ("pyrefly.toml",), "check"),
    _by_script("typecheck", "type-check"),
    _by_file("tsc", ("tsconfig.json",), "tsc", "--noEmit", is_of_project=True),
    _by_file("cargo check", _CARGO, "cargo", "check"),
    _GO_VET,
    _by_target("typecheck"),
)
linters_in = partial(_all_in, _LINTERS)
type_checkers_in = partial(_all_in, _TYPE_CHECKERS)


# Find the program that runs a project's tests, by the project's files.

LOOKED_FOR = (
    "pytest settings (pyproject.toml, pytest.ini, tox.ini, setup.cfg) or a folder of test_*.py",
    "a test script in package.json",
    "Cargo.toml",
    "go.mod",
    "a test target in a Makefile",
)
"""The first one found is used."""

_PYTEST_SETTINGS = (
    ("pytest.ini", ""),
    (".pytest.ini", ""),
    ("tox.ini", "[pytest]"),
    ("setup.cfg", "[tool:pytest]"),
)
_TEST_FOLDERS = ("tests", "test", os.curdir)


def _pytest(folder: str, names: set[str]) -> ProjectProgram | None:
    reason = next(_pytest_reasons(folder), None)
    if reason is None:
        return None
    return ProjectProgram("pytest", reason, project_python(folder), ("-m", "pytest"))


def _pytest_reasons(folder: str) -> Iterator[str]:
    if "pytest" in pyproject_tools(folder):
        yield f"pyproject.toml {_SETTINGS}"
    for name, section in _PYTEST_SETTINGS:
        text = file_text(folder, name)
        if text is not None and section in text:
            yield f"{name} {_SETTINGS}"
    for name in _TEST_FOLDERS:
        for file in file_names(os.path.join(folder, name)):
            if file == "conftest.py" or _is_test_module(file):
                yield f"{os.path.normpath(os.path.join(name, file))} {_THERE}"
                break


def _is_test_module(name: str) -> bool:
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


_RUNNERS = (
    _pytest,
    _by_script("test"),
    _by_file("cargo test", _CARGO, "cargo", "test"),
    _by_file("go test", _GO, "go", "test", after=with_go_packages),
    _by_target("test"),
)
runners_in = partial(_all_in, _RUNNERS)


# The tools `lint` and `typecheck`: the project's own linter and type checker.

_LINT = ProjectCommand(
    "lint",
    "Lint the project in the working directory, by the linter that the project is set up for "
    "(ruff, flake8, pylint, eslint, biome, clippy, golangci-lint, go vet or a lint script).",
    linters_in,
    LINTERS_LOOKED_FOR,
    kind="linter",
    activity="the project is linted by",
    example="src/login.py",
    default="the whole project is linted",
    otherwise="Run a linter in the terminal, or tell the user that the project has none",
)
_TYPECHECK = ProjectCommand(
    "typecheck",
    "Check the types of the project in the working directory, by the type checker that the "
    "project is set up for (mypy, pyright, ty, pyrefly, tsc, cargo check, go vet or a script).",
    type_checkers_in,
    TYPE_CHECKERS_LOOKED_FOR,
    kind="type checker",
    activity="types are checked by",
    example="src/login.py",
    default="the whole project is checked",
    otherwise="Run a type checker in the terminal, or tell the user that the project has none",
)


@_checks.checked_signature
def lint_tool(
    *,
    default_timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    sandbox: SandboxChoice = "policy",
    commands: CommandPolicy | None = None,
) -> Tool:
    """The tool `lint(arguments?, timeout_seconds?, cwd?)`, in the toolset `terminal`.

    Finds the linter by the files of the context's `working_dir`, or of `cwd` below it: ruff, flake8
    and pylint by their settings, a `lint` script of package.json, eslint, biome, clippy for
    Cargo.toml, golangci-lint or `go vet` for go.mod, `make lint`. Programs of `.venv`, `venv` and
    `node_modules` come before those on `PATH`. The first line of the result names the command and
    why it was chosen. Everything else, with confinement, timeout and errors, is as in
    `run_tests_tool`: findings are an error `execution_failed` with the linter's `exit_code`.
    """
    return project_tool(_LINT, default_timeout_seconds, sandbox, commands)


@_checks.checked_signature
def typecheck_tool(
    *,
    default_timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    sandbox: SandboxChoice = "policy",
    commands: CommandPolicy | None = None,
) -> Tool:
    """The tool `typecheck(arguments?, timeout_seconds?, cwd?)`, in the toolset `terminal`.

    Like `lint_tool`, with mypy, pyright, ty and pyrefly by their settings, a `typecheck` script of
    package.json, `tsc --noEmit` for tsconfig.json, `cargo check`, `go vet ./...`, `make typecheck`.
    """
    return project_tool(_TYPECHECK, default_timeout_seconds, sandbox, commands)


# The tool `run_tests`: the project's tests, by the project's own runner.

_COMMAND = ProjectCommand(
    "run_tests",
    "Run the tests of the project in the working directory, by the runner that the project "
    "is set up for (pytest, npm and similar, cargo, go or make).",
    runners_in,
    LOOKED_FOR,
    kind="test runner",
    activity="the tests are run by",
    example="tests/test_login.py -x",
    default="all tests run",
    otherwise="Run the tests in the terminal",
)


@_checks.checked_signature
def run_tests_tool(
    *,
    default_timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    sandbox: SandboxChoice = "policy",
    commands: CommandPolicy | None = None,
) -> Tool:
    """The tool `run_tests(arguments?, timeout_seconds?, cwd?)`, in the toolset `terminal`.

    Finds the runner by the files of the context's `working_dir`, or of `cwd` below it, in the
    order of `LOOKED_FOR`: pytest (with the interpreter of `.venv` or `venv` if there is one), the
    test script of package.json (npm, pnpm, yarn or bun by the lock file), `cargo test`,
    `go test ./...`, `make test`. `arguments` are split as a shell would and passed on; no shell
    runs. The first line of the result names the command and why it was chosen; then comes the
    output, as from `terminal`: success with `structured={"exit_code": 0, ...}`, or an error
    `execution_failed` with the extra field `exit_code`. `structured` has `runner` and `command` in
    either case. Without a runner the error names what was looked for, and a subfolder that has
    one. Timeout, abort and cancellation end what the tests started, `sandbox` confines them and
    `commands` limits them, as for `terminal`.
    """
    return project_tool(_COMMAND, default_timeout_seconds, sandbox, commands)
