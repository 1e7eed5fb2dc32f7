"""Finds false statements in reduced outputs, without any code of the reducers.

A statement of a reduced text is a row, a mark (`[3 lines left out]`), a count (`×12`,
`(+3 similar)`, `(4 hits)`, `...[120 chars]...`) or the account in the last line
(`[9 of 40 lines left out]`):

- a row shows one record of the source: it is a part of one line, or each of its words occurs in
  the source within a record's length of the word before it;
- a count is correct when it is counted again;
- a mark is where the lines are that it counts, and nothing is left out without a mark.
"""

from __future__ import annotations

import bisect
import contextlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, pairwise

__all__ = ["Lie", "Source", "lies", "marks_of", "screen"]

RECORD_LINES = 60
"""A record is not longer: a failed test with its trace, a commit with its message."""
WIDEST = 1024
"""Wider lines have wrapped."""
ACCOUNT = re.compile(r"\[(\d+) of (\d+) lines left out\]")
MARK = re.compile(r"\[(\d+) (line|row)s? left out\]")
CUT = re.compile(r"\.\.\.\[(\d+) chars\]\.\.\.")
TIMES = re.compile(r"(.*?)(?: ×(\d+))?(?: \(\+(\d+) similar\))?")
HINT = '[lines with "...[N chars]..." are cut; pipe the command into "fold" to see them]'
NUMBERED = re.compile(r"(\d+):(.+)")
"""A line of a file that was shown, with its number."""
HITS = re.compile(r"(.+) \((\d+) hits?\)")
ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
    r"|\x1b[ -/]+[0-~]|\x1b[0-~]|\x1b"
)
WORD = re.compile(r"(?!_+\b)\w+")
OWN_WORDS = frozenset(
    "also similar hit hits more times like it without unless each told of id here there lines "  # noqa: SIM905
    "chars rows phase errors date in x and the a as e others says same alike this cell line".split()
)
"""Words that join what a row says of several lines."""
VERDICTS = frozenset(
    [
        "pass",
        "passed",
        "passing",
        "fail",
        "failed",
        "failing",
        "failure",
        "error",
        "errors",
        "ok",
        "skipped",
        "success",
        "succeeded",
        "aborted",
    ]
)


@dataclass(frozen=True)
class Lie:
    """A false statement: what kind, in which row, and what is true."""

    kind: str
    row: str
    truth: str


def screen(text: str) -> list[str]:
    """The lines of `text` as a terminal shows them, if the cursor never moves up."""
    lines = []
    for raw in text.split("\n"):
        line = ESCAPE.sub(lambda found: found[0] if found[0][-1] in "KCDG" else "", raw)
        line = line.rstrip("\r")
        drawn = overwritten(line) if re.search("[\r\b\x1b]", line) else line
        lines.extend(drawn.split("\n"))
    if lines and not lines[-1]:
        lines.pop()
    return lines


def overwritten(line: str) -> str:
    """One line after carriage returns, backspaces and movements."""
    cells: list[str] = []
    wrapped = ""
    at = 0
    for found in re.finditer(r"\x1b\[([\d;?]*)([KCDG])|.", line, re.DOTALL):
        if found[2]:
            number = int(found[1]) if found[1].isdigit() else 0
            match found[2]:
                case "K":
                    if number == 0:
                        del cells[at:]
                    elif number == 2:
                        cells.clear()
                case "C":
                    at += max(number, 1)
                case "D":
                    at = max(0, at - max(number, 1))
                case _:
                    at = max(number, 1) - 1
        elif found[0] == "\r":
            if len(cells) > WIDEST:
                wrapped += "".join(cells) + "\n"
                cells.clear()
            at = 0
        elif found[0] == "\b":
            at = max(0, at - 1)
        else:
            cells.extend(" " * (at + 1 - len(cells)))
            cells[at] = found[0]
            at += 1
    return wrapped + "".join(cells)


def squeezed(text: str) -> str:
    return " ".join(text.split())


