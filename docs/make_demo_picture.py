"""Draw `docs/demo.svg` from a real run of `ethos-registry demo` in a generated repository.

Run it as `python docs/make_demo_picture.py`. The picture contains no path of the machine and
loads no other files.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ethos_registry._cli.call_report import RenderedReport, TurnReport

PICTURE = Path(__file__).with_name("demo.svg")
WIDTH = 92
_AUTHOR = {
    "GIT_AUTHOR_NAME": "Ada Example",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada Example",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def main() -> None:
    """Create the repository, run the demo in it, draw its output."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder, "shop")
        repository.mkdir()
        _make_repository(repository)
        report = Path(folder, "report.json")
        subprocess.run(
            [sys.executable, "-m", "ethos_registry", "demo", "--save", str(report)],
            cwd=repository,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        PICTURE.write_text(_picture(json.loads(report.read_text())), encoding="utf-8")


def _make_repository(repository: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=repository, check=True, env=os.environ | _AUTHOR)

    git("init", "--quiet", "--initial-branch=main")
    source = repository / "shop"
    source.mkdir()
    for number in range(240):
        module = source / f"module_{number:03}.py"
        module.write_text(f"NUMBER = {number}\n")
        git("add", "--all")
        git("commit", "--quiet", f"--message=Add module {number:03}: one more shelf in the shop")
    guide = repository / "GUIDE.md"
    guide.write_text("".join(f"{n}. Shelf {n} holds part {n * 7 % 90}.\n" for n in range(1, 121)))
    git("add", "--all")
    git("commit", "--quiet", "--message=Add a guide to the shelves")
    for number in range(0, 240, 2):
        (source / f"module_{number:03}.py").write_text(f"NUMBER = {number + 1}\n")
    for number in range(60):
        (repository / f"note_{number:02}.txt").write_text("not yet in the shop\n")


def _picture(report: TurnReport) -> str:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(
            record=True,
            file=nowhere,
            width=WIDTH,
            force_terminal=True,
            color_system="truecolor",
            legacy_windows=False,
        )
        console.print(Text("$ ethos-registry demo", style="bold"))
        console.print(RenderedReport(report))
        svg = console.export_svg(title="ethos-registry demo", unique_id="demo")
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    main()
