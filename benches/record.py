"""Figures of one run, with the commit and the date: `benches/records/NAME.json`.

The pages show the figures of these files and no others (`docs/figures.py`).
"""

from __future__ import annotations

import datetime as dt
import json
import platform
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RECORDS = HERE / "records"


def commit() -> str:
    """The commit that is checked out."""
    done = subprocess.run(
        ["git", "rev-parse", "--short=9", "HEAD"],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def measured_now(**more: str) -> dict[str, str]:
    """When and on what a run is made."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    return {
        "commit": commit(),
        "date": today,
        "python": platform.python_version(),
        "machine": platform.machine(),
        **more,
    }


def save(name: str, figures: Any, **more: str) -> None:
    """Write the figures of the run that was just made."""
    RECORDS.mkdir(exist_ok=True)
    text = json.dumps({"measured": measured_now(**more), "figures": figures}, indent=1)
    (RECORDS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def load(name: str) -> dict[str, Any]:
    """The record of that name: `measured` and `figures`."""
    found: dict[str, Any] = json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))
    return found
