"""Complete text of results that were cut: stores, references, blocks."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.artifacts._artifact import SpooledArtifact
    from ethos_registry.artifacts._content import ArtifactGoneError, ArtifactStoreError
    from ethos_registry.artifacts._spooled_store import SpooledArtifactStore
    from ethos_registry.artifacts._store import MemoryArtifactStore
    from ethos_registry.types._ports import ArtifactOrigin, ArtifactStore, SharedArtifactStore

__all__ = [
    "ArtifactGoneError",
    "ArtifactOrigin",
    "ArtifactStore",
    "ArtifactStoreError",
    "MemoryArtifactStore",
    "SharedArtifactStore",
    "SpooledArtifact",
    "SpooledArtifactStore",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "artifacts._artifact": "SpooledArtifact",
            "artifacts._content": "ArtifactGoneError ArtifactStoreError",
            "artifacts._spooled_store": "SpooledArtifactStore",
            "artifacts._store": "MemoryArtifactStore",
            "types._ports": "ArtifactOrigin ArtifactStore SharedArtifactStore",
        },
    )
