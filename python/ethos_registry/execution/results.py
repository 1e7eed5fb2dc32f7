"""The results of one batch."""

from __future__ import annotations

from typing import Any

from ethos_registry.contract.call import CallResult

__all__ = ["CallResults"]


class CallResults(list[CallResult]):
    """One `CallResult` a call, in the order of the calls."""

    __slots__ = ()

    def to_messages(self, provider_name: str) -> list[dict[str, Any]]:
        """The messages that carry the results back: `"anthropic"` or `"openai"`.

        Every call of the reply is answered, as providers require.
        """
        from ethos_registry.providers.names import provider  # imported when used

        return provider(provider_name).messages(self)

    def to_wire(self) -> list[dict[str, Any]]:
        """A JSON array of objects with `toolCallId`, `name` and `result`."""
        return [result.to_wire() for result in self]
