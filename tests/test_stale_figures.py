"""Figures on the pages are reported when 200 commits have passed since they were measured."""

import importlib.util
import subprocess
from pathlib import Path

import pytest

from cli_program import git

SCRIPT = Path(__file__).parent.parent / ".ci" / "stale_figures.py"


@pytest.mark.slow
def test_figures_are_stale_after_200_commits(tmp_path):
    spec = importlib.util.spec_from_file_location("stale_figures", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    git(tmp_path, "init", "--quiet")
    (tmp_path / "README.md").write_text("first")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message=first")
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    first = head.stdout[:8]
    (tmp_path / "README.md").write_text(f"Measured on commit `{first}`, not `0000000`.")
    for number in range(200):
        git(tmp_path, "commit", "--quiet", "--allow-empty", f"--message={number}")
    assert script.stale(tmp_path) == []
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message=last")
    assert script.stale(tmp_path) == [f"README.md: measured 201 commits ago, at {first}"]
    (tmp_path / "README.md").write_text("On commit `1234567`.")
    assert script.stale(tmp_path) == ["README.md: the history has no commit 1234567"]
