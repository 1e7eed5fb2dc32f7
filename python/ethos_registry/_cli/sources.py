"""The inputs of commands: files, personalities, tools. Each problem is one `CommandError`."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ethos_registry import (
    FrozenToolRegistry,
    Personality,
    Tool,
    ToolRegistry,
    default_reducers,
)
from ethos_registry._cli.console import CommandError, file_errors
from ethos_registry._suggest import did_you_mean
from ethos_registry.capabilities import CapabilityBackends, standard_backends
from ethos_registry.config import load_personalities
from ethos_registry.registry import Registration
from ethos_registry.telemetry import Observer
from ethos_registry.tools import ready_tools

MAX_INPUT_BYTES = 256 * 1024 * 1024


def read_json(place: str) -> Any:
    """The JSON value of a file, or of standard input for `-`; errors name line and column."""
    name = "<stdin>" if place == "-" else place
    with file_errors(name):
        data = _read(place)
    if len(data) > MAX_INPUT_BYTES:
        raise CommandError(f"{name}: larger than {MAX_INPUT_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise CommandError(
            f"{name}:{line}:{column}: not UTF-8: byte 0x{data[error.start]:02x}"
        ) from None
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise CommandError(
            f"{name}:{error.lineno}:{error.colno}: invalid JSON: {error.msg}"
        ) from None
    except RecursionError:
        raise CommandError(f"{name}: JSON is nested too deeply") from None
    except ValueError as error:
        raise CommandError(f"{name}: invalid JSON: {error}") from None


def _read(place: str) -> bytes:
    if place != "-":
        with open(place, "rb") as file:
            return file.read(MAX_INPUT_BYTES + 1)
    if sys.stdin is None:
        raise CommandError("there is no standard input; give a file")
    return sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def read_personality(path: str | None, personality_id: str | None) -> Personality | None:
    """The personality of a YAML file; of several, the one with that id."""
    if path is None:
        if personality_id is not None:
            raise CommandError("`--id` chooses from a file; give `--personality FILE` too")
        return None
    personalities = load_personalities(Path(path))
    known = ", ".join(f"`{each}`" for each in personalities)
    if personality_id is None:
        if len(personalities) != 1:
            raise CommandError(f"{path}: several personalities; choose with `--id` from {known}")
        return next(iter(personalities.values()))
    if personality_id not in personalities:
        near = did_you_mean(personality_id, personalities)
        raise CommandError(
            f"{path}: unknown personality `{personality_id}`{near}; there are {known}"
        )
    return personalities[personality_id]


def check_personality(
    registry: ToolRegistry | FrozenToolRegistry, personality: Personality | None
) -> None:
    """Refuse a personality whose entries match nothing: a typo would silently hide tools."""
    if personality is not None:
        registry.view(personality)


def make_registry(
    references: Sequence[str],
    backends: CapabilityBackends | None = None,
    observers: Iterable[Observer] = (),
) -> ToolRegistry:
    """A registry of the referenced tools, or of the ready tools.

    A reference is `module:attribute`: a `Tool`, a registry, frozen or not (its tools, with their
    tags), an iterable of tools, or a function without parameters that returns one of these.
    The modules' output goes to standard error.
    """
    registry = ToolRegistry(
        reducer_registry=default_reducers(), capability_backends=backends, observers=observers
    )
    given = [item for reference in references for item in _referenced(reference)]
    if not references:
        given = [Registration(tool) for tool in ready_tools()]
    for item in given:
        if item.tool.name in registry:
            raise CommandError(f"`--tools` gives two tools named `{item.tool.name}`; leave out one")
        registry.register(
            item.tool, plugin_id=item.plugin_id, owner=item.owner, mcp_server=item.mcp_server
        )
    return registry


def registrations(registry: ToolRegistry | FrozenToolRegistry) -> list[Registration]:
    """The tools of a registry with their tags, in registration order."""
    found = (registry.registration(tool.name) for tool in registry.all())
    return [registration for registration in found if registration is not None]


def registry_to_check(references: Sequence[str]) -> ToolRegistry:
    """A registry of the referenced tools, with the backends that they will run with.

    They are those of the first referenced registry; tools by themselves get `standard_backends()`,
    which has no secrets and no stored values until an application provides them.
    """
    values = [_loaded(reference) for reference in references]
    registries = [value for value in values if isinstance(value, ToolRegistry | FrozenToolRegistry)]
    backends = registries[0].capability_backends if registries else standard_backends()
    return make_registry(references, backends)


def registry_to_serve(
    references: Sequence[str], ledger: Observer | None
) -> ToolRegistry | FrozenToolRegistry:
    """The referenced registry itself, with its settings, if the only reference is one.

    Otherwise a registry of the referenced tools with `standard_backends()`, which the ledger
    observes.
    """
    if len(references) == 1 and isinstance(
        value := _loaded(references[0]), ToolRegistry | FrozenToolRegistry
    ):
        if ledger is not None:
            raise CommandError(
                f"`--ledger` is for tools; `{references[0]}` is a registry: give it "
                "`observers=[UsageLedger(...)]`"
            )
        return value
    observers = () if ledger is None else (ledger,)
    return make_registry(references, standard_backends(), observers)


def _loaded(reference: str) -> Any:
    with loading(reference):
        value = _named(reference)
        if not isinstance(value, Tool | ToolRegistry) and callable(value):
            value = value()
        if inspect.iscoroutine(value):
            value.close()  # otherwise Python warns that it was never awaited
        return value


def _referenced(reference: str) -> list[Registration]:
    value = _loaded(reference)
    if isinstance(value, Tool):
        return [Registration(value)]
    if isinstance(value, ToolRegistry | FrozenToolRegistry):
        return registrations(value)
    with loading(reference):
        is_list = isinstance(value, Iterable) and not isinstance(value, Mapping)
        items = list(value) if is_list else None
    if items is None or not all(isinstance(item, Tool) for item in items):
        raise CommandError(
            f"`--tools {reference}` is not a Tool, list of tools or ToolRegistry: "
            f"{type(value).__name__}"
        )
    return [Registration(item) for item in items]


@contextlib.contextmanager
def loading(reference: str) -> Iterator[None]:
    """Turns what foreign code raises into one line, and its output to standard error.

    Modules are found from the current folder too.
    """
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    with contextlib.redirect_stdout(sys.stderr):
        try:
            yield
        except CommandError:
            raise
        except (Exception, SystemExit) as error:
            raise CommandError(
                f"`--tools {reference}` could not be loaded: {type(error).__name__}: {error}"
            ) from None


def _named(reference: str) -> Any:
    module_name, colon, path = reference.partition(":")
    if not colon or not module_name or not path:
        raise CommandError(
            "`--tools` takes `module:attribute`, such as `ethos_registry.tools:ready_tools`: "
            f"{reference!r}"
        )
    value: Any = importlib.import_module(module_name)
    for name in path.split("."):
        value = getattr(value, name)
    return value
