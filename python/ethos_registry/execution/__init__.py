"""One batch: from admitted calls to results in order."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.execution._approvals import (
        Approvals,
        FileApprovalStore,
        MemoryApprovalStore,
    )
    from ethos_registry.execution._options import BatchControl, BatchOptions, StreamOptions
    from ethos_registry.execution._results import CallResults
    from ethos_registry.types._call import ApprovalStore, PendingApproval
    from ethos_registry.types._errors import ApprovalError

__all__ = [
    "ApprovalError",
    "ApprovalStore",
    "Approvals",
    "BatchControl",
    "BatchOptions",
    "CallResults",
    "FileApprovalStore",
    "MemoryApprovalStore",
    "PendingApproval",
    "StreamOptions",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "execution._approvals": "Approvals FileApprovalStore MemoryApprovalStore",
            "execution._options": "BatchControl BatchOptions StreamOptions",
            "execution._results": "CallResults",
            "types._call": "ApprovalStore PendingApproval",
            "types._errors": "ApprovalError",
        },
    )
