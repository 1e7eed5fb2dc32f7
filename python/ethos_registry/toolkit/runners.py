"""Find the program that runs a project's tests, by the project's files."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ethos_registry.toolkit.project_files import (
    Runner,
    file_names,
    file_text,
    make_target,
    node_script,
    package_json,
    project_python,
    pyproject_tools,
    with_go_packages,
)

__all__ = ["LOOKED_FOR", "Runner", "runners_in"]

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
_NO_TEST_SCRIPT = "no test specified"


def runners_in(folder: str) -> list[Runner]:
    """All runners that the folder is set up for; the first is the one to use.

    Only files of this folder are examined (and the names in its folder of tests). Files that
    cannot be read or parsed are ignored.
    """
    found = (
        _pytest(folder),
        _node(folder),
        _cargo(folder),
        _go(folder),
        make_target(folder, "test"),
    )
    return [runner for runner in found if runner is not None]


def _pytest(folder: str) -> Runner | None:
    reason = next(_pytest_reasons(folder), None)
    if reason is None:
        return None
    return Runner("pytest", reason, project_python(folder), ("-m", "pytest"))


def _pytest_reasons(folder: str) -> Iterator[str]:
    if "pytest" in pyproject_tools(folder):
        yield "pyproject.toml has settings for it"
    for name, section in _PYTEST_SETTINGS:
        text = file_text(folder, name)
        if text is not None and section in text:
            yield f"{name} has settings for it"
    for name in _TEST_FOLDERS:
        for file in file_names(os.path.join(folder, name)):
            if file == "conftest.py" or _is_test_module(file):
                yield f"{os.path.normpath(os.path.join(name, file))} is there"
                break


def _is_test_module(name: str) -> bool:
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def _node(folder: str) -> Runner | None:
    scripts = package_json(folder).get("scripts")
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if isinstance(script, str) and _NO_TEST_SCRIPT in script:
        return None
    return node_script(folder, "test")


def _cargo(folder: str) -> Runner | None:
    if not os.path.isfile(os.path.join(folder, "Cargo.toml")):
        return None
    return Runner("cargo test", "Cargo.toml is there", "cargo", ("test",))


def _go(folder: str) -> Runner | None:
    if not os.path.isfile(os.path.join(folder, "go.mod")):
        return None
    return Runner("go test", "go.mod is there", "go", ("test",), with_go_packages)
