"""The build backend: maturin, the native program, and one line of advice without a Rust compiler.

Without `cargo`, maturin downloads a toolchain. Where that fails, its error is a long traceback.
A wheel has the native program `ethos-registry` in its scripts; an editable installation, a build
without `cargo` and one from an sdist, which lacks the program's source, have a script in Python.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
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

_ROOT = Path(__file__).parent
_SCRIPT = _ROOT / "rust" / "cli" / "wheel" / "scripts" / "ethos-registry"


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
    with _native_program(settings):
        return _with_rust(maturin.build_wheel, directory, settings, metadata)


def build_editable(directory: str, settings: Settings = None, metadata: str | None = None) -> str:
    """Build the wheel of an editable installation into `directory`; return its file name."""
    return _with_rust(maturin.build_editable, directory, settings, metadata)


@contextlib.contextmanager
def _native_program(settings: Settings) -> Iterator[None]:
    """Within the block, the native program is where maturin takes the script from."""
    if not shutil.which("cargo") or not (_ROOT / "rust" / "cli" / "Cargo.toml").exists():
        _SCRIPT.chmod(0o755)  # maturin writes every file of an sdist without this right
        yield
        return
    arguments = str((settings or {}).get("build-args", ""))
    profile = re.search(r"--profile[= ](\w+)", arguments)
    done = subprocess.run(
        [
            *("cargo", "build", "--locked", "--package", "ethos-registry-cli"),
            *("--profile", profile[1] if profile else "source"),
            "--message-format=json-render-diagnostics",
        ],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    [program] = [path for message in messages if (path := message.get("executable"))]
    script = _SCRIPT.read_bytes()
    native = _SCRIPT.with_suffix(".exe" if os.name == "nt" else "")
    try:
        _SCRIPT.unlink()
        shutil.copy(program, native)
        yield
    finally:
        native.unlink(missing_ok=True)
        _SCRIPT.write_bytes(script)
        _SCRIPT.chmod(0o755)
