"""Formats of the user and of projects, loaded when a program asks for it."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from ethos_registry.config.whole_file import write_whole_file
from ethos_registry.contract import checks
from ethos_registry.reduction.formats import (
    FORMAT_FILE,
    FormatError,
    OutputFormat,
    read_format,
    register_read,
)

__all__ = [
    "PROJECT_FOLDER",
    "FormatsNotTrustedError",
    "load_formats",
    "trust_formats",
    "user_formats_folder",
]

PROJECT_FOLDER = Path(".ethos", "formats")
_TRUST_FILE = "trusted-formats.json"
_VERSION = 1
_MAX_FORMATS = 200
_NO_HOME = "there is no home directory: set XDG_CONFIG_HOME to a folder for settings"
OnError = Callable[[FormatError], object]


class FormatsNotTrustedError(FormatError):
    """A project's formats were never trusted, or have changed since. See `trust_formats`."""

    code: ClassVar[str] = "E_FORMATS_NOT_TRUSTED"


def user_formats_folder() -> Path:
    """Where a user's own formats are: `~/.config/ethos-registry/formats`, by `XDG_CONFIG_HOME`.

    Raises `FormatError` if there is neither that variable nor a home directory.
    """
    folder = _config_folder()
    if folder is None:
        raise FormatError(_NO_HOME)
    return folder / "formats"


def load_formats(
    *,
    project: str | os.PathLike[str] | None = None,
    user: bool = True,
    on_error: OnError | None = None,
) -> list[OutputFormat]:
    """Register the user's formats and those of a trusted project; returns what was registered.

    The user's are `*/format.toml` in `user_formats_folder()`, a project's the same in its folder
    `.ethos/formats`. A user without a home directory has none. A user's format replaces a
    registered one of its name; a project's only one that was loaded from the same file. Nothing is
    loaded without a call of this function.

    A format that cannot be used raises `FormatError`, and formats of a project that are not trusted
    `FormatsNotTrustedError`. With `on_error`, it is called with the error instead, and the others
    are loaded.

    >>> load_formats(user=False)
    []
    """
    fail = _raise if on_error is None else on_error
    loaded: list[OutputFormat] = []
    if project is not None:
        folder = _project_folder(project)
        try:
            files = _files(folder)
            if files and _trusted().get(str(folder)) != _digest(files):
                raise FormatsNotTrustedError(
                    f"{folder}: these formats are not trusted, or have changed since: read them, "
                    f"then run: ethos-registry formats trust "
                    f"{shlex.quote(str(folder.parent.parent))}"
                )
        except FormatError as error:
            fail(error)
        else:
            _register(files, fail, loaded, is_user=False)
    config = _config_folder() if user else None
    if config is not None:
        try:
            files = _files(config / "formats")
        except FormatError as error:
            fail(error)
        else:
            _register(files, fail, loaded, is_user=True)
    return loaded


def trust_formats(project: str | os.PathLike[str]) -> list[Path]:
    """Trust the formats of a project as they are now; returns their files.

    Stored outside of the project, for its absolute path and the content of these files: after a
    change, `load_formats` refuses them until they are trusted again. Raises `FormatError` if the
    project has none, or they cannot be read.
    """
    config = _config_folder()
    if config is None:
        raise FormatError(_NO_HOME)
    folder = _project_folder(project)
    files = _files(folder)
    if not files:
        raise FormatError(f"{folder}: there is no */{FORMAT_FILE} in it")
    trusted = _trusted()
    trusted[str(folder)] = _digest(files)
    document = {"version": _VERSION, "projects": dict(sorted(trusted.items()))}
    _write(config / _TRUST_FILE, json.dumps(document, indent=1) + "\n")
    return list(files)


def _register(
    files: dict[Path, str], fail: OnError, loaded: list[OutputFormat], *, is_user: bool
) -> None:
    for path, text in files.items():

        def replaces(known: OutputFormat | None, path: Path = path) -> bool:
            return is_user or (known is not None and known.path == path)

        try:
            loaded.append(register_read(path, text, replace=replaces))
        except FormatError as error:
            fail(error)


def _raise(error: FormatError) -> None:
    raise error


def _config_folder() -> Path | None:
    """Where the settings of the user are; `None` without a home directory."""
    configured = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        root = Path(configured) if os.path.isabs(configured) else Path.home() / ".config"
    except RuntimeError:
        return None
    return root / "ethos-registry"


def _project_folder(project: str | os.PathLike[str]) -> Path:
    return Path(os.path.realpath(checks.path(project, "project"))) / PROJECT_FOLDER


def _files(folder: Path) -> dict[Path, str]:
    """The formats in a folder with their content, by name."""
    try:
        paths = sorted(folder.glob(f"*/{FORMAT_FILE}"))
    except OSError as error:
        raise FormatError(f"{folder}: cannot be read: {error.strerror}") from None
    if len(paths) > _MAX_FORMATS:
        raise FormatError(f"{folder}: has {len(paths)} formats, at most {_MAX_FORMATS}")
    return {path: read_format(path) for path in paths}


def _digest(files: dict[Path, str]) -> str:
    named = sorted((path.parent.name, text) for path, text in files.items())
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def _trusted() -> dict[str, str]:
    """The digests of the formats that are trusted, by their folders."""
    config = _config_folder()
    if config is None:
        return {}
    path = config / _TRUST_FILE
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise FormatError(f"{path}: cannot be read: {error}") from None
    projects = document.get("projects") if isinstance(document, dict) else None
    if not isinstance(projects, dict) or document.get("version") != _VERSION:
        raise FormatError(
            f"{path}: is not a list of trusted formats; remove it and trust them again"
        )
    return {str(folder): str(digest) for folder, digest in projects.items()}


def _write(path: Path, text: str) -> None:
    """Write a file that only its owner reads, as a whole or not at all."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole_file(path, text)
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror}") from None