TIMESTAMP = r"\d{4}[-/]\d\d[-/]\d\d(?:[T :_]\d\d?:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?"
MASKS = re.compile(
    rf"(?P<time>{TIMESTAMP}|\d\d/[A-Z][a-z]{{2}}/\d{{4}}(?::\d\d:\d\d:\d\d)?|\b\d\d?:\d\d:\d\d"
    r"(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|(?<=\[)[ ]*\d+\.\d{6}(?=\])"
    r"|\b[A-Z][a-z]{2} +\d{1,2}(?= \d\d:\d\d:\d\d))"
    r"|(?P<host>\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?)"
    r"|(?P<pointer>(?<= at )0x[0-9a-fA-F]+|(?<=@)0x[0-9a-fA-F]+)"
    r"|(?P<id>\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|\b(?=\w*\d)(?=\w*[a-fA-F])[0-9a-fA-F]{12,}\b)"
    r"|(?P<span>\b(?:\d+[mh])?\d+(?:\.\d+)? ?(?:ns|us|µs|μs|ms|seconds|second|secs|sec|s"
    r"|minutes|min)\b)"
)


def template(line: str) -> str:
    """`line` with all masked that lines which are counted as repeats may differ in."""
    return MASKS.sub(lambda found: f"<{found.lastgroup}>", line.strip())


def shape(line: str) -> str:
    """`line` without its numbers: what similar lines have in common."""
    return squeezed(re.sub(r"\b(?:0x)?(?=[0-9a-fA-F]*\d)[0-9a-fA-F]+|\d+", "#", line))


@dataclass
class Source:
    """The lines of an output, and where each word of it stands."""

    lines: list[str]
    words: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    places: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    templates: Counter[str] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    first_words: Counter[str] = field(default_factory=Counter)
    count: int = 0

    @classmethod
    def of(cls, text: str) -> Source:
        lines = screen(text)
        source = cls(lines, count=len(lines))
        said = lines
        if len(lines) <= 3:
            with contextlib.suppress(ValueError):
                # Records of JSON on one line are records.
                said = json.dumps(json.loads(text), indent=1, ensure_ascii=False).split("\n")
        for number, line in enumerate(said):
            for word in set(WORD.findall(line.lower())):
                source.words[word].append(number)
        for number, line in enumerate(lines):
            if line.strip():
                source.places[squeezed(line)].append(number)
                source.templates[template(line)] += 1
                source.shapes[shape(line)] += 1
                source.first_words.update({line.split()[0], (WORD.findall(line) or [""])[0]})
        source.joined = "\n".join(map(squeezed, lines))
        source.starts = [0]
        for line in lines:
            source.starts.append(source.starts[-1] + len(squeezed(line)) + 1)
        return source

    joined: str = ""
    starts: list[int] = field(default_factory=list)

    def holding(self, part: str, limit: int = 400) -> list[int]:
        """The numbers of the first lines of which `part` is a part."""
        part = squeezed(part)
        if not part:
            return []
        if part in self.places:
            return self.places[part][:limit]
        found: list[int] = []
        at = self.joined.find(part)
        while at >= 0 and len(found) < limit:
            found.append(bisect.bisect_right(self.starts, at) - 1)
            at = self.joined.find(part, self.starts[found[-1] + 1])
        return found

    def holding_ends(self, head: str, tail: str) -> list[int]:
        """The numbers of the lines that hold `head` and, behind it, `tail`."""
        found = []
        for number in self.holding(head):
            line = squeezed(self.lines[number])
            at = line.find(squeezed(head)) + len(squeezed(head))
            if squeezed(tail) in line[at:]:
                found.append(number)
        return found

    def knows(self, word: str) -> bool:
        """Whether the source has a word, or hashes of which it is the beginning."""
        if len(word) < 7 or re.fullmatch("[0-9a-f]+", word) is None:
            return word in self.words
        if word not in self.hashes:
            if not self.sorted:
                self.sorted = sorted(self.words)
            self.hashes.add(word)
            at = bisect.bisect_left(self.sorted, word)
            places = set(self.words.get(word, ()))
            while at < len(self.sorted) and self.sorted[at].startswith(word):
                places.update(self.words[self.sorted[at]])
                at += 1
            if places:
                self.words[word] = sorted(places)
        return word in self.words

    hashes: set[str] = field(default_factory=set)
    sorted: list[str] = field(default_factory=list)

    def together(self, one: str, other: str) -> bool:
        """Whether two words stand in one record."""
        near, far = self.words.get(one, ()), self.words.get(other, ())
        if len(near) > len(far):
            near, far = far, near
        for number in near:
            at = bisect.bisect_left(far, number - RECORD_LINES)
            if at < len(far) and far[at] <= number + RECORD_LINES:
                return True
        return False


