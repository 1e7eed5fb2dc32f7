"""`docs/migrate_imports.py` gives the imports of a program their new paths."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

SCRIPT = Path(__file__).parents[1] / "docs" / "migrate_imports.py"
OLD = """\
from ethos_registry import ToolRegistry, terminal_tool
from ethos_registry.bridges.langchain import to_langchain

def later():
    from ethos_registry import (
        McpServer,  # over stdio
        tool as make,
    )
"""
NEW = """\
from ethos_registry import ToolRegistry
from ethos_registry.tools import terminal_tool
from ethos_registry.adapters.langchain import to_langchain

def later():
    from ethos_registry import tool as make
    from ethos_registry.mcp import McpServer
"""


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("migrate_imports", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_imports_get_their_new_paths_once(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(OLD)
    check = [sys.executable, str(SCRIPT), "--check", str(program)]
    assert subprocess.run(check, check=False, capture_output=True).returncode == 1
    subprocess.run([sys.executable, str(SCRIPT), str(program)], check=True, capture_output=True)
    assert program.read_text() == NEW
    assert subprocess.run(check, check=False, capture_output=True).returncode == 0


def test_the_table_has_every_name_at_its_path() -> None:
    for path, names in script().NAMES.items():
        module = importlib.import_module(path)
        assert set(module.__all__) >= set(names.split()), path
