"""`tools --check --provider` and `prefix schemas`: what a provider is sent of the schemas."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli_program import run, run_json

MODULE = """
from ethos_registry import Tool

async def execute(args, context):
    return {"ok": True, "value": ""}

def made(name, schema, **fields):
    return Tool(name, "About.", {"type": "object"} | schema, execute, **fields)

TEXT = {"type": "string"}
tools = [
    made("renamed", {"properties": {"$top": TEXT}}),
    made("described", {"properties": {"a": TEXT}, "oneOf": [{"required": ["a"]}, {}]}),
    made("plain", {"properties": {"a": TEXT}}),
]
wide = [made("wide", {"properties": {f"p{n}": TEXT for n in range(30)}}, strict=True)]
gone = [made("gone", {"properties": {"a": {"$ref": "https://example.com/a.json"}}})]
"""
COMMANDS = (("tools", "--check"), ("prefix", "schemas"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "some_tools.py").write_text(MODULE)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_notes_of_each_tool(command: tuple[str, ...], folder: Path) -> None:
    tools = ("--provider", "anthropic", "--tools", "some_tools:tools")
    done = run(*command, *tools, cwd=folder)
    assert done.returncode == 0
    assert "renamed: `$top` is sent as `top` (anthropic)" in done.stdout
    assert "described: `oneOf` at the root" in done.stdout
    assert "plain:" not in done.stdout
    notes = run_json(*command, *tools, "--json", cwd=folder)
    assert {"renamed", "described"} <= {note["kind"] for note in notes}
    assert json.dumps(notes)


@pytest.mark.slow
def test_strict_tool_that_is_given_up_and_tool_that_is_left_out(folder: Path) -> None:
    wide = run("prefix", "schemas", "--tools", "some_tools:wide", cwd=folder)
    assert (wide.returncode, "wide: not sent as strict:" in wide.stdout) == (0, True)
    options = ("--provider", "gemini", "--tools", "some_tools:gone")
    gone = run("tools", "--check", *options, cwd=folder)
    assert (gone.returncode, "gone: left out:" in gone.stdout) == (1, True)
