"""Whole outputs of commands, kept on this machine so that what was left out can be read again."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from platformdirs import user_state_path

from ethos_registry.cli.errors import CommandError

__all__ = ["OTHER_FOLDER", "KeptOutput", "Outputs"]

FOLDER_VARIABLE = "ETHOS_REGISTRY_OUTPUTS"
MAX_OUTPUTS = 200
MAX_AGE_SECONDS = 7 * 24 * 3600
MAX_BYTES = 1024 * 1024 * 1024
"""Of all outputs together: one alone may have a quarter of it."""
OTHER_FOLDER = f"{FOLDER_VARIABLE} may name another folder"
_ID = re.compile(r"[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class KeptOutput:
    """What is known of a kept output beside its text."""

    id: str
    command: str
    exit_code: int
    started: float
    """Seconds since the epoch."""
    size_bytes: int

    def is_sound(self) -> bool:
        """Whether it is what `Outputs` writes: a file that it reads may be anybody's."""
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


class Outputs:
    """A folder of outputs, each one file of bytes and one of JSON that only its owner may read.

    The newest 200 are kept, for 7 days, up to 1 GiB in all. The folder is
    `$ETHOS_REGISTRY_OUTPUTS`, else the one where programs of this system keep their state; without
    a home directory that is an `OSError`.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or _folder_of_environment()

    def keep(self, command: str, exit_code: int, started: float, output: bytes) -> KeptOutput:
        """Write an output; `OSError` when that cannot be done."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        known = self.all()
        self._drop_old(known, MAX_BYTES - len(output))
        self._drop_parts({each.id for each in known})
        kept = KeptOutput(secrets.token_hex(4), command, exit_code, started, len(output))
        try:
            self._write(self._text_path(kept.id), output)
            self._write(self._facts_path(kept.id), json.dumps(asdict(kept)).encode())
        except BaseException:
            # A part of an output takes the room of others, and would never be found.
            self._drop(kept.id)
            raise
        return kept

    def read(self, output_id: str) -> bytes:
        """The bytes of an output; `CommandError` when there is none of that id."""
        if not _ID.fullmatch(output_id):
            raise CommandError(
                f"not an id: {output_id!r}: ids are 8 digits of 0-9 and a-f; "
                "`ethos-registry recall` lists them"
            )
        try:
            return self._text_path(output_id).read_bytes()
        except FileNotFoundError:
            raise CommandError(
                f"no output {output_id} in {str(self.folder)!r}, where the last {MAX_OUTPUTS} of "
                "7 days are kept; `ethos-registry recall` lists them"
            ) from None

    def all(self) -> list[KeptOutput]:
        """What is kept, the newest first; `OSError` for a folder that cannot be read."""
        return sorted(self._kept(), key=lambda kept: (-kept.started, kept.id))

    def _kept(self) -> Iterator[KeptOutput]:
        for path in self._files(".json"):
            # Another process may take the file away, or be cut off while it writes one.
            with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
                kept = KeptOutput(**json.loads(path.read_bytes()))
                if kept.is_sound() and kept.id == path.stem:
                    yield kept

    def _files(self, suffix: str) -> list[Path]:
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        return [self.folder / name for name in names if name.endswith(suffix)]

    def _drop_old(self, newest_first: Sequence[KeptOutput], room_bytes: int) -> None:
        oldest = time.time() - MAX_AGE_SECONDS
        for number, kept in enumerate(newest_first, start=1):
            room_bytes -= max(kept.size_bytes, 0)
            if number >= MAX_OUTPUTS or kept.started < oldest or room_bytes < 0:
                self._drop(kept.id)

    def _drop_parts(self, known: Collection[str]) -> None:
        """Files of writers that were killed before they had written all the facts."""
        oldest = time.time() - MAX_AGE_SECONDS
        for path in (*self._files(".out"), *self._files(".json")):
            if _ID.fullmatch(path.stem) and path.stem not in known:
                with contextlib.suppress(OSError):
                    if path.stat().st_mtime < oldest:
                        path.unlink()

    def _drop(self, output_id: str) -> None:
        for path in (self._facts_path(output_id), self._text_path(output_id)):
            path.unlink(missing_ok=True)

    def _text_path(self, output_id: str) -> Path:
        return self.folder / f"{output_id}.out"

    def _facts_path(self, output_id: str) -> Path:
        return self.folder / f"{output_id}.json"

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)


def _folder_of_environment() -> Path:
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    try:
        return user_state_path("ethos-registry") / "outputs"
    except RuntimeError:
        reason = f"there is no home directory; {OTHER_FOLDER}"
        raise OSError(errno.ENOENT, reason) from None
