"""Whole outputs of commands, kept on this machine so that what was left out can be read again."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from platformdirs import user_state_path

from ethos_registry.cli.errors import CommandError

__all__ = ["KeptOutput", "Outputs"]

FOLDER_VARIABLE = "ETHOS_REGISTRY_OUTPUTS"
MAX_OUTPUTS = 200
MAX_AGE_SECONDS = 7 * 24 * 3600
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


class Outputs:
    """A folder of outputs, each one file of bytes and one of JSON that only its owner may read.

    The newest 200 are kept, for 7 days. The folder is `$ETHOS_REGISTRY_OUTPUTS`, else the one where
    programs of this system keep their state.
    """

    def __init__(self, folder: Path | None = None) -> None:
        named = os.environ.get(FOLDER_VARIABLE)
        default = Path(named) if named else user_state_path("ethos-registry") / "outputs"
        self.folder = folder or default

    def keep(self, command: str, exit_code: int, started: float, output: bytes) -> KeptOutput:
        """Write an output; `OSError` when that cannot be done."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._drop_old()
        kept = KeptOutput(secrets.token_hex(4), command, exit_code, started, len(output))
        self._write(self._text_path(kept.id), output)
        self._write(self._facts_path(kept.id), json.dumps(asdict(kept)).encode())
        return kept

    def read(self, output_id: str) -> bytes:
        """The bytes of an output; `CommandError` when there is none of that id."""
        if not _ID.fullmatch(output_id):
            raise CommandError(f"not an id: {output_id!r}: ids are 8 hexadecimal digits")
        try:
            return self._text_path(output_id).read_bytes()
        except FileNotFoundError:
            raise CommandError(
                f"no output {output_id}: it is older than 7 days, or was never kept; "
                "`ethos-registry recall` lists those that are"
            ) from None

    def all(self) -> list[KeptOutput]:
        """What is kept, the newest first."""
        return sorted(self._kept(), key=lambda kept: (-kept.started, kept.id))

    def _kept(self) -> Iterator[KeptOutput]:
        for path in self.folder.glob("*.json"):
            # Another process may take the file away, or be cut off while it writes one.
            with contextlib.suppress(OSError, ValueError, TypeError):
                yield KeptOutput(**json.loads(path.read_bytes()))

    def _drop_old(self) -> None:
        oldest = time.time() - MAX_AGE_SECONDS
        for number, kept in enumerate(self.all(), start=1):
            if number >= MAX_OUTPUTS or kept.started < oldest:
                self._text_path(kept.id).unlink(missing_ok=True)
                self._facts_path(kept.id).unlink(missing_ok=True)

    def _text_path(self, output_id: str) -> Path:
        return self.folder / f"{output_id}.out"

    def _facts_path(self, output_id: str) -> Path:
        return self.folder / f"{output_id}.json"

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)
