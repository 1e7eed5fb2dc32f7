"""Formats of outputs that programs register: whose output it is, what goes and what stays."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ethos_registry import _core
from ethos_registry._persistence.files import make_private_folder, write_whole_file
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError

FORMAT_FILE = "format.toml"
_MAX_BYTES = 64 * 1024

_lock = threading.Lock()
_registered: dict[str, OutputFormat] = {}


class FormatError(ConfigError):
    """A format cannot be read or registered; the message has the file, the key and the reason."""

    __module__ = "ethos_registry.reduction"

    code: ClassVar[str] = "E_FORMAT"


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class OutputFormat:
    """A format of outputs, as a `format.toml` states it."""

    name: str
    commands: tuple[str, ...]
    """The commands whose outputs it knows; empty if only the content decides."""
    path: Path | None = None
    """The file it was read from; `None` for a format of the package."""

    def reduces(self, text: str, *, command: str | None = None) -> bool:
        """Whether this format is the first to classify the lines of this output.

        Only a registered format is used.
        """
        return _core.format_of(text, command) == self.name


@_checks.checked_signature
def register_format(path: str | os.PathLike[str], *, replace: bool = False) -> OutputFormat:
    r"""Register a format for the whole process; returns what was registered.

    `path` is a `format.toml`, or the folder that contains it. A registered format for the command
    of an output is used before everything that the package knows; of two for one command, the one
    registered last. Results that are reduced in other processes do not know it: register it there
    too. May be called from any thread.

    Raises `FormatError` if the file cannot be read, is not a format, or its name is registered and
    `replace` is false.

    >>> import tempfile, pathlib
    >>> from ethos_registry import reduce_text
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "format.toml").write_text(
    ...     "name = 'oakc'\ncommands = ['oakc']\nnoise = ['^compiled ']\nfailure = ['^error']\n"
    ... )
    >>> register_format(folder).name
    'oakc'
    >>> output = "".join(f"compiled unit_{n}\n" for n in range(2_000)) + "error: no door\n"
    >>> reduced = reduce_text(output, command="oakc build", exit_code=1)
    >>> len(reduced) <= 16_000 and "error: no door" in reduced
    True
    >>> unregister_format("oakc")
    True
    """
    text = read_format(path)
    return register_read(format_path(path), text, replace=replace)


def unregister_format(name: str) -> bool:
    """Remove the registered format of that name; returns whether there was one."""
    with _lock:
        _registered.pop(_checks.text(name, "name"), None)
        return _core.unregister_format(name)


def registered_formats() -> list[OutputFormat]:
    """The registered formats, the last registered first."""
    with _lock:
        return [
            _registered.get(name, OutputFormat(name, tuple(commands)))
            for name, commands in _core.registered_formats()
        ]


def built_in_formats() -> list[OutputFormat]:
    """The formats of the package."""
    return [
        OutputFormat(name, tuple(_core.check_format(text)[1]))
        for name, text in _core.built_in_formats()
    ]


def format_path(path: str | os.PathLike[str]) -> Path:
    """The file of a format: the path itself, or `format.toml` in that folder."""
    file = Path(_checks.path(path, "path"))
    return file / FORMAT_FILE if file.is_dir() else file


def read_format(path: str | os.PathLike[str]) -> str:
    """The text of a format's file. Raises `FormatError`."""
    file = format_path(path)
    try:
        with open(file, "rb") as opened:
            content = opened.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"{file}: cannot be read: {reason}") from None
    if len(content) > _MAX_BYTES:
        raise FormatError(f"{file}: has more than {_MAX_BYTES:,} bytes; a format is shorter")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"{file}: is not UTF-8: {error.reason} at byte {error.start}") from None


def register_read(
    path: Path, text: str, *, replace: bool | Callable[[OutputFormat | None], bool]
) -> OutputFormat:
    """Register the text of a file; `replace` may decide by the format that has the name."""
    with _lock:
        try:
            name, _ = _core.check_format(text)
            replaces = replace if isinstance(replace, bool) else replace(_registered.get(name))
            name, commands = _core.register_format(text, replaces)
        except ValueError as error:
            raise FormatError(f"{path}: {error}") from None
        registered = OutputFormat(name, tuple(commands), path)
        _registered[name] = registered
        return registered


# Formats of the user and of projects, loaded when a program asks for it.

PROJECT_FOLDER = Path(".ethos", "formats")
_TRUST_FILE = "trusted-formats.json"
_VERSION = 1
_MAX_FORMATS = 200
_NO_HOME = "there is no home directory: set XDG_CONFIG_HOME to a folder for settings"
OnError = Callable[[FormatError], object]


class FormatsNotTrustedError(FormatError):
    """A project's formats were never trusted, or have changed since. See `trust_formats`."""

    __module__ = "ethos_registry.reduction"

    code: ClassVar[str] = "E_FORMATS_NOT_TRUSTED"


def user_formats_folder() -> Path:
    """Where a user's own formats are: `~/.config/ethos-registry/formats`, by `XDG_CONFIG_HOME`.

    Raises `FormatError` if there is neither that variable nor a home directory.
    """
    folder = _config_folder()
    if folder is None:
        raise FormatError(_NO_HOME)
    return folder / "formats"


@_checks.checked_signature
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
        _load(_trusted_files, _project_folder(project), fail, loaded, is_user=False)
    config = _config_folder() if user else None
    if config is not None:
        _load(_files, config / "formats", fail, loaded, is_user=True)
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
    path = config / _TRUST_FILE
    try:
        make_private_folder(config)
        write_whole_file(path, json.dumps(document, indent=1) + "\n")
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror}") from None
    return list(files)


def _load(
    read: Callable[[Path], dict[Path, str]],
    folder: Path,
    fail: OnError,
    loaded: list[OutputFormat],
    *,
    is_user: bool,
) -> None:
    """Register the formats of a folder; `fail` is called with what is wrong with each."""
    try:
        files = read(folder)
    except FormatError as error:
        fail(error)
        return
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
    return Path(os.path.realpath(_checks.path(project, "project"))) / PROJECT_FOLDER


def _files(folder: Path) -> dict[Path, str]:
    """The formats in a folder with their content, by name."""
    try:
        paths = sorted(folder.glob(f"*/{FORMAT_FILE}"))
    except OSError as error:
        raise FormatError(f"{folder}: cannot be read: {error.strerror}") from None
    if len(paths) > _MAX_FORMATS:
        raise FormatError(f"{folder}: has {len(paths)} formats, at most {_MAX_FORMATS}")
    return {path: read_format(path) for path in paths}


def _trusted_files(folder: Path) -> dict[Path, str]:
    """The same for the folder of a project; `FormatsNotTrustedError` unless it is trusted."""
    files = _files(folder)
    if files and _trusted().get(str(folder)) != _digest(files):
        raise FormatsNotTrustedError(
            f"{folder}: these formats are not trusted, or have changed since: read them, then run: "
            f"ethos-registry formats trust {shlex.quote(str(folder.parent.parent))}"
        )
    return files


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
