"""Facts that reducers keep of outputs that no rule was written for: recipe and measurement.

python benches/retention/first_run.py           # prints facts kept and characters saved
    --write                                     # records the figures that the pages show
    --record FOLDER                             # runs the last set in FOLDER, a new one
    --facts                                     # lists the facts of the last set again

An honest figure needs this order: record, list the facts, commit both, and only then measure. Once
somebody has read what a reducer made of an output, that output no longer shows what happens to a
new one: record other outputs of other tools for the next change. The sets of commands are in
`first_run_1.py` and `first_run_2.py`, and each set keeps the figures of its first run. Set 1 was
recorded with an earlier rule for facts, which `--facts` would not list again.

The facts are listed by `facts_of`, without looking at a reducer: messages of problems, the places
they name, counts, the last line of a failed command, and what the recipe planted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests")]

import first_run_1  # noqa: E402
import first_run_2  # noqa: E402

from corpora import Recorded, lost  # noqa: E402
from record import measured_now, save  # noqa: E402

TARGETS = (16_000, 8_000, 4_000)
SHORTEST_CHARS, LONGEST_CHARS = 2_000, 200_000
"""Shorter outputs are left out, because no target shortens them; longer ones are cut."""
SECONDS = 60

PROBLEM = re.compile(
    r"(?<![\w./\\-])(errors?|fail(ed|ure|ures)?|fatal|panick?(ed)?|exception|traceback|warning|denied|"
    r"refused|not found|cannot|could not|no such|invalid|unexpected|undefined|unmerged|conflict)"
    r"(?![\w/\\(=-]|\.\w)|"
    r"(?<![\w/-])[\w.]+(Error|Exception|Warning)(?=:\s|:?$|[<\]])",
    re.IGNORECASE,
)
"""Not inside of a path, an option or an identifier."""
PLACE = re.compile(r"(?<![\w/.-])[\w./-]*\w\.[A-Za-z]{1,4}:\d+(?!\d)")
COUNT = re.compile(
    r"\b\d[\d,]* (passed|failed|passing|failing|skipped|errors?|warnings?|problems?|tests?|"
    r"packages?|files?( changed)?|insertions?|deletions?|rows?|objects|directories|"
    r"vulnerabilities|upgraded|lines|issues|matches|suites|bytes)\b"
)
LONGEST_FACT = 70
MESSAGES, PLACES, COUNTS = (12, 6), (5, 2), (3, 5)
"""How many facts of each kind, from the front and from the end."""


def facts_of(text: str, exit_code: int, planted: tuple[str, ...], *, is_source: bool) -> list[str]:
    """What a reader of the output needs, each literally in the text."""
    shown = [line.strip() for line in text.splitlines() if line.strip()]
    messages = [_message(line) for line in shown if not is_source and PROBLEM.search(line)]
    places = [match[0] for line in shown for match in PLACE.finditer(line)]
    counts = [match[0] for line in shown for match in COUNT.finditer(line)]
    found = [*_ends(messages, *MESSAGES), *_ends(places, *PLACES), *_ends(counts, *COUNTS)]
    if exit_code and shown:
        found.append(shown[-1][:LONGEST_FACT].rstrip())
    found += planted
    return list(dict.fromkeys(fact for fact in found if fact and fact in text))


def _message(line: str) -> str:
    """The line from the place that it names on: a list by file is as good as one by line."""
    named = None
    for named in PLACE.finditer(line[:200]):  # noqa: B007 the last one counts
        pass
    rest = line[named.end() :] if named else line
    rest = re.sub(r"^[:,\d\s()\-]+", "", rest)
    return (rest or line).strip("=_-*# ")[:LONGEST_FACT].rstrip()


def _ends(found: list[str], first: int, last: int) -> list[str]:
    unique = list(dict.fromkeys(found))
    return unique if len(unique) <= first + last else unique[:first] + unique[-last:]


@dataclass(frozen=True)
class Set:
    """Outputs that were recorded together."""

    folder: Path
    recipe: ModuleType

    @property
    def manifest(self) -> list[dict[str, Any]]:
        text = (self.folder / "manifest.json").read_text(encoding="utf-8")
        entries: list[dict[str, Any]] = json.loads(text)
        return entries

    def write_manifest(self, manifest: list[dict[str, Any]]) -> None:
        text = json.dumps(manifest, indent=1, ensure_ascii=False)
        (self.folder / "manifest.json").write_text(text + "\n", encoding="utf-8")

    @property
    def first_run(self) -> Path:
        """The figures of the first run, and the commit if it was recorded."""
        return self.folder / "first_run.json"

    def outputs(self) -> list[Recorded]:
        """The recorded outputs."""
        return [
            Recorded(
                file=entry["file"],
                family="",
                command=entry["command"],
                exit_code=entry["exit_code"],
                text=(self.folder / entry["file"]).read_bytes().decode(),
                facts=tuple(entry["must_keep"]),
                visible_facts=(),
            )
            for entry in self.manifest
        ]

    def facts(self, name: str, text: str, exit_code: int) -> list[str]:
        planted = self.recipe.RECIPE[name][2]
        return facts_of(text, exit_code, planted, is_source=name in self.recipe.SOURCES)

    def list_facts(self) -> None:
        """Lists the facts of the recorded outputs again."""
        manifest = self.manifest
        for entry in manifest:
            text = (self.folder / entry["file"]).read_bytes().decode()
            name = entry["file"].removesuffix(".txt")
            entry["must_keep"] = self.facts(name, text, entry["exit_code"])
        self.write_manifest(manifest)


SETS = (Set(HERE / "first_run_1", first_run_1), Set(HERE / "first_run_2", first_run_2))


def prepare(recipe: ModuleType, folder: Path, site: str, root: str) -> dict[str, str]:
    """Writes the projects; returns the folder of each name."""
    places = {"site": site, "root": root}
    for name, files in recipe.PROJECTS.items():
        places[name] = str(folder / name)
        for path, text in files.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_text(text)
    env = {**os.environ, "SITE": site}
    subprocess.run(
        ["bash", "-c", recipe.SHELL], cwd=folder, env=env, capture_output=True, check=False
    )
    places |= {name: str(folder / name) for name in recipe.MADE}
    return places


def scrubbed(text: str, replaced: dict[str, str]) -> str:
    """Without paths, users, hosts and addresses of the machine that recorded."""
    for own, neutral in replaced.items():
        text = text.replace(own, neutral)
    text = re.sub(r"\b[\w.+-]+@[\w.-]*seed[\w.-]*", "dev@example.org", text)
    text = re.sub(r"\b(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}\b(?!\.\d)", "192.0.2.1", text)
    return re.sub(
        r"https?://(?!127\.|bare)[\w.-]*(pypi|simple|npm|registry|crates)[\w.-]*(:\d+)?",
        "https://registry.example",
        text,
    )


def record(chosen: Set, folder: Path, site: str, root: str) -> None:
    """Runs the commands in the new `folder` and writes their outputs and facts."""
    folder.mkdir(parents=True)
    places = prepare(chosen.recipe, folder, site, root)
    modules = os.environ.get("FIRST_RUN_NODE_MODULES")
    if modules:
        shutil.copytree(modules, folder / "js" / "node_modules", symlinks=True)
    home = str(Path.home())
    replaced = {
        str(folder): "/srv/app",
        site: "/opt/lib",
        root: "/srv/app",
        sys.prefix: "/opt/venv",
        os.path.realpath(sys.executable): "/usr/bin/python3",
        home: "/home/dev",
        f" {socket.gethostname()} ": " devbox ",
    }
    for extra in os.environ.get("FIRST_RUN_PATHS", "").split(":"):
        if extra:
            replaced[extra] = "/opt/tools"
    env = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
        "COLUMNS": "120",
        "GIT_PAGER": "cat",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_FIND_LINKS": "",
    }
    chosen.folder.mkdir(exist_ok=True)
    manifest = []
    for name, (where, command, _) in chosen.recipe.RECIPE.items():
        done = subprocess.run(
            ["timeout", str(SECONDS), "bash", "-c", command],
            cwd=places[where],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        text = scrubbed(done.stdout.decode("utf-8", "replace"), replaced)
        text = text[:LONGEST_CHARS]
        if done.returncode in (124, 127) or len(text) < SHORTEST_CHARS:
            print(f"{name}: left out, exit {done.returncode}", file=sys.stderr)
            continue
        (chosen.folder / f"{name}.txt").write_bytes(text.encode())
        command = scrubbed(command, replaced)
        manifest.append(
            {
                "file": f"{name}.txt",
                "command": command,
                "exit_code": done.returncode,
                "must_keep": chosen.facts(name, text, done.returncode),
            }
        )
    chosen.write_manifest(manifest)


def measured(outputs: list[Recorded]) -> dict[str, list[float]]:
    """For each target: percent of the facts kept, of outputs longer than it, and percent saved."""
    from ethos_registry import reduce_text
    from ethos_registry.reduction import ReductionPolicy

    facts = sum(len(output.facts) for output in outputs)
    chars = sum(len(output.text) for output in outputs)
    figures = {}
    for target in TARGETS:
        reduced = [
            reduce_text(
                output.text,
                command=output.command,
                exit_code=output.exit_code,
                policy=ReductionPolicy(target),
            )
            for output in outputs
        ]
        found = [
            len(output.facts) - len(lost(output, text))
            for output, text in zip(outputs, reduced, strict=True)
        ]
        over = [index for index, output in enumerate(outputs) if len(output.text) > target]
        over_facts = sum(len(outputs[index].facts) for index in over)
        figures[f"{target:,}"] = [
            round(100 * sum(found) / facts, 1),
            round(100 * sum(found[index] for index in over) / max(1, over_facts), 1),
            round(100 - 100 * sum(map(len, reduced)) / chars, 1),
        ]
    return figures


def report() -> list[dict[str, Any]]:
    """Each set, the last one first: the figures of its first run, and what it keeps now."""
    parts = []
    for number, chosen in reversed(list(enumerate(SETS, 1))):
        outputs = chosen.outputs()
        now = measured(outputs)
        if not chosen.first_run.exists():
            first = {**measured_now(), "figures": now}
            chosen.first_run.write_text(json.dumps(first, indent=1) + "\n", encoding="utf-8")
        first = json.loads(chosen.first_run.read_text(encoding="utf-8"))
        parts.append(
            {
                "set": number,
                "outputs": len(outputs),
                "chars": sum(len(output.text) for output in outputs),
                "facts": sum(len(output.facts) for output in outputs),
                "first": first,
                "now": now,
            }
        )
    return parts


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--record", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--site",
        default=str(Path(os.__file__).parent / "site-packages"),
        help="installed packages to look at",
    )
    parser.add_argument("--facts", action="store_true")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    if chosen.record:
        record(SETS[-1], chosen.record.resolve(), chosen.site, str(HERE.parent.parent))
    elif chosen.facts:
        SETS[-1].list_facts()
    else:
        found = report()
        print(json.dumps(found, indent=1))
        if chosen.write:
            save("first_run", found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
