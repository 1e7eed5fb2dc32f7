"""Finds false statements in reduced outputs, without any code of the reducers.

Output and reduced text are read together, line by line. Each line of the output is

- shown: a row is the line, or the line with less indentation, padding or ruler, or without a middle
  whose characters are counted (`...[120 chars]...`), or a piece of a long line of JSON;
- listed below a row above it (`[same]`, `[similar]`), by a word of it;
- counted by a mark where it is (`[3 lines left out]`), or blank;

and the account (`[9 of 40 lines left out]`) counts all lines that are neither shown nor listed. So
nothing is shown twice, moved, or left out without a mark.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

__all__ = ["Lie", "Source", "lies", "marks_of", "screen"]

WIDEST = 1024
"""Wider lines have wrapped."""
ACCOUNT = re.compile(r"\[(\d+) of (\d+) lines left out\]")
MARK = re.compile(r"\[(\d+) lines? left out\]")
CHARS = re.compile(r"\.\.\.\[(\d+) chars\]\.\.\.")
LISTED = re.compile(r"  \[(same|similar)\] (.+)", re.DOTALL)
HINT = '[lines with "...[N chars]..." are cut; pipe the command into "fold" to see them]'
ENDS = ("Command exited with code ", "Command was killed")
"""The first line of a tool that shows how the command ended; it is not output."""
ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*(?:[@-~]|$)|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]+[0-~]|\x1b[0-~]|\x1b"
)
RULERS = r"=\-_*#~\u23af\u2500+"
BLANKS = " \t\n\r\x0c"
"""What a reader of bytes takes for blanks."""
LONG_LINE = 600
MOST_STATES = 20_000
MOST_STEPS = 1_000_000
MOST_READINGS = 300
"""More ways to read a reduced text than these are not followed."""


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


@dataclass
class Source:
    """The lines of an output."""

    lines: list[str]

    @classmethod
    def of(cls, text: str) -> Source:
        return cls(screen(text) or [""])

    @property
    def count(self) -> int:
        return len(self.lines)

    def is_blank(self, number: int) -> bool:
        return not self.lines[number].strip()


def marks_of(rows: list[str]) -> Iterator[tuple[int, int]]:
    """The number of each row that is a mark of left out lines, and how many."""
    for number, row in enumerate(rows):
        if found := MARK.fullmatch(row):
            yield number, int(found[1])


# What may be shown of a line.


@lru_cache(100_000)
def forms(line: str) -> tuple[str, ...]:
    """The line without blanks at its end, much of its indentation, and most of its rulers."""
    text = line.rstrip(BLANKS)
    blanks = len(text) - len(text.lstrip(BLANKS))
    less = text[max(blanks - 8, 0) :]
    start = re.sub(rf"^(?:([{RULERS}])\1{{7,}})(?=.)", _three, less)
    end = re.sub(rf"(?<=.)(?:([{RULERS}])\1{{7,}})$", _three, start)
    found = [text, less, start, _end_of_ruler(start, end)]
    if re.fullmatch("commit [0-9a-f]{40}", text):
        found.append(text[:-32])
    return tuple(found)


def _three(found: re.Match[str]) -> str:
    return found[1] * 3


def _end_of_ruler(start: str, end: str) -> str:
    return start if set(start) <= {start[:1]} else end


@lru_cache(100_000)
def dense(form: str) -> str:
    """A row of a table with little padding between its cells and no bar of `+` and `-`."""
    bar = re.fullmatch(r"(.*\d +)(\+*)(-*)", form)
    sign = ""
    if bar and len(bar[2]) + len(bar[3]) >= 3:
        form, sign = bar[1], bar[2][:1] + bar[3][:1]
    body = form.lstrip()
    closed = re.sub(r"(?<=[|│])  +|  +(?=[|│])", " ", body)
    return form[: len(form) - len(body)] + re.sub("   +", "  ", closed) + sign


def shows(row: str, line: str) -> bool:
    """Whether `row` shows `line`."""
    if row == line:
        return True
    shown = _shown_forms(line)
    return row in shown or any(
        len(form) == len(head) + chars + len(tail) and form.startswith(head) and form.endswith(tail)
        for head, chars, tail in _cuts(row)
        for form in shown
    )


@lru_cache(100_000)
def _shown_forms(line: str) -> frozenset[str]:
    found = forms(line)
    return frozenset((*found, *map(dense, found)))


@lru_cache(100_000)
def _cuts(row: str) -> list[tuple[str, int, str]]:
    """What is before, the characters left out, and what is behind each mark of a row."""
    return [(row[: cut.start()], int(cut[1]), row[cut.end() :]) for cut in CHARS.finditer(row)]


def piece_end(row: str, rest: str) -> int | None:
    """The characters of the beginning of `rest` that `row` shows as a piece of a line."""
    if rest.startswith(row):
        return len(row)
    for head, chars, tail in _cuts(row):
        if rest.startswith(head) and rest[len(head) + chars :].startswith(tail):
            return len(head) + chars + len(tail)
    ruler = re.match(rf"([{RULERS}])\1{{7,}}(?=.)", rest)
    cut_start = ruler.end() - 3 if ruler else 0
    body = row.rstrip(row[-1:]) if re.search(rf"[{RULERS}]$", row) else row
    if cut_start and rest[cut_start:].startswith(row):
        return cut_start + len(row)
    if body != row and rest[cut_start:].startswith(body):
        after = rest[cut_start + len(body) :]
        length = len(after) - len(after.lstrip(row[-1]))
        if length >= 8:
            return cut_start + len(body) + length
    return None


def is_long(line: str) -> bool:
    """Whether a line may be shown in pieces."""
    text = line.strip(BLANKS)
    length = len(line.rstrip(BLANKS).encode())
    return text != "" and length > LONG_LINE and text[0] in "{[" and text[-1] in "}],"


def hidden(rest: str, chars: int | None) -> list[int]:
    """The characters before a piece that may be hidden: those marked, or blanks and line ends."""
    if chars is not None:
        return [chars] if chars <= len(rest) else []
    found, at = [], 0
    while True:
        at += len(rest[at:]) - len(rest[at:].lstrip(BLANKS))
        found.append(at)
        if not rest.startswith("\\n", at):
            return found
        at += 2


# The walk.


@dataclass(frozen=True)
class State:
    """Where a reading of a reduced text is."""

    next: int = 0
    """The first line that is neither shown nor marked; the one before it was shown last."""
    piece: int | None = None
    """Where the last piece ends if that line is shown in pieces."""
    lines: int | None = None
    """The lines of a mark behind which no row was read yet."""
    chars: int | None = None
    listed: int = 0
    shown: int = 0

    @property
    def first(self) -> int:
        """The first line at which the next row may be."""
        return self.next + (self.lines or 0)


Steps = dict[State, list[range]]
"""States with the positions of those that each may follow."""


@dataclass
class Walk:
    """All readings, followed at once.

    A row at a line can follow any state of a class whose first free line is not behind it, so that
    a line is looked at once for each class, not once for each state.
    """

    source: Source
    rows: list[str]
    names: list[int] = field(default_factory=list)
    """The most lines that can be listed by the rows up to each."""
    filled: list[int] = field(default_factory=list)
    """The lines before each that are not blank."""
    history: list[list[tuple[State, list[range]]]] = field(default_factory=list)
    """The steps behind each row, if names of lines are listed."""

    def lie(self, left_out: int) -> Lie | None:
        names = [
            len(found[2].split(" ")) if found else 0 for found in map(LISTED.fullmatch, self.rows)
        ]
        self.names = [*itertools.accumulate(names)]
        is_filled = (not self.source.is_blank(number) for number in range(self.source.count))
        self.filled = [*itertools.accumulate(is_filled, initial=0)]
        states = [State()]
        count = 0
        for at in range(len(self.rows)):
            after = self.steps(at, states)
            count += len(after)
            if len(after) > MOST_STATES or count > MOST_STEPS:
                return None
            if not after:
                return self.misplaced(at)
            states = sorted(after, key=lambda state: (self.class_of(state), state.first))
            if any(names):
                self.history.append([(state, after[state]) for state in states])
        for position, state in enumerate(states):
            listed = self.listed_at_end(state)
            if listed is None or state.shown + listed + left_out != self.source.count:
                continue
            if not any(names) or self.lists(position, listed):
                return None
        marked = sum(number for _, number in marks_of(self.rows))
        return Lie("account", f"[{left_out} of ...]", f"{marked} lines are marked")

    def misplaced(self, at: int) -> Lie:
        row = self.rows[at]
        is_there = any(
            shows(row, line) or (is_long(line) and row in line) for line in self.source.lines
        )
        around = " / ".join(self.rows[max(0, at - 1) : at + 2])
        if MARK.fullmatch(row) or CHARS.fullmatch(row) or LISTED.fullmatch(row):
            return Lie("mark", around, "such a mark is not possible here")
        if is_there:
            return Lie("place", around, "the line is in another place")
        return Lie("row", row, "no line of the output")

    def steps(self, at: int, states: list[State]) -> Steps:
        """The states behind a row, each with those before it."""
        after: Steps = {}
        for position, state in enumerate(states):
            for following in self.step(self.rows[at], state, is_first=at == 0):
                after.setdefault(following, []).append(range(position, position + 1))
        start = 0
        for _, states_of_class in itertools.groupby(states, self.class_of):
            group = [*states_of_class]
            for following in self.placed(at, group[0]):
                count = bisect.bisect_left(group, following.next, key=lambda state: state.first)
                after.setdefault(following, []).append(range(start, start + count))
            start += len(group)
        return after

    def class_of(self, state: State) -> tuple[int, ...]:
        """What states have in common before which a row at a line leads to the same state."""
        is_marked = state.lines is not None
        without = state.first if is_marked else self.filled[state.next]
        piece = (0, 0) if state.piece is None else (state.next, state.piece)
        return state.listed - without, is_marked, state.shown, *piece, state.chars or 0

    def step(self, row: str, state: State, *, is_first: bool) -> Iterator[State]:
        """The states behind a mark, a list, or the next piece of the line that was shown last."""
        pending = state.lines is not None or state.chars is not None
        if (mark := MARK.fullmatch(row)) and state.lines is None and int(mark[1]):
            yield replace(state, lines=int(mark[1]))
        if (mark := CHARS.fullmatch(row)) and not pending and int(mark[1]):
            yield replace(state, chars=int(mark[1]))
        if LISTED.fullmatch(row) and not pending and not is_first:
            yield state
        if state.piece is not None and state.lines is None:
            rest = self.source.lines[state.next - 1][state.piece :]
            for start in hidden(rest, state.chars):
                if (length := piece_end(row, rest[start:])) is not None:
                    yield replace(state, piece=state.piece + start + length, chars=None)
                    break

    def placed(self, at: int, state: State) -> Iterator[State]:
        """The states behind a row at each line where it may be."""
        row = self.rows[at]
        tail = self.tail(state)
        is_hidden = _is_hidden(tail, state.chars)
        left = None if state.chars is None else state.chars - len(tail)
        if not is_hidden and (left is None or left < 0):
            return
        for number in range(state.first, self.source.count):
            if state.lines is not None:
                listed = state.listed + number - state.first
            else:
                listed = state.listed + self.filled[number] - self.filled[state.next]
            if listed > self.names[at]:
                return
            line = self.source.lines[number]
            shown = State(next=number + 1, listed=listed, shown=state.shown + 1)
            if is_hidden and shows(row, line):
                yield shown
            if not is_long(line):
                continue
            blanks = len(line) - len(line.lstrip(BLANKS))
            for start in hidden(line[blanks:], left or None):
                if (length := piece_end(row, line[blanks + start :])) is not None:
                    yield replace(shown, piece=blanks + start + length)
                    break

    def tail(self, state: State) -> str:
        """The rest of the line that was shown in pieces."""
        if state.piece is None:
            return ""
        return self.source.lines[state.next - 1].rstrip(BLANKS)[state.piece :]

    def listed_at_end(self, state: State) -> int | None:
        if not _is_hidden(self.tail(state), state.chars):
            return None
        if state.lines is not None:
            more = self.source.count - state.first
        else:
            more = self.filled[-1] - self.filled[state.next]
        most = self.names[-1] if self.names else 0
        return state.listed + more if 0 <= more <= most - state.listed else None

    def lists(self, position: int, listed: int) -> bool:
        """Whether the lines of one of the readings explain the listed names."""
        readings = itertools.islice(self.readings(position), MOST_READINGS)
        count = itertools.count()
        if any(
            self.lists_below(states, listed) for states, _ in zip(readings, count, strict=False)
        ):
            return True
        return next(count) == MOST_READINGS and self.may_list()

    def readings(self, position: int) -> Iterator[list[State]]:
        """The states behind the rows, in each way in which they can be read."""
        opened: list[tuple[int, int]] = [(0, position)]
        reading: list[State] = []
        while opened:
            depth, position = opened.pop()
            state, before = self.history[-1 - depth][position]
            reading[depth:] = [state]
            if len(reading) == len(self.history):
                yield reading[::-1]
                continue
            positions = itertools.islice(itertools.chain.from_iterable(before), MOST_READINGS)
            opened += [(depth + 1, position) for position in positions]

    def lists_below(self, states: list[State], listed: int) -> bool:
        """Whether the listed names are those of lines below their row that are not shown."""
        shown: set[int] = set()
        lists: list[tuple[int, re.Match[str]]] = []
        for row, before, state in zip(self.rows, [State(), *states], states, strict=False):
            if (state.shown, state.piece) != (before.shown, before.piece):
                shown.add(state.next - 1)
            elif found := LISTED.fullmatch(row):
                lists.append((state.next - 1, found))
        least = most = 0
        for owner, found in lists:
            names = found[2].split(" ")
            count = self.listed_below(owner, found[1] == "same", names, shown)
            if count is None:
                return False
            least += count
            most += len(names)
        return least <= listed <= most

    def may_list(self) -> bool:
        """Whether each list has the names of lines below a row that may be above it."""
        for row, above in zip(self.rows[1:], self.history, strict=False):
            if not (found := LISTED.fullmatch(row)):
                continue
            owners = {state.next - 1 for state, _ in above}
            names = found[2].split(" ")
            if len(owners) <= MOST_READINGS and not any(
                self.listed_below(owner, found[1] == "same", names, set()) for owner in owners
            ):
                return False
        return True

    def listed_below(
        self, owner: int, is_same: bool, names: list[str], shown: set[int]
    ) -> int | None:
        """The least number of lines below `owner` that have these names, in this order."""
        lines = self.source.lines
        if owner < 0:
            return None
        least = {0: 0}
        for number in range(owner + 1, len(lines)):
            if number in shown:
                continue
            line = lines[number]
            # The place may be below the message.
            around = "\n".join([*lines[number + 1 : number + 2], line])
            for at in sorted(least, reverse=True):
                if at == len(names) or names[at] not in around:
                    continue
                most = max(_named(line, names[at:]), _named(around, names[at:]))
                for end in range(at + 1, at + 1 + most):
                    name = " ".join(names[at:end])
                    if not is_same or _has_message(lines[owner], line, name):
                        least[end] = min(least.get(end, len(lines)), least[at] + 1)
        return least.get(len(names))


def _is_hidden(tail: str, chars: int | None) -> bool:
    """Whether what is left of a line is marked, or nothing."""
    return not tail.replace("\\n", "").strip() if chars is None else chars == len(tail)


def _named(line: str, names: list[str]) -> int:
    """How many of `names`, from the first, a line has in this order."""
    at = 0
    for count, name in enumerate(names):
        if (found := line.find(name, at)) < 0:
            return count
        at = found + len(name)
    return len(names)


def _has_message(owner: str, line: str, name: str) -> bool:
    """Whether `line` without `name` has the message of `owner`."""
    characters = " :-\t"
    _, found, message = line.partition(name)
    if not found:
        return line.strip(characters) == owner.strip(characters)
    return owner.strip(characters).endswith(message.strip(characters))


def lies(text: str, reduced: str, source: Source | None = None) -> list[Lie]:
    """The first false statement of `reduced`, which a reducer made of `text`; empty without one."""
    if reduced == text or re.search(r"\x1b\[\d*[AF]|\0", text):
        return []
    if text.startswith(ENDS) and reduced.startswith(end := text.partition("\n")[0] + "\n"):
        return lies(text[len(end) :], reduced[len(end) :])
    source = source or Source.of(text)
    if _is_lossless(reduced, source) or _is_head_and_tail(text, reduced, source):
        return []
    rows = reduced.removesuffix("\n").split("\n")
    if not (account := ACCOUNT.fullmatch(rows[-1])):
        return _lies(source, rows, 0)
    if int(account[2]) == source.count:
        found = _lies(source, rows[:-1], int(account[1]))
    else:
        found = [Lie("account", account[0], f"the output has {source.count} lines")]
    # The output may end with such a line itself.
    return found and _lies(source, rows, 0) and found


def _lies(source: Source, rows: list[str], left_out: int) -> list[Lie]:
    """The first false statement of rows without an account."""
    rows = rows[:-1] if rows[-1:] == [HINT] else rows
    found = Walk(source, rows).lie(left_out)
    return [found] if found else []


def _is_lossless(reduced: str, source: Source) -> bool:
    """Whether all lines are there, runs of equal ones as one line with their number."""
    has_counts = any(" ×" in line for line in source.lines)
    at = 0
    for row in reduced.removesuffix("\n").split("\n"):
        line, times = row, 1
        if not has_counts and (found := re.fullmatch(r"(.*) ×(\d+)", row)):
            line, times = found[1], int(found[2])
        if times < 1 or source.lines[at : at + times] != [line] * times:
            return False
        at += times
    return at == source.count


def _is_head_and_tail(text: str, reduced: str, source: Source) -> bool:
    """Whether it is the beginning and the end, with a notice of both lengths between them."""
    found = re.search(
        r"\n\.\.\. \[reduced from (\d+) lines / (\d+) chars to head\+tail\] \.\.\.\n", reduced
    )
    if found is None or int(found[1]) != source.count:
        return False
    cleaned = "\n".join(source.lines) + ("\n" if text.endswith("\n") else "")
    head, tail = reduced[: found.start()], reduced[found.end() :]
    return (
        int(found[2]) == len(cleaned)
        and cleaned.startswith(head)
        and cleaned.endswith(tail)
        and len(head) + len(tail) < len(cleaned)
    )
