"""Ready tools: files, programs, tickets, memory, the web, attachments, cut results."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.tools._artifact_readers import ArtifactReaders
    from ethos_registry.tools._browser import Browser
    from ethos_registry.tools._fetch_url import fetch_url_tool
    from ethos_registry.tools._kanban import kanban_tools
    from ethos_registry.tools._list_files import list_files_tool
    from ethos_registry.tools._memory import memory_tools
    from ethos_registry.tools._patch_file import patch_file_tool
    from ethos_registry.tools._project_checks import lint_tool, run_tests_tool, typecheck_tool
    from ethos_registry.tools._read_attachment import read_attachment_tool
    from ethos_registry.tools._read_file import read_file_tool
    from ethos_registry.tools._ready import ready_tools
    from ethos_registry.tools._search_files import search_files_tool
    from ethos_registry.tools._session_search import session_search_tool
    from ethos_registry.tools._terminal import terminal_tool
    from ethos_registry.tools._todo import todo_tools
    from ethos_registry.tools._web_search import (
        BraveSearch,
        ScriptedSearch,
        SearchBackend,
        SearchError,
        SearchResult,
        TavilySearch,
        web_search_tool,
    )
    from ethos_registry.tools._write_file import write_file_tool

__all__ = [
    "ArtifactReaders",
    "BraveSearch",
    "Browser",
    "ScriptedSearch",
    "SearchBackend",
    "SearchError",
    "SearchResult",
    "TavilySearch",
    "fetch_url_tool",
    "kanban_tools",
    "lint_tool",
    "list_files_tool",
    "memory_tools",
    "patch_file_tool",
    "read_attachment_tool",
    "read_file_tool",
    "ready_tools",
    "run_tests_tool",
    "search_files_tool",
    "session_search_tool",
    "terminal_tool",
    "todo_tools",
    "typecheck_tool",
    "web_search_tool",
    "write_file_tool",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "tools._artifact_readers": "ArtifactReaders",
            "tools._browser": "Browser",
            "tools._fetch_url": "fetch_url_tool",
            "tools._kanban": "kanban_tools",
            "tools._list_files": "list_files_tool",
            "tools._memory": "memory_tools",
            "tools._patch_file": "patch_file_tool",
            "tools._project_checks": "lint_tool run_tests_tool typecheck_tool",
            "tools._read_attachment": "read_attachment_tool",
            "tools._read_file": "read_file_tool",
            "tools._ready": "ready_tools",
            "tools._search_files": "search_files_tool",
            "tools._session_search": "session_search_tool",
            "tools._terminal": "terminal_tool",
            "tools._todo": "todo_tools",
            "tools._web_search": (
                "BraveSearch ScriptedSearch SearchBackend SearchError SearchResult "
                "TavilySearch web_search_tool"
            ),
            "tools._write_file": "write_file_tool",
        },
    )
