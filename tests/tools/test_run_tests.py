from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import ToolContext, ToolError, ToolOk, ToolResult
from ethos_registry.tools import run_tests_tool
from ethos_registry.tools._project_checks import LOOKED_FOR, ProjectProgram, runners_in

TOOL = run_tests_tool()

TEST_MODULE = """\
def test_good():
    pass

def test_other():
    assert 1 + 1 == 2
"""


async def run(folder: Path, *, tool: Any = TOOL, **args: Any) -> ToolResult:
    return await tool.execute(args, ToolContext(working_dir=folder))


async def succeeded(folder: Path, **args: Any) -> ToolOk:
    result = await run(folder, **args)
    assert isinstance(result, ToolOk), result
    return result


async def failed(folder: Path, **args: Any) -> ToolError:
    result = await run(folder, **args)
    assert isinstance(result, ToolError), result
    return result


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not there")


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@pytest.fixture
def python_project(folder: Path) -> Path:
    """One whose own environment has pytest: that of these tests."""
    write(
        folder,
        {
            "pyproject.toml": "[tool.pytest.ini_options]\n",
            "tests/test_it.py": TEST_MODULE,
        },
    )
    os.symlink(sys.prefix, folder / ".venv")
    return folder


def test_the_tool_is_a_coroutine_and_untrusted() -> None:
    assert (TOOL.name, TOOL.toolset, TOOL.is_coroutine) == ("run_tests", "terminal", True)
    assert TOOL.output_is_untrusted
    assert TOOL.timeout_seconds is not None
    assert TOOL.timeout_seconds > TOOL.schema["properties"]["timeout_seconds"]["maximum"]


class TestPytest:
    async def test_passes_in_the_projects_own_environment(self, python_project: Path) -> None:
        result = await succeeded(python_project)
        first, *rest = result.value.splitlines()
        assert first == ("Ran `.venv/bin/python -m pytest` (pyproject.toml has settings for it).")
        assert "2 passed" in rest[-1]
        assert result.structured == {
            "exit_code": 0,
            "runner": "pytest",
            "command": ".venv/bin/python -m pytest",
        }

    async def test_takes_arguments(self, python_project: Path) -> None:
        result = await succeeded(python_project, arguments="tests/test_it.py -k 'good or no'")
        assert "1 passed, 1 deselected" in result.value
        result = await succeeded(python_project, arguments=["-k", "good or no"])
        assert "1 passed, 1 deselected" in result.value

    async def test_a_failure_is_an_error_with_the_status(self, python_project: Path) -> None:
        write(python_project, {"tests/test_bad.py": "def test_bad():\n    assert 1 == 2\n"})
        result = await failed(python_project)
        lines = result.error.splitlines()
        assert lines[0].startswith("Ran `.venv/bin/python -m pytest`")
        assert lines[1] == "Command exited with code 1."
        assert "1 failed, 2 passed" in lines[-1]
        assert result.code == "execution_failed"
        assert result.extra == {"exit_code": 1}
        assert result.structured is not None
        assert result.structured["runner"] == "pytest"

    async def test_time_that_is_up_ends_the_run_and_keeps_the_output(
        self, python_project: Path
    ) -> None:
        write(
            python_project,
            {"conftest.py": "import time\nprint('started', flush=True)\ntime.sleep(600)\n"},
        )
        result = await failed(python_project, timeout_seconds=4, arguments="-s")
        assert "was killed after 4 s: time was up" in result.error
        assert result.extra == {"exit_code": None, "timed_out": True}


