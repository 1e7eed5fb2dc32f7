"""Long outputs of known programs with lines of the usual kinds, equal in every run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

LINES = 20_000
_WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "omicron",
    "pi",
    "rho",
    "sigma",
    "tau",
    "upsilon",
    "phi",
    "chi",
    "psi",
    "omega",
]
_VOCABULARY = [
    "".join(Random(number).choices("aeiounrstl", k=3 + number % 6)) for number in range(4_000)
]


@dataclass(frozen=True)
class Program:
    """A command that exits with `exit_code`, and what it prints."""

    command: str
    exit_code: int
    lines: Callable[[Random], Iterator[str]]

    def text(self) -> str:
        return "\n".join(self.lines(Random(5))) + "\n"


def _word(random: Random) -> str:
    return random.choice(_WORDS)


def _prose(random: Random, words: int) -> str:
    return " ".join(random.choices(_VOCABULARY, k=words))


def _pytest(random: Random) -> Iterator[str]:
    yield "============================= test session starts ============================="
    yield f"collected {LINES} items"
    yield ""
    for number in range(LINES):
        name = f"tests/test_{_word(random)}.py::test_{_word(random)}_{number}"
        yield f"{name} PASSED          [{number * 100 // LINES:3d}%]"
    yield ""
    yield f"==================== {LINES} passed in 12.34s ===================="


def _cargo_test(random: Random) -> Iterator[str]:
    yield f"running {LINES} tests"
    for number in range(LINES):
        yield f"test {_word(random)}::{_word(random)}::tests::{_word(random)}_{number} ... ok"
    yield ""
    yield (
        f"test result: ok. {LINES} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; "
        "finished in 1.20s"
    )


def _go_test(random: Random) -> Iterator[str]:
    for number in range(LINES // 2):
        name = f"Test{_word(random).title()}{_word(random).title()}{number}"
        yield f"=== RUN   {name}"
        yield f"--- PASS: {name} (0.0{random.randrange(10)}s)"
    yield "PASS"
    yield "ok  \texample.com/shop/cart\t0.123s"


def _vitest(random: Random) -> Iterator[str]:
    for number in range(LINES):
        path = f"test/{_word(random)}/{_word(random)}_{number}.test.ts"
        yield f" ✓ {path} ({random.randint(1, 30)} tests) {random.randint(1, 900)}ms"
    yield ""
    yield f" Test Files  {LINES} passed ({LINES})"
    yield f"      Tests  {LINES} passed ({LINES})"


def _git_log(random: Random) -> Iterator[str]:
    for number in range(LINES // 6):
        yield f"commit {random.getrandbits(160):040x}"
        yield f"Author: Ann {_word(random).title()} <ann@example.com>"
        yield f"Date:   Mon Nov 2 10:{number % 60:02d}:00 2026 +0000"
        yield ""
        yield f"    {' '.join(_word(random) for _ in range(6))}"
        yield ""


def _git_diff(random: Random) -> Iterator[str]:
    for file in range(LINES // 132):
        path = f"src/{_word(random)}_{file}.py"
        yield f"diff --git a/{path} b/{path}"
        yield "index 123abc4..456def7 100644"
        yield f"--- a/{path}"
        yield f"+++ b/{path}"
        for hunk in range(8):
            start = hunk * 40 + 1
            yield f"@@ -{start},12 +{start},12 @@ def {_word(random)}():"
            for sign in "   ---+++   ":
                yield f"{sign}    {_word(random)} = {_word(random)}({_word(random)}, {hunk})"
            yield from (f"     return {_word(random)}" for _ in range(3))


def _mypy(random: Random) -> Iterator[str]:
    for number in range(LINES // 4):
        path = f"src/{_word(random)}/{_word(random)}_{number % 50}.py:{random.randint(1, 900)}"
        yield f'{path}: error: Argument {number % 4} has type "{_word(random)}"  [arg-type]'
    yield f"Found {LINES // 4} errors in 50 files (checked 60 source files)"


def _grep(random: Random) -> Iterator[str]:
    for number in range(LINES):
        path = f"src/{_word(random)}/{_word(random)}_{number % 300}.py:{random.randint(1, 900)}"
        yield f"{path}:    {_word(random)} = {_word(random)}({_word(random)})"


def _log(random: Random) -> Iterator[str]:
    for number in range(LINES):
        time = f"2026-11-22 10:{number // 60 % 60:02d}:{number % 60:02d},{number % 1000:03d}"
        yield f"{time} INFO [{_word(random)}] request {number} took {number % 97} ms"


def _listing(random: Random) -> Iterator[str]:
    for folder in range(LINES // 100):
        yield f"./src/{_word(random)}_{folder}:"
        yield f"total {random.randint(100, 999)}"
        for number in range(97):
            size = random.randint(100, 99_999)
            name = f"{_word(random)}_{_word(random)}_{number}.py"
            yield f"-rw-r--r-- 1 dev dev {size:6d} Nov  2 10:{number % 60:02d} {name}"
        yield ""


def _find(random: Random) -> Iterator[str]:
    for number in range(LINES):
        yield f"./src/{_word(random)}/{_word(random)}/{_word(random)}_{number}.py"


def _npm(random: Random) -> Iterator[str]:
    for number in range(LINES // 4):
        name = f"{_word(random)}-{number}"
        yield f"npm http fetch GET 200 https://packages.example/{name} {number % 900}ms"
        if number % 3 == 0:
            yield f"npm warn deprecated {_word(random)}@1.{number % 9}.0: use {_word(random)}"
    yield ""
    yield "added 345 packages in 12s"


def _cargo_build(random: Random) -> Iterator[str]:
    for number in range(LINES):
        yield f"   Compiling {_word(random)}-{number} v{number % 9}.{number % 7}.0"
    yield "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 12.3s"


def _ninja(random: Random) -> Iterator[str]:
    for number in range(LINES // 2):
        path = f"{_word(random)}/{_word(random)}_{number}.cpp.o"
        yield f"[{number + 1}/{LINES // 2}] Building CXX object src/CMakeFiles/app.dir/{path}"


def _unknown(random: Random) -> Iterator[str]:
    for number in range(LINES // 2):
        yield f"{_word(random)} {number} looked at {_word(random)} for {number % 97} seconds"


def _distinct(random: Random) -> Iterator[str]:
    for _ in range(LINES):
        yield _prose(random, 9)


def _distinct_log(random: Random) -> Iterator[str]:
    for number in range(LINES):
        time = f"2026-11-22T10:{number // 60 % 60:02d}:{number % 60:02d}Z"
        yield f"{time} INFO  app.{_word(random)}: {_prose(random, 6)}"


PROGRAMS = {
    "pytest -v": Program("pytest -v", 0, _pytest),
    "cargo test": Program("cargo test", 0, _cargo_test),
    "go test -v": Program("go test -v ./...", 0, _go_test),
    "vitest": Program("npx vitest run", 0, _vitest),
    "git log": Program("git log", 0, _git_log),
    "git diff": Program("git diff", 0, _git_diff),
    "mypy": Program("mypy src", 1, _mypy),
    "grep -rn": Program("grep -rn alpha src", 0, _grep),
    "a log": Program("cat service.log", 0, _log),
    "ls -laR": Program("ls -laR", 0, _listing),
    "find": Program("find . -type f", 0, _find),
    "npm install": Program("npm install", 0, _npm),
    "cargo build": Program("cargo build", 0, _cargo_build),
    "ninja": Program("ninja", 0, _ninja),
    "unknown": Program("./do-it", 0, _unknown),
    "unknown, no two lines alike": Program("./do-it", 0, _distinct),
    "a log, no two lines alike": Program("cat service.log", 0, _distinct_log),
}
"""By name: complete runs without a failure, or only findings, which take longer."""
