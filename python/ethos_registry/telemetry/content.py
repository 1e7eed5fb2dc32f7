"""Arguments and results as a span may hold them: without credentials, and bounded."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

from ethos_registry import _core
from ethos_registry.execution.dry_run import redacted_arguments

__all__ = ["MAX_CONTENT_BYTES", "captures_content", "content_of_arguments", "content_of_text"]

CAPTURE_VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
MAX_CONTENT_BYTES: Final = 8_192
"""Of the arguments, and of the result: backends cut or drop longer attributes."""

_ON_SPANS = frozenset({"span_only", "span_and_event", "true", "1"})


def captures_content() -> bool:
    """Whether the environment turns on content in spans."""
    return os.environ.get(CAPTURE_VARIABLE, "").strip().lower() in _ON_SPANS


def redactor(known: Callable[[str], str] | None) -> Callable[[str], str]:
    """What takes credentials out, also for a registry that keeps them in results."""
    return _core.redact if known is None else known


def content_of_arguments(args: Any, redact: Callable[[str], str]) -> str:
    """The arguments as JSON; values under secret-looking keys are replaced."""
    return _cut(redact(redacted_arguments(args, redact, MAX_CONTENT_BYTES)))


def content_of_text(text: str, redact: Callable[[str], str]) -> str:
    """The text that the model reads."""
    return _cut(redact(text))


def _cut(text: str) -> str:
    """The beginning that fits."""
    text = _core.replace_surrogates(text[:MAX_CONTENT_BYTES])
    if text.isascii():
        return text
    return text.encode()[:MAX_CONTENT_BYTES].decode(errors="ignore")
