"""A reducer that knows no tool, in about 110 lines: what any other one has to beat.

python benches/retention/baseline.py TARGET < output

A line gets points for words of failure and of summaries, for a place in a file, for being rare
among the lines of its shape, and for being near a problem or an end. The lines with the most points
are kept, in their order, until the target is full; each gap is marked with the number of its lines.
"""

from __future__ import annotations

import re
import sys
from collections import Counter

ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
VALUE = re.compile(
    r"\"[^\"]*\"|'[^']*'|0x[0-9a-f]+|\b[0-9a-f]{7,40}\b|(?:[\w.-]*/)+[\w.-]*|\d+(?:[.,:]\d+)*",
    re.IGNORECASE,
)
PROBLEM = re.compile(
    r"error|exception|fail|fatal|panic|traceback|caused by|abort|assert|expected|received|mismatch|"
    r"denied|refused|not found|no such|cannot|can't|unable|undefined|unresolved|invalid|missing|"
    r"conflict|overflow|leak|segfault|signal|killed|timed? ?out|unreachable|not ok|"
    r"[✗✘✕✖×●]|^E  |^[-+](?![-+])",
    re.IGNORECASE,
)
WARNING = re.compile(r"warn|deprecat|skip|todo|note:|hint|help:", re.IGNORECASE)
SUMMARY = re.compile(
    r"\b\d+ (?:passed|failed|errors?|warnings?|problems?|tests?|rows?|files?|matches|issues?)\b|"
    r"^(?:total|summary|found|ran|tests?|result|exit|finished|done)\b|={3,}.*={3,}",
    re.IGNORECASE,
)
PLACE = re.compile(r"[\w./-]+\.\w{1,5}[:(]\d+|line \d+|@@ ")
NEAR_LINES = 3
MARK_CHARS = 24


def cleaned(text: str) -> list[str]:
    """The lines without escapes, and without what a carriage return overwrote."""
    lines = []
    for line in ESCAPE.sub("", text).split("\n"):
        drawn = [part for part in line.split("\r") if part.strip()]
        lines.append(drawn[-1].rstrip() if drawn else "")
    return lines


def shortened(line: str, most: int) -> str:
    if len(line) <= most:
        return line
    head, tail = most * 2 // 3, most // 3
    return f"{line[:head]}...[{len(line) - head - tail} chars]...{line[-tail:]}"


def points(lines: list[str]) -> list[float]:
    """The points of each line; negative for blank lines, rulers and repetitions."""
    shapes = [VALUE.sub("#", line.strip()) for line in lines]
    counts, before = Counter(shapes), Counter[str]()
    problems = [bool(PROBLEM.search(line)) for line in lines]
    seen: set[str] = set()
    found = []
    for at, line in enumerate(lines):
        text, shape = line.strip(), shapes[at]
        before[shape] += 1
        if text in seen or not any(char.isalnum() for char in text):
            found.append(-1.0)
            continue
        seen.add(text)
        score = 4.0 * problems[at] + 3.0 * bool(SUMMARY.search(line))
        score += 1.5 * bool(PLACE.search(line)) + 1.2 * bool(WARNING.search(line))
        score += 2.0 / counts[shape] ** 0.5 - 0.8 * (before[shape] - 1) ** 0.5
        for away in range(1, NEAR_LINES + 1):
            if any(problems[near] for near in (at - away, at + away) if 0 <= near < len(lines)):
                score += (NEAR_LINES + 1 - away) * 0.5
                break
        edge = min(at, (len(lines) - 1 - at) / 2)
        found.append(score + 3.0 / (1 + edge / 6) + (edge < 25))
    return found


def written(lines: list[str], kept: set[int]) -> str:
    rows, gap = [], 0
    for at, line in enumerate([*lines, None]):
        if line is None or at in kept:
            if gap:
                rows.append(f"[{gap} lines left out]" if gap > 1 else "[1 line left out]")
            gap = 0
            if line is not None:
                rows.append(line)
        else:
            gap += bool(line.strip())
    return "\n".join(rows)


def reduce(command: str, exit_code: int, text: str, target: int) -> str:
    """At most `target` characters; the cleaned text if it fits."""
    lines = cleaned(text)
    if len(whole := "\n".join(lines)) <= target:
        return whole
    lines = [shortened(line, max(200, min(600, target // 6))) for line in lines]
    score = points(lines)
    kept: set[int] = set()
    room = target - MARK_CHARS
    for at in sorted(range(len(lines)), key=lambda at: (-score[at], at)):
        gaps = 1 - (at - 1 in kept) - (at + 1 in kept)
        cost = len(lines[at]) + 1 + gaps * MARK_CHARS
        if score[at] >= 0 and cost <= room:
            kept.add(at)
            room -= cost
    while len(made := written(lines, kept)) > target and kept:
        kept.discard(min(kept, key=lambda at: (score[at], -at)))
    return made


if __name__ == "__main__":
    print(reduce("", 0, sys.stdin.read(), int(sys.argv[1])))
