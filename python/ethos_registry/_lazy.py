"""Names of a package that are imported when first used, and the extras that may be missing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import MappingProxyType
from typing import Any

from ethos_registry._suggest import did_you_mean

EXTRAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "agent-framework": ("agent_framework",),
        "anthropic": ("anthropic",),
        "browser": ("playwright",),
        "claude-agent-sdk": ("claude_agent_sdk",),
        "cli": ("typer",),
        "fastmcp": ("fastmcp",),
        "google-adk": ("google.adk",),
        "keyring": ("keyring",),
        "langchain": ("langgraph",),
        "mcp": ("mcp", "anyio", "mcp_types", "starlette", "uvicorn"),
        "network": ("httpcore", "idna"),
        "openai-agents": ("agents",),
        "otel": ("opentelemetry",),
        "parquet": ("pyarrow",),
        "postgres": ("psycopg",),
        "pydantic-ai": ("pydantic_ai",),
        "ray": ("ray",),
        "web": ("trafilatura",),
    }
)
"""Each extra, and packages that it brings; its own comes first."""

_EXTRA_OF = {package: extra for extra, packages in EXTRAS.items() for package in packages}


@contextmanager
def requires(what: str, extra: str) -> Iterator[None]:
    """Imports of packages of an extra; one that is missing is an error of one line.

    Raises:
        MissingExtraError: A package is not installed; the message has the command.

    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise _missing(what, error, extra) from None


def _missing(what: str, error: ModuleNotFoundError, extra: str) -> ModuleNotFoundError:
    # This module imports no other one: most of what it names is never used.
    kind = importlib.import_module("ethos_registry.types._errors").MissingExtraError
    missing: ModuleNotFoundError = kind(
        f"{what} needs {error.name}: pip install 'ethos-registry[{extra}]'"
    )
    missing.name = error.name
    return missing


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
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}{did_you_mean(name, module_of)}"
            )
        try:
            value = getattr(import_module(f"ethos_registry.{module}"), name)
        except ModuleNotFoundError as error:
            extra = _EXTRA_OF.get((error.name or "").partition(".")[0])
            if extra is None:
                raise
            raise _missing(f"`{name}`", error, extra) from None
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        loaded = vars(sys.modules[package])
        return sorted({*loaded, *loaded["__all__"]})

    return find, listed
