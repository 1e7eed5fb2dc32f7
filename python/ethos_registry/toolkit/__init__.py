"""Ready tools: files, programs, tickets, memory, the web, attachments, cut results."""

from __future__ import annotations

from ethos_registry.toolkit.artifact_readers import ArtifactReaders
from ethos_registry.toolkit.browser.browser import Browser
from ethos_registry.toolkit.check_tools import lint_tool, typecheck_tool
from ethos_registry.toolkit.kanban import kanban_tools
from ethos_registry.toolkit.list_files import list_files_tool
from ethos_registry.toolkit.memory import memory_tools
from ethos_registry.toolkit.patch_file import patch_file_tool
from ethos_registry.toolkit.read_attachment import read_attachment_tool
from ethos_registry.toolkit.read_file import read_file_tool
from ethos_registry.toolkit.ready import ready_tools
from ethos_registry.toolkit.run_tests import run_tests_tool
from ethos_registry.toolkit.search_files import search_files_tool
from ethos_registry.toolkit.session_search import session_search_tool
from ethos_registry.toolkit.terminal import terminal_tool
from ethos_registry.toolkit.todo import todo_tools
from ethos_registry.toolkit.web.fetch_url import fetch_url_tool
from ethos_registry.toolkit.web.search_port import (
    ScriptedSearch,
    SearchBackend,
    SearchError,
    SearchResult,
)
from ethos_registry.toolkit.web.search_services import BraveSearch, TavilySearch
from ethos_registry.toolkit.web.web_search import web_search_tool
from ethos_registry.toolkit.write_file import write_file_tool

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
