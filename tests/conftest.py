"""Settings and fixtures that all tests share."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci", max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "deep", max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("dev", max_examples=20, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

_EAGER: Any = getattr(asyncio, "eager_task_factory", None)


@pytest.fixture(
    params=[
        "lazy tasks",
        pytest.param(
            "eager tasks",
            marks=pytest.mark.skipif(_EAGER is None, reason="eager tasks need Python 3.12"),
        ),
    ]
)
async def task_start(request: pytest.FixtureRequest) -> str:
    """The loop starts tasks lazily, and, where Python can, eagerly."""
    if request.param == "eager tasks":
        asyncio.get_running_loop().set_task_factory(_EAGER)
    return str(request.param)
