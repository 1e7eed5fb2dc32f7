"""Tests with a small count, and a large one that `.ci/run --long` runs."""

from __future__ import annotations

import pytest


def counts(name: str, usual: int, long: int) -> pytest.MarkDecorator:
    """Run a test with each of two values of the argument `name`; the second is marked `long`."""
    values = [usual, pytest.param(long, marks=pytest.mark.long)]
    return pytest.mark.parametrize(name, values, ids=["usual", "long"])
