"""Inputs of the benchmarks, equal byte for byte on every machine and in every run."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

CHARACTERS = {"ascii": "", "latin": "é", "cyrillic": "ж", "emoji": "😀"}
"""The characters of a line of `text`, by alphabet: one, two, two and four bytes in UTF-8."""

_MEBIBYTE = 1_048_576
_LINE_WITH_FEED_CHARS = 81


def text(mebibytes: int, character: str = "") -> str:
    """Lines of 80 code points, about `mebibytes` long; no closing line feed."""
    count = mebibytes * _MEBIBYTE // _LINE_WITH_FEED_CHARS
    padding = "x" * (68 if character else 69)
    return "\n".join(f"{number:010d} {character}{padding}" for number in range(count))


def public_schemas(count: int) -> list[dict[str, Any]]:
    """Parameters of public tools: those of MCP servers first, then functions of BFCL."""
    data = Path(__file__).parent.parent / "tests" / "data"
    servers = json.loads(lzma.decompress((data / "mcp_schemas.json.xz").read_bytes()))
    functions = json.loads(lzma.decompress((data / "bfcl.json.xz").read_bytes()))["functions"]
    schemas = [tool["schema"] for tool in servers] + [tool["parameters"] for tool in functions]
    return schemas[:count]


def git_status(paths: int) -> str:
    """The short format of `git status` over `paths` paths."""
    codes = (" M", "M ", "A ", "D ", "??", "R ")
    return "\n".join(
        f"{codes[number % 6]} src/dir{number % 100}/file{number}.ts" for number in range(paths)
    )


def git_status_long(paths: int) -> str:
    """The long format over `paths` modified paths."""
    heading = (
        "On branch main\n"
        "Changes not staged for commit:\n"
        '  (use "git add <file>..." to update what will be committed)\n'
        '  (use "git restore <file>..." to discard changes in working directory)\n'
    )
    entries = "".join(
        f"\tmodified:   src/dir{number % 100}/file{number}.ts\n" for number in range(paths)
    )
    closing = '\nno changes added to commit (use "git add" and/or "git commit -a")\n'
    return heading + entries + closing


def mixed(count: int) -> tuple[list[tuple[str, str | None]], list[str]]:
    """`(name, plugin_id)` in registration order, and an allow list of every tenth tool.

    One tool in ten belongs to one of ten MCP servers, one in ten to one of ten plugins.
    """
    tools: list[tuple[str, str | None]] = []
    allowed = []
    for number in range(count):
        group = number // 10 % 10
        if number % 10 == 0:
            tools.append((f"mcp__srv{group}__tool_{number}", None))
        elif number % 10 == 1:
            tools.append((f"plug_tool_{number}", f"plug{group}"))
        else:
            tools.append((f"tool_{number}", None))
            if number % 10 == 2:
                allowed.append(f"tool_{number}")
    return tools, allowed


def definition(name: str) -> dict[str, Any]:
    """The definition of a tool with this name."""
    return {
        "name": name,
        "description": f"Description of {name}",
        "parameters": {"type": "object", "properties": {"x": {"type": "string"}}},
    }


def fresh(value: str) -> str:
    """An equal but separate string, without the caches of the other."""
    return value[:1] + value[1:]
