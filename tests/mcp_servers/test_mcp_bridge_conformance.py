"""The official conformance suite of MCP against the bridge, in both revisions."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_bridge_tools import FOLDER, npm_program

CLIENT = FOLDER / "mcp_conformance_client.py"


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_every_scenario_for_clients_passes(revision: str, tmp_path: Path) -> None:
    suite = npm_program("@modelcontextprotocol/conformance/dist/index.js", "mcp-suite")
    command = shlex.join([sys.executable, str(CLIENT)])
    # The scenarios run at once, and each starts an interpreter: on two cores that takes its time.
    limits = ["--timeout", "240000"]
    done = subprocess.run(
        [
            *suite,
            "client",
            "--command",
            command,
            "--suite",
            "all",
            "--spec-version",
            revision,
            *limits,
        ],
        capture_output=True,
        text=True,
        timeout=500,
        stdin=subprocess.DEVNULL,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-4_000:]
