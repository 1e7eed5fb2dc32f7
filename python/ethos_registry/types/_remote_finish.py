"""What a worker is asked to do with the result of a call, and what it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError


@dataclass(frozen=True, slots=True)
class SharedFolder:
    """A folder in which a worker may store the full text of a result, if it reaches it.

    >>> SharedFolder("/srv/artifacts", "q3v8").file_prefix
    'ethos-artifact-q3v8-'
    """

    directory: str
    token: str
    """Names the file that proves that a worker sees the same folder."""

    def __post_init__(self) -> None:
        _checks.text(self.directory, "directory")
        _checks.text(self.token, "token")
        if not self.token.isalnum():
            raise ConfigError(f"`token` must be letters and digits: {_checks.brief(self.token)}")

    @property
    def file_prefix(self) -> str:
        """How the names of the files begin that belong to this store."""
        return f"ethos-artifact-{self.token}-"

    @property
    def token_file(self) -> str:
        """The name of the file that exists while the store is open."""
        return f"ethos-artifact-{self.token}.txt"

    def to_wire(self) -> dict[str, Any]:
        """The folder as a JSON object."""
        return _checks.to_wire(self, SharedFolder)

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> SharedFolder:
        """The folder that a JSON object describes."""
        return cls(**_checks.from_wire(cls, payload, "folder"))


@dataclass(frozen=True, slots=True)
class FinishOrder:
    """How a worker shortens a result before it sends it, as the registry of the caller would.

    >>> FinishOrder(cap=8_000, reducer="terminal/1").trims
    True
    """

    cap: int
    """Characters that the result may have."""
    trims: bool = True
    """Whether text is trimmed to `cap`; false if its share is known only at the end of the
    batch."""
    reducer: str = ""
    """Identifies the reducer of the caller; a worker with another one leaves the result as it is.
    Empty: it is not reduced."""
    redacts: bool = False
    """Whether credentials are taken out first."""
    fences: bool = False
    """Whether untrusted text is put inside a fence."""
    folder: SharedFolder | None = None
    """Where the full text of what is cut is stored; `None` if it is dropped."""

    def __post_init__(self) -> None:
        _checks.finite_number(self.cap, "cap", whole=True)
        _checks.boolean(self.trims, "trims")
        _checks.text(self.reducer, "reducer")
        _checks.boolean(self.redacts, "redacts")
        _checks.boolean(self.fences, "fences")
        if self.folder is not None:
            _checks.instance(self.folder, SharedFolder, "folder", "a SharedFolder")

    def to_wire(self) -> dict[str, Any]:
        """The order as a JSON object, without fields that have their default."""
        return _checks.to_wire(self, FinishOrder)

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> FinishOrder:
        """The order that a JSON object describes."""
        values = _checks.from_wire(cls, payload, "finish order")
        if values.get("folder") is not None:
            values["folder"] = SharedFolder.from_wire(values["folder"])
        return cls(**values)


@dataclass(frozen=True, slots=True)
class FinishFacts:
    """What a worker did with a result: it is not reduced, trimmed or fenced again."""

    raw_chars: int
    """Characters of the text that the tool returned."""
    reduced_chars: int
    """Characters after the reducer."""
    truncated_from: int | None = None
    """Characters before the trim if it cut the text."""
    file: str | None = None
    """The file of the full text in the shared folder."""

    def __post_init__(self) -> None:
        _checks.finite_number(self.raw_chars, "raw_chars", whole=True)
        _checks.finite_number(self.reduced_chars, "reduced_chars", whole=True)
        if self.truncated_from is not None:
            _checks.finite_number(self.truncated_from, "truncated_from", whole=True)
        _checks.optional_text(self.file, "file")

    def to_wire(self) -> dict[str, Any]:
        """The facts as a JSON object."""
        return _checks.to_wire(self, FinishFacts)

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> FinishFacts:
        """The facts that a JSON object describes."""
        return cls(**_checks.from_wire(cls, payload, "finished result"))
