"""One of several processes that change the same files: see `test_toolkit_write_file`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ethos_registry import ToolContext, ToolError, ToolOk
from ethos_registry.tools import patch_file_tool, read_file_tool, write_file_tool

READ, WRITE, PATCH = read_file_tool(), write_file_tool(), patch_file_tool()


def main(folder: str, me: str, rounds: int) -> None:
    context = ToolContext(working_dir=folder, read_mtimes={})
    refused = 0
    for number in range(rounds):
        change = (count_up, append)[number % 2]
        while not change(context, me, number):
            refused += 1
    print(refused)


def count_up(context: ToolContext, me: str, number: int) -> bool:
    """One more on this process's line; the file keeps its size, so only the check can tell."""
    text = read(context, "counters.txt")
    line = next(line for line in text.splitlines() if line.startswith(me))
    changed = text.replace(line, f"{me} {int(line.split()[1]) + 1:06}")
    return done(WRITE.execute({"path": "counters.txt", "content": changed}, context))


def append(context: ToolContext, me: str, number: int) -> bool:
    """A line of this process before the end line."""
    text = read(context, "lines.txt")
    assert text.endswith("end\n"), f"torn: {text[-40:]!r}"
    return done(
        PATCH.execute(
            {"path": "lines.txt", "old": "end\n", "new": f"{me}-{number}\nend\n"}, context
        )
    )


def read(context: ToolContext, name: str) -> str:
    result: Any = READ.execute({"path": name}, context)
    assert isinstance(result, ToolOk), result
    return result.value


def done(result: Any) -> bool:
    if isinstance(result, ToolError):
        assert result.code == "STALE_WRITE", result
        return False
    return True


if __name__ == "__main__":
    assert Path(sys.argv[1]).is_dir()
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
