"""What each family of reducers earns: facts kept and characters saved with it and without it.

python benches/ablation.py                    # every family, over all recorded outputs
python benches/ablation.py --family go_test   # the named families
python benches/ablation.py --changed main     # the families whose files differ from a commit
python benches/ablation.py --check            # exit 1: a family earns nothing
python benches/ablation.py --write            # writes the table into docs/retention.md

A family is switched off in the native core, for this measurement only. Only outputs whose result
depends on it are reduced again.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "tests"))

from corpora import PARTS, Recorded, lost, recorded  # noqa: E402
from ethos_registry import _core  # noqa: E402

PAGE = ROOT / "docs" / "retention.md"
BEGIN, END = "<!-- ablation: begin -->", "<!-- ablation: end -->"
ROOMS = (Path("rust/reduce/src/parsers"), Path("rust/reduce/formats"))
STRUCTURE = {"several", "cut", "generic"}
"""They route parts of outputs, and cannot be left out."""
LEAST_SAVED_CHARS = 1_000
"""A family that keeps no fact more must save this many characters over all recorded outputs."""
COLUMNS = (
    *("family", "outputs", "decided", "facts", "kept", "kept without", "characters", "saved"),
    *("saved without", "lines of code", "of tests"),
)
REASONS: dict[str, str] = {
    "dis": "a format of 9 lines; the recorded outputs contain no long disassembly of Python",
    "node test": "a format of 24 lines; two short outputs are recorded, and long runs save more",
    "tally": "10 facts more survive a cut to 1,000 or 2,000 characters",
}
"""Why a family stays that earns less: its name, and the reason."""


@dataclass
class Reduced:
    """What a reducer made of one output."""

    text: str
    family: str | None
    depends_on: frozenset[str]

    def facts(self, output: Recorded) -> int:
        facts = len(output.facts) + len(output.visible_facts)
        return facts - len(lost(output, self.text))


@dataclass
class Earned:
    """Sums over the outputs whose result depends on a family."""

    name: str
    outputs: int = 0
    decided: int = 0
    facts: int = 0
    facts_with: int = 0
    facts_without: int = 0
    size: int = 0
    saved: int = 0
    saved_without: int = 0

    @property
    def earns_nothing(self) -> bool:
        facts, chars = self.facts_with - self.facts_without, self.saved - self.saved_without
        return facts <= 0 and chars < LEAST_SAVED_CHARS


def reduce(output: Recorded, without: Iterable[str] = ()) -> Reduced:
    text, family, depends_on = _core.reduce_without(
        list(without), output.text, output.command, output.exit_code
    )
    return Reduced(output.text if text is None else text, family, frozenset(depends_on))


def measure(names: Iterable[str]) -> list[Earned]:
    outputs = [output for part in PARTS for output in recorded(part)]
    complete = [reduce(output) for output in outputs]
    found = []
    for name in names:
        earned = Earned(name)
        for output, own in zip(outputs, complete, strict=True):
            if name not in own.depends_on:
                continue
            other = reduce(output, [name])
            if other.text == own.text:
                continue
            size = len(output.text)
            earned.outputs += 1
            earned.decided += own.family == name
            earned.facts += len(output.facts) + len(output.visible_facts)
            earned.facts_with += own.facts(output)
            earned.facts_without += other.facts(output)
            earned.size += size
            earned.saved += size - len(own.text)
            earned.saved_without += size - len(other.text)
        found.append(earned)
    return found


def files() -> dict[str, list[Path]]:
    """The Rust files or the format of each family, relative to the root."""
    found: dict[str, list[Path]] = {}
    for path in sorted((ROOT / ROOMS[0]).rglob("*.rs")):
        named = re.search(r"\bFAMILY: Family = Family \{\s*name: \"([^\"]+)\"", path.read_text())
        if named:
            own = [path, *sorted(path.with_suffix("").rglob("*.rs"))]
            found[named[1]] = [file.relative_to(ROOT) for file in own]
    for path in sorted((ROOT / ROOMS[1]).glob("*/format.toml")):
        named = re.search(r'^name = "([^"]+)"', path.read_text(), re.MULTILINE)
        found[named[1] if named else path.parent.name] = [path.relative_to(ROOT)]
    return found


def lines(paths: Iterable[Path]) -> tuple[int, int]:
    """Lines of the product and of its tests."""
    product = tests = 0
    for path in paths:
        text = (ROOT / path).read_text()
        inside = path.relative_to(next(room for room in ROOMS if path.is_relative_to(room)))
        if path.name == "tests.rs" or "tests" in inside.parts[1:]:
            tests += text.count("\n")
            continue
        code, _, tested = text.partition("#[cfg(test)]\nmod tests {")
        product += code.count("\n")
        tests += tested.count("\n") + bool(tested)
    return product, tests


def changed(base: str) -> list[str]:
    """The families with a file that differs from the commit `base`; empty if git cannot say."""
    git = ["git", "-C", str(ROOT), "diff", "--name-only", base, "--", *map(str, ROOMS)]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"no families compared: {done.stderr.strip().splitlines()[:1]}", file=sys.stderr)
        return []
    paths = set(map(Path, done.stdout.split()))
    return [name for name, own in files().items() if paths.intersection(own)]


def table(found: Iterable[Earned]) -> str:
    own = files()
    rows = ["| " + " | ".join(COLUMNS) + " |", "|---|" + "--:|" * (len(COLUMNS) - 1)]
    for earned in found:
        product, tests = lines(own.get(earned.name, ()))
        numbers = (
            earned.outputs,
            earned.decided,
            earned.facts,
            earned.facts_with,
            earned.facts_without,
            earned.size,
            earned.saved,
            earned.saved_without,
            product,
            tests,
        )
        rows.append(f"| {earned.name} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    return "\n".join(rows)


def check(found: Iterable[Earned]) -> list[str]:
    """What earns nothing and has no reason, a line each."""
    return [
        f"{earned.name}: {earned.facts_with - earned.facts_without} facts and "
        f"{earned.saved - earned.saved_without:,} characters: retire it, or state why it stays"
        for earned in found
        if earned.earns_nothing and earned.name not in REASONS
    ]


def chosen_names(family: list[str] | None, base: str | None) -> list[str]:
    known = [name for name in _core.reducer_families() if name not in STRUCTURE]
    if family is not None:
        wanted = {name.replace("_", " ") for name in family}
        if unknown := wanted.difference(known):
            raise SystemExit(f"unknown families {sorted(unknown)}; known are {', '.join(known)}")
        return [name for name in known if name in wanted]
    if base is not None:
        differs = changed(base)
        return [name for name in known if name in differs]
    return known


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--family", nargs="+", metavar="NAME")
    parser.add_argument("--changed", metavar="COMMIT")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    found = measure(chosen_names(chosen.family, chosen.changed))
    text = table(found)
    print(text if found else "no family to measure")
    if chosen.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN, 1)
        after = rest.split(END, 1)[1]
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
    nothing = check(found) if chosen.check else []
    if nothing:
        print("\n" + "\n".join(nothing))
    return 1 if nothing else 0


if __name__ == "__main__":
    raise SystemExit(main())
