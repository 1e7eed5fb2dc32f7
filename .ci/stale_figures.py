"""Report pages whose figures were measured more than 200 commits ago.

A page names the commit of its figures as `commit `1a2b3c4``. Prints nothing if all are recent.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST_COMMITS = 200
_MEASURED = re.compile(r"commits? `([0-9a-f]{7,40})`")


def commits_since(commit: str, root: Path = ROOT) -> int | None:
    """How many commits there are after this one; `None` if the history does not have it."""
    done = subprocess.run(
        ["git", "rev-list", "--count", f"{commit}..HEAD"],
        check=False,
        capture_output=True,
        text=True,
        cwd=root,
    )
    return int(done.stdout) if done.returncode == 0 else None


def stale(root: Path = ROOT) -> list[str]:
    """A line for each page with figures that are old or of an unknown commit."""
    found = []
    for page in sorted([root / "README.md", *root.glob("docs/**/*.md")]):
        for commit in sorted(set(_MEASURED.findall(page.read_text(encoding="utf-8")))):
            age = commits_since(commit, root)
            name = page.relative_to(root).as_posix()
            if age is None:
                found.append(f"{name}: the history has no commit {commit}")
            elif age > MOST_COMMITS:
                found.append(f"{name}: measured {age} commits ago, at {commit}")
    return found


if __name__ == "__main__":
    for line in stale():
        print(line)
