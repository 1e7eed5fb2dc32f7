"""The command line: `ethos-registry demo`, `call`, `tools`, `reduce`, `run` and `recall`."""

from ethos_registry._cli.entry import main

__all__ = ["main"]
