"""One of several processes that use the same board: see `test_toolkit_kanban`."""

from __future__ import annotations

import sys

from ethos_registry import ToolContext
from ethos_registry.tools import kanban_tools


def main(database: str, me: str, tickets: int) -> None:
    tools = {tool.name: tool for tool in kanban_tools(database)}
    for number in range(tickets):
        created = tools["kanban_create"].execute({"title": f"{me}-{number}"}, ToolContext())
        assert created.ok, created
        for status in ("doing", "review", "done")[: 1 + number % 3]:
            args = {"id": created.structured["id"], "status": status}
            moved = tools["kanban_move"].execute(args, ToolContext())
            assert moved.ok, moved


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
