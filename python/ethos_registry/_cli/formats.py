"""The commands `formats list`, `formats test`, `formats new` and `formats trust`."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ethos_registry import _core, reduce_text
from ethos_registry._cli import entry
from ethos_registry._cli.console import (
    CommandError,
    fail_if,
    file_errors,
    make_group,
    print_line,
    read_output,
    visible,
    write_json,
    write_json_or_lines,
    write_lines,
    write_stdout,
)
from ethos_registry._cli.options import AsJson, ExitCode
from ethos_registry.reduction import (
    OutputFormat,
    ReductionPolicy,
    built_in_formats,
    register_format,
    registered_formats,
    trust_formats,
    user_formats_folder,
)

# A first format from a recorded output, to be read and changed by a person.

MIN_REPEATED = 4
"""Fewer lines of one shape do not repeat."""
MIN_PREFIX_CHARS = 3
MAX_PATTERNS = 12
MAX_FACTS = 20
TARGET_SHARE = 4
"""Samples are reduced to one part in this many of their length."""
LEAST_TARGET_CHARS = 1_024
MAX_FACT_CHARS = 160
_FAILURE = re.compile(r"(?i)\b(error|failed|failure|fatal|panic|exception|cannot|aborted)")
_WARNING = re.compile(r"(?i)\b(warning|deprecated|skipped)")
_COUNT = re.compile(r"\b\d+ [a-z]+", re.IGNORECASE)
_VERDICT = re.compile(r"(?i)\b(total|finished|done|passed|built|completed|summary|result)\b")
_META = re.compile(r"[\\.+*?()|\[\]{}^$]")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


def draft_format(
    name: str, command: str, words: Sequence[str], text: str, exit_code: int | None, file: str
) -> tuple[str, str]:
    """The content of `format.toml` and `samples.toml`.

    Lines that repeat go first; what looks like a failure, a warning or a total stays. `words` are
    the program and its subcommand; `file` is the sample's name beside `samples.toml`.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    failures = _words(_FAILURE, lines)
    warnings = _words(_WARNING, lines)
    plain = [line for line in lines if not (_FAILURE.search(line) or _WARNING.search(line))]
    counted, dropped = _repeated(plain)
    repeated = [re.compile(pattern) for pattern in [*counted, *dropped]]
    single = [line for line in plain if not any(pattern.search(line) for pattern in repeated)]
    totals = [line for line in single if _COUNT.search(line) and _VERDICT.search(line)]
    facts = [line for line in lines if _FAILURE.search(line) or _WARNING.search(line)]
    known = list(dict.fromkeys(fact.strip() for fact in [*facts, *totals]))
    rules = [
        ("# Lines that go first.", "noise", dropped),
        ("# Lines of one shape: few of them stay.", "passed", counted),
        ("# Lines that stay with the lines below them.", "failure", failures),
        ("# Lines that stay.", "warning", warnings),
        ("# Totals.", "verdict", list(map(_shape, totals[:MAX_PATTERNS]))),
    ]
    format_toml = [
        f"# {name}: a draft from one output; read it, and test it with other outputs.",
        f"name = {_string(name)}",
        f"commands = [{_string(' '.join(words))}]",
    ]
    for comment, key, patterns in rules:
        if patterns:
            format_toml += ["", comment, f"{key} = ["]
            format_toml += [f"    {_string(pattern)}," for pattern in dict.fromkeys(patterns)]
            format_toml.append("]")
    samples_toml = ["[[sample]]", f"file = {_string(file)}", f"command = {_string(command)}"]
    if exit_code is not None:
        samples_toml.append(f"exit_code = {exit_code}")
    samples_toml += ["# What must stay, as it is in the output.", "facts = ["]
    samples_toml += [f"    {_string(fact[:MAX_FACT_CHARS])}," for fact in known[:MAX_FACTS]]
    samples_toml.append("]")
    return "\n".join(format_toml) + "\n", "\n".join(samples_toml) + "\n"


