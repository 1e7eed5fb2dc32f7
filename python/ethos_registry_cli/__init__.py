"""The program `ethos-registry`: loads the command line so that Ctrl-C ends it without a traceback.

This package is not part of `ethos_registry`, because Python imports all of that before its first
line here could run.
"""

import signal

__all__ = ["main"]


def main() -> int:
    """Run the command that `sys.argv` names; return its exit code."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        # The system's own action: a handler of Python's would raise inside an import.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from ethos_registry._cli import main as run
    from ethos_registry._cli.entry import load

    load()
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, before)
    return run()
