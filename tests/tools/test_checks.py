"""`lint` and `typecheck`: the project's own programs, found by its files and confined."""

from __future__ import annotations

import asyncio
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import (
    Personality,
    ToolContext,
    ToolError,
    ToolOk,
    ToolRegistry,
    ToolResult,
    default_reducers,
)
from ethos_registry.capabilities import CommandSandbox, FsReach
from ethos_registry.tools import lint_tool, typecheck_tool
from ethos_registry.tools._project_checks import (
    LINTERS_LOOKED_FOR,
    TYPE_CHECKERS_LOOKED_FOR,
    linters_in,
    type_checkers_in,
)

LINT, TYPECHECK = lint_tool(), typecheck_tool()


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


async def run(tool: Any, folder: Path, **args: Any) -> ToolResult:
    result: ToolResult = await tool.execute(args, ToolContext(working_dir=folder))
    return result


def program(folder: Path, place: str, text: str) -> Path:
    """An executable of the project."""
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


needs_sh = pytest.mark.skipif(sys.platform == "win32", reason="needs /bin/sh")
needs_mypy = pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")

FOUND = [
    ("lint", {"pyproject.toml": "[tool.ruff]"}, "ruff", "ruff check"),
    ("lint", {"ruff.toml": ""}, "ruff", "ruff check"),
    ("lint", {".flake8": ""}, "flake8", "-m flake8"),
    ("lint", {"setup.cfg": "[flake8]\nmax-line-length = 100"}, "flake8", "-m flake8"),
    ("lint", {".pylintrc": ""}, "pylint", "-m pylint --recursive=y ."),
    ("lint", {"package.json": '{"scripts": {"lint": "x"}}'}, "npm run lint", "npm run lint"),
    (
        "lint",
        {"package.json": '{"scripts": {"lint": "x"}}', "pnpm-lock.yaml": ""},
        "pnpm run lint",
        "pnpm run lint",
    ),
    ("lint", {"eslint.config.mjs": ""}, "eslint", "eslint ."),
    ("lint", {"package.json": '{"eslintConfig": {}}'}, "eslint", "eslint ."),
    ("lint", {"biome.jsonc": "{}"}, "biome", "biome lint"),
    ("lint", {"Cargo.toml": ""}, "clippy", "cargo clippy"),
    ("lint", {"go.mod": ""}, "go vet", "go vet ./..."),
    ("lint", {"go.mod": "", ".golangci.yml": ""}, "golangci-lint", "golangci-lint run"),
    ("lint", {"Makefile": "lint:\n\ttrue"}, "make lint", "make lint"),
    ("typecheck", {"pyproject.toml": "[tool.mypy]"}, "mypy", "-m mypy ."),
    ("typecheck", {"pyproject.toml": '[tool.mypy]\nfiles = ["src"]'}, "mypy", "-m mypy"),
    ("typecheck", {"mypy.ini": "[mypy]\npackages = a"}, "mypy", "-m mypy"),
    ("typecheck", {"setup.cfg": "[mypy-foo.*]\nx = 1"}, "mypy", "-m mypy ."),
    ("typecheck", {"pyrightconfig.json": "{}"}, "pyright", "pyright"),
    ("typecheck", {"ty.toml": ""}, "ty", "ty check"),
    ("typecheck", {"pyproject.toml": "[tool.pyrefly]"}, "pyrefly", "pyrefly check"),
    (
        "typecheck",
        {"package.json": '{"scripts": {"type-check": "x"}}'},
        "npm run type-check",
        "npm run type-check",
    ),
    ("typecheck", {"tsconfig.json": "{}"}, "tsc", "tsc --noEmit"),
    ("typecheck", {"Cargo.toml": ""}, "cargo check", "cargo check"),
    ("typecheck", {"go.mod": ""}, "go vet", "go vet ./..."),
    ("typecheck", {"Makefile": "typecheck:\n\ttrue"}, "make typecheck", "make typecheck"),
]


@pytest.mark.parametrize(("what", "files", "name", "line"), FOUND)
def test_the_files_of_a_project_choose_the_program(tmp_path, what, files, name, line):
    write(tmp_path, files)
    found = {"lint": linters_in, "typecheck": type_checkers_in}[what](str(tmp_path))
    assert [runner.name for runner in found] == [name]
    assert " ".join(found[0].argv([])).endswith(line)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"pyproject.toml": "[tool.black]"},
        {"pyproject.toml": "not toml ["},
        {"setup.cfg": "no section"},
        {"package.json": '{"scripts": {"lint": 1}, "eslint": {}}'},
        {"package.json": "[1]"},
        {"main.py": "x = 1"},
    ],
)
def test_other_files_choose_nothing(tmp_path, files):
    write(tmp_path, files)
    assert linters_in(str(tmp_path)) == []
    assert type_checkers_in(str(tmp_path)) == []


def test_arguments_of_the_model_replace_the_default_path():
    [mypy] = type_checkers_in_with({"mypy.ini": ""})
    assert mypy.argv(["a.py"])[-1] == "a.py"
    assert mypy.argv(["--strict"])[-2:] == ["--strict", "."]


def type_checkers_in_with(files: dict[str, str]) -> list[Any]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), files)
        return type_checkers_in(folder)


@pytest.mark.parametrize("place", [".venv/bin/ruff", "venv/bin/ruff", "node_modules/.bin/ruff"])
@needs_sh
async def test_a_program_of_the_project_comes_before_that_on_the_path(tmp_path, place):
    write(tmp_path, {"ruff.toml": ""})
    program(tmp_path, place, 'echo "own $@"')
    result = await run(LINT, tmp_path, arguments="src 'a b'")
    assert isinstance(result, ToolOk)
    first, *rest = result.text.splitlines()
    assert first == f"Ran `{place} check src 'a b'` (ruff.toml is there)."
    assert rest == ["own check src a b"]
    assert result.structured == {
        "exit_code": 0,
        "runner": "ruff",
        "command": f"{place} check src 'a b'",
    }


