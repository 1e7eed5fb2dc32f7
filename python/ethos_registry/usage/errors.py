"""What goes wrong where usage is stored."""

from __future__ import annotations

from typing import ClassVar

from ethos_registry.contract.errors import EthosRegistryError

__all__ = ["NothingStoredError", "UsageStoreError"]


class UsageStoreError(EthosRegistryError):
    """The store of a ledger cannot be read or written; the message states which one and why."""

    code: ClassVar[str] = "E_USAGE_STORE"


class NothingStoredError(UsageStoreError):
    """There is no ledger at this place: nothing was recorded there yet."""

    code: ClassVar[str] = "E_USAGE_NOTHING_STORED"
