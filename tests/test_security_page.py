"""The security page names tests that exist, and lists the limits of each level as the code does."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from ethos_registry.capabilities._sandbox import LIMITS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/security.md").read_text()
PROMISES = [row for row in PAGE.splitlines() if row.startswith("| ") and "`tests/" in row]


def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, functions)}


def test_each_promise_names_tests_that_exist():
    assert len(PROMISES) > 25
    for row in PROMISES:
        named = re.findall(r"`(tests/[^`]+)`", row.rpartition(" | ")[2])
        assert named, row
        for reference in named:
            file, _, name = reference.partition("::")
            assert name in names_in(ROOT / file), reference


@pytest.mark.parametrize("level", [level for level in LIMITS if level != "none"])
def test_the_limits_of_a_level_are_listed(level):
    [part] = re.findall(rf"\n`{level}`:\n\n((?:- .*\n)+)", PAGE)
    assert tuple(line.removeprefix("- ") for line in part.splitlines()) == LIMITS[level]
