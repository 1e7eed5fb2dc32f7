"""All ready tools at once."""

from __future__ import annotations

from ethos_registry.tools._list_files import list_files_tool
from ethos_registry.tools._patch_file import patch_file_tool
from ethos_registry.tools._project_checks import lint_tool, run_tests_tool, typecheck_tool
from ethos_registry.tools._read_file import read_file_tool
from ethos_registry.tools._search_files import search_files_tool
from ethos_registry.tools._terminal import terminal_tool
from ethos_registry.tools._write_file import write_file_tool
from ethos_registry.types import _checks
from ethos_registry.types._tool import Tool


@_checks.checked_signature
def ready_tools() -> list[Tool]:
    """A fresh list of every ready tool with its defaults, in the order of their names.

    Some tools need a file or a backend of the host: `kanban_tools`, `memory_tools`,
    `session_search_tool`, `todo_tools`.
    """
    return [
        lint_tool(),
        list_files_tool(),
        patch_file_tool(),
        read_file_tool(),
        run_tests_tool(),
        search_files_tool(),
        terminal_tool(),
        typecheck_tool(),
        write_file_tool(),
    ]
