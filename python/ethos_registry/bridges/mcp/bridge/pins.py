"""Pinned definitions: what was approved, in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ethos_registry.bridges.mcp.bridge.definition import RemoteDefinition
from ethos_registry.config.whole_file import write_whole_file
from ethos_registry.contract.errors import ConfigError

__all__ = ["McpPins", "PinChange", "PinDifference", "pin_differences", "pins_beside"]

PinChange: TypeAlias = Literal["changed", "new", "removed"]
_VERSION = 1


@dataclass(frozen=True, slots=True)
class PinDifference:
    """One tool whose definition is not the pinned one."""

    server: str
    tool: str
    """The tool's name on its server."""
    change: PinChange
    pinned: Mapping[str, Any] | None = None
    """The definition that was approved; `None` for a new tool."""
    listed: Mapping[str, Any] | None = None
    """The definition that the server lists now; `None` for a tool that is gone."""

    @property
    def fields(self) -> list[str]:
        """The fields that differ, such as `description` or `inputSchema`."""
        before, after = self.pinned or {}, self.listed or {}
        names = [*before, *(name for name in after if name not in before)]
        return [name for name in names if before.get(name) != after.get(name)]


class McpPins:
    """The approved definitions of each pinned server.

    A server that was never pinned is not bound by this file. A pin covers name, title, description,
    both schemas and the annotations of a tool; a tool that was not there when its server was pinned
    is not approved, since a tool can be replaced under another name.
    """

    __slots__ = ("_servers", "path")

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._servers: dict[str, dict[str, RemoteDefinition]] = {}

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, must_exist: bool = True) -> McpPins:
        """The pins in a file.

        Raises:
            ConfigError: The file is missing (unless `must_exist` is false), cannot be read, or is
                not a file of pins.

        """
        pins = cls(path)
        assert pins.path is not None
        try:
            document = json.loads(pins.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            if not must_exist:
                return pins
            raise ConfigError(
                f"{path}: the file of pins does not exist; `ethos-registry mcp pin` makes one"
            ) from None
        except (OSError, ValueError) as error:
            raise ConfigError(f"{path}: cannot be read as pins: {error}") from None
        try:
            if document["version"] != _VERSION:
                raise ConfigError(f"{path}: unknown version {document['version']!r} of pins")
            for server, tools in document["servers"].items():
                pins._servers[server] = {
                    fields["name"]: RemoteDefinition(fields) for fields in tools
                }
        except (TypeError, KeyError, AttributeError) as error:
            raise ConfigError(f"{path}: is not a file of pins: {error!r}") from None
        return pins

    def save(self) -> None:
        """Write the file, as a whole or not at all; without a path it does nothing."""
        if self.path is None:
            return
        document = {
            "version": _VERSION,
            "servers": {
                server: [tools[name].fields for name in sorted(tools)]
                for server, tools in sorted(self._servers.items())
            },
        }
        text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
        write_whole_file(self.path, text, mode=0o644)

    def is_pinned(self, server: str) -> bool:
        """Whether the definitions of a server are pinned."""
        return server in self._servers

    def definitions(self, server: str) -> dict[str, RemoteDefinition]:
        """The approved definitions of a server by their names on it."""
        return dict(self._servers.get(server, {}))

    def pin(self, server: str, definitions: Iterable[RemoteDefinition]) -> None:
        """Approve exactly these definitions of a server."""
        self._servers[server] = {definition.name: definition for definition in definitions}

    def approve(self, server: str, definition: RemoteDefinition) -> None:
        """Approve one definition, in the place of the one before."""
        self._servers.setdefault(server, {})[definition.name] = definition

    def forget(self, server: str, name: str) -> None:
        """Approve a tool of a server no longer."""
        self._servers.get(server, {}).pop(name, None)


def pin_differences(
    server: str, pinned: Mapping[str, RemoteDefinition], listed: Mapping[str, RemoteDefinition]
) -> list[PinDifference]:
    """What differs between the approved definitions of a server and those it lists, by name."""
    found = []
    for name in sorted({*pinned, *listed}):
        before, after = pinned.get(name), listed.get(name)
        if before is None:
            assert after is not None
            found.append(PinDifference(server, name, "new", None, after.fields))
        elif after is None:
            found.append(PinDifference(server, name, "removed", before.fields))
        elif before.digest != after.digest:
            found.append(PinDifference(server, name, "changed", before.fields, after.fields))
    return found


def pins_beside(config: str | os.PathLike[str]) -> Path:
    """Where the pins of a configuration are by default: `mcp.json` has `mcp.pins.json`."""
    path = Path(config)
    return path.with_name(f"{path.stem or path.name}.pins.json")
