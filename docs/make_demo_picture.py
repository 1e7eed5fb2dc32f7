"""Draw `docs/demo.svg`: a real run of `ethos-registry demo` in a repository made for it.

Run it as `python docs/make_demo_picture.py`. The picture holds no path of the machine and loads
nothing from elsewhere.
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

from ethos_registry.cli.render import RenderedReport
from ethos_registry.cli.report import TurnReport

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
    """Make the repository, run the demo in it, draw what it printed."""
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
    for number in range(60):
        module = source / f"module_{number:02}.py"
        module.write_text(f"NUMBER = {number}\n")
        git("add", "--all")
        git("commit", "--quiet", f"--message=Add module {number:02}: one more shelf in the shop")
    log = repository / "server.log"
    log.write_text("".join(f"GET /shelf/{n % 60} 200 {n * 7 % 90} ms\n" for n in range(4_000)))
    for number in range(0, 60, 2):
        (source / f"module_{number:02}.py").write_text(f"NUMBER = {number + 1}\n")
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
