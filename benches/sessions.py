"""How much of what a coding agent reads repeats what it has read, and what hooks save of it.

python benches/sessions.py            # prints the table
python benches/sessions.py --json

Each session does again what a commit of this repository needed: read the changed files, search,
look at the history; after the change read, search and compare again. The commands ran on the trees
of that time; no model chose them, so shares of other agents differ. Needs the whole git history.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
COMMITS = (HERE / "sessions.txt").read_text(encoding="utf-8").split()
MOST_FILES = 4
SHOWN_CHARS, PREVIEW_CHARS = 30_000, 2_244
"""Claude Code shows longer outputs of commands as a preview, and saves them in a file."""
READ_LINES = 2_000
"""What the agent reads of a file without a range."""


@dataclass(frozen=True)
class Step:
    """A call of a tool and its output."""

    tool: str
    argument: str
    output: str


def git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=HERE.parent, capture_output=True, text=True, check=False
    )
    return done.stdout


def read(commit: str, path: str) -> Step:
    lines = git("show", f"{commit}:{path}").splitlines(keepends=True)
    return Step("Read", path, "".join(lines[:READ_LINES]))


def command(line: str, output: str) -> Step:
    return Step("Bash", line, output)


def steps(commit: str) -> Iterator[Step]:
    """The calls of one session."""
    before = f"{commit}~1"
    changed = git("diff", "--name-only", "--diff-filter=M", before, commit).split()
    sources = [path for path in changed if path.endswith((".py", ".rs"))][:MOST_FILES]
    log = "git log --oneline -30"
    yield command(log, git(*log.split()[1:], before))
    folders = sorted({os.path.dirname(path) for path in sources})
    for folder in folders:
        yield command(f"ls {folder}", git("ls-tree", "--name-only", f"{before}:{folder}"))
    for path in sources:
        yield read(before, path)
    definitions = r"^ *\(pub \|async \)*\(def\|fn\|class\|struct\) "
    search = f'grep -rn "{definitions}"'
    for folder in folders:
        found = git("grep", "-n", definitions, before, "--", folder).replace(f"{before}:", "")
        yield command(f"{search} {folder}", found)
    for path in sources:
        yield command(f"git diff {path}", git("diff", before, commit, "--", path))
        yield read(commit, path)
    for folder in folders:
        found = git("grep", "-n", definitions, commit, "--", folder).replace(f"{commit}:", "")
        yield command(f"{search} {folder}", found)
    for path in sources[:2]:
        yield command(f"cat {path}", git("show", f"{commit}:{path}"))
    yield command("git show --stat", git("show", "--stat", commit))
    yield command(log, git(*log.split()[1:], commit))


@dataclass
class Figures:
    """Sums over steps, in characters."""

    host: int = 0
    repeated: int = 0
    """Characters in lines that the session was shown before: an upper bound."""
    reduced: int = 0
    sent: int = 0
    lost_lines: int = 0
    """Lines that are neither in the result nor in what was shown before, but for the reducers."""

    def add(self, other: Figures) -> None:
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def payload(session: str, transcript: Path, number: int, step: Step) -> dict[str, Any]:
    common = {
        "session_id": session,
        "prompt_id": "prompt",
        "transcript_path": str(transcript),
        "cwd": "/",
        "hook_event_name": "PostToolUse",
        "tool_name": step.tool,
        "tool_use_id": f"call-{number}",
    }
    if step.tool == "Read":
        response: dict[str, Any] = {"type": "text", "file": {"content": step.output}}
        return common | {"tool_input": {"file_path": step.argument}, "tool_response": response}
    response = {"stdout": step.output, "stderr": "", "interrupted": False, "isImage": False}
    if len(step.output) > SHOWN_CHARS:
        saved = transcript.with_suffix(".out")
        saved.write_text(step.output)
        response |= {"stdout": step.output[:SHOWN_CHARS], "persistedOutputPath": str(saved)}
    return common | {"tool_input": {"command": step.argument}, "tool_response": response}


def shown_by_hook(call: dict[str, Any], original: str) -> str:
    from ethos_registry import _core

    answer = _core.hook_answer("claude", json.dumps(call).encode(), "ethos-registry")
    if answer is None:
        return original
    response = json.loads(answer)["hookSpecificOutput"]["updatedToolOutput"]
    return response["stdout"] if "stdout" in response else response["file"]["content"]


def replay(commit: str, folder: Path) -> Figures:
    """Send each result through the hook of Claude Code, without the ledger and with it."""
    from ethos_registry import _core

    figures = Figures()
    transcript = folder / f"{commit}.jsonl"
    transcript.write_text("")
    seen: set[str] = set()
    delivered: set[str] = set()
    for number, step in enumerate(steps(commit)):
        host = step.output
        if step.tool == "Bash" and len(host) > SHOWN_CHARS:
            host = host[:PREVIEW_CHARS]
        lines = host.splitlines()
        figures.host += len(host)
        figures.repeated += sum(len(line) + 1 for line in lines if line in seen)
        seen.update(lines)
        call = payload(commit, transcript, number, step)
        os.environ["ETHOS_REGISTRY_LEDGER"] = "0"
        reduced = shown_by_hook(call, host)
        os.environ["ETHOS_REGISTRY_LEDGER"] = "1"
        sent = shown_by_hook(call, host)
        figures.reduced += len(reduced)
        figures.sent += len(sent)
        here = set(sent.splitlines())
        figures.lost_lines += sum(
            line not in here and line not in delivered for line in reduced.splitlines()
        )
        delivered |= here
        text = sent
        if step.tool == "Read":
            text = "\n".join(f"{at}\t{line}" for at, line in enumerate(sent.split("\n"), 1))
        batch = call | {"hook_event_name": "PostToolBatch"}
        done = {key: call[key] for key in ("tool_name", "tool_input", "tool_use_id")}
        batch["tool_calls"] = [done | {"tool_response": text}]
        _core.hook_answer("claude", json.dumps(batch).encode(), "ethos-registry")
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    total = Figures()
    with tempfile.TemporaryDirectory() as name:
        os.environ["ETHOS_REGISTRY_OUTPUTS"] = f"{name}/outputs"
        for commit in COMMITS:
            total.add(replay(commit, Path(name)))
    if not total.host:
        print("no commit of benches/sessions.txt is in this history", file=sys.stderr)
        return 1
    shares = {
        "sessions": len(COMMITS),
        "characters": total.host,
        "repeated_lines_percent": round(100 * total.repeated / total.host, 1),
        "saved_by_reducers_percent": round(100 * (1 - total.reduced / total.host), 1),
        "saved_with_ledger_percent": round(100 * (1 - total.sent / total.host), 1),
        "lines_lost_by_ledger": total.lost_lines,
    }
    print(
        json.dumps(shares)
        if arguments.json
        else "\n".join(map("{0[0]}: {0[1]}".format, shares.items()))
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
