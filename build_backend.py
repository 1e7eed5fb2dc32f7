"""The build backend: maturin, with one line of advice when there is no Rust compiler.

Without `cargo`, maturin downloads a toolchain. Where that fails, its error is a long traceback.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from typing import Any

import maturin
from maturin import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = Mapping[str, Any] | None


def _with_rust(build: Callable[..., str], *arguments: Any) -> str:
    if shutil.which("cargo"):
        return build(*arguments)
    try:
        return build(*arguments)
    except Exception as error:
        sys.exit(
            f"error: cargo is not installed and Rust could not be downloaded ({error}); "
            "install Rust from https://rustup.rs and run pip again"
        )


def prepare_metadata_for_build_wheel(directory: str, settings: Settings = None) -> str:
    """Write the metadata of the wheel into `directory`."""
    return _with_rust(maturin.prepare_metadata_for_build_wheel, directory, settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(directory: str, settings: Settings = None, metadata: str | None = None) -> str:
    """Build the wheel into `directory`; return its file name."""
    return _with_rust(maturin.build_wheel, directory, settings, metadata)


def build_editable(directory: str, settings: Settings = None, metadata: str | None = None) -> str:
    """Build the wheel of an editable installation into `directory`; return its file name."""
    return _with_rust(maturin.build_editable, directory, settings, metadata)
