"""A format against its samples: which facts stay, how much is saved."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from ethos_registry import OutputFormat, reduce_text
from ethos_registry.cli.errors import CommandError

__all__ = ["SAMPLES_FILE", "Sample", "SampleScore", "read_samples", "score"]

SAMPLES_FILE = "samples.toml"
_KEYS = {"file", "command", "exit_code", "facts"}


@dataclass(frozen=True, slots=True)
class Sample:
    """A recorded output and what must stay of it."""

    path: Path
    command: str
    exit_code: int | None
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SampleScore:
    """What a format leaves of a sample."""

    sample: Sample
    lost: tuple[str, ...]
    not_in_sample: tuple[str, ...]
    """Facts that the sample itself does not have."""
    chars: int
    reduced_chars: int
    used: bool
    """Whether the format reduced it; `False` also if it stays as it is."""

    @property
    def ok(self) -> bool:
        """Whether no fact is lost."""
        return not (self.lost or self.not_in_sample)

    def line(self) -> str:
        """One line for a person."""
        found = len(self.sample.facts) - len(self.lost) - len(self.not_in_sample)
        saved = 100 - 100 * self.reduced_chars / max(1, self.chars)
        unused = "" if self.used else " (stays as it is, or another format is used)"
        summary = (
            f"{self.sample.path.name}: {found} of {len(self.sample.facts)} facts, "
            f"{self.chars:,} -> {self.reduced_chars:,} characters, {saved:.1f} % saved{unused}"
        )
        parts = [summary]
        parts += [f"  lost: {fact}" for fact in self.lost]
        parts += [f"  not in the sample: {fact}" for fact in self.not_in_sample]
        return "\n".join(parts)


def read_samples(folder: Path) -> list[Sample]:
    """The samples that `samples.toml` in a format's folder lists."""
    path = folder / SAMPLES_FILE
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CommandError(
            f"{path}: does not exist; `ethos-registry formats new` makes one"
        ) from None
    except (OSError, ValueError) as error:
        raise CommandError(f"{path}: cannot be read: {error}") from None
    entries = document.get("sample")
    if not isinstance(entries, list) or not entries or set(document) != {"sample"}:
        raise CommandError(f"{path}: expected one or more [[sample]], and nothing else")
    return [_sample(path, number, entry) for number, entry in enumerate(entries)]


def _sample(path: Path, number: int, entry: object) -> Sample:
    where = f"{path}: sample[{number}]"
    if not isinstance(entry, dict) or not entry.keys() <= _KEYS:
        raise CommandError(f"{where}: the keys are {', '.join(sorted(_KEYS))}")
    file, command = entry.get("file"), entry.get("command")
    exit_code, facts = entry.get("exit_code"), entry.get("facts", [])
    if not isinstance(file, str) or not isinstance(command, str):
        raise CommandError(f"{where}: `file` and `command` must be strings")
    if exit_code is not None and (isinstance(exit_code, bool) or not isinstance(exit_code, int)):
        raise CommandError(f"{where}: `exit_code` must be a whole number")
    if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
        raise CommandError(f"{where}: `facts` must be a list of strings")
    return Sample(path.parent / file, command, exit_code, tuple(facts))


def score(registered: OutputFormat, sample: Sample) -> SampleScore:
    """Reduce a sample, as an agent gets it."""
    try:
        text = sample.path.read_bytes().decode(errors="replace")
    except OSError as error:
        raise CommandError(f"{sample.path}: cannot be read: {error.strerror}") from None
    reduced = reduce_text(text, command=sample.command, exit_code=sample.exit_code)
    present = [fact for fact in sample.facts if fact in text]
    return SampleScore(
        sample,
        lost=tuple(fact for fact in present if fact not in reduced),
        not_in_sample=tuple(fact for fact in sample.facts if fact not in present),
        chars=len(text),
        reduced_chars=len(reduced),
        used=registered.reduces(text, command=sample.command, exit_code=sample.exit_code),
    )
