"""How fast this build reduces the recorded outputs, as a ratio to another build, in one run.

python benches/speed.py OTHER.so            # the native module of another commit, or its wheel
python benches/speed.py OTHER.so --check    # exit 1: a family is slower than 0.7 of its rate

Both must be built with the same profile. Rounds alternate; the fastest of each counts.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
import zipfile
from collections import defaultdict
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from corpora import PARTS, Recorded, recorded  # noqa: E402
from ethos_registry import _core  # noqa: E402

LEAST_RATIO = 0.7
LEAST_CHARS = 20_000
"""Families with less text are not timed: the clock would decide."""


def loaded(path: Path) -> ModuleType:
    """The native module in a file, beside the one that is installed."""
    if path.suffix == ".whl":
        folder = tempfile.mkdtemp()
        with zipfile.ZipFile(path) as wheel:
            (name,) = (name for name in wheel.namelist() if "/_core." in name)
            path = Path(wheel.extract(name, folder))
    spec = importlib.util.spec_from_file_location("_core", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path}: not a native module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seconds(core: ModuleType, outputs: list[Recorded]) -> float:
    texts = [output.text for output in outputs]
    commands = [output.command for output in outputs]
    codes = [output.exit_code for output in outputs]
    reducer = core.NativeReducer("terminal")
    begin = time.perf_counter()
    core.reduce_many(reducer, texts, commands, codes)
    return time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("other", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    other = loaded(chosen.other)
    families: dict[str, list[Recorded]] = defaultdict(list)
    for part in PARTS:
        for output in recorded(part):
            families[output.family].append(output)
            families["all"].append(output)
    slow = []
    print("| outputs | characters | other MB/s | this MB/s | ratio |\n|---|--:|--:|--:|--:|")
    for name, outputs in sorted(families.items()):
        chars = sum(len(output.text) for output in outputs)
        if chars < LEAST_CHARS:
            continue
        best = [float("inf")] * 2
        for _ in range(chosen.rounds):
            for at, core in enumerate((other, _core)):
                best[at] = min(best[at], seconds(core, outputs))
        ratio = best[0] / best[1]
        rates = " | ".join(f"{chars / 1e6 / one:.0f}" for one in best)
        print(f"| {name} | {chars:,} | {rates} | {ratio:.2f} |", flush=True)
        if ratio < LEAST_RATIO:
            slow.append(f"{name}: {ratio:.2f} of the other rate, wanted are {LEAST_RATIO}")
    print("\n".join(slow))
    return 1 if slow and chosen.check else 0


if __name__ == "__main__":
    raise SystemExit(main())
