"""The commands `formats list`, `formats test`, `formats new` and `formats trust`."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from ethos_registry import (
    FormatError,
    OutputFormat,
    built_in_formats,
    load_formats,
    register_format,
    registered_formats,
    trust_formats,
    user_formats_folder,
)
from ethos_registry.cli.errors import CommandError, print_line
from ethos_registry.cli.format_draft import draft_format
from ethos_registry.cli.format_samples import SAMPLES_FILE, SampleScore, read_samples, score
from ethos_registry.cli.groups import show_help_without_command
from ethos_registry.cli.numbers import any_whole_number
from ethos_registry.cli.output import write_json, write_text
from ethos_registry.cli.sources import read_output
from ethos_registry.cli.tool_options import AsJson
from ethos_registry.cli.visible import visible

__all__ = ["formats_app", "load_own_formats", "project_here"]

SOME_FACT_IS_LOST = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

formats_app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    callback=show_help_without_command,
    invoke_without_command=True,
    help="List, test, draft and trust formats of outputs.",
    short_help="List, test, draft and trust formats of outputs.",
)


def project_here() -> Path | None:
    """The nearest folder from here upwards that has `.ethos/formats`."""
    try:
        here = Path.cwd()
    except OSError:
        return None
    for folder in (here, *here.parents):
        if (folder / ".ethos" / "formats").is_dir():
            return folder
    return None


def load_own_formats() -> None:
    """Load the formats of the user and of the project here; what cannot be used is a warning."""

    def warn(error: FormatError) -> None:
        print_line(f"warning: {error}")

    load_formats(project=project_here(), on_error=warn)


@formats_app.command("list", short_help="List formats: the package's, yours, the project's.")
def list_formats(json: AsJson = False) -> None:
    """List the formats of the package, of the user and of the project here."""
    load_own_formats()
    rows = [_row(each) for each in (*registered_formats(), *built_in_formats())]
    if json:
        write_json(rows)
        return
    width = max(len(row["name"]) for row in rows)
    lines = [
        f"{row['name']:{width}}  {', '.join(row['commands']) or 'by content'}"
        f"{'  (' + row['path'] + ')' if row['path'] else ''}"
        for row in rows
    ]
    write_text("".join(f"{visible(line)}\n" for line in lines))


@formats_app.command("test")
def run_samples(
    folders: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FOLDER]...",
            help="Folders with a format.toml. Default: yours, and those of the project here.",
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
            write_text("".join(f"{visible(line)}\n" for line in "\n".join(lines).split("\n")))
    if json:
        write_json([_score_row(each) for each in scores])
    if not all(each.ok for each in scores):
        raise typer.Exit(SOME_FACT_IS_LOST)


@formats_app.command("new")
def make_draft(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, and that of its folder.")],
    command: Annotated[
        str, typer.Option(metavar="LINE", help="The command line that printed the sample.")
    ],
    sample: Annotated[
        str, typer.Option(metavar="FILE", help="The output. Default: standard input.")
    ] = "-",
    exit_code: Annotated[
        int | None,
        typer.Option(parser=any_whole_number, metavar="N", help="Its exit code. Default: unknown."),
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Where to make it. Default: where yours are."),
    ] = None,
) -> None:
    """Make a draft of a format from a sample output.

    Lines that repeat go or are counted; lines that look like a failure, a warning or a total stay.
    """
    if not _NAME.fullmatch(name):
        raise CommandError(f"a name has letters, digits, `.`, `_` and `-`, got {name!r}")
    text = read_output() if sample == "-" else _read(Path(sample))
    if not text.strip():
        raise CommandError("the sample is empty: give the output of the command")
    place = (user_formats_folder() if folder is None else Path(folder)) / name
    file = f"samples/{name}.txt"
    draft = draft_format(name, command, _command_words(command), text, exit_code, file)
    try:
        (place / "samples").mkdir(parents=True)
        (place / file).write_bytes(text.encode(errors="surrogateescape"))
        (place / "format.toml").write_text(draft.format_toml, encoding="utf-8")
        (place / SAMPLES_FILE).write_text(draft.samples_toml, encoding="utf-8")
    except FileExistsError:
        raise CommandError(f"{place}: exists; remove it or take another name") from None
    except OSError as error:
        raise CommandError(f"{place}: cannot be written: {error.strerror}") from None
    write_text(visible(f"{place / 'format.toml'}") + "\n")
    print_line(f"test it with: ethos-registry formats test {shlex.quote(str(place))}")


@formats_app.command("trust")
def trust_project(
    project: Annotated[
        str, typer.Argument(metavar="[PROJECT]", help="Its folder. Default: here.")
    ] = ".",
) -> None:
    """Trust the formats of a project as they are now.

    Read them first: they decide what an agent sees. After a change they are refused again.
    """
    files = trust_formats(project)
    write_text("".join(f"trusted: {visible(str(file))}\n" for file in files))


def _row(each: OutputFormat) -> dict[str, Any]:
    path = None if each.path is None else str(each.path)
    return {"name": each.name, "commands": list(each.commands), "path": path}


def _score_row(each: SampleScore) -> dict[str, Any]:
    return {
        "sample": str(each.sample.path),
        "facts": len(each.sample.facts),
        "lost": list(each.lost),
        "not_in_sample": list(each.not_in_sample),
        "chars": each.chars,
        "reduced_chars": each.reduced_chars,
        "used": each.used,
    }


def _own_folders() -> list[Path]:
    """The folders of the user's formats, and of the project's if it is trusted."""
    load_own_formats()
    return sorted(each.path.parent for each in registered_formats() if each.path is not None)


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="surrogateescape")
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror}") from None


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
