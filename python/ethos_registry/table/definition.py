"""What a registry keeps of a definition: its text, taken at registration."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

from ethos_registry import _core
from ethos_registry.contract.read_only import ReadOnlyDict, read_only

__all__ = ["Definition", "Render", "SealedDefinition", "Shown"]


Render: TypeAlias = Callable[[dict[str, Any]], bytes]
"""Makes the compact JSON that a provider is sent out of a definition."""


class Shown(Protocol):
    """A definition whose text is that of its registration, whatever is done to its values."""

    @property
    def text(self) -> bytes:
        """`{name, description, parameters}` as compact JSON."""

    @property
    def value(self) -> Mapping[str, Any]:
        """The same as a read-only value, which may be shared with others."""

    def fresh(self) -> dict[str, Any]:
        """The same as plain values of the caller's own."""

    def text_for(self, key: object, render: Render) -> bytes:
        """What `render` makes of the fresh definition; it may be kept under the `key`."""

    def value_for(self, key: object, render: Render) -> Any:
        """The same as a read-only value."""


class _FromText:
    """Values are always made from the text, so nothing that was handed out can change them."""

    __slots__ = ()

    text: bytes

    def fresh(self) -> dict[str, Any]:
        """The definition as plain values of the caller's own."""
        definition: dict[str, Any] = json.loads(self.text)
        return definition

    def _frozen(self) -> Mapping[str, Any]:
        frozen: Mapping[str, Any] = read_only(self.fresh())
        return frozen


class Definition(_FromText):
    """The definition of a tool in a registry that can change; each form is made once."""

    __slots__ = ("_texts", "_value", "_values", "text")

    def __init__(self, definition: Mapping[str, Any]) -> None:
        self.text = _core.json_bytes(definition)
        # A read-only one is shared with its tool, else one is made when it is first asked for.
        is_shared = type(definition) is ReadOnlyDict
        self._value: Mapping[str, Any] | None = definition if is_shared else None
        self._texts: dict[object, bytes] = {}
        self._values: dict[object, Any] = {}

    @property
    def value(self) -> Mapping[str, Any]:
        """The read-only definition; the same object each time."""
        if self._value is None:
            self._value = self._frozen()
        return self._value

    def text_for(self, key: object, render: Render) -> bytes:
        """What `render` made of the definition when it was first asked for under the `key`."""
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = render(self.fresh())
        return text

    def value_for(self, key: object, render: Render) -> Any:
        """The same as a read-only value; the same object each time."""
        value = self._values.get(key)
        if value is None:
            value = self._values[key] = read_only(json.loads(self.text_for(key, render)))
        return value


class _Text(NamedTuple):
    text: bytes


class SealedDefinition(_FromText, _Text):
    """A definition that is text and nothing else: force has nothing to write to."""

    __slots__ = ()

    @property
    def value(self) -> Mapping[str, Any]:
        """The read-only definition, made again each time."""
        return self._frozen()

    def text_for(self, key: object, render: Render) -> bytes:
        """What `render` makes of the definition."""
        return render(self.fresh())

    def value_for(self, key: object, render: Render) -> Any:
        """The same as a read-only value."""
        return read_only(json.loads(render(self.fresh())))
