"""The commands and their options."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from ethos_registry import __version__, provider, reduce_text
from ethos_registry._cli.console import (
    CommandError,
    EndedError,
    is_terminal,
    print_line,
    write_bytes,
    write_json,
    write_rendered,
    write_text,
)
from ethos_registry._cli.demo import demo
from ethos_registry._cli.formats import formats_app, load_own_formats
from ethos_registry._cli.gain import gain
from ethos_registry._cli.hook import hook_app
from ethos_registry._cli.listing import (
    RenderedCapabilities,
    RenderedCost,
    RenderedListing,
    capability_report,
    definitions,
    doctor,
    listing,
    prompt_cost,
)
from ethos_registry._cli.mcp import mcp_app
from ethos_registry._cli.options import (
    AsJson,
    Level,
    PersonalityFile,
    PersonalityId,
    TargetChars,
    ToolReferences,
    any_whole_number,
    positive_number,
    read_policy,
)
from ethos_registry._cli.prefix import prefix_app, report_notes, shown_view, taken_prefix
from ethos_registry._cli.recall import FOLDER_VARIABLE, MAX_AGE_DAYS, MAX_OUTPUTS, recall, show
from ethos_registry._cli.recordings import recordings_app
from ethos_registry._cli.run import SAVE_VARIABLE, run_reduced, run_shell_line, saves_by_default
from ethos_registry._cli.serve import serve
from ethos_registry._cli.sources import (
    check_personality,
    make_registry,
    read_calls,
    read_json,
    read_output,
    read_personality,
    registry_to_check,
    run_calls,
)
from ethos_registry._cli.usage import usage
from ethos_registry._cli.worker import worker
from ethos_registry.types import DEFAULT_BUDGET_CHARS

__all__ = ["app"]


app = typer.Typer(
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="The tool registry for LLM agents.",
)
app.add_typer(prefix_app, name="prefix")
app.add_typer(formats_app, name="formats")
app.add_typer(hook_app, name="hook")
app.add_typer(mcp_app, name="mcp")
app.add_typer(recordings_app, name="recordings")

SOME_CALL_FAILED = 1
SOME_CALL_REFUSED = 1

Budget = Annotated[
    int,
    typer.Option(
        parser=positive_number, metavar="N", help="Longest sum of all results, in characters."
    ),
]
_PROVIDERS = (
    "anthropic",
    "openai",
    "openai_responses",
    "gemini",
    "ollama",
    "bedrock",
    "cohere",
)
_REDUCERS = ("terminal", "read_file", "kanban_list", "head_tail", "generic")
_SAVING = (
    f"The whole output is saved on this machine for {MAX_AGE_DAYS} days (the last {MAX_OUTPUTS}, "
    f"at most 1 GiB), readable by you only, in the folder {FOLDER_VARIABLE}, by default "
    "ethos-registry/outputs where programs keep their state (Linux: ~/.local/state). Secrets that "
    "are recognised in the command line or the output are not saved. --no-save or "
    f"{SAVE_VARIABLE}=0 saves nothing."
)


def _matching(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """For shell completion."""

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


def _print_version(wanted: bool) -> None:
    if wanted:
        write_text(f"ethos-registry {__version__}\n")
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
        write_text(f"{context.get_help()}\n")


app.command(short_help="Show one turn without a registry and with one.")(demo)


@app.command(short_help="Run calls given as JSON.")
def call(
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON of the calls; - for stdin.")],
    personality: PersonalityFile = None,
    personality_id: PersonalityId = None,
    tools: ToolReferences = None,
    budget: Budget = DEFAULT_BUDGET_CHARS,
    working_dir: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Working directory of the tools. Default: the current one."
        ),
    ] = None,
    messages: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER",
            help="Print messages for anthropic or openai instead.",
            autocompletion=_matching(_PROVIDERS),
        ),
    ] = None,
) -> None:
    """Run calls given as JSON and print their results as JSON; exit 1 if some call failed."""
    if messages is not None:
        provider(messages)
    may = read_personality(personality, personality_id)
    registry, _ = make_registry(tools or ())
    check_personality(registry, may)
    calls = read_calls(read_json(file))
    results = run_calls(calls, registry, may, budget_chars=budget, working_dir=working_dir)
    write_json(results.to_wire() if messages is None else results.to_messages(messages))
    if not all(result.ok for result in results):
        raise typer.Exit(SOME_CALL_FAILED)


@app.command(short_help="List what is registered, and why a tool is hidden.")
def tools(
    personality: PersonalityFile = None,
    personality_id: PersonalityId = None,
    tools: ToolReferences = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Print the capabilities that tools declare but do not get; with --provider, what "
            "that provider is sent of their schemas.",
        ),
    ] = False,
    json: AsJson = False,
    definitions_for: Annotated[
        str | None,
        typer.Option(
            "--definitions",
            metavar="PROVIDER",
            help="Print the definitions for the models of a provider instead.",
            autocompletion=_matching(_PROVIDERS),
        ),
    ] = None,
    cost_for: Annotated[
        str | None,
        typer.Option(
            "--provider",
            metavar="PROVIDER",
            help="Print bytes and estimated tokens of each tool.",
            autocompletion=_matching(_PROVIDERS),
        ),
    ] = None,
) -> None:
    """List what is registered and, for a personality, why a tool is hidden.

    Exit code 2 if the personality names something that is not registered; with --check, 1 if
    calls of a tool would be refused for want of a backend, or a provider takes no form of its
    schema.
    """
    may = read_personality(personality, personality_id)
    if check and cost_for is not None:
        registry, registrations = make_registry(tools or ())
        check_personality(registry, may)
        report_notes(shown_view(registry, registrations, may), cost_for, json=json)
        return
    if check:
        if may is None:
            raise CommandError("`--check` needs `--personality FILE`: whose tools to check")
        checked = registry_to_check(tools or ())
        check_personality(checked, may)
        report = capability_report(checked, may)
        if json:
            write_json(report)
        else:
            write_rendered(RenderedCapabilities(report))
        refused = ("no_backend", "not_bindable")
        if any(finding["kind"] in refused for finding in report["findings"]):
            raise typer.Exit(SOME_CALL_REFUSED)
        return
    registry, registrations = make_registry(tools or ())
    if cost_for is not None:
        check_personality(registry, may)
        cost = prompt_cost(taken_prefix(registry, registrations, may, cost_for))
        if json:
            write_json(cost)
        else:
            write_rendered(RenderedCost(cost))
        return
    if definitions_for is not None:
        check_personality(registry, may)
        write_json(definitions(registry, registrations, may, definitions_for))
        return
    found = listing(registry, registrations, may)
    if json:
        write_json(found)
    else:
        write_rendered(RenderedListing(found))
    check_personality(registry, may)


@app.command(
    short_help="Reduce the output of a command.", context_settings={"allow_extra_args": True}
)
def reduce(
    context: typer.Context,
    tool: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Reducer: terminal, read_file, kanban_list, head_tail or generic.",
            autocompletion=_matching(_REDUCERS),
        ),
    ] = "terminal",
    command: Annotated[
        str | None, typer.Option(metavar="LINE", help="Command that printed the output.")
    ] = None,
    exit_code: Annotated[
        int | None,
        typer.Option(parser=any_whole_number, metavar="N", help="Exit code of the command."),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(parser=positive_number, metavar="N", help="Longest result, in characters."),
    ] = None,
    target_chars: TargetChars = None,
    level: Level = None,
) -> None:
    """Reduce the output of a command: standard input in, reduced text out."""
    policy = read_policy(target_chars, level)
    if context.args not in ([], ["-"]):
        files = shlex.join(context.args)
        reduced = f"ethos-registry reduce < {files}"
        if len(context.args) > 1:
            reduced = f"cat {files} | ethos-registry reduce"
        raise CommandError(f"the input is read from standard input: {reduced}")
    load_own_formats()
    text = reduce_text(
        read_output(),
        tool_name=tool,
        command=command,
        exit_code=exit_code,
        budget_chars=budget,
        policy=policy,
    )
    # Otherwise the shell's prompt would follow on the last line.
    ends_line = text.endswith("\n") or not text or not is_terminal()
    write_text(text if ends_line else f"{text}\n")


@app.command(
    short_help="Run a command and print its output reduced.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=_SAVING,
)
def run(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help="Put -- before its first word.")
    ],
    save: Annotated[
        bool | None,
        typer.Option("--save/--no-save", help="Save the complete output for `recall`."),
    ] = None,
    target_chars: TargetChars = None,
    level: Level = None,
    shell: Annotated[
        bool,
        typer.Option(
            "--shell",
            help="COMMAND is one line for the shell. Output that is JSON, XML, base64 or binary is "
            "not reduced, and how it ended is only printed if something is left out.",
        ),
    ] = False,
) -> None:
    """Run a command, show its output reduced, and exit with its exit code.

    On a terminal its last lines are shown while it runs.
    """
    load_own_formats()
    policy = read_policy(target_chars, level)
    saves = saves_by_default() if save is None else save
    if shell:
        if len(command) != 1:
            raise CommandError(
                f"`--shell` needs one line: run --shell {shlex.quote(' '.join(command))}"
            )
        line = run_shell_line(command[0], save=saves, policy=policy)
        try:
            write_bytes(line.output)
        finally:
            if line.summary:
                print_line(line.summary)
        raise EndedError(line.exit_code)
    result = run_reduced(command, save=saves, policy=policy)
    try:
        ends_line = result.text.endswith("\n") or not result.text
        write_text(result.text if ends_line else f"{result.text}\n")
    finally:
        # If the text could not be written, how to read it matters the more.
        print_line(result.summary)
    raise EndedError(result.exit_code)


app.command(short_help="Show who called which tools.")(usage)
app.command(short_help="Serve a personality over the Model Context Protocol.")(serve)
app.command(short_help="Serve tools on a Ray cluster.")(worker)
app.command(short_help="Show what this machine can enforce.")(doctor)
app.command(short_help="Print the complete output of an earlier `run`.", epilog=_SAVING)(recall)
app.command(short_help="Print the complete output that a result refers to.")(show)
app.command(short_help="Show what the hooks of coding agents saved.")(gain)
