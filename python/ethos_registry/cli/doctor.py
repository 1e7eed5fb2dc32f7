"""`doctor`: what this machine can enforce and what is installed."""

from __future__ import annotations

import os
import platform
import sys

from rich.table import Table

from ethos_registry import __version__, containment, installed_extras, sandbox_support
from ethos_registry.cli.output import write_rendered

__all__ = ["doctor"]

_LEVELS = {
    "namespaces": "bubblewrap: files as seen, no network, processes apart",
    "landlock": "Landlock and seccomp: files and sockets by rule; metadata is not covered",
    "seatbelt": "Seatbelt: files and network by rule",
    "none": "nothing: commands of restricted personalities are refused",
}
_CONTAINMENT = {
    "tree": "everything that a command started is ended with it",
    "group": "its process group is ended; what left the group is not",
    "process": "only the program itself is ended",
}


def doctor() -> None:
    """Show what this machine can enforce, and which extras are installed."""
    support = sandbox_support()
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("ethos-registry", __version__)
    table.add_row("Python", f"{platform.python_version()} on {sys.platform}")
    table.add_row("user", "root" if hasattr(os, "geteuid") and os.geteuid() == 0 else "not root")
    table.add_row("sandbox", f"{support.level}: {_LEVELS[support.level]}")
    if support.reason:
        table.add_row("", support.reason)
    contained = containment()
    table.add_row("processes", f"{contained}: {_CONTAINMENT[contained]}")
    for extra, is_there in installed_extras().items():
        missing = f"missing: pip install 'ethos-registry[{extra}]'"
        hint = "installed" if is_there else missing
        table.add_row(f"extra {extra}", hint)
    write_rendered(table)
