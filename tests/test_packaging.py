"""What is installed: extras for users, groups for developers, and one profile each."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))


def listed(extra: str) -> set[str]:
    """The extras that an extra lists."""
    [others] = PROJECT["project"]["optional-dependencies"][extra]
    found = re.fullmatch(r"ethos-registry\[([\w,-]+)\]", others)
    assert found is not None
    return set(found[1].split(","))


ALONE = {"google-adk"}
"""Frameworks that cannot be installed beside what the test group needs."""
LARGE = {"ray"}
"""Installed by name only."""


def test_the_extras_all_and_frameworks_list_every_other_extra() -> None:
    extras = PROJECT["project"]["optional-dependencies"].keys()
    assert listed("all") | listed("frameworks") == extras - {"all", "frameworks"} - ALONE - LARGE
    assert not listed("all") & listed("frameworks")


def test_each_framework_is_bound_to_its_next_major_version() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    for extra in listed("frameworks") | ALONE:
        for requirement in extras[extra]:
            assert re.search(r">=\d+(\.\d+)+,<(\d+|0\.\d+)$", requirement), requirement


def test_tools_for_developers_are_groups_and_not_extras() -> None:
    groups = PROJECT["dependency-groups"]
    assert {"test", "lint", "docs", "dev"} <= groups.keys()
    assert not {"test", "lint", "docs", "dev"} & PROJECT["project"]["optional-dependencies"].keys()


def test_the_package_links_its_source_its_documentation_and_its_issues() -> None:
    urls = PROJECT["project"]["urls"]
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= urls.keys()
    assert all(url.startswith("https://") for url in urls.values())


def test_wheels_are_built_with_the_slow_profile_and_source_installs_with_the_fast_one() -> None:
    assert PROJECT["tool"]["maturin"]["profile"] == "source"
    assert CARGO["profile"]["source"]["inherits"] == "release"
    assert CARGO["profile"]["release"]["lto"] == "off"
    assert CARGO["profile"]["dist"] == {"inherits": "release", "lto": "fat", "codegen-units": 1}
    wheels = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "--profile dist" in wheels
    assert "--release" not in wheels


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_the_programs_of_a_wheel_share_their_compiled_crates() -> None:
    """Cargo compiles a crate once for each choice of features."""
    words = "cargo tree --locked --edges normal,build --prefix none --format".split()  # noqa: SIM905
    chosen: defaultdict[str, set[str]] = defaultdict(set)
    for program in ("ethos-registry-cli", "ethos-registry-py"):
        tree = subprocess.run(
            [*words, "{p}\t{f}", "--package", program],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        for line in tree.stdout.splitlines():
            crate, _, features = line.removesuffix(" (*)").partition("\t")
            chosen[crate].add(features)
    assert {crate: features for crate, features in chosen.items() if len(features) > 1} == {}
    assert len(chosen) > 50
