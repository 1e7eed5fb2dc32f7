"""Reduced outputs say nothing false, and the oracle that says so finds every planted lie."""

from __future__ import annotations

import math
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from corpora import PARTS, Recorded, recorded
from ethos_registry import reduce_text
from ethos_registry.reduction import ReductionPolicy
from lie_oracle import (
    ACCOUNT,
    CHARS,
    HINT,
    LISTED,
    MARK,
    Lie,
    Source,
    lies,
    marks_of,
    shows,
)

PLANTED = 60
"""So many lies of each kind are planted."""
LARGE_CHARS = 20_000
"""Longer outputs are left to the long run."""
TARGETS = (16_000, 4_000, 1_500)
VERDICTS = frozenset(
    "pass passed fail failed failing failure error errors ok skipped success aborted".split()  # noqa: SIM905
)


def reduced_of(output: Recorded, target_chars: int = TARGETS[0]) -> str:
    return reduce_text(
        output.text,
        command=output.command,
        exit_code=output.exit_code,
        policy=ReductionPolicy(target_chars),
    )


def is_read(output: Recorded) -> bool:
    """Whether the oracle knows what a terminal shows of an output."""
    return "color-words" not in output.command and "word-diff=color" not in output.command


@cache
def cases() -> tuple[tuple[Recorded, str, Source], ...]:
    """Recorded outputs that are reduced to rows with an account, none of it false."""
    found = []
    for part in PARTS:
        for output in recorded(part):
            if len(output.text) > LARGE_CHARS or "\x1b" in output.text or not is_read(output):
                continue
            for target_chars in TARGETS[1:]:
                reduced = reduced_of(output, target_chars)
                source = Source.of(output.text)
                if ACCOUNT.fullmatch(reduced.split("\n")[-1]) and not lies(output.text, reduced):
                    found.append((output, reduced, source))
    return tuple(found)


@pytest.mark.slow
@pytest.mark.parametrize("target_chars", TARGETS)
@pytest.mark.parametrize("part", PARTS)
def test_nothing_false_is_said_of_recorded_outputs(part: str, target_chars: int) -> None:
    found = {
        output.file: false
        for output in recorded(part)
        if is_read(output) and (false := lies(output.text, reduced_of(output, target_chars)))
    }
    assert found == {}


def test_a_policy_marks_each_gap_behind_a_row_of_many_lines() -> None:
    findings = [
        f"E501 Line too long ({90 + at} > 88)\n   --> src/oak.py:{10 * at}:89\n    |\n"
        f"{10 * at} | value_{at} = grow(leaf_{at})\n    |               ^^^^^\n\n"
        for at in range(1, 200)
    ]
    text = "".join(findings) + "Found 199 errors.\n"
    reduced = reduce_text(
        text, command="ruff check", exit_code=1, policy=ReductionPolicy(len(text) * 2 // 3)
    )
    assert MARK.search(reduced)
    assert lies(text, reduced) == []


def mutated(output: Recorded, chance: random.Random) -> Recorded:
    """The output with lines gone, doubled, moved or changed in a number."""
    lines = output.text.split("\n")
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(lines))
        match chance.randrange(5):
            case 0:
                del lines[at : at + chance.randint(1, 30)]
            case 1:
                lines[at:at] = lines[at : at + chance.randint(1, 12)]
            case 2:
                lines.insert(chance.randrange(len(lines)), lines.pop(at))
            case 3:
                lines[at] = re.sub(r"\d", lambda _: str(chance.randrange(10)), lines[at])
            case _:
                lines[at:at] = [lines[at]] * chance.randint(2, 40)
        if not lines:
            return output
    return output.with_text("\n".join(lines))


def mutants(chance: random.Random) -> Iterator[Recorded]:
    small = [
        output
        for part in PARTS
        for output in recorded(part)
        if len(output.text) <= LARGE_CHARS and is_read(output)
    ]
    while True:
        yield mutated(chance.choice(small), chance)


def share_of_false(
    seed: int, *, seconds: float = math.inf, most: float = math.inf
) -> tuple[int, dict[str, list[Lie]]]:
    """How many mutated outputs were reduced, and what is false of which.

    It ends after `seconds`, or after the number `most` of outputs.
    """
    end = time.monotonic() + seconds
    found: dict[str, list[Lie]] = {}
    chance = random.Random(seed)
    for count, output in enumerate(mutants(chance)):
        if count >= most or time.monotonic() > end:
            return count, found
        target_chars = chance.choice(TARGETS)
        if false := lies(output.text, reduced_of(output, target_chars)):
            found[f"{count + 1} {output.file}"] = false
    raise AssertionError