def is_empty(line: str) -> bool:
    """Whether a line holds nothing but blanks or one repeated symbol."""
    line = line.strip()
    return not line or (
        len(line.encode(errors="replace")) >= 3 and len(set(line)) == 1 and not line[0].isalnum()
    )


def marks_of(rows: list[str]) -> Iterator[tuple[int, int]]:
    """The number of each row that is a mark of left out lines, and how many."""
    for number, row in enumerate(rows):
        if (found := MARK.fullmatch(row)) and found[2] == "line":
            yield number, int(found[1])


@dataclass
class Row:
    """A row of a reduced text: what of it is said by the source, and its counts."""

    text: str
    base: str
    times: int
    similar: int
    lines: list[int]
    is_numbered: bool = False
    """Whether it begins with its correct number, which shows what is left out around it."""


def read(row: str, source: Source) -> Row:
    if lines := source.holding(row):
        return Row(row, row, 1, 0, lines)
    if numbered := NUMBERED.fullmatch(row):
        at = int(numbered[1]) - 1
        here = source.lines[at] if at < len(source.lines) else ""
        if squeezed(numbered[2]) and squeezed(numbered[2]) in squeezed(here):
            return Row(row, row, 1, 0, [], is_numbered=True)
    found = TIMES.fullmatch(row)
    assert found
    base = found[1]
    if cut := CUT.search(base):
        last = list(CUT.finditer(base))[-1]
        lines = source.holding_ends(base[: cut.start()], base[last.end() :])
    else:
        lines = source.holding(base)
    return Row(row, base, int(found[2] or 1), int(found[3] or 0), lines)


def lies(text: str, reduced: str, source: Source | None = None) -> list[Lie]:
    """The false statements of `reduced`, which a reducer made of `text`."""
    if reduced == text or re.search(r"\x1b\[\d*[AF]|\0", text):
        return []
    source = source or Source.of(text)
    rows = reduced.split("\n")
    found: list[Lie] = []
    account = ACCOUNT.fullmatch(rows[-1])
    if account is None:
        return found
    rows.pop()
    if rows and rows[-1] == HINT:
        rows.pop()
    read_rows = [None if MARK.fullmatch(row) else read(row, source) for row in rows]
    found += _counts(read_rows, source)
    found += _records(read_rows, source)
    if "<html" not in text[:100_000]:
        # What a page shows is not in the order and the lines of its source.
        found += _gaps(rows, read_rows, source)
    found += _account(account, rows, read_rows, source)
    return found


def _account(
    account: re.Match[str], rows: list[str], read_rows: list[Row | None], source: Source
) -> Iterator[Lie]:
    left_out, lines = int(account[1]), int(account[2])
    if lines != source.count:
        yield Lie("account", account[0], f"the source has {source.count} lines")
        return
    marked = sum(count for _, count in marks_of(rows))
    if not marked <= left_out <= lines:
        yield Lie("account", account[0], f"{marked} lines are marked")
    # Lines whose text a row shows are not left out, and all others are, except those that rows
    # show in other words.
    located = {number for row in read_rows if row for number in row.lines[:1]}
    others = sum(1 for row in read_rows if row and not row.lines)
    repeated = {template(row.base) for row in read_rows if row and row.times > 1}
    repeats = sum(source.templates[one] for one in repeated)
    if others == 0 and repeats == 0:
        most = lines - len(located)
        if left_out > most:
            yield Lie("account", account[0], f"{len(located)} lines are shown")
    if others == 0 and marked:
        empty = sum(map(is_empty, source.lines))
        if left_out > marked + empty:
            yield Lie("account", account[0], f"{marked} lines are marked, {empty} are empty")


