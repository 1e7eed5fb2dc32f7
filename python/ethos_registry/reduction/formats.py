"""Formats of outputs that programs register: whose output it is, what goes and what stays."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ethos_registry import _core
from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError

__all__ = [
    "FORMAT_FILE",
    "FormatError",
    "OutputFormat",
    "built_in_formats",
    "format_path",
    "read_format",
    "register_format",
    "register_read",
    "registered_formats",
    "unregister_format",
]

FORMAT_FILE = "format.toml"
_MAX_BYTES = 64 * 1024

_lock = threading.Lock()
_registered: dict[str, OutputFormat] = {}


class FormatError(ConfigError):
    """A format cannot be read or registered; the message has the file, the key and the reason."""

    code: ClassVar[str] = "E_FORMAT"


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """A format of outputs, as a `format.toml` states it."""

    name: str
    commands: tuple[str, ...]
    """The commands whose outputs it knows; empty if only the content decides."""
    path: Path | None = None
    """The file it was read from; `None` for a format of the package."""

    def reduces(
        self, text: str, *, command: str | None = None, exit_code: int | None = None
    ) -> bool:
        """Whether `reduce_text` uses this format for this output.

        Only a registered format is used. `False` also when the output stays as it is.
        """
        return _core.format_of(text, command, exit_code) == self.name


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
    ...     "name = 'oakc'\ncommands = ['oakc']\ndrop = ['^compiled ']\nfailure = ['^error']\n"
    ... )
    >>> register_format(folder).name
    'oakc'
    >>> output = "".join(f"compiled unit_{n}\n" for n in range(900)) + "error: no door\n"
    >>> print(reduce_text(output, command="oakc build", exit_code=1))
    [898 lines left out]
    compiled unit_898
    compiled unit_899
    error: no door
    [898 of 901 lines left out]
    >>> unregister_format("oakc")
    True
    """
    text = read_format(path)
    return register_read(format_path(path), text, replace=replace)


def unregister_format(name: str) -> bool:
    """Remove the registered format of that name; returns whether there was one."""
    with _lock:
        _registered.pop(checks.text(name, "name"), None)
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
    file = Path(checks.path(path, "path"))
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
