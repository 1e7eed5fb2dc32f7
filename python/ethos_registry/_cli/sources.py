"""The inputs of commands: files, personalities, tools. Each problem is one `CommandError`."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ethos_registry import (
    ConfigError,
    FrozenToolRegistry,
    Personality,
    Tool,
    ToolRegistry,
    default_reducers,
)
from ethos_registry._cli.console import CommandError, visible
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
    data = _read(place, name)
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


def _read(place: str, name: str) -> bytes:
    try:
        if place == "-":
            if sys.stdin is None:
                raise CommandError("there is no standard input; give a file")
            data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
        else:
            with open(place, "rb") as file:
                data = file.read(MAX_INPUT_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CommandError(f"{name}: cannot be read: {reason}") from None
    if len(data) > MAX_INPUT_BYTES:
        raise CommandError(f"{name}: larger than {MAX_INPUT_BYTES:,} bytes")
    return data


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def read_personalities(path: str, personality_id: str | None) -> list[Personality]:
    """All personalities of a YAML file, or the one with an id."""
    if personality_id is None:
        return list(load_personalities(Path(path)).values())
    one = read_personality(path, personality_id)
    return [] if one is None else [one]


def read_personality(path: str | None, personality_id: str | None) -> Personality | None:
    """The personality of a YAML file; of several, the one with that id."""
    if path is None:
        if personality_id is not None:
            raise CommandError("`--id` chooses from a file; give `--personality FILE` too")
        return None
    personalities = load_personalities(Path(path))
    known = ", ".join(f"`{each}`" for each in personalities)
    if personality_id is not None:
        if personality_id not in personalities:
            near = did_you_mean(personality_id, personalities)
            raise CommandError(
                f"{path}: unknown personality `{personality_id}`{near}; there are {known}"
            )
        return personalities[personality_id]
    if len(personalities) != 1:
        raise CommandError(f"{path}: several personalities; choose with `--id` from {known}")
    return next(iter(personalities.values()))


def check_personality(
    registry: ToolRegistry | FrozenToolRegistry, personality: Personality | None
) -> None:
    """Refuse a personality whose entries match nothing: a typo would silently hide tools."""
    if personality is None:
        return
    try:
        registry.view(personality)
    except ConfigError as error:
        raise CommandError(visible(str(error))) from None


def make_registry(
    references: Iterable[str],
    backends: CapabilityBackends | None = None,
    observers: Iterable[Observer] = (),
) -> tuple[ToolRegistry, list[Registration]]:
    """A registry of the referenced tools, or of the ready tools, and its registrations.

    A reference is `module:attribute`: a `Tool`, a registry, frozen or not (its tools, with their
    tags), an iterable of tools, or a function without parameters that returns one of these.
    The modules' output goes to standard error.
    """
    registry = ToolRegistry(
        reducer_registry=default_reducers(), capability_backends=backends, observers=observers
    )
    named = list(references)
    given = [item for reference in named for item in _registrations(reference)]
    if not named:
        given = [Registration(tool) for tool in ready_tools()]
    for item in given:
        if item.tool.name in registry:
            raise CommandError(f"`--tools` gives two tools named `{item.tool.name}`; leave out one")
        registry.register(
            item.tool, plugin_id=item.plugin_id, owner=item.owner, mcp_server=item.mcp_server
        )
    held = (registry.registration(item.tool.name) for item in given)
    return registry, [registration for registration in held if registration is not None]


def registry_to_check(references: Iterable[str]) -> ToolRegistry:
    """A registry of the referenced tools, with the backends that they will run with.

    They are those of the first referenced registry; tools by themselves get `standard_backends()`,
    which has no secrets and no stored values until an application provides them.
    """
    named = list(references)
    values = [_loaded(reference) for reference in named]
    registries = [value for value in values if isinstance(value, ToolRegistry | FrozenToolRegistry)]
    backends = registries[0].capability_backends if registries else standard_backends()
    return make_registry(named, backends)[0]


def registry_to_serve(
    references: Iterable[str], ledger: Observer | None
) -> ToolRegistry | FrozenToolRegistry:
    """The referenced registry itself, with its settings, if the only reference is one.

    Otherwise a registry of the referenced tools with `standard_backends()`, which the ledger
    observes.
    """
    named = list(references)
    if len(named) == 1 and isinstance(
        value := _loaded(named[0]), ToolRegistry | FrozenToolRegistry
    ):
        if ledger is not None:
            raise CommandError(
                f"`--ledger` is for tools; `{named[0]}` is a registry: give it "
                "`observers=[UsageLedger(...)]`"
            )
        return value
    observers = () if ledger is None else (ledger,)
    return make_registry(named, standard_backends(), observers)[0]


def _loaded(reference: str) -> Any:
    with _loading(reference):
        value = _named(reference)
        if not isinstance(value, Tool | ToolRegistry) and callable(value):
            value = value()
        if inspect.iscoroutine(value):
            value.close()  # otherwise Python warns that it was never awaited
        return value


def _registrations(reference: str) -> list[Registration]:
    value = _loaded(reference)
    with _loading(reference):
        return _listed(value, reference)


@contextlib.contextmanager
def _loading(reference: str) -> Iterator[None]:
    """Turns what foreign code raises into one line, and its output to standard error."""
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
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    value: Any = importlib.import_module(module_name)
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _listed(value: Any, reference: str) -> list[Registration]:
    if isinstance(value, Tool):
        return [Registration(value)]
    if isinstance(value, ToolRegistry | FrozenToolRegistry):
        known = (value.registration(tool.name) for tool in value.all())
        return [registration for registration in known if registration is not None]
    items = list(value) if isinstance(value, Iterable) and not isinstance(value, Mapping) else None
    if items is None or not all(isinstance(item, Tool) for item in items):
        raise CommandError(
            f"`--tools {reference}` is not a Tool, list of tools or ToolRegistry: "
            f"{type(value).__name__}"
        )
    return [Registration(item) for item in items]