@needs_sh
async def test_findings_are_an_error_with_the_exit_code_and_the_output(tmp_path):
    write(tmp_path, {"ruff.toml": "", "eslint.config.js": ""})
    program(tmp_path, ".venv/bin/ruff", "echo 'a.py:1:1: F401 unused'; exit 1")
    result = await run(LINT, tmp_path)
    assert isinstance(result, ToolError)
    assert result.extra["exit_code"] == 1
    first = (
        "Ran `.venv/bin/ruff check` (ruff.toml is there; eslint would fit too: run it in the "
        "terminal if that is meant)."
    )
    assert result.text.splitlines() == [
        first,
        "Command exited with code 1.",
        "a.py:1:1: F401 unused",
    ]


async def test_refusals_name_what_was_looked_for_and_what_to_do(tmp_path):
    for tool, kind, looked_for in (
        (LINT, "linter", LINTERS_LOOKED_FOR),
        (TYPECHECK, "type checker", TYPE_CHECKERS_LOOKED_FOR),
    ):
        result = await run(tool, tmp_path)
        assert isinstance(result, ToolError)
        assert result.text.startswith(f"no {kind} was found; looked for {', '.join(looked_for)}. ")
        assert "tell the user" in result.text
    write(tmp_path, {"app/ty.toml": ""})
    result = await run(TYPECHECK, tmp_path)
    assert result.text.endswith("There is one in `app`: give that as cwd")


async def test_a_program_that_is_not_installed_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    write(tmp_path, {"biome.json": "{}"})
    result = await run(LINT, tmp_path)
    assert isinstance(result, ToolError)
    assert result.code == "not_available"
    assert result.text == (
        "the project is linted by biome (biome.json is there), but `biome` is not installed; "
        "tell the user"
    )


@needs_mypy
@needs_sh
async def test_mypy_really_checks_a_project(tmp_path):
    program(tmp_path, ".venv/bin/python", f"exec '{sys.executable}' \"$@\"")
    write(tmp_path, {"pyproject.toml": "[tool.mypy]\nfiles = ['a.py']", "a.py": "x: int = 'no'\n"})
    result = await run(TYPECHECK, tmp_path)
    assert isinstance(result, ToolError)
    assert result.extra["exit_code"] == 1
    assert "a.py:1: error: Incompatible types in assignment" in result.text
    write(tmp_path, {"a.py": "x: int = 1\n"})
    result = await run(TYPECHECK, tmp_path)
    assert isinstance(result, ToolOk), result


@pytest.mark.skipif(CommandSandbox().probe().level == "none", reason="nothing can be confined here")
@needs_sh
def test_they_run_under_the_policy_of_the_personality(tmp_path):
    outside = tmp_path / "outside.txt"
    project = tmp_path / "project"
    write(project, {"ruff.toml": "", "tsconfig.json": ""})
    for name in ("ruff", "tsc"):
        program(project, f".venv/bin/{name}", f"echo in > inside; echo out > {outside}")
    registry = ToolRegistry([LINT, TYPECHECK])
    reach = FsReach(read=[str(project)], write=[str(project)])
    view = registry.view(Personality("careful", toolset=["toolset:terminal"], fs_reach=reach))
    calls = [{"id": name, "name": name, "args": {}} for name in ("lint", "typecheck")]
    asyncio.run(view.execute(calls, ToolContext(working_dir=project)))
    assert not outside.exists()
    assert (project / "inside").exists()


@needs_sh
def test_long_output_is_reduced_as_that_of_the_command(tmp_path):
    write(tmp_path, {"mypy.ini": ""})
    program(
        tmp_path,
        ".venv/bin/python",
        'for n in $(seq 3000); do echo "a.py:$n: note: See the docs"; done\n'
        "echo 'a.py:7: error: Incompatible types in assignment  [assignment]'\n"
        "echo 'Found 1 error in 1 file (checked 1 source file)'; exit 1",
    )
    call = {"id": "1", "name": "typecheck", "args": {}}
    context = ToolContext(working_dir=tmp_path)
    texts = {}
    for name, reducers in (("plain", None), ("reduced", default_reducers())):
        registry = ToolRegistry([TYPECHECK], reducer_registry=reducers)
        texts[name] = registry.execute_parallel_sync([call], context)[0]
    assert texts["reduced"].reduced_chars < texts["plain"].raw_chars / 2
    shown = texts["reduced"].text.splitlines()
    assert shown[0] == "Ran `.venv/bin/python -m mypy .` (mypy.ini is there)."
    assert "error: Incompatible types in assignment" in texts["reduced"].text
    assert "Found 1 error in 1 file" in texts["reduced"].text
    assert "Command exited with code 1." in texts["reduced"].text


@needs_sh
def test_short_output_and_refusals_are_not_changed_by_the_reducer(tmp_path):
    registry = ToolRegistry([LINT], reducer_registry=default_reducers())
    context = ToolContext(working_dir=tmp_path)
    call = {"id": "1", "name": "lint", "args": {}}
    assert "no linter was found" in registry.execute_parallel_sync([call], context)[0].text
    write(tmp_path, {"ruff.toml": ""})
    program(tmp_path, ".venv/bin/ruff", "echo fine")
    assert registry.execute_parallel_sync([call], context)[0].text.splitlines()[1:] == ["fine"]
