"""What a request can raise."""

from __future__ import annotations

__all__ = ["request_errors"]


def request_errors(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """The exceptions of a request that was permitted and failed, and `more`."""
    try:
        import httpcore
    except ImportError:
        return (OSError, *more)
    return (
        OSError,
        httpcore.NetworkError,
        httpcore.TimeoutException,
        httpcore.ProtocolError,
        httpcore.UnsupportedProtocol,
        httpcore.ProxyError,
        *more,
    )
