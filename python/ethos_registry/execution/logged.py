"""Log records of exceptions, without the credentials in them."""

from __future__ import annotations

import logging
import traceback

from ethos_registry.reduction.redaction import Redact

__all__ = ["log_exception", "log_line"]

_logger = logging.getLogger("ethos_registry")


def log_line(level: int, message: str) -> None:
    """Log a message; a handler of the host that raises changes nothing."""
    try:
        _logger.log(level, "%s", message)
    except KeyboardInterrupt:
        raise
    except BaseException:  # the code of a handler
        return


def log_exception(
    logger: logging.Logger, level: int, message: str, error: BaseException, redact: Redact | None
) -> None:
    """Log an exception with its traceback; as redacted text if that holds a credential.

    What the exception's own `__str__` raises propagates.
    """
    if not logger.isEnabledFor(level):
        return
    if redact is not None:
        whole = "".join(traceback.format_exception(error))
        shown = redact(whole)
        if shown is not whole:
            logger.log(level, "%s\n%s", message, shown.rstrip("\n"))
            return
    logger.log(level, "%s", message, exc_info=error)
