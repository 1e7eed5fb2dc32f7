"""Ids of artifacts: random, short enough for a model to copy, never reused."""

from __future__ import annotations

import re
import secrets

__all__ = ["is_artifact_id", "new_artifact_id"]

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""Without characters that look like others."""
_LENGTH = 9
_SHAPE = re.compile(f"a[{_ALPHABET}]{{{_LENGTH}}}")


def new_artifact_id() -> str:
    """A new id, as `a7k2m9qx4t`: 44 random bits, so it is neither guessed nor met again.

    >>> is_artifact_id(new_artifact_id())
    True
    """
    return "a" + "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))


def is_artifact_id(text: str) -> bool:
    """Whether `text` may be the id of an artifact of some turn."""
    return _SHAPE.fullmatch(text) is not None
