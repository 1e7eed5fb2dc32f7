"""The table of transports over `ProcessTransport`, and what only processes have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import ProcessTransport
from transports import table


@asynccontextmanager
async def open_process(tools: str = table.TOOLS, **options: Any) -> AsyncIterator[ProcessTransport]:
    async with ProcessTransport(tools, workers=2, **options) as transport:
        yield transport


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessTransport]:
    with ProcessTransport(table.TOOLS, workers=2) as transport:
        yield transport


@pytest.mark.parametrize("row", table.ROWS, ids=lambda row: row.__name__)
async def test_process(row: table.Row, pool: ProcessTransport, tmp_path: Path) -> None:
    await row(table.Subject(pool, open_process, tmp_path))
