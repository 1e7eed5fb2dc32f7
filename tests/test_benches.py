"""Benches run only by hand: the names that they import are those of the package."""

import ast
import importlib
from pathlib import Path

import pytest

BENCHES = Path(__file__).parent.parent / "benches"


def missing_names(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not str(node.module).startswith(
            "ethos_registry"
        ):
            continue
        try:
            module = importlib.import_module(node.module)
        except ModuleNotFoundError as error:
            if str(error.name).startswith("ethos_registry"):
                yield node.module
            continue  # a library of an extra is not installed
        yield from (name.name for name in node.names if not hasattr(module, name.name))


@pytest.mark.parametrize("path", sorted(BENCHES.rglob("*.py")), ids=lambda path: path.stem)
def test_a_bench_imports_what_there_is(path):
    assert list(missing_names(path)) == []


def test_a_name_that_is_gone_is_found(tmp_path):
    bench = tmp_path / "bench.py"
    bench.write_text(
        "from ethos_registry import Tool, Gone\nfrom ethos_registry.gone import here\n"
    )
    assert list(missing_names(bench)) == ["Gone", "ethos_registry.gone"]
