"""The commands by name: the module of one is imported when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeAlias, cast

import typer
from typer.core import TyperCommand, TyperGroup

from ethos_registry import __version__
from ethos_registry._cli.console import write_stdout

_MODULES = {
    "demo": "demo",
    "call": "call",
    "tools": "listing",
    "reduce": "reduce",
    "run": "run",
    "usage": "usage",
    "serve": "serve",
    "worker": "worker",
    "doctor": "listing",
    "recall": "recall",
    "show": "recall",
    "gain": "gain",
    "prefix": "prefix",
    "formats": "formats",
    "hook": "hook",
    "mcp": "mcp",
    "recordings": "recordings",
}


Command: TypeAlias = TyperCommand | TyperGroup


def load_command(name: str) -> Command:
    """Import a command or a group of commands; `KeyError` for an unknown name."""
    module = importlib.import_module(f"{__package__}.{_MODULES[name]}")
    group = typer.main.get_group(module.app)
    return cast("Command", group.commands.get(name, group))


class _Commands(Mapping[str, Command]):
    def __getitem__(self, name: str) -> Command:
        return load_command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


class _Program(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": _Commands()})


app = typer.Typer(
    cls=_Program,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="The tool registry for LLM agents.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        write_stdout(f"ethos-registry {__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        write_stdout(f"{context.get_help()}\n")
