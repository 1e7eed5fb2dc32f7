"""Restricts this process, then executes the command: `launcher.py REQUEST PROGRAM ARGUMENT...`.

Run by path with `-I -S`: it has one thread, and imports two modules of the package by their paths.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from typing import Any


def load(name: str, path: str) -> Any:
    """The module at a path, without the package that it is in."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Confine this process and execute the command; exit status 126 if it cannot be confined."""
    request = json.loads(sys.argv[1])
    command = sys.argv[2:]
    core, supervisor = load("_core", request["core"]), load("supervisor", request["supervisor"])
    try:
        prepared = core.prepare_confinement(request["read"], request["write"], request["network"])
        supervisor.Restriction(*prepared).enter()
    except OSError as error:
        sys.stderr.write(f"the command was not run: it cannot be confined: {error}\n")
        sys.exit(126)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.exit(127 if isinstance(error, FileNotFoundError) else 126)


if __name__ == "__main__":
    main()
