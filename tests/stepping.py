"""Interrupting a function between any two of its instructions: races that need no luck."""

from __future__ import annotations

import sys
from types import CodeType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def interrupted_at(
    code: CodeType, step: int, interfere: Callable[[], object], run: Callable[[], object]
) -> bool:
    """Run, and interfere once before instruction `step` of `code`; whether it was reached."""
    seen = 0
    interrupted = False

    def instruction(frame: Any, event: str, argument: Any) -> Any:
        nonlocal seen, interrupted
        if event == "opcode" and not interrupted:
            if seen == step:
                interrupted = True
                interfere()
            seen += 1
        return instruction

    def calling(frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code is not code or interrupted:
            return None
        frame.f_trace = instruction  # since Python 3.13 opcodes are traced only where this is set
        frame.f_trace_opcodes = True
        return instruction

    before = sys.gettrace()
    # Python 3.12 turns these events on only if some frame asked for them before.
    sys._getframe().f_trace_opcodes = True
    sys.settrace(calling)
    try:
        run()
    finally:
        sys.settrace(before)
    return interrupted
