"""What fails where calls are recorded."""

from __future__ import annotations

from typing import ClassVar

from ethos_registry.contract.errors import EthosRegistryError

__all__ = ["RecordingError"]


class RecordingError(EthosRegistryError):
    """A recording cannot be read or written; the message states which one and why."""

    code: ClassVar[str] = "E_RECORDING"
