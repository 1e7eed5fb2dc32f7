"""Whole outputs of commands, saved on this machine so that what was left out can be read again."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from platformdirs import user_state_path
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ethos_registry._cli.console import (
    NOTHING_FOUND,
    CommandError,
    EndedError,
    visible,
    write_bytes,
    write_rendered,
)

__all__ = [
    "FOLDER_VARIABLE",
    "OTHER_FOLDER",
    "RecallTable",
    "SavedOutput",
    "SavedOutputs",
    "recall",
]


FOLDER_VARIABLE = "ETHOS_REGISTRY_OUTPUTS"
MAX_OUTPUTS = 200
MAX_AGE_DAYS = 7
MAX_AGE_SECONDS = MAX_AGE_DAYS * 24 * 3600
MAX_BYTES = 1024 * 1024 * 1024
"""Of all outputs together; a single one has at most a quarter of it."""
OTHER_FOLDER = f"{FOLDER_VARIABLE} may name another folder"
_MAX_FACTS_BYTES = 4 * 1024 * 1024
_CLOCK_SLACK_SECONDS = 3600
_ID = re.compile(r"[0-9a-f]{8}")
_READ_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"):
    _READ_FLAGS |= getattr(os, _flag, 0)


@dataclass(frozen=True, slots=True)
class SavedOutput:
    """What is known about a saved output beside its content."""

    id: str
    command: str
    """The command line, without the secrets that were recognised."""
    exit_code: int
    started: float
    """Seconds since the epoch."""
    size_bytes: int

    def is_valid(self) -> bool:
        """Whether the fields have the types and ranges that `SavedOutputs` writes."""
        try:
            datetime.fromtimestamp(self.started)
        except (TypeError, ValueError, OverflowError, OSError):
            return False
        return (
            isinstance(self.id, str)
            and _ID.fullmatch(self.id) is not None
            and isinstance(self.command, str)
            and isinstance(self.exit_code, int)
            and isinstance(self.size_bytes, int)
        )


class SavedOutputs:
    """A folder of outputs, each a file of bytes and one of JSON that only the owner may read.

    The newest 200 are kept, for 7 days, up to 1 GiB in all; `save`, `read` and `all` remove the
    rest. The folder is `$ETHOS_REGISTRY_OUTPUTS`, else the one where programs of this system keep
    their state. It is created with mode 0700. A folder that other users own or may write to is
    refused, and links in it are not followed.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or _folder_of_environment()

    def save(self, command: str, exit_code: int, started: float, output: bytes) -> SavedOutput:
        """Save an output.

        Raises:
            OSError: It cannot be written, or the folder is not safe.

        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._check_folder()
        self._prune(MAX_BYTES - len(output), MAX_OUTPUTS - 1)
        saved = SavedOutput(secrets.token_hex(4), command, exit_code, started, len(output))
        try:
            self._write(self._content_path(saved.id), output)
            self._write(self._facts_path(saved.id), json.dumps(asdict(saved)).encode())
        except BaseException:
            # A part of an output takes the room of others, and would never be found.
            self._remove(saved.id)
            raise
        return saved

    def read(self, output_id: str) -> bytes:
        """The bytes of an output.

        Raises:
            CommandError: The id has the wrong form, or no output has it.
            OSError: The folder cannot be read, or is not safe.

        """
        if not _ID.fullmatch(output_id):
            raise CommandError(
                f"not an id: {output_id!r}: ids are 8 digits of 0-9 and a-f; "
                "`ethos-registry recall` lists them"
            )
        if any(saved.id == output_id for saved in self.all()):
            with contextlib.suppress(FileNotFoundError):
                return _content(self._content_path(output_id), MAX_BYTES)
        raise CommandError(
            f"no output {output_id} in {str(self.folder)!r}, where the last {MAX_OUTPUTS} of "
            f"{MAX_AGE_DAYS} days are kept; `ethos-registry recall` lists them",
            NOTHING_FOUND,
        )

    def all(self) -> list[SavedOutput]:
        """The saved outputs, the newest first.

        Raises:
            OSError: The folder cannot be read, or is not safe.

        """
        if not os.path.lexists(self.folder):
            return []
        self._check_folder()
        return self._prune(MAX_BYTES, MAX_OUTPUTS)

    def _check_folder(self) -> None:
        status = os.stat(self.folder)
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self.folder))
        if sys.platform == "win32":
            return
        if status.st_uid != os.geteuid():
            raise _unsafe(self.folder, "another user owns it")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            mode = stat.S_IMODE(status.st_mode)
            raise _unsafe(self.folder, f"other users may write to it (mode {mode:04o}); chmod 700")

    def _prune(self, room_bytes: int, room_outputs: int) -> list[SavedOutput]:
        """Remove what is too old or too much; what is left, the newest first."""
        now = time.time()
        left: list[SavedOutput] = []
        for saved in sorted(self._saved(), key=lambda saved: (-saved.started, saved.id)):
            age = now - saved.started
            room_bytes -= saved.size_bytes
            if (
                len(left) >= room_outputs
                or not -_CLOCK_SLACK_SECONDS < age < MAX_AGE_SECONDS
                or room_bytes < 0
            ):
                self._remove(saved.id)
            else:
                left.append(saved)
        self._remove_parts({saved.id for saved in left})
        return left

    def _saved(self) -> Iterator[SavedOutput]:
        for path in self._files(".json"):
            # Another process may remove the file, or be killed while it writes one.
            with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
                saved = SavedOutput(**json.loads(_content(path, _MAX_FACTS_BYTES)))
                if saved.is_valid() and saved.id == path.stem:
                    on_disk = os.lstat(self._content_path(saved.id)).st_size
                    yield replace(saved, size_bytes=max(saved.size_bytes, on_disk))

    def _files(self, suffix: str) -> list[Path]:
        return [self.folder / name for name in os.listdir(self.folder) if name.endswith(suffix)]

    def _remove_parts(self, known: set[str]) -> None:
        """Remove old files of writers that were killed before they had written both files."""
        oldest = time.time() - MAX_AGE_SECONDS
        for path in (*self._files(".out"), *self._files(".json")):
            if _ID.fullmatch(path.stem) and path.stem not in known:
                with contextlib.suppress(OSError):
                    if os.lstat(path).st_mtime < oldest:
                        path.unlink()

    def _remove(self, output_id: str) -> None:
        for path in (self._facts_path(output_id), self._content_path(output_id)):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)

    def _content_path(self, output_id: str) -> Path:
        return self.folder / f"{output_id}.out"

    def _facts_path(self, output_id: str) -> Path:
        return self.folder / f"{output_id}.json"

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)


def _content(path: Path, max_bytes: int) -> bytes:
    """The bytes of a regular file; of a link or a pipe that it is missing."""
    try:
        descriptor = os.open(path, _READ_FLAGS)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from None
        raise
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return file.read(max_bytes)


def _unsafe(folder: Path, reason: str) -> PermissionError:
    return PermissionError(errno.EPERM, f"the folder is not used, because {reason}", str(folder))


def _folder_of_environment() -> Path:
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    try:
        return user_state_path("ethos-registry") / "outputs"
    except RuntimeError:
        reason = f"there is no home directory; {OTHER_FOLDER}"
        raise OSError(errno.ENOENT, reason) from None


# `ethos-registry recall` without an id: the saved outputs as a table.


class RecallTable:
    """Saved outputs, the newest first: id, time, exit code, size, command."""

    def __init__(self, outputs: Sequence[SavedOutput], folder: Path) -> None:
        self._outputs = outputs
        self._folder = folder

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self._outputs:
            place = visible(repr(str(self._folder)))
            yield Text(
                f"No outputs are saved in {place}; `ethos-registry run -- COMMAND` saves one."
            )
            return
        table = Table(box=None, pad_edge=False)
        table.add_column("id", no_wrap=True)
        table.add_column("started", no_wrap=True)
        table.add_column("exit", justify="right")
        table.add_column("bytes", justify="right")
        table.add_column("command", overflow="fold")
        for output in self._outputs:
            started = datetime.fromtimestamp(output.started).strftime("%Y-%m-%d %H:%M:%S")
            table.add_row(
                output.id,
                started,
                str(output.exit_code),
                f"{output.size_bytes:,}",
                visible(output.command, 200),
            )
        yield table


# `ethos-registry recall`: the whole output of a command that `run` ran.


def recall(
    output_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Output to print. Default: list all.")
    ] = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with the exit code of the command.")
    ] = False,
) -> None:
    """Print the complete output of an earlier `run` or hook; exit code 3 if it is not saved."""
    outputs = SavedOutputs()
    if output_id is None:
        write_rendered(RecallTable(outputs.all(), outputs.folder))
        return
    # Read before: printing takes a while, and another process may remove the output.
    codes = {saved.id: saved.exit_code for saved in outputs.all()}
    write_bytes(outputs.read(output_id))
    if exit_code:
        raise EndedError(codes.get(output_id, 0) & 0xFF)
