"""`ethos-registry prefix` and `ethos-registry tools --provider`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli_program import assert_one_error_line, run, run_json
from ethos_registry.providers import Prefix

MODULE = """
import os
from ethos_registry import Tool

async def execute(args, context):
    return {"ok": True, "value": ""}

def made(name, **properties):
    schema = {"type": "object", "properties": properties}
    return Tool(name, os.environ.get("TEXT", "") + f"The {name}.", schema, execute)

steady = [made("b"), made("a", x={"type": "string"})]
fewer = [made("a", x={"type": "integer"})]
"""

UNSTEADY = (
    MODULE
    + """
words = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}
unsteady = [made("a"), made("b", kind={"enum": list(words)})]
"""
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "some_tools.py").write_text(UNSTEADY)
    return tmp_path


@pytest.mark.slow
def test_a_saved_prefix_is_compared_with_the_tools_of_now(folder: Path) -> None:
    tools = ("--tools", "some_tools:steady")
    assert run("prefix", "save", "p.json", *tools, cwd=folder).returncode == 0
    saved = Prefix.from_json((folder / "p.json").read_text())
    assert [tool.name for tool in saved.tools] == ["a", "b"]
    same = run("prefix", "diff", "p.json", *tools, cwd=folder)
    assert (same.returncode, same.stderr) == (0, "")
    assert same.stdout == f"the same {len(saved.to_bytes())} bytes\n"
    other = run("prefix", "diff", "p.json", "--tools", "some_tools:fewer", cwd=folder)
    assert (other.returncode, other.stderr) == (1, "")
    remaining, *lines = other.stdout.splitlines()
    assert remaining.startswith("the first ")
    assert lines[0].startswith("a /input_schema/properties/x/type: schema at byte ")
    assert lines[1].startswith("b: removed at byte ")


@pytest.mark.slow
def test_two_files_are_compared_as_json(folder: Path) -> None:
    for name in ("steady", "fewer"):
        options = ("--tools", f"some_tools:{name}", "--provider", "openai")
        assert run("prefix", "save", f"{name}.json", *options, cwd=folder).returncode == 0
    found = run_json(
        "prefix", "diff", "steady.json", "fewer.json", "--json", cwd=folder, exit_code=1
    )
    assert [change["kind"] for change in found["changes"]] == ["schema", "removed"]
    assert found["changes"][0]["pointer"] == "/function/parameters/properties/x/type"
    assert found["same"] is False


def test_a_description_out_of_the_environment_is_found(folder: Path) -> None:
    tools = ("--tools", "some_tools:steady")
    run("prefix", "save", "p.json", *tools, cwd=folder)
    found = run("prefix", "diff", "p.json", *tools, cwd=folder, TEXT="Today: ")
    assert found.returncode == 1
    assert "a /description: description at byte" in found.stdout


@pytest.mark.slow
def test_a_schema_made_of_a_set_is_found_by_the_check(folder: Path) -> None:
    steady = run("prefix", "check", "--tools", "some_tools:steady", cwd=folder)
    assert (steady.returncode, steady.stdout) == (0, "the bytes are the same for every hash seed\n")
    found = run("prefix", "check", "--tools", "some_tools:unsteady", cwd=folder)
    assert (found.returncode, found.stderr) == (1, "")
    assert found.stdout == (
        "b /input_schema/properties/kind/enum: schema differs between hash seeds\n"
    )


@pytest.mark.slow
def test_what_cannot_be_read_is_one_line(folder: Path) -> None:
    (folder / "bad.json").write_text("{}")
    for arguments, parts in (
        (("prefix", "diff", "none.json"), ("none.json: cannot be read: No such file",)),
        (("prefix", "diff", "bad.json"), ("bad.json: unknown version of a prefix",)),
        (("prefix", "save", "no/p.json"), ("no/p.json: cannot be written",)),
        (("prefix", "save", "p.json", "--provider", "x"), ("unknown provider 'x'",)),
        (("tools", "--provider", "x"), ("unknown provider 'x'",)),
    ):
        assert_one_error_line(run(*arguments, cwd=folder), *parts)
    broken = run("prefix", "check", "--tools", "some_tools:none", cwd=folder)
    assert broken.returncode == 2
    assert "could not be loaded" in broken.stderr


@pytest.mark.slow
def test_the_cost_of_each_tool_and_the_share_of_the_context(folder: Path) -> None:
    tools = ("--tools", "some_tools:steady", "--provider", "anthropic")
    cost = run_json("tools", *tools, "--json", cwd=folder)
    assert cost["counter"] in ("characters / 4", "tiktoken o200k_base")
    assert [tool["name"] for tool in cost["tools"]] == ["a", "b"]
    assert cost["tokens"] == sum(tool["tokens"] for tool in cost["tools"])
    assert cost["context_share"] == cost["tokens"] / 200_000
    run("prefix", "save", "p.json", *tools, cwd=folder)
    saved = Prefix.from_json((folder / "p.json").read_text())
    assert cost["bytes"] == len(saved.to_bytes())
    assert cost["tools"][0]["bytes"] == len(saved.tools[0].text)
    drawn = run("tools", *tools, cwd=folder)
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert f"{cost['bytes']:,}" in drawn.stdout
    assert "of a context of 200,000 tokens" in drawn.stdout
    assert cost["counter"] in drawn.stdout


def test_tokens_are_counted_by_tiktoken_where_it_is_installed(folder: Path) -> None:
    (folder / "tiktoken.py").write_text(
        "class Encoding:\n"
        "    def encode(self, text, disallowed_special=None):\n"
        "        return list(range(7))\n"
        "def get_encoding(name):\n"
        "    return Encoding()\n"
    )
    tools = ("--tools", "some_tools:steady", "--provider", "anthropic")
    cost = run_json("tools", *tools, "--json", cwd=folder)
    assert cost["counter"] == "tiktoken o200k_base"
    assert [tool["tokens"] for tool in cost["tools"]] == [7, 7]


def test_the_ready_tools_have_a_prefix(folder: Path) -> None:
    done = run("prefix", "save", "-", cwd=folder)
    assert json.loads(done.stdout)["provider"] == "anthropic"
