"""Personalities from YAML files, with the line number in every message."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.config._personalities import load_personalities

__all__ = [
    "load_personalities",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "config._personalities": "load_personalities",
        },
    )
