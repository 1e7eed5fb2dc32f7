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
    "fuzz": 2,
    "hooks": 2,
    "cli": 3,
    "py": 3,
}

FLOORS = {
    "binary": 0,
    "cells": 0,
    "candidate": 0,
    "lossless": 0,
    "piece": 0,
    "policy": 0,
    "template": 0,
    "kinds": 1,
    "source": 1,
    "values": 1,
    "words": 1,
    "folds": 2,
    "format": 2,
    "gap": 2,
    "location": 2,
    "sample": 2,
    "lexicon": 3,
    "ledger": 4,
    "read": 3,
    "rank": 4,
    "row": 4,
    "segment": 4,
    "classify": 5,
    "fit": 5,
    "grammar": 5,
    "render": 6,
    "terminal": 7,
    "lib": 8,
}


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
        for target in imports_of(path)
        if target != room_of(path)
    }


def test_every_module_of_the_reducers_has_a_floor():
    assert {room_of(path) for path in REDUCE.rglob("*.rs")} == FLOORS.keys()


def test_modules_of_the_reducers_import_downwards_only():
    found = edges()
    assert ("fit", "row") in {(source, target) for source, target, _ in found}
    wrong = [
        f"{path} imports {target}"
        for source, target, path in found
        if FLOORS.get(target, len(FLOORS)) >= FLOORS[source]
    ]
    assert not wrong


def test_grammars_do_not_know_each_other():
    grammars = list((REDUCE / "grammar").glob("*.rs"))
    assert len(grammars) > 5
    assert not [path.name for path in grammars if "super::" in product_code(path.read_text())]


@pytest.mark.parametrize("crate", sorted(CRATE_FLOORS))
def test_crates_depend_downwards_only(crate: str):
    manifest = tomllib.loads((RUST / crate / "Cargo.toml").read_text())
    tables = [manifest.get("dependencies", {})]
    tables += [table.get("dependencies", {}) for table in manifest.get("target", {}).values()]
    names = {name for table in tables for name in table}
    own = {name.removeprefix("ethos-registry-") for name in names if name.startswith("ethos-")}
    assert all(CRATE_FLOORS[other] < CRATE_FLOORS[crate] for other in own), own
    if crate != "py":
        assert "pyo3" not in names


def test_no_file_of_the_rust_crates_has_over_400_lines():
    long = {
        str(path.relative_to(RUST)): lines
        for path in RUST.rglob("*.rs")
        if (lines := len(path.read_text().splitlines())) > 400
    }
    assert not long