class TestOthers:
    @needs("make")
    async def test_make_runs_its_test_target(self, folder: Path) -> None:
        write(folder, {"Makefile": "other:\n\ttrue\ntest: other\n\t@echo checked $(WHAT)\n"})
        result = await succeeded(folder, arguments="WHAT='all of it'")
        assert result.value.splitlines()[0] == (
            "Ran `make test 'WHAT=all of it'` (Makefile has a test target)."
        )
        assert "checked all of it" in result.value
        write(folder, {"Makefile": "test:\n\t@exit 3\n"})
        assert (await failed(folder)).extra == {"exit_code": 2}

    @needs("npm")
    async def test_npm_runs_the_test_script(self, folder: Path) -> None:
        script = 'node -e "console.log(process.env.CI, process.argv.slice(1).join())"'
        write(folder, {"package.json": json.dumps({"scripts": {"test": script}})})
        result = await succeeded(folder, arguments="a --b")
        assert result.value.startswith(
            "Ran `npm test -- a --b` (package.json has a test script).\n"
        )
        assert "true a,--b" in result.value

    @needs("cargo")
    async def test_cargo_runs_the_tests_of_a_crate(self, folder: Path) -> None:
        write(
            folder,
            {
                "Cargo.toml": '[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2021"\n'
                '[lib]\npath = "lib.rs"\ndoctest = false\n[workspace]\n',
                "lib.rs": "#[test]\nfn good() {}\n",
            },
        )
        result = await succeeded(folder, arguments="good --offline")
        assert result.value.startswith("Ran `cargo test good --offline` (Cargo.toml is there).\n")
        assert "1 passed" in result.value

    async def test_a_runner_that_is_not_installed_is_named(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(folder, {"go.mod": "module x\n"})
        monkeypatch.setenv("PATH", str(folder))
        result = await failed(folder)
        assert result.code == "not_available"
        assert result.error == (
            "the tests are run by go test (go.mod is there), but `go` is not installed; "
            "tell the user"
        )


class TestNone:
    async def test_says_what_was_looked_for(self, folder: Path) -> None:
        result = await failed(folder)
        assert result.code == "input_invalid"
        assert result.error == (
            f"no test runner was found; looked for {', '.join(LOOKED_FOR)}. "
            "Run the tests in the terminal"
        )

    @needs("make")
    async def test_names_the_folders_that_have_one(self, folder: Path) -> None:
        for name in ("back", "front", ".hidden"):
            write(folder, {f"{name}/Makefile": "test:\n\t@echo checked\n"})
        error = (await failed(folder)).error
        assert error.endswith("There is one in `back`, `front`: give that as cwd")
        assert "checked" in (await succeeded(folder, cwd="back")).value

    async def test_arguments_that_do_not_fit_are_named(self, folder: Path) -> None:
        write(folder, {"Makefile": "test:\n"})
        for args, text in (
            ({"cwd": ".."}, "is not below the working directory"),
            ({"cwd": "no"}, "`cwd` `no` is not a folder in the working directory"),
            ({"arguments": "'a"}, "`arguments` `'a` cannot be split: no closing quotation"),
            ({"arguments": 5}, "`arguments` must be a string, got int"),
            ({"arguments": "a\0b"}, "could not be started"),
            ({"timeout_seconds": 0}, "`timeout_seconds` must be a number over 0"),
            ({"path": "x"}, "run_tests has no argument `path`"),
        ):
            assert text in (await failed(folder, **args)).error


class TestFinding:
    def found(self, folder: Path, files: dict[str, str]) -> list[ProjectProgram]:
        write(folder, files)
        return runners_in(str(folder))

    @pytest.mark.parametrize(
        ("files", "reason"),
        [
            ({"pytest.ini": ""}, "pytest.ini has settings for it"),
            ({"tox.ini": "[pytest]\n"}, "tox.ini has settings for it"),
            ({"setup.cfg": "[tool:pytest]\n"}, "setup.cfg has settings for it"),
            ({"pyproject.toml": "[tool.pytest]\n"}, "pyproject.toml has settings for it"),
            ({"tests/test_a.py": ""}, "tests/test_a.py is there"),
            ({"test/a_test.py": ""}, "test/a_test.py is there"),
            ({"test_a.py": ""}, "test_a.py is there"),
            ({"conftest.py": ""}, "conftest.py is there"),
        ],
    )
    def test_pytest_by_its_files(self, folder: Path, files: dict[str, str], reason: str) -> None:
        (runner,) = self.found(folder, files)
        assert (runner.name, runner.reason) == ("pytest", reason)

    @pytest.mark.parametrize(
        ("lock", "argv"),
        [
            ("package-lock.json", ["npm", "test", "--", "a"]),
            ("pnpm-lock.yaml", ["pnpm", "test", "a"]),
            ("yarn.lock", ["yarn", "test", "a"]),
            ("bun.lock", ["bun", "run", "test", "a"]),
        ],
    )
    def test_the_node_program_by_the_lock_file(
        self, folder: Path, lock: str, argv: list[str]
    ) -> None:
        (runner,) = self.found(folder, {"package.json": '{"scripts":{"test":"x"}}', lock: ""})
        assert runner.argv(["a"]) == argv
        assert runner.reason == f"package.json has a test script and {lock} is there"

    def test_go_tests_all_packages_unless_some_are_named(self, folder: Path) -> None:
        (runner,) = self.found(folder, {"go.mod": ""})
        assert runner.argv([]) == ["go", "test", "./..."]
        assert runner.argv(["-run", "X"]) == ["go", "test", "-run", "X", "./..."]
        assert runner.argv(["./a"]) == ["go", "test", "./a"]

    @pytest.mark.parametrize(
        "files",
        [
            {},
            {"pyproject.toml": "[tool.ruff]\n", "tests/data.txt": "", "setup.cfg": "[x]\n"},
            {"pyproject.toml": "not toml ["},
            {"package.json": '{"scripts":{"test":"echo \\"Error: no test specified\\"; exit 1"}}'},
            {"package.json": '{"scripts":{"build":"x"}}'},
            {"package.json": "[" * 100_000},
            {"package.json": "[]"},
            {"Makefile": "test := 1\ncheck:\n"},
        ],
    )
    def test_nothing_where_nothing_speaks_for_a_runner(
        self, folder: Path, files: dict[str, str]
    ) -> None:
        assert self.found(folder, files) == []

    def test_the_first_is_taken_and_the_others_are_named(self, folder: Path) -> None:
        files = {"Makefile": "test:\n", "Cargo.toml": "", "pytest.ini": ""}
        names = [runner.name for runner in self.found(folder, files)]
        assert names == ["pytest", "cargo test", "make test"]

    @needs("make")
    async def test_the_answer_says_what_else_would_fit(self, python_project: Path) -> None:
        write(python_project, {"Makefile": "test:\n"})
        first = (await succeeded(python_project)).value.splitlines()[0]
        assert first.endswith(
            "(pyproject.toml has settings for it; make test would fit too: run it in the terminal "
            "if that is meant)."
        )