@pytest.mark.slow
def test_nothing_false_is_said_of_mutated_outputs() -> None:
    count, found = share_of_false(20, most=250)
    assert count == 250
    assert found == {}


def changed_number(text: str, chance: random.Random) -> str:
    return str(int(text) + chance.randint(1, 9 + int(text)))


Planter = Callable[[list[str], Source, random.Random], list[str] | None]


def sure(rows: list[str], source: Source) -> list[int]:
    """The numbers of rows that are one line of the output as it is, and no other."""
    return [
        number
        for number, row in enumerate(rows[:-1])
        if row.strip() and source.lines.count(row) == 1 and not MARK.fullmatch(row)
    ]


def marks(rows: list[str]) -> list[int]:
    return [number for number, _ in marks_of(rows)]


def at_row(change: Callable[[str, Source, random.Random], str | None]) -> Planter:
    """A row becomes another."""

    def plant(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
        if not (places := sure(rows, source)):
            return None
        at = chance.choice(places)
        new = change(rows[at], source, chance)
        if new is None or any(shows(new, line) for line in source.lines):
            return None
        return [*rows[:at], new, *rows[at + 1 :]]

    return plant


def at_mark(change: Callable[[str, random.Random], list[str]]) -> Planter:
    """A mark becomes other rows."""

    def plant(rows: list[str], _source: Source, chance: random.Random) -> list[str] | None:
        if not (places := marks(rows)):
            return None
        at = chance.choice(places)
        return [*rows[:at], *change(rows[at], chance), *rows[at + 1 :]]

    return plant


def at_account(change: Callable[[int, int, random.Random], tuple[int, int]]) -> Planter:
    def plant(rows: list[str], _source: Source, chance: random.Random) -> list[str] | None:
        found = ACCOUNT.fullmatch(rows[-1])
        assert found
        left_out, lines = change(int(found[1]), int(found[2]), chance)
        return [*rows[:-1], f"[{left_out} of {lines} lines left out]"]

    return plant


def replaced(pattern: str, new: Callable[[str, random.Random], str]) -> Planter:
    """One of the matches of a pattern in a row becomes another text."""

    def change(row: str, _source: Source, chance: random.Random) -> str | None:
        if not (found := list(re.finditer(pattern, row))):
            return None
        one = chance.choice(found)
        return row[: one.start()] + new(one[0], chance) + row[one.end() :]

    return at_row(change)


def letters(word: str, chance: random.Random) -> str:
    return "".join(chance.choice("bcdfghjklmnpqrstvwxz") for _ in range(len(word)))


def another_number(word: str, chance: random.Random) -> str:
    return str(int(word) + chance.randint(1, 99_999))


def another_verdict(word: str, chance: random.Random) -> str:
    return chance.choice(sorted(VERDICTS - {word.lower()}))


def mixed(row: str, source: Source, chance: random.Random) -> str | None:
    """The beginning of one row with the end of another line."""
    other = chance.choice(source.lines)
    head, tail = row[: len(row) // 2], other[len(other) // 2 :]
    return head + tail if head.strip() and tail.strip() else None


def swapped(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
    if len(places := sure(rows, source)) < 2:
        return None
    one, other = sorted(chance.sample(places, 2))
    return [*rows[:one], rows[other], *rows[one + 1 : other], rows[one], *rows[other + 1 :]]


def repeated(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
    if not (places := sure(rows, source)):
        return None
    at, to = chance.choice(places), chance.randrange(len(rows))
    return [*rows[:to], rows[at], *rows[to:]]


def removed(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
    if not (places := sure(rows, source)):
        return None
    at = chance.choice(places)
    return [*rows[:at], *rows[at + 1 :]]


def moved(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
    if not (places := sure(rows, source)):
        return None
    at = chance.choice(places)
    without = [*rows[:at], *rows[at + 1 :]]
    to = chance.randrange(len(without))
    return None if to == at else [*without[:to], rows[at], *without[to:]]


def moved_mark(rows: list[str], _source: Source, chance: random.Random) -> list[str] | None:
    if not (places := marks(rows)):
        return None
    at = chance.choice(places)
    without = [*rows[:at], *rows[at + 1 :]]
    to = chance.randrange(len(without))
    return None if to == at else [*without[:to], rows[at], *without[to:]]


def added_mark(rows: list[str], _source: Source, chance: random.Random) -> list[str] | None:
    at = chance.randrange(len(rows))
    return [*rows[:at], f"[{chance.randint(1, 9)} lines left out]", *rows[at:]]


def foreign(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
    """A line of another output."""
    other = chance.choice(cases())[2]
    line = chance.choice(other.lines)
    if not line.strip() or any(shows(line, own) for own in source.lines):
        return None
    at = chance.randrange(len(rows))
    return [*rows[:at], line, *rows[at:]]


def hidden_chars(rows: list[str], _source: Source, chance: random.Random) -> list[str] | None:
    if not (places := [at for at, row in enumerate(rows) if CHARS.search(row) and row != HINT]):
        return None
    at = chance.choice(places)
    row = CHARS.sub(lambda found: f"...[{changed_number(found[1], chance)} chars]...", rows[at])
    return [*rows[:at], row, *rows[at + 1 :]]


def at_list(change: Callable[[list[str], random.Random], list[str] | None]) -> Planter:
    """The names of a list become others."""

    def plant(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
        places = [at for at, row in enumerate(rows) if LISTED.fullmatch(row)]
        if not places:
            return None
        at = chance.choice(places)
        label, names = rows[at].split("] ", 1)
        new = change(names.split(" "), chance)
        if new is None or not new or any(" ".join(new) in line for line in source.lines):
            return None
        return [*rows[:at], f"{label}] {' '.join(new)}", *rows[at + 1 :]]

    return plant


def another_name(names: list[str], chance: random.Random) -> list[str]:
    at = chance.randrange(len(names))
    return [*names[:at], letters(names[at] + "abcd", chance), *names[at + 1 :]]


PLANTERS: dict[str, Planter] = {
    "all lines": at_account(lambda left, lines, chance: (left, lines + chance.choice([-1, 1, 7]))),
    "more left out": at_account(lambda left, lines, chance: (left + chance.randint(1, 9), lines)),
    "less left out": at_account(lambda left, lines, chance: (chance.randrange(left), lines)),
    "no account": lambda rows, _source, _chance: rows[:-1],
    "mark": at_mark(
        lambda row, chance: [re.sub(r"\d+", lambda n: changed_number(n[0], chance), row)]
    ),
    "removed mark": at_mark(lambda _row, _chance: []),
    "doubled mark": at_mark(lambda row, _chance: [row, row]),
    "moved mark": moved_mark,
    "added mark": added_mark,
    "number": replaced(r"\d+", another_number),
    "name": replaced(r"[A-Za-z]{4,}", letters),
    "verdict": replaced(rf"(?i)\b(?:{'|'.join(sorted(VERDICTS))})\b", another_verdict),
    "case": replaced(r"[A-Z][a-z]+", lambda word, _chance: word.lower()),
    "path": replaced(r"(?<=\w)/(?=\w)", lambda word, chance: f"/{letters('folder', chance)}/"),
    "blanks": replaced(r"(?<=\S) (?=\S)", lambda word, chance: word * chance.randint(2, 5)),
    "times": at_row(lambda row, _source, chance: f"{row} ×{chance.randint(2, 90)}"),
    "beginning": at_row(lambda row, _source, _chance: row[len(row) // 2 :].lstrip() or None),
    "end": at_row(lambda row, _source, _chance: row[: len(row) // 2].rstrip() or None),
    "mixed record": at_row(mixed),
    "swapped rows": swapped,
    "repeated row": repeated,
    "removed row": removed,
    "moved row": moved,
    "row of another output": foreign,
    "hidden characters": hidden_chars,
    "listed name": at_list(another_name),
}


MOST_MISSES = 40
"""An output in which nothing could be planted so often has no place for a lie of that kind."""


def planted(kind: str, count: int, seed: int) -> tuple[int, list[list[str]]]:
    """How many of at most `count` planted lies were found, and those that were not."""
    chance = random.Random(seed)
    found = 0
    unseen: list[list[str]] = []
    pool = list(range(len(cases())))
    misses: Counter[int] = Counter()
    while pool and found + len(unseen) < count:
        case = chance.choice(pool)
        output, reduced, source = cases()[case]
        rows = PLANTERS[kind](reduced.split("\n"), source, chance)
        if rows is None or rows == reduced.split("\n"):
            misses[case] += 1
            if misses[case] == MOST_MISSES:
                pool.remove(case)
            continue
        if lies(output.text, "\n".join(rows), source):
            found += 1
        else:
            unseen.append([output.file, *rows])
    return found, unseen


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLANTERS)
def test_planted_lies_are_found(kind: str) -> None:
    found, unseen = planted(kind, PLANTED, seed=7)
    assert not unseen
    assert found == PLANTED


if __name__ == "__main__":
    # python tests/test_lie_oracle.py SECONDS [SEED]: mutated outputs for that time; exit 1 if
    # anything is false.
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    reduced_count, all_false = share_of_false(seed, seconds=float(sys.argv[1]))
    for name, false in all_false.items():
        print(name, *false, sep="\n  ")
    print(f"{reduced_count} mutated outputs, something false of {len(all_false)}")
    sys.exit(bool(all_false))