def _words(pattern: re.Pattern[str], lines: Iterable[str]) -> list[str]:
    """A pattern for each word of `pattern` that is in the lines, the most frequent first."""
    found = Counter(match[1].lower() for line in lines if (match := pattern.search(line)))
    return [rf"(?i)\b{word}" for word, _ in found.most_common()]


def _repeated(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Patterns of lines that differ in numbers only, and of those that only begin alike."""
    beginnings: dict[str, list[str]] = {}
    for line in lines:
        indent = len(line) - len(line.lstrip())
        first = line.split(maxsplit=1)[0]
        beginnings.setdefault(line[:indent] + first, []).append(line)
    dropped = []
    left = []
    for beginning, same in beginnings.items():
        # Lines of one shape are counted, and a number is not a word that others begin with.
        is_one = len(set(map(_shape, same))) == 1 or _NUMBER.search(beginning) is not None
        if is_one or len(same) < MIN_REPEATED or len(beginning.strip()) < MIN_PREFIX_CHARS:
            left += same
        else:
            word_end = r"\b" if beginning[-1].isalnum() else ""
            dropped.append(f"^{_escaped(beginning)}{word_end}")
    shapes = Counter(map(_shape, left)).most_common(MAX_PATTERNS)
    counted = [shape for shape, count in shapes if count >= MIN_REPEATED]
    return counted, dropped[:MAX_PATTERNS]


def _shape(line: str) -> str:
    """A pattern of the line with any numbers."""
    return "^" + r"\d+(?:\.\d+)*".join(map(_escaped, _NUMBER.split(line))) + "$"


def _escaped(text: str) -> str:
    return re.sub(r"\t", r"\\t", _META.sub(lambda found: "\\" + found[0], text))


def _string(text: str) -> str:
    """A string of TOML, literal where that is possible."""
    if "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text)


# A format against its samples: which facts stay, how much is saved.

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

    sample: Path
    facts: int
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
        found = self.facts - len(self.lost) - len(self.not_in_sample)
        saved = 100 - 100 * self.reduced_chars / max(1, self.chars)
        unused = "" if self.used else " (stays as it is, or another format is used)"
        summary = (
            f"{self.sample.name}: {found} of {self.facts} facts, "
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
    with file_errors(sample.path):
        text = sample.path.read_bytes().decode(errors="replace")
    policy = ReductionPolicy(max(LEAST_TARGET_CHARS, len(text) // TARGET_SHARE))
    reduced = reduce_text(text, command=sample.command, exit_code=sample.exit_code, policy=policy)
    present = [fact for fact in sample.facts if fact in text]
    return SampleScore(
        sample.path,
        facts=len(sample.facts),
        lost=tuple(fact for fact in present if fact not in reduced),
        not_in_sample=tuple(fact for fact in sample.facts if fact not in present),
        chars=len(text),
        reduced_chars=len(reduced),
        used=registered.reduces(text, command=sample.command),
    )


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

app = make_group(
    "List, test, draft and trust formats of outputs.",
    "List, test, draft and trust formats of outputs.",
)


def load_own_formats() -> None:
    """Load the formats of the user and of the project here; what cannot be used is a warning."""
    entry.load_own_formats(lambda error: print_line(f"warning: {error}"))


@app.command("list", short_help="List formats: the package's, yours, the project's.")
def list_formats(json: AsJson = False) -> None:
    """List the formats of the package, the user and the project."""
    load_own_formats()
    known = [*registered_formats(), *built_in_formats()]
    width = max(len(each.name) for each in known)
    lines = (
        f"{each.name:{width}}  {', '.join(each.commands) or 'by content'}"
        f"{f'  ({each.path})' if each.path else ''}"
        for each in known
    )
    write_json_or_lines(known, lines, as_json=json)


@app.command("test")
def run_samples(
    folders: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FOLDER]...",
            help="Folders with a format.toml. Default: yours and the project's.",
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Reduce the samples of formats; exit 1 if a fact is lost.

    The samples of a format are listed in the samples.toml of its folder.
    """
    found = [Path(folder) for folder in folders or ()] or _own_folders()
    if not found:
        raise CommandError(
            "there are no formats of yours; `ethos-registry formats new NAME` makes one"
        )
    scores: list[SampleScore] = []
    for folder in found:
        registered = register_format(folder, replace=True)
        of_format = [score(registered, sample) for sample in read_samples(folder)]
        scores += of_format
        if not json:
            lines = [f"{registered.name}:", *(each.line() for each in of_format)]
            write_lines("\n".join(lines).split("\n"))
    if json:
        write_json(scores)
    fail_if(not all(each.ok for each in scores))


@app.command("new")
def make_draft(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the format and of its folder.")
    ],
    command: Annotated[
        str | None,
        typer.Option(
            metavar="LINE",
            help="Command that printed the sample. Default: the last `run` is the sample.",
        ),
    ] = None,
    sample: Annotated[
        str, typer.Option(metavar="FILE", help="File with the output. Default: standard input.")
    ] = "-",
    exit_code: ExitCode = None,
    folder: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Folder to write to. Default: your formats."),
    ] = None,
) -> None:
    """Make a draft of a format from a sample output.

    Lines that repeat go first; lines that look like a failure, a warning or a total stay.
    """
    if not _NAME.fullmatch(name):
        raise CommandError(f"a name has letters, digits, `.`, `_` and `-`, got {name!r}")
    if command is None:
        if sample != "-":
            raise CommandError(f"`--sample {sample}` needs `--command LINE`, which printed it")
        command, exit_code, text = _last_run(exit_code)
    elif sample == "-":
        text = read_output()
    else:
        with file_errors(sample):
            text = Path(sample).read_bytes().decode(errors="surrogateescape")
    if not text.strip():
        raise CommandError("the sample is empty: give the output of the command")
    place = (user_formats_folder() if folder is None else Path(folder)) / name
    file = f"samples/{name}.txt"
    format_toml, samples_toml = draft_format(
        name, command, _command_words(command), text, exit_code, file
    )
    try:
        (place / "samples").mkdir(parents=True)
        (place / file).write_bytes(text.encode(errors="surrogateescape"))
        (place / "format.toml").write_text(format_toml, encoding="utf-8")
        (place / SAMPLES_FILE).write_text(samples_toml, encoding="utf-8")
    except FileExistsError:
        raise CommandError(f"{place}: exists; remove it or take another name") from None
    except OSError as error:
        raise CommandError(f"{place}: cannot be written: {error.strerror}") from None
    write_stdout(visible(f"{place / 'format.toml'}") + "\n")
    print_line(f"test it with: ethos-registry formats test {shlex.quote(str(place))}")


