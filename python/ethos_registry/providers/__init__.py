"""How one model API writes tools, calls, results and streams; one file a provider."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.providers._portable_name import portable_name
    from ethos_registry.providers._prefix import (
        CacheLoss,
        Prefix,
        PrefixChange,
        PrefixDiff,
        prefix_diff,
    )
    from ethos_registry.providers._wire_format import SchemaNote

__all__ = [
    "CacheLoss",
    "Prefix",
    "PrefixChange",
    "PrefixDiff",
    "SchemaNote",
    "portable_name",
    "prefix_diff",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "providers._portable_name": "portable_name",
            "providers._prefix": "CacheLoss Prefix PrefixChange PrefixDiff prefix_diff",
            "providers._wire_format": "SchemaNote",
        },
    )
