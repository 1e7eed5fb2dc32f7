"""The refusal of a call by a ready tool, and how its message quotes a value."""

from __future__ import annotations

from ethos_registry.types._result import ErrorCode, ToolError, err

__all__ = ["RefusalError", "quoted"]


_SHOWN_CHARS = 200


class RefusalError(Exception):
    """A call that cannot be served; `error` is the result for the model."""

    def __init__(self, text: str, code: ErrorCode = "input_invalid") -> None:
        super().__init__(text)
        self.error: ToolError = err(text, code)


def quoted(value: object) -> str:
    """Quote a value for a message: at most 200 characters, on one line, in backticks."""
    text = value if isinstance(value, str) else repr(value)
    if len(text) > _SHOWN_CHARS:
        text = f"{text[:_SHOWN_CHARS]}..."
    if not text.isprintable():
        text = ascii(text)[1:-1]
    return f"`{text}`"
