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
from lie_oracle import ACCOUNT, CUT, MARK, VERDICTS, WORD, Lie, Source, is_empty, lies, read

PLANTED = 200
"""So many lies of each kind must be found; fewer samples would be a matter of chance."""
LARGE_CHARS = 60_000
"""Longer outputs are left to the long run where lies are planted."""


def reduced_of(output: Recorded) -> str:
    return reduce_text(output.text, command=output.command, exit_code=output.exit_code)


@cache
def cases() -> tuple[tuple[Recorded, str, Source], ...]:
    """Recorded outputs that are reduced to rows with an account, none of it false."""
    found = []
    for part in PARTS:
        for output in recorded(part):
            if len(output.text) > LARGE_CHARS or "\x1b" in output.text or "<html" in output.text:
                continue
            reduced = reduced_of(output)
            if reduced == output.text or not ACCOUNT.fullmatch(reduced.split("\n")[-1]):
                continue
            source = Source.of(output.text)
            if not lies(output.text, reduced, source):
                found.append((output, reduced, source))
    return tuple(found)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_nothing_false_is_said_of_recorded_outputs(part: str) -> None:
    found = {
        output.file: told
        for output in recorded(part)
        if (told := lies(output.text, reduced_of(output)))
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
        output for part in PARTS for output in recorded(part) if len(output.text) <= LARGE_CHARS
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
    for count, output in enumerate(mutants(random.Random(seed))):
        if count >= most or time.monotonic() > end:
            return count, found
        if told := lies(output.text, reduced_of(output)):
            found[f"{count + 1} {output.file}"] = told
    raise AssertionError


LEAST_TRUE_SHARE = 0.99
"""Of mutated outputs. What is left: a row that shows several equal lines without their number has
no place of its own, so the mark of a gap before it follows it (docs/reliability.md)."""


@pytest.mark.slow
def test_hardly_anything_false_is_said_of_mutated_outputs() -> None:
    count, found = share_of_false(20, most=250)
    assert count == 250
    assert len(found) <= count * (1 - LEAST_TRUE_SHARE), found


Planter = Callable[[list[str], Source, random.Random], list[str] | None]


def changed_number(text: str, chance: random.Random) -> str:
    return str(int(text) + chance.randint(1, 9 + int(text)))


def plant_in_account(rows: list[str], _source: Source, chance: random.Random) -> list[str] | None:
    found = ACCOUNT.fullmatch(rows[-1])
    assert found
    left_out, lines = int(found[1]), int(found[2])
    match chance.randrange(3):
        case 0:
            lines += chance.choice([-1, 1, 7])
        case 1:
            left_out = lines + chance.randint(1, 9)
        case _:
            marked = sum(int(mark[1]) for row in rows if (mark := MARK.fullmatch(row)))
            if not marked:
                return None
            left_out = chance.randrange(marked)
    return [*rows[:-1], f"[{left_out} of {lines} lines left out]"]


def marks(rows: list[str]) -> list[int]:
    return [number for number, row in enumerate(rows) if MARK.fullmatch(row)]


def surely_placed(rows: list[str], source: Source, number: int) -> bool:
    """Whether the rows around a mark are each one line of the source and no other."""
    around = [number - 1, number + 1]
    return (
        all(
            0 <= at < len(rows) - 1
            and not MARK.fullmatch(rows[at])
            and len(read(rows[at], source).lines) == 1
            and read(rows[at], source).times == 1
            and not read(rows[at], source).similar
            for at in around
        )
        and read(rows[around[0]], source).lines < read(rows[around[1]], source).lines
    )


def plant_in_mark(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
    places = [number for number in marks(rows) if surely_placed(rows, source, number)]
    if not places:
        return None
    at = chance.choice(places)
    found = MARK.fullmatch(rows[at])
    assert found
    return [*rows[:at], f"[{changed_number(found[1], chance)} lines left out]", *rows[at + 1 :]]


def plant_removed_mark(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
    places = []
    for number in marks(rows):
        if not surely_placed(rows, source, number):
            continue
        first = read(rows[number - 1], source).lines[0]
        last = read(rows[number + 1], source).lines[0]
        if any(
            not is_empty(line) and not said(line, rows) for line in source.lines[first + 1 : last]
        ):
            places.append(number)
    if not places:
        return None
    at = chance.choice(places)
    return [*rows[:at], *rows[at + 1 :]]


def said(line: str, rows: list[str]) -> bool:
    return any(row.strip() in line for row in rows if row.strip()) if line.strip() else True


def plant_moved_mark(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
    without = plant_removed_mark(rows, source, chance)
    if without is None:
        return None
    gone = next(number for number, row in enumerate(rows) if without[number : number + 1] != [row])
    to = chance.randrange(len(without) - 1)
    if to == gone:
        return None
    return [*without[:to], rows[gone], *without[to:]]


def plant_in_count(pattern: str, text: str) -> Planter:
    def plant(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
        places = [
            (number, found)
            for number, row in enumerate(rows)
            if not source.holding(row)
            and (found := re.search(pattern, row))
            and read(row, source).lines
        ]
        if not places:
            return None
        at, found = chance.choice(places)
        count = int(found[1]) + chance.randint(1, 9)
        if "similar" in text:
            count += len(source.lines)
        row = rows[at][: found.start()] + text.format(count) + rows[at][found.end() :]
        return [*rows[:at], row, *rows[at + 1 :]]

    return plant


def plant_in_hidden_chars(
    rows: list[str], source: Source, chance: random.Random
) -> list[str] | None:
    places = [
        number
        for number, row in enumerate(rows)
        if len(CUT.findall(row)) == 1 and len(read(row, source).lines) == 1
    ]
    if not places:
        return None
    at = chance.choice(places)
    row = CUT.sub(lambda found: f"...[{changed_number(found[1], chance)} chars]...", rows[at])
    return [*rows[:at], row, *rows[at + 1 :]]


def plant_word(
    is_kind: Callable[[str], bool], other: Callable[[str, Source, random.Random], str]
) -> Planter:
    """A word of a row becomes another that is not in its record."""

    def plant(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
        places = []
        for number, row in enumerate(rows[:-1]):
            if MARK.fullmatch(row) or row.startswith("[lines with") or CUT.search(row):
                continue
            if len(read(row, source).lines) != 1 or read(row, source).base != row:
                continue
            words = list(WORD.finditer(row))
            places += [(number, word) for word in words if is_kind(word[0].lower())]
        if not places:
            return None
        at, word = chance.choice(places)
        new = other(word[0].lower(), source, chance)
        if new.lower() in source.words:
            near = source.words[new.lower()]
            here = source.holding(rows[at])[0]
            if any(abs(line - here) <= 200 for line in near):
                return None
        row = rows[at][: word.start()] + new + rows[at][word.end() :]
        neighbours = [found[0].lower() for found in WORD.finditer(row)]
        if len(neighbours) < 2 or "…" in row or "|" in row:
            return None
        return [*rows[:at], row, *rows[at + 1 :]]

    return plant


def another(word: str, source: Source, chance: random.Random) -> str:
    if chance.random() < 0.5:
        return chance.choice(sorted(source.words))
    letters = "".join(chance.choice("bcdfghjklmnpqrstvwxz") for _ in range(len(word) + 2))
    return letters if not word.isdigit() else str(int(word) + chance.randint(1_000, 99_999))


def another_number(word: str, _source: Source, chance: random.Random) -> str:
    return str(int(word) + chance.randint(1, 99_999))


def another_verdict(word: str, _source: Source, chance: random.Random) -> str:
    return chance.choice(sorted(VERDICTS - {word}))


def plant_path(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
    """A path gets a folder that is not there."""
    places = [
        (number, found)
        for number, row in enumerate(rows[:-1])
        if read(row, source).lines
        and not MARK.fullmatch(row)
        and not CUT.search(row)
        and "…" not in row
        for found in re.finditer(r"(?<![\w/])[\w.-]+/(?=[\w.-]+)", row)
    ]
    if not places:
        return None
    at, found = chance.choice(places)
    folder = "".join(chance.choice("bcdfghjklmnpqrstvwxz") for _ in range(6))
    row = rows[at][: found.end()] + folder + "/" + rows[at][found.end() :]
    return [*rows[:at], row, *rows[at + 1 :]]


def plant_mixed_record(rows: list[str], source: Source, chance: random.Random) -> list[str] | None:
    """The beginning of one row with the end of another that is far away in the source."""
    single = [
        (number, row, read(row, source).lines[0])
        for number, row in enumerate(rows[:-1])
        if not MARK.fullmatch(row)
        and len(read(row, source).lines) == 1
        and len(row.split()) >= 3
        and not re.search(r"[|…{]", row)
        and not CUT.search(row)
    ]
    if len(single) < 2:
        return None
    (at, one, here), (_, other, there) = chance.sample(single, 2)
    head, tail = one.split()[: len(one.split()) // 2], other.split()[len(other.split()) // 2 :]
    mixed = " ".join(head + tail)
    if abs(here - there) <= 100 or source.holding(mixed):
        return None
    one_word = WORD.findall(" ".join(head).lower())
    other_word = WORD.findall(" ".join(tail).lower())
    if not one_word or not other_word or source.together(one_word[-1], other_word[0]):
        return None
    if re.search(r"[\d./]", head[-1] + tail[0]):
        return None
    return [*rows[:at], mixed, *rows[at + 1 :]]


PLANTERS: dict[str, Planter] = {
    "account": plant_in_account,
    "mark": plant_in_mark,
    "removed mark": plant_removed_mark,
    "moved mark": plant_moved_mark,
    "times": plant_in_count(r" ×(\d+)$", " ×{}"),
    "similar": plant_in_count(r" \(\+(\d+) similar\)$", " (+{} similar)"),
    "hidden characters": plant_in_hidden_chars,
    "number": plant_word(str.isdigit, another_number),
    "name": plant_word(lambda word: len(word) > 4 and word.isalpha(), another),
    "verdict": plant_word(VERDICTS.__contains__, another_verdict),
    "path": plant_path,
    "mixed record": plant_mixed_record,
}


MOST_MISSES = 40
"""An output in which nothing could be planted so often has no place for a lie of that kind."""


def planted(kind: str, count: int, seed: int) -> Counter[bool]:
    """Of `count` planted lies of one kind, how many the oracle found."""
    chance = random.Random(seed)
    found: Counter[bool] = Counter()
    pool = list(range(len(cases())))
    misses: Counter[int] = Counter()
    while pool and found.total() < count:
        case = chance.choice(pool)
        output, reduced, source = cases()[case]
        rows = PLANTERS[kind](reduced.split("\n"), source, chance)
        if rows is None or rows == reduced.split("\n"):
            misses[case] += 1
            if misses[case] == MOST_MISSES:
                pool.remove(case)
            continue
        found[bool(lies(output.text, "\n".join(rows), source))] += 1
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLANTERS)
def test_planted_lies_are_found(kind: str) -> None:
    found = planted(kind, PLANTED * 11 // 10, seed=7)
    assert found[True] >= PLANTED, found


if __name__ == "__main__":
    # python tests/test_lie_oracle.py SECONDS [SEED]: mutated outputs for that time; exit 1 if too
    # much is false.
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    reduced_count, false = share_of_false(seed, seconds=float(sys.argv[1]))
    for name, told in false.items():
        print(name, *told, sep="\n  ")
    print(f"{reduced_count} mutated outputs, something false of {len(false)}")
    sys.exit(len(false) > reduced_count * (1 - LEAST_TRUE_SHARE))
