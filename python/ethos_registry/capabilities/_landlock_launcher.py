"""Restricts this process, then executes the command: `launcher.py REQUEST PROGRAM ARGUMENT...`.

Run by path with `-I -S`: it has one thread, and imports only the native module of the package.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import sys


def main() -> None:
    """Confine this process and execute the command; exit status 126 if it cannot be confined."""
    request = json.loads(sys.argv[1])
    command = sys.argv[2:]
    loader = importlib.machinery.ExtensionFileLoader("_core", request["core"])
    spec = importlib.util.spec_from_loader("_core", loader)
    assert spec is not None
    core = importlib.util.module_from_spec(spec)
    loader.exec_module(core)
    try:
        core.confine_process(request["read"], request["write"], request["network"])
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
