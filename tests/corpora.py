"""The recorded outputs and what must survive of them (tests/corpus/*/README.md)."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

__all__ = [
    "HELD",
    "PARTS",
    "Recorded",
    "is_held_out",
    "known_losses",
    "lost",
    "recorded",
    "visible",
]

CORPUS = Path(__file__).parent / "corpus"
HELD = CORPUS / "held.json"
"""What must not get worse: `{part: {"saved_percent": {family: ...}, "lost": {file: [fact]}}}`."""
PARTS = ("given", "own", "fresh")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]|\x1b[=>78]")


@dataclass(frozen=True)
class Recorded:
    """One output of one command, and its facts."""

    file: str
    family: str
    command: str
    exit_code: int
    text: str
    facts: tuple[str, ...]
    """Literally in the text."""
    visible_facts: tuple[str, ...]
    """Literally in the text once terminal escapes are removed."""
    held_out: bool = False
    """Whether it only measures: see `is_held_out`."""

    def with_text(self, text: str) -> Recorded:
        """Another text, and those of the facts that are still in it."""
        shown = visible(text)
        return replace(
            self,
            text=text,
            facts=tuple(fact for fact in self.facts if fact in text or fact in shown),
            visible_facts=tuple(fact for fact in self.visible_facts if fact in shown),
        )


def is_held_out(part: str, file: str) -> bool:
    """Whether an output is of the third that only measures: its path decides, and nothing else.

    Do not read these outputs while you change a rule (CONTRIBUTING.md).
    """
    return hashlib.sha256(f"{part}/{file}".encode()).digest()[0] % 3 == 0


@cache
def recorded(part: str) -> tuple[Recorded, ...]:
    """All outputs of one part of the corpus."""
    folder = CORPUS / part
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return tuple(
        Recorded(
            file=entry["file"],
            family=entry["family"],
            command=entry["command"],
            exit_code=entry["exit_code"],
            text=(folder / entry["file"]).read_bytes().decode(),
            facts=tuple(entry["must_keep"]),
            visible_facts=tuple(entry.get("must_keep_visible", ())),
            held_out=is_held_out(part, entry["file"]),
        )
        for entry in manifest
    )


def known_losses(part: str) -> dict[str, list[str]]:
    """The facts known to be lost, by file: `benches/retention/recorded.py --write` writes them."""
    losses: dict[str, list[str]] = json.loads(HELD.read_text(encoding="utf-8"))[part]["lost"]
    return losses


def visible(text: str) -> str:
    """The text without terminal escapes, as the manifest's makers removed them."""
    return _ESCAPES.sub("", text)


def lost(output: Recorded, reduced: str) -> list[str]:
    """The facts that a reduced text has no more."""
    shown = visible(reduced)
    missing = [fact for fact in output.facts if fact not in reduced]
    return missing + [fact for fact in output.visible_facts if fact not in shown]
