"""The optional dependencies: which module each extra brings, and the error if it is missing."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from types import MappingProxyType

from ethos_registry import _lazy
from ethos_registry.types._errors import MissingExtraError

EXTRAS: Mapping[str, str] = MappingProxyType(
    {extra: packages[0] for extra, packages in _lazy.EXTRAS.items()}
)
"""Each extra, and a module that it brings."""


def has_extra(extra: str) -> bool:
    """Whether the packages of an extra are installed; nothing is imported but parents."""
    try:
        return importlib.util.find_spec(EXTRAS[extra]) is not None
    except ModuleNotFoundError:  # of the parent of `google.adk`
        return False


def missing_extra(what: str, extra: str) -> MissingExtraError:
    """The error, to be raised, for something that needs an extra.

    >>> str(missing_extra("the adapter for LangChain", "langchain"))
    "the adapter for LangChain needs an extra: pip install 'ethos-registry[langchain]'"
    """
    return MissingExtraError(f"{what} needs an extra: pip install 'ethos-registry[{extra}]'")


def installed_extras() -> dict[str, bool]:
    """Each extra of the package, and whether its packages are installed."""
    return {extra: has_extra(extra) for extra in EXTRAS}
