"""What a registry keeps of a definition: its text, taken at registration."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

from ethos_registry import _core
from ethos_registry.contract.read_only import MAX_DEPTH, freeze

__all__ = ["Definition", "Rendered", "SealedDefinition", "Shown"]


Rendered: TypeAlias = tuple[Any, bytes]
"""One tool as one provider is shown it: a read-only value, and its bytes in a request."""


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

    def rendered(self, key: object, render: Callable[[dict[str, Any]], Rendered]) -> Rendered:
        """What `render` makes of the fresh definition; it may be kept under the `key`."""


class _FromText:
    """Values are always made from the text, so nothing that was handed out can change them."""

    __slots__ = ()

    text: bytes

    def fresh(self) -> dict[str, Any]:
        """The definition as plain values of the caller's own."""
        definition: dict[str, Any] = json.loads(self.text)
        return definition

    def _frozen(self) -> Mapping[str, Any]:
        frozen: Mapping[str, Any] = freeze(self.fresh(), "definition", MAX_DEPTH + 1)
        return frozen


class Definition(_FromText):
    """The definition of a tool in a registry that can change; each form is made once."""

    __slots__ = ("_rendered", "_value", "text")

    def __init__(self, definition: Mapping[str, Any]) -> None:
        self.text = _core.json_bytes(definition)
        self._value: Mapping[str, Any] | None = None  # made when it is first asked for
        self._rendered: dict[object, Rendered] = {}

    @property
    def value(self) -> Mapping[str, Any]:
        """The read-only definition; the same object each time."""
        value = self._value
        if value is None:
            value = self._value = self._frozen()
        return value

    def rendered(self, key: object, render: Callable[[dict[str, Any]], Rendered]) -> Rendered:
        """What `render` made of the definition when it was first asked for under the `key`."""
        rendered = self._rendered.get(key)
        if rendered is None:
            rendered = self._rendered[key] = render(self.fresh())
        return rendered


class _Text(NamedTuple):
    text: bytes


class SealedDefinition(_FromText, _Text):
    """A definition that is text and nothing else: force has nothing to write to."""

    __slots__ = ()

    @property
    def value(self) -> Mapping[str, Any]:
        """The read-only definition, made anew each time."""
        return self._frozen()

    def rendered(self, key: object, render: Callable[[dict[str, Any]], Rendered]) -> Rendered:
        """What `render` makes of the definition."""
        return render(self.fresh())
