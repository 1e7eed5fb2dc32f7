"""What is closed at the end of its block."""

from __future__ import annotations

import asyncio
from typing import Self


class Closing:
    """An object that `with` closes."""

    __slots__ = ()

    def close(self) -> None:
        """Let go of what it holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClosing:
    """An object whose `close` blocks for a moment, and that `async with` closes."""

    __slots__ = ()

    def close(self) -> None:
        """Let go of what it holds."""

    async def aclose(self) -> None:
        """`close`, without blocking the loop."""
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
