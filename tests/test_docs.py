"""The blocks of the pages run and print what the pages show; the site has every page and name."""

import contextlib
import importlib
import inspect
import io
import pkgutil
import re
from pathlib import Path

import pytest

import ethos_registry
from ethos_registry import Tool, ToolRegistry, tool
from usage_tools import is_installed, missing

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
BRING_YOUR_TOOLS = DOCS / "bring-your-tools.md"
SOURCES = re.findall(r"^## From (.+)$", BRING_YOUR_TOOLS.read_text("utf-8"), re.MULTILINE)
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<printed>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)(?:#[^)]*)?\)")


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def run_block(page, text, block, names):
    code = "\n" * text.count("\n", 0, block.start("code")) + block["code"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(page), "exec"), names)
    assert printed.getvalue() == (block["printed"] or "")


def need_frameworks(text, extra="frameworks"):
    for module in re.findall(r"^from (\S+) import", text, re.MULTILINE):
        if not module.startswith("ethos_registry") and not is_installed(module):
            missing(extra, f"{module} is not installed")


@pytest.mark.parametrize("page", sorted(set(PAGES) - {BRING_YOUR_TOOLS}), ids=name_of)
def test_each_block_prints_the_output_below_it(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    if page.parent.name == "frameworks":
        need_frameworks(text, page.stem if page.stem == "google-adk" else "frameworks")
    names = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        run_block(page, text, block, names)


@pytest.mark.parametrize("source", SOURCES)
def test_tools_of_frameworks_are_brought_by_one_line(source):
    text = BRING_YOUR_TOOLS.read_text(encoding="utf-8")
    block = BLOCK.search(text, text.index(f"\n## From {source}\n"))
    need_frameworks(block["code"])
    run_block(BRING_YOUR_TOOLS, text, block, {"__name__": "__main__"})
    calls = re.findall(
        r"^ *((?:registry\.register|bridge\.attach)\w*)\(", block["code"], re.MULTILINE
    )
    assert len(calls) == 1


def test_the_blocks_are_found():
    blocks = [block for page in PAGES for block in BLOCK.finditer(page.read_text(encoding="utf-8"))]
    fences = sum(page.read_text(encoding="utf-8").count("```python\n") for page in PAGES)
    assert len(blocks) == fences > 20
    assert sum(block["printed"] is not None for block in blocks) > 10


@pytest.mark.parametrize(
    "page",
    sorted(page for page in (DOCS / "frameworks").glob("*.md") if page.stem != "index"),
    ids=name_of,
)
def test_the_example_of_a_framework_is_short(page):
    [block] = [block["code"] for block in BLOCK.finditer(page.read_text(encoding="utf-8"))]
    assert len([line for line in block.splitlines() if line.strip()]) <= 25


REGISTRY_METHODS = {"concepts/gates.md", "concepts/registries.md"}
"""They explain the methods of a registry below a view."""


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_examples_run_calls_through_a_view(page):
    if name_of(page) in REGISTRY_METHODS:
        return
    code = "".join(block["code"] for block in BLOCK.finditer(page.read_text(encoding="utf-8")))
    assert not re.findall(r"\.execute_parallel\w*\(|\.to_definitions\(|\.result\.value\b", code)


def test_the_navigation_holds_every_page():
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"[:-] ([\w/-]+\.md)$", settings, re.MULTILINE)) == set(
        map(name_of, PAGES)
    )


def test_the_reference_holds_every_public_name():
    pages = sorted((DOCS / "reference").glob("*.md"))
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    found = pkgutil.walk_packages(ethos_registry.__path__, "ethos_registry.")
    packages = [name for _, name, is_package in found if is_package and "._" not in name]
    for path in ("ethos_registry", "ethos_registry.testing", *packages):
        listed = re.findall(rf"^::: {re.escape(path)}\.(\w+)$", text, re.MULTILINE)
        names = set(importlib.import_module(path).__all__) - {"__version__"}
        assert sorted(listed) == sorted(names), path


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_file_that_a_page_links_is_there(page):
    missing = [
        link
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert not missing


def test_the_index_of_the_reference_is_generated(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    make_reference = importlib.import_module("make_reference")
    assert (DOCS / "reference" / "index.md").read_text(encoding="utf-8") == make_reference.index()


@pytest.mark.parametrize("decorator", [tool, ToolRegistry.tool], ids=["tool", "registry.tool"])
def test_every_option_of_the_decorator_has_a_line(decorator):
    options = set(Tool.FIELDS) - {"execute"}
    if decorator is not tool:
        options |= {"overwrite", "plugin_id", "owner"}
    described = re.findall(r"^ +(\w+)(?: \(.*\))?: ", inspect.getdoc(decorator), re.MULTILINE)
    assert options <= set(described)


def test_tabs_are_rendered():
    assert "- pymdownx.tabbed:" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
