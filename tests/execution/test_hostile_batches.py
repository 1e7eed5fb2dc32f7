"""Memory stays level over batches of hostile calls, tools and results."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from long_counts import counts

PROGRAM = Path(__file__).parents[1] / "hostile_batches.py"
MOST_BYTES = 8 << 20
"""Pages that the allocators keep; less than 84 bytes a batch at the long count."""
MOST_OBJECTS = 2_000


@pytest.mark.slow
@pytest.mark.timeout(14_400)
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@counts("batches", 300, 100_000)
def test_memory_stays_level(batches):
    done = subprocess.run(
        [sys.executable, PROGRAM, str(batches)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    grown = json.loads(done.stdout)
    assert grown["calls"] > batches
    assert grown["descriptors"] == 0
    assert grown["threads"] < 8  # of the pool for plain functions
    assert grown["files"] < 10
    assert grown["objects"] < MOST_OBJECTS
    assert grown["bytes"] < MOST_BYTES, grown
