"""The command line: `ethos-registry demo`, `call` and `tools`."""

from ethos_registry.cli.entry import main

__all__ = ["main"]
