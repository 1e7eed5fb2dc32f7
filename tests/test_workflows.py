"""The workflows: pinned actions, few rights, and no package that was not tested is published."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(name: str) -> dict:
    return YAML(typ="safe").load((ROOT / ".github" / "workflows" / name).read_text())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit_and_rights_are_given_to_jobs(path):
    used = re.findall(r"uses: (\S+)(.*)", path.read_text())
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)
        assert re.match(r" # (v\d+\.\d+\.\d+|master, )", comment), action
    workflow = read(path.name)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert "timeout-minutes" in job
        assert name == "publish" or "permissions" not in job


def test_one_commit_of_an_action_is_used_everywhere():
    found: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for action, commit in re.findall(r"uses: ([\w./-]+)@(\w+)", path.read_text()):
            found.setdefault(action, set()).add(commit)
    assert all(len(commits) == 1 for commits in found.values())


def test_packages_are_installed_with_the_extra_that_their_tests_need():
    [extras] = re.findall(r"\{package\}\[([\w,]+)\]", (ROOT / ".ci/test_wheel.py").read_text())
    run_on_python = (ROOT / ".ci" / "functions.sh").read_text().split("run_on_python()")[1]
    [needed] = re.findall(r"^ *environment .* test-basic (\S+)$", run_on_python, re.MULTILINE)
    assert {"cli", *needed.split(",")} == set(extras.split(","))


def test_every_platform_is_tested_before_anything_is_published():
    jobs = read("release.yml")["jobs"]
    publish = jobs.pop("publish")
    assert set(publish["needs"]) == set(jobs)
    assert publish["permissions"] == {"id-token": "write"}
    assert "refs/tags/v" in publish["if"]
    for job in jobs.values():
        steps = [str(step) for step in job["steps"]]
        tested = [at for at, step in enumerate(steps) if ".ci/test_wheel.py dist" in step]
        stored = [at for at, step in enumerate(steps) if "upload-artifact" in step]
        assert tested
        assert max(tested) < min(stored)
    rows = jobs["wheel"]["strategy"]["matrix"]["include"]
    assert {row["name"] for row in rows} == {
        "manylinux-x86_64",
        "manylinux-aarch64",
        "macos-x86_64",
        "macos-arm64",
        "windows-x64",
        "windows-arm64",
    }
    targets = {row["target"] for row in jobs["musllinux"]["strategy"]["matrix"]["include"]}
    assert targets == {"x86_64", "aarch64"}


def test_the_address_of_the_repository_is_one_value():
    spec = importlib.util.spec_from_file_location("address", ROOT / ".ci" / "address.py")
    address = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(address)
    assert address.main() == 0
    moved = address.rewritten(
        "https://github.com/acme/ethos-registry/issues https://acme.github.io/ethos-registry/x"
    )
    owner = address.address().split("/")[0]
    assert moved == (
        f"https://github.com/{address.address()}/issues https://{owner}.github.io/ethos-registry/x"
    )


def test_the_files_of_a_public_repository_are_there():
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "AGENTS.md", "LICENSE"):
        assert (ROOT / name).stat().st_size > 200, name
    assert {path.stem for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")} == {
        "bug",
        "config",
        "feature",
        "output",
    }
