"""Add a row to the table of long runs in `docs/reliability.md`: what, figure, seconds."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"
END = "<!-- long runs: end -->"


def main(what: str, figure: str, seconds: str) -> None:
    """Insert the row before the end of the table."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude=*"],
        check=True,
        capture_output=True,
        text=True,
        cwd=PAGE.parent,
    ).stdout.strip()
    today = dt.date.today().isoformat()
    row = f"| {today} | `{commit}` | {what} | {figure} | {int(seconds):,} |\n"
    page = PAGE.read_text(encoding="utf-8")
    if page.count(END) != 1:
        raise SystemExit(f"{PAGE} has no single `{END}`")
    PAGE.write_text(page.replace(END, row + END), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