def _counts(rows: list[Row | None], source: Source) -> Iterator[Lie]:
    told: Counter[str] = Counter()
    for row in rows:
        if row and row.lines and row.times > 1:
            told[template(row.base)] += row.times
    for row in rows:
        if row is None:
            continue
        if row.lines and row.times > 1:
            first = source.lines[row.lines[0]]
            # Lines that differ in blanks alone may be counted together, and may not.
            own = template(row.base) if template(row.base) in source.templates else template(first)
            equal = source.templates[own]
            whole = squeezed(first) == squeezed(row.base)
            # Lines at different depths are counted in different rows.
            correct = {equal, len(source.places[squeezed(first)])}
            if whole and row.times not in correct and equal != told[own]:
                yield Lie("times", row.text, f"{equal} lines are equal")
        if row.lines and row.similar:
            line = source.lines[row.lines[0]]
            alike = source.shapes[shape(line)]
            first = max(
                source.first_words[line.split()[0]],
                source.first_words[(WORD.findall(line) or [""])[0]],
            )
            if row.times + row.similar > max(alike, first):
                yield Lie("similar", row.text, f"{alike} lines are alike")
        if hits := HITS.fullmatch(row.text):
            runs = [
                sum(1 for _ in lines)
                for is_hit, lines in groupby(
                    source.lines, lambda line: line.startswith(f"{hits[1]}:")
                )
                if is_hit
            ]
            # What lies apart may be counted apart.
            if sum(runs) > 1 and int(hits[2]) not in (sum(runs), *runs):
                yield Lie("hits", row.text, f"{sum(runs)} lines begin so")
        cuts = list(CUT.finditer(row.base))
        if len(cuts) == 1 and row.lines:
            head, tail = row.base[: cuts[0].start()], row.base[cuts[0].end() :]
            lengths = set()
            for number in row.lines:
                line = source.lines[number].rstrip()
                start = re.search(_loosely(head), line)
                ends = list(re.finditer(_loosely(tail), line))
                if start and ends:
                    hidden = [line[start.end() : end.start()] for end in ends]
                    # Blanks may have been squeezed before the cut.
                    lengths.update(len(part) for part in hidden)
                    lengths.update(len(squeezed(f"x{part}x")) - 2 for part in hidden)
                    shown = len(head) - len(head.rstrip()) + len(tail) - len(tail.lstrip())
                    lengths.update(len(part) - shown for part in hidden)
            if lengths and int(cuts[0][1]) not in lengths:
                yield Lie("chars", row.text, f"{sorted(lengths)} characters are hidden")


def _loosely(text: str) -> str:
    """A pattern of `text` with any blanks between its words."""
    return r"\s+".join(map(re.escape, text.split())) or r"$"


def _records(rows: list[Row | None], source: Source) -> Iterator[Lie]:
    for row in rows:
        if row is None or row.lines or row.is_numbered or "{+" in row.text:
            continue
        text = re.sub(r"\w*…", " | ", re.sub(r"\w*\.\.\.\[\d+ chars\]\.\.\.\w*", " | ", row.base))
        text = HITS.sub(r"\1", text)
        # Counts of our own, and places in lists.
        text = re.sub(
            r" ×\d+|\d+(?:-\d+)? × |\(\d+ of \d+|\(×?\d+\)|\[\d+\]| \+\d+\b"
            r"|… \d+ more|\.\.\. \d+ more|\.\.\. \d+ like it|\(\d+ like this\)|\(\+\d+ similar\)",
            " | ",
            text,
        )
        for part in re.split(r"[|…]", text):
            words = [word for word in WORD.findall(part.lower()) if word not in OWN_WORDS]
            for word in words:
                if not source.knows(word):
                    yield Lie(_kind(word), row.text, f"{word!r} is not in the source")
                    break
            else:
                for one, other in _pairs(part):
                    if not source.together(one, other):
                        yield Lie("record", row.text, f"{one!r} and {other!r} are not together")
                        break


