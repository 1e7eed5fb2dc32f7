"""What a supervised start costs beside a plain one, in the same run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from ethos_registry.capabilities import start_supervised

ROUNDS = 60


def plain() -> None:
    subprocess.run(["true"], stdin=subprocess.DEVNULL, check=True)


def supervised() -> None:
    start_supervised(["true"]).wait_ended()


def interpreter() -> None:
    subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)


def milliseconds(run: Callable[[], None]) -> float:
    started = time.perf_counter()
    run()
    return (time.perf_counter() - started) * 1000


def main() -> None:
    runs = {"plain": plain, "interpreter": interpreter, "supervised": supervised}
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            taken[name].append(milliseconds(run))
    base = statistics.median(taken["plain"])
    for name, values in taken.items():
        median = statistics.median(values)
        print(
            f"{name:12} median {median:6.2f} ms, least {min(values):6.2f} ms, {median / base:.1f}x"
        )


if __name__ == "__main__":
    main()
