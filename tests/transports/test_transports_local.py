"""The table of transports over `LocalTransport`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ethos_registry.transports import LocalTransport
from transports import table, tools

pytestmark = pytest.mark.every_python


@asynccontextmanager
async def open_local(**options: Any) -> AsyncIterator[LocalTransport]:
    transport = LocalTransport(tools.registry)
    yield transport
    await transport.aclose()


@pytest.mark.parametrize("row", table.ROWS, ids=lambda row: row.__name__)
async def test_local(row: table.Row, tmp_path: Path) -> None:
    transport = LocalTransport(tools.registry)
    await row(
        table.Subject(
            transport,
            open_local,
            tmp_path,
            is_remote=False,
            can_be_unplaceable=False,
            answers_interrupts=False,
        )
    )
