"""Exceptions for artifacts that cannot be stored or are gone."""

from __future__ import annotations

from ethos_registry.contract.errors import EthosRegistryError

__all__ = ["ArtifactGoneError", "ArtifactStoreError"]


class ArtifactStoreError(EthosRegistryError):
    """A store cannot store the text: it is closed or full, or its directory is not writable."""


class ArtifactGoneError(EthosRegistryError):
    """An artifact's turn is over, or its time to live has passed."""

    def __init__(self, artifact_id: str) -> None:
        super().__init__(
            f"artifact `{artifact_id}` is gone: its store was closed or its time to live is over"
        )
        self.artifact_id = artifact_id

    def __reduce__(self) -> tuple[type[ArtifactGoneError], tuple[str]]:
        return ArtifactGoneError, (self.artifact_id,)
