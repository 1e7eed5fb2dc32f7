"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["lazy"]

_EXTRAS = {
    "anyio": "mcp",
    "httpcore": "network",
    "idna": "network",
    "keyring": "keyring",
    "mcp": "mcp",
    "mcp_types": "mcp",
    "opentelemetry": "otel",
    "playwright": "browser",
    "psycopg": "postgres",
    "pyarrow": "parquet",
    "ray": "ray",
    "starlette": "mcp",
    "trafilatura": "web",
    "uvicorn": "mcp",
}
"""Package that may be missing -> the extra that installs it."""


def lazy(
    package: str, names: dict[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose names are defined in other modules.

    Args:
        package: The package, such as `ethos_registry.mcp`.
        names: Module below `ethos_registry` -> its names, separated by spaces.

    """
    module_of = {name: module for module, text in names.items() for name in text.split()}

    def find(name: str) -> Any:
        module = module_of.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            value = getattr(import_module(f"ethos_registry.{module}"), name)
        except ModuleNotFoundError as error:
            extra = _EXTRAS.get((error.name or "").partition(".")[0])
            if extra is None:
                raise
            message = f"`{name}` needs {error.name}: pip install 'ethos-registry[{extra}]'"
            raise ModuleNotFoundError(message, name=error.name) from None
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        loaded = vars(sys.modules[package])
        return sorted({*loaded, *loaded["__all__"]})

    return find, listed
