"""Files attached to the user's message."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.read_only import ReadOnlyDict, freeze, thaw

__all__ = ["Attachment"]


def _nothing() -> Mapping[str, Any]:
    return ReadOnlyDict()


@dataclass(frozen=True, slots=True)
class Attachment:
    """One file: a reference, its kind (`image`, `file`, ...) and its URL.

    >>> Attachment("a0", "image", "file:///cache/a0.png").to_wire()
    {'ref': 'a0', 'type': 'image', 'url': 'file:///cache/a0.png'}
    """

    ref: str
    type: str
    url: str
    extra: Mapping[str, Any] = field(default_factory=_nothing)
    """Fields that the registry does not read, such as a file name."""

    def __post_init__(self) -> None:
        for name in ("ref", "type", "url"):
            checks.text(getattr(self, name), f"attachment.{name}")
        if not isinstance(self.extra, Mapping):
            raise ConfigError(
                f"`attachment.extra` must be an object, got {type(self.extra).__name__}"
            )
        # File names may contain lone surrogates; they are never part of a request.
        extra = freeze(self.extra, "attachment", keeps_surrogates=True)
        object.__setattr__(self, "extra", extra)

    @classmethod
    def from_bytes(cls, ref: str, type: str, data: bytes, **extra: Any) -> Attachment:  # noqa: A002 - the field's name
        """An attachment that holds its bytes, as a `data:` URL.

        >>> Attachment.from_bytes("a0", "file", b"hello", name="a.txt").url
        'data:application/octet-stream;base64,aGVsbG8='
        """
        text = base64.b64encode(data).decode("ascii")
        return cls(ref, type, f"data:application/octet-stream;base64,{text}", extra)

    def to_wire(self) -> dict[str, Any]:
        """The JSON object, with unknown fields."""
        wire = {"ref": self.ref, "type": self.type, "url": self.url}
        extra: dict[str, Any] = thaw(self.extra)
        return wire | extra | wire

    def __reduce__(self) -> tuple[Any, ...]:
        return Attachment, (self.ref, self.type, self.url, thaw(self.extra))

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> Attachment:
        """The attachment that a JSON object describes; unknown fields become `extra`."""
        if not isinstance(payload, Mapping):
            raise ConfigError(f"an attachment is a JSON object, got {type(payload).__name__}")
        known = ("ref", "type", "url")
        for name in known:
            if name not in payload:
                raise ConfigError(f"an attachment needs `{name}`")
        extra = {name: value for name, value in payload.items() if name not in known}
        return cls(payload["ref"], payload["type"], payload["url"], extra)