@app.command("trust")
def trust_project(
    project: Annotated[
        str,
        typer.Argument(
            metavar="[PROJECT]", help="Folder of the project. Default: the current one."
        ),
    ] = ".",
) -> None:
    """Trust the formats of a project as they are now.

    Read them first: they decide what an agent sees. After a change they are refused again.
    """
    files = trust_formats(project)
    write_stdout("".join(f"trusted: {visible(str(file))}\n" for file in files))


def _last_run(exit_code: int | None) -> tuple[str, int | None, str]:
    """The command, the exit code and the output of the last `run`."""
    archive = _core.OutputArchive()
    for output_id, command, its_code, _, _ in archive.all():
        content = archive.read(output_id)
        if content is not None and command:
            code = exit_code if exit_code is not None else its_code
            known = None if code < 0 else code
            return command, known, content.decode(errors="surrogateescape")
    raise CommandError(
        "no output is saved: run the command with `ethos-registry run -- COMMAND` before, or give "
        "`--command LINE` and its output"
    )


def _own_folders() -> list[Path]:
    """The folders of the user's formats, and of the project's if it is trusted."""
    load_own_formats()
    return sorted(each.path.parent for each in registered_formats() if each.path is not None)


def _command_words(command: str) -> list[str]:
    """The program, and a word behind it that looks like a subcommand."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise CommandError(f"`--command` is not a command line: {error}") from None
    if not words:
        raise CommandError("`--command` is empty: give the line that printed the sample")
    program = os.path.basename(words[0])
    return [program, *(word for word in words[1:2] if re.fullmatch(r"[a-z][a-z-]*", word))]
