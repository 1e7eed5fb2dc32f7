"""Rust modules import downwards only, and the crates depend on each other in one direction."""

import re
import tomllib
from pathlib import Path

import pytest

RUST = Path(__file__).parent.parent / "rust"
REDUCE = RUST / "reduce" / "src"

CRATE_FLOORS = {
    "core": 0,
    "filesystem": 0,
    "reduce": 1,
    "arrow": 1,
    "fuzz": 2,
    "hooks": 2,
    "cli": 3,
    "py": 3,
}

FLOORS = {
    "line": 0,
    "input": 0,
    "policy": 0,
    "output": 1,
    "family": 2,
    "kinds": 2,
    "nested": 3,
    "rows": 3,
    "generic": 4,
    "formats": 4,
    "parsers": 5,
    "divide": 6,
    "pipeline": 7,
    "lib": 8,
    "tested": 9,
    "tests": 9,
}
SAME_CIRCLE = {("divide", "pipeline")}
"""A part of a divided output goes the way of an output of its own, so these two know each other."""


def product_code(text: str) -> str:
    """The text without comments and tests."""
    text = re.sub(r"//[^\n]*", "", text)
    return re.split(r"#\[cfg\(test\)\]\s*mod tests\b", text)[0]


def imports_of(path: Path) -> set[str]:
    code = product_code(path.read_text())
    found = set(re.findall(r"\bcrate::([a-z_]+)", code))
    for group in re.findall(r"\bcrate::\{([^;]*)\};", code):
        found |= set(re.findall(r"(?:^|,)\s*([a-z_]+)", group))
    return found


def room_of(path: Path) -> str:
    return path.relative_to(REDUCE).parts[0].removesuffix(".rs")


def edges() -> set[tuple[str, str, str]]:
    return {
        (room_of(path), target, str(path.relative_to(REDUCE)))
        for path in REDUCE.rglob("*.rs")
        if ("tests" not in path.parts[-2:-1] and path.name != "tests.rs")
        or (path.parent.name == "tests" and path.parent.parent.name == "parsers")
        for target in imports_of(path)
        if target in FLOORS and target != room_of(path)
    }


def test_every_module_of_the_reducers_has_a_floor():
    assert {room_of(path) for path in REDUCE.rglob("*.rs")} == FLOORS.keys()


def test_modules_of_the_reducers_import_downwards_only():
    found = edges()
    assert ("parsers", "rows") in {(source, target) for source, target, _ in found}
    wrong = [
        f"{path} imports {target}"
        for source, target, path in found
        if FLOORS[target] >= FLOORS[source] and (source, target) not in SAME_CIRCLE
    ]
    assert not wrong


def test_parsers_form_no_circle():
    parsers = REDUCE / "parsers"
    graph: dict[str, set[str]] = {}
    for path in parsers.rglob("*.rs"):
        parts = path.relative_to(parsers).with_suffix("").parts
        if len(parts) < 2 or parts[-1] == "tests":
            continue
        name = "::".join(parts[:2])
        code = product_code(path.read_text())
        targets = set(re.findall(r"\bcrate::parsers::([a-z]+::[a-z_]+)", code))
        graph.setdefault(name, set()).update(targets - {name})
    assert len(graph) > 30
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join([*above, name])
        if name in done:
            return
        for target in sorted(graph.get(name, ())):
            visit(target, (*above, name))
        done.add(name)

    for name in sorted(graph):
        visit(name, ())


@pytest.mark.parametrize("crate", sorted(CRATE_FLOORS))
def test_crates_depend_downwards_only(crate: str):
    manifest = tomllib.loads((RUST / crate / "Cargo.toml").read_text())
    tables = [manifest.get("dependencies", {})]
    tables += [table.get("dependencies", {}) for table in manifest.get("target", {}).values()]
    names = {name for table in tables for name in table}
    own = {name.removeprefix("ethos-registry-") for name in names if name.startswith("ethos-")}
    assert all(CRATE_FLOORS[other] < CRATE_FLOORS[crate] for other in own), own
    if crate not in ("py", "arrow"):
        assert "pyo3" not in names


def test_no_file_of_the_rust_crates_has_over_400_lines():
    long = {
        str(path.relative_to(RUST)): lines
        for path in RUST.rglob("*.rs")
        if (lines := len(path.read_text().splitlines())) > 400
    }
    assert not long
