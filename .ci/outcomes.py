"""What `.ci/run` asks around runs of pytest.

- `bare-path FOLDER`: fill a folder with links to each program on `PATH` but the optional ones.
- `skipped REPORT`: print the skipped tests of a JUnit report, one a line, for `pytest @FILE`.
- `summary FOLDER`: print the tests that were skipped in every report of a folder, by reason.
"""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

OPTIONAL = re.compile(
    r"bwrap|chrom(e|ium)([.-].*)?|google-chrome([.-].*)?|headless.shell"
    r"|initdb|pg_.*|postgres|psql|node|nodejs|npm|npx|corepack"
)
"""Names of bubblewrap, browsers, PostgreSQL and Node."""


def bare_path(folder: str) -> None:
    """Fill the folder with links; of programs with the same name, to the first one on `PATH`."""
    os.makedirs(folder)
    for directory in filter(os.path.isabs, os.environ["PATH"].split(os.pathsep)):
        for name in os.listdir(directory) if os.path.isdir(directory) else ():
            program, link = os.path.join(directory, name), os.path.join(folder, name)
            if (
                not OPTIONAL.fullmatch(name)
                and not os.path.lexists(link)
                and os.path.isfile(program)
                and os.access(program, os.X_OK)
            ):
                os.symlink(program, link)


def outcomes(report: Path) -> Iterator[tuple[str, str | None]]:
    """Each test of a report, and why it was skipped; `None` if it ran."""
    for case in ET.parse(report).iter("testcase"):
        file = case.get("file", "")
        module = file.removesuffix(".py").replace("/", ".")
        classes = case.get("classname", "").removeprefix(module).split(".")
        is_module = case.get("name") == module  # skipped as a whole
        names = [] if is_module else [*filter(None, classes), case.get("name", "")]
        skipped = case.find("skipped")
        if not isinstance(skipped, ET.Element):
            yield "::".join([file, *names]), None
        elif skipped.get("type") != "pytest.xfail":
            why = (skipped.text if is_module else skipped.get("message")) or ""
            yield "::".join([file, *names]), re.sub(r"^\(.*'Skipped: (.*)'\)$", r"\1", why)


def print_skipped(report: str) -> None:
    """Print the skipped tests, one a line."""
    for test, why in outcomes(Path(report)):
        if why is not None:
            print(test)


def summary(folder: str) -> None:
    """Print the tests that no run executed, by reason."""
    ran: set[str] = set()
    skipped: dict[str, str] = {}
    for report in sorted(Path(folder).glob("*.xml")):
        for test, why in outcomes(report):
            if why is not None:
                skipped[test] = why
            else:
                ran |= {test, test.partition("::")[0]}
    reasons = defaultdict(list)
    for test, why in skipped.items():
        if test not in ran:
            reasons[why].append(test)
    for why, tests in sorted(reasons.items()):
        print(f"{why}: {len(tests)}")
        for test in tests:
            print(f"    {test}")


if __name__ == "__main__":
    {"bare-path": bare_path, "skipped": print_skipped, "summary": summary}[sys.argv[1]](sys.argv[2])
