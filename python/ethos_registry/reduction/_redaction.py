"""Credentials out of results: the first thing that happens to what a tool returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from ethos_registry import _core
from ethos_registry.reduction._reducers import rebuilt, with_text
from ethos_registry.types._json_values import MAX_DEPTH
from ethos_registry.types._result import ToolResult

# Credentials out of any text: the rule that results of tools pass.


def redact_text(text: str) -> str:
    """`text` with a label such as `[redacted: github token]` for each credential of a known shape.

    The same object if it has none. Hashes, ids and base64 stay: there is no rule for random
    strings.

    >>> redact_text("https://ada:correct-horse@example.org")
    'https://ada:[redacted: password]@example.org'
    """
    return _core.redact(text)


Redact: TypeAlias = Callable[[str], str]
"""Returns text without its credentials; the same object if there are none."""

_MARGIN_CHARS = 8192
"""More than any credential has that is recognised by its shape."""


class KnownValues(Protocol):
    """Values that were given to tools."""

    @property
    def known(self) -> _core.KnownSecrets | None:
        """The search for them; `None` if there are none."""


class Redactor:
    """Credentials by their shape, and the values that backends gave to tools.

    `own` is the `redact` of backends that are not ours; it is applied first.
    """

    __slots__ = ("_issued_secrets", "own")

    def __init__(
        self, issued_secrets: KnownValues | None = None, own: Redact | None = None
    ) -> None:
        self._issued_secrets = issued_secrets
        self.own = own

    def __call__(self, text: str) -> str:
        """`text` without credentials; the same object if there are none."""
        return _core.redact(text if self.own is None else self.own(text), self.known)

    @property
    def known(self) -> _core.KnownSecrets | None:
        """The values that were given to tools; `None` if there are none."""
        return None if self._issued_secrets is None else self._issued_secrets.known


def known_secrets(redact: Redact | None) -> _core.KnownSecrets | None:
    """The values that `redact` searches for beside the shapes."""
    return redact.known if type(redact) is Redactor else None


def redacted_start(text: str, chars: int, redact: Redact) -> str | None:
    """The start of `text` without credentials, of more than `chars` characters.

    Its first `chars` characters are those of the whole text without credentials. `None` if the
    whole text has to be searched.
    """
    known = known_secrets(redact)
    if redact is not _core.redact and (type(redact) is not Redactor or redact.own is not None):
        return None
    margin = _MARGIN_CHARS + (0 if known is None else known.longest_bytes)
    length = chars + margin + 1
    while 2 * length < len(text):
        start = redact(text[:length])
        if len(start) - margin > chars:
            return start
        length *= 4
    return None


def redacted_text(result: ToolResult, redact: Redact) -> ToolResult:
    """The result with credentials replaced in its text."""
    text = redact(result.text)
    return result if text is result.text else with_text(result, text)


def redacted_parts(result: ToolResult, redact: Redact) -> ToolResult:
    """The result with credentials replaced in `structured` and the extra fields.

    They are plain JSON of bounded size here.
    """
    if result.structured is None and not result.extra:
        return result
    structured = redacted_json(result.structured, redact)
    extra = redacted_json(result.extra, redact) if result.extra else result.extra
    if structured is result.structured and extra is result.extra:
        return result
    return rebuilt(result, result.text, structured, result.cost_usd, extra)


def redacted_json(value: Any, redact: Redact, depth: int = MAX_DEPTH) -> Any:
    """The JSON value, or a copy of the containers around what changed; keys are redacted too."""
    if isinstance(value, str):
        return redact(value)
    if depth == 0:
        return value
    if isinstance(value, Mapping):
        items = {
            redact(key) if isinstance(key, str) else key: redacted_json(item, redact, depth - 1)
            for key, item in value.items()
        }
        is_same = len(items) == len(value) and all(
            new_key is key and items[new_key] is item
            for (key, item), new_key in zip(value.items(), items, strict=True)
        )
        return value if is_same else items
    if isinstance(value, list | tuple):
        changed = [redacted_json(item, redact, depth - 1) for item in value]
        is_same = all(new is old for new, old in zip(changed, value, strict=True))
        return value if is_same else changed
    return value
