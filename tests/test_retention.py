"""Every fact of every recorded output survives, also when the output comes in another form."""

from __future__ import annotations

import codecs
import random
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from corpora import PARTS, Recorded, known_losses, lost, recorded
from ethos_registry import reduce_text

PASSING = re.compile(r"PASS(ED)?\b|\bok\b|✓|✔|\.\.\. ok$")
PATH_PART = re.compile(r"(?<![\w.])[a-z]+(?:_[a-z]+)+(?![\w])")


def reduce(output: Recorded) -> str:
    return reduce_text(output.text, command=output.command, exit_code=output.exit_code)


def same(output: Recorded) -> Recorded:
    return output


def coloured(output: Recorded) -> Recorded:
    paint = random.Random(output.file)

    def painted(word: re.Match[str]) -> str:
        return f"\x1b[1;31m{word[0]}\x1b[0m" if paint.random() < 0.3 else word[0]

    # A line that has colours keeps them: others within its own would break its sequences.
    text = "\n".join(
        line if "\x1b" in line else re.sub(r"[^\s]+", painted, line)
        for line in output.text.split("\n")
    )
    # A short output keeps its colours, so that only what is visible can be looked for.
    facts = (*output.facts, *output.visible_facts)
    return replace(output, facts=(), visible_facts=facts).with_text(text)


def with_carriage_returns(output: Recorded) -> Recorded:
    return output.with_text(re.sub(r"(?<!\r)\n", "\r\n", output.text))


def with_progress(output: Recorded) -> Recorded:
    lines = output.text.split("\n")
    noise = (f"\rworking: {number % 100:3d}%\r" for number in range(len(lines)))
    return output.with_text(
        "\n".join(
            f"{next(noise)}{line}" if number % 9 == 8 else line for number, line in enumerate(lines)
        )
    )


def cut_in_the_middle(output: Recorded) -> Recorded:
    lines = output.text.split("\n")
    third = len(lines) // 3
    return output.with_text("\n".join(lines[:third] + lines[-third:])) if third else output


def with_shuffled_passes(output: Recorded) -> Recorded:
    lines = output.text.split("\n")
    places = [number for number, line in enumerate(lines) if PASSING.search(line)]
    shuffled = places[:]
    random.Random(output.file).shuffle(shuffled)
    moved = lines[:]
    for place, source in zip(places, shuffled, strict=True):
        moved[place] = lines[source]
    return output.with_text("\n".join(moved))


def renamed(output: Recorded) -> Recorded:
    """Identifiers of several words become others of the same length, in facts as in the text."""

    def other(text: str) -> str:
        return PATH_PART.sub(lambda name: codecs.encode(name[0], "rot13"), text)

    return Recorded(
        output.file,
        output.family,
        output.command,
        output.exit_code,
        other(output.text),
        tuple(map(other, output.facts)),
        tuple(map(other, output.visible_facts)),
    ).with_text(other(output.text))


def in_a_folder(output: Recorded) -> Recorded:
    return Recorded(
        output.file,
        output.family,
        f"cd app && {output.command}",
        output.exit_code,
        output.text,
        output.facts,
        output.visible_facts,
    )


STATE = ("=== state ===", " M src/oak.py", "?? notes.txt")


def between_remarks(output: Recorded) -> Recorded:
    """The middle one of three commands, between which the command line says what comes."""
    code = 1 if output.exit_code is None else output.exit_code
    end = "" if output.text.endswith("\n") else "\n"
    command = (
        'git rev-parse HEAD; echo "=== run ==="\n'
        f'{output.command}\necho "exit code: $?"; echo "=== state ==="; git status --short'
    )
    text = (
        f"3f1c0ffee0ddba11deadbeef0123456789abcdef\n=== run ===\n{output.text}{end}"
        f"exit code: {code}\n=== state ===\n M src/oak.py\n?? notes.txt\n"
    )
    facts = (*output.facts, f"exit code: {code}", *STATE)
    return replace(output, command=command, exit_code=0, facts=facts).with_text(text)


def between_others(output: Recorded) -> Recorded:
    """The middle one of three commands, which only the lines of the others tell from them."""
    end = "" if output.text.endswith("\n") else "\n"
    rows = ("4ce410c Rings are counted", "862e7e7 Leaves fall", " M src/oak.py", "?? notes.txt")
    command = f"git log --oneline -n 2\n{output.command}\ngit status --short"
    text = "\n".join((*rows[:2], f"{output.text}{end}{rows[2]}", rows[3], ""))
    return replace(output, command=command, exit_code=0, facts=(*output.facts, *rows)).with_text(
        text
    )


FORMS: list[Callable[[Recorded], Recorded]] = [
    same,
    coloured,
    with_carriage_returns,
    with_progress,
    cut_in_the_middle,
    with_shuffled_passes,
    renamed,
    in_a_folder,
    between_remarks,
    between_others,
]


WHOLE = {"same", "with_carriage_returns", "in_a_folder"}
LEAST_KEPT = {"given": 0.985, "own": 0.97, "fresh": 0.95}
"""Of outputs whose text was changed: a cut may leave a fact only where a format says nothing."""


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("part", PARTS)
def test_the_facts_survive_in_every_form(part: str, form: Callable[[Recorded], Recorded]) -> None:
    facts = 0
    missing: dict[str, list[str]] = {}
    for output in map(form, recorded(part)):
        facts += len(output.facts) + len(output.visible_facts)
        if gone := lost(output, reduce(output)):
            missing[output.file] = gone
    assert not [file for file, gone in missing.items() if set(gone) & set(STATE)]
    if form.__name__ in WHOLE:
        assert missing == known_losses(part)
    else:
        assert sum(map(len, missing.values())) <= facts * (1 - LEAST_KEPT[part]), missing


@pytest.mark.parametrize("part", PARTS)
def test_no_output_grows_and_twice_is_once(part: str) -> None:
    for output in recorded(part):
        reduced = reduce(output)
        assert len(reduced) <= len(output.text)
        assert reduce_text(reduced, command=output.command, exit_code=output.exit_code) == reduced


def test_a_lost_fact_is_seen() -> None:
    output = recorded("given")[0]
    assert lost(output, "") == [*output.facts, *output.visible_facts]