def _pairs(part: str) -> Iterator[tuple[str, str]]:
    """Words of one part of a row that must be in one record: a place in a list is one itself."""
    before = ""
    for token in part.lower().split():
        words = [word for word in WORD.findall(token) if word not in OWN_WORDS]
        if not words:
            continue
        # Files and numbers in a list are each of a record of their own.
        is_listed = words[-1].isdigit() or re.search(r"[./]", token[:-1]) is not None
        if before and not is_listed:
            yield before, words[0]
        yield from pairwise(words)
        before = "" if is_listed else words[-1]


def _kind(word: str) -> str:
    if word in VERDICTS:
        return "verdict"
    return "number" if word[0].isdigit() else "name"


def _gaps(rows: list[str], read_rows: list[Row | None], source: Source) -> Iterator[Lie]:
    """Marks against the places of the rows around them."""
    sure = [
        (number, row.lines[0])
        for number, row in enumerate(read_rows)
        if row and len(row.lines) == 1 and not row.similar and row.times == 1
    ]
    fixed = [(-1, -1), *_increasing(sure), (len(rows), source.count)]
    shown = {number for row in read_rows if row for number in row.lines}
    repeated = {template(row.base) for row in read_rows if row and row.times > 1}
    marks = dict(marks_of(rows))
    for (first, start), (last, end) in pairwise(fixed):
        between = range(first + 1, last)
        marked = sum(marks.get(number, 0) for number in between)
        others = [row for number in between if (row := read_rows[number])]
        hidden = [
            number
            for number in range(start + 1, end)
            if number not in shown and template(source.lines[number]) not in repeated
        ]
        if marked > end - start - 1:
            yield Lie("mark", _around(rows, first, last), f"{end - start - 1} lines are there")
        told = [number for number in hidden if not is_empty(source.lines[number])]
        at_end = last == len(rows) and first >= 0
        if not others and marked < len(told) and not at_end:
            yield Lie("gap", _around(rows, first, last), f"{len(told)} lines are left out there")
        if not others and marked > len(hidden) + sum(
            1 for number in range(start + 1, end) if number in shown
        ):
            yield Lie("mark", _around(rows, first, last), f"{len(hidden)} lines are left out there")
        yield from _between(rows, read_rows, marks, (first, start), (last, end), source)


def _between(
    rows: list[str],
    read_rows: list[Row | None],
    marks: dict[int, int],
    first: tuple[int, int],
    last: tuple[int, int],
    source: Source,
) -> Iterator[Lie]:
    """Rows between two whose places are sure: in some order of their places the marks must fit."""
    at = first[1]
    room = 0
    for number in range(first[0] + 1, last[0]):
        if number in marks:
            room += marks[number]
            continue
        row = read_rows[number]
        if row is None or not row.lines:
            return
        places = [line for line in row.lines if line > at and line < last[1]]
        if not places or row.similar or row.times > 1:
            return
        if room and not any(line - at - 1 >= room for line in places):
            yield Lie("mark", _around(rows, first[0], last[0]), f"no {room} lines are before it")
            return
        fitting = [line for line in places if line - at - 1 >= room]
        at, room = fitting[0], 0
    if room > last[1] - at - 1:
        yield Lie("mark", _around(rows, first[0], last[0]), f"{last[1] - at - 1} lines are there")


def _around(rows: list[str], first: int, last: int) -> str:
    return "\n".join(rows[max(first, 0) : last + 1])[:600]


def _increasing(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest series of rows that stand in the order of the source."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, line) in enumerate(rows):
        at = bisect.bisect_left(tails, line)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [line]
        ends[at : at + 1] = [index]
    series = []
    index = ends[-1] if ends else -1
    while index >= 0:
        series.append(rows[index])
        index = before[index]
    return series[::-1]
