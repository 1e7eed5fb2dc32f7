"""What a shortened text kept, whether it is true, and what it costs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from corpora import Recorded, lost
from lie_oracle import Source, lies, marks_of, screen

__all__ = ["Cost", "Score", "false_rows", "is_counted"]

CUT = re.compile(r"\.\.\.\[\d+ chars\]\.\.\.")
END_OF_ROW = re.compile(r"(?: ×\d+|[-+=_*#~]+)$")
"""The number of equal lines, or a bar or ruler, which may be shorter than in the output."""


def folded(line: str) -> str:
    return " ".join(line.split())


def false_rows(text: str, reduced: str, mark: str = r"(?!)") -> list[str]:
    """The rows that the output does not have, or has only before the row above them.

    White space is not compared, and a row may be a part of a line. Rows that match `mark` are the
    reducer's own.
    """
    source = "\n".join(folded(line) for line in screen(text))
    found, at = [], 0
    for row in screen(reduced):
        if re.fullmatch(mark, row):
            continue
        for part in CUT.split(row):
            wanted = END_OF_ROW.sub("", folded(part)).rstrip()
            if (place := source.find(wanted, at)) < 0:
                found.append(row)
                break
            at = place + len(wanted)
    return found


def is_counted(text: str, reduced: str) -> bool:
    """Whether each line is shown or counted at its place, as `tests/lie_oracle.py` reads it.

    A total at the end is not needed.
    """
    if not lies(text, reduced):
        return True
    source = Source.of(text)
    rows = reduced.split("\n")
    marked = sum(lines for _, lines in marks_of(rows))
    blank = sum(map(source.is_blank, range(source.count))) - sum(not row.strip() for row in rows)
    return any(
        not lies(text, f"{reduced}\n[{left_out} of {source.count} lines left out]", source)
        for left_out in (marked, marked + blank)
        if left_out > 0
    )


@dataclass(frozen=True)
class Cost:
    """What a text costs in the conversation of an agent, in input tokens that no cache holds.

    The text is written to the cache once and read from it in each later turn. An agent needs one of
    the facts of an output: if that one is lost, it takes an extra turn to look again, which reads
    the conversation, writes a call, and brings the output once more, up to `second_look_chars`.
    """

    write: float = 1.25
    read: float = 0.1
    output: float = 5.0
    later_turns: int = 10
    context_tokens: int = 20_000
    call_tokens: int = 100
    second_look_chars: int = 16_000

    def text(self, tokens: float) -> float:
        """A text of so many tokens."""
        return tokens * (self.write + self.read * self.later_turns)

    def extra_turn(self, output_tokens: float, second_look_tokens: float) -> float:
        """A turn that looks again: `output_tokens` are in the conversation already."""
        conversation = self.read * (self.context_tokens + output_tokens)
        return conversation + self.output * self.call_tokens + self.text(second_look_tokens)


@dataclass
class Score:
    """Sums over outputs."""

    cost_model: Cost
    tokens_of: Callable[[str], int]
    outputs: int = 0
    facts: int = 0
    kept: int = 0
    chars: int = 0
    reduced_chars: int = 0
    tokens: int = 0
    false: int = 0
    uncounted: int = 0
    cost: float = 0.0
    extra_turns: float = 0.0
    examples: list[str] = field(default_factory=list)

    def add(self, output: Recorded, reduced: str, mark: str) -> None:
        """Judge the text that a runner made of an output."""
        facts = len(output.facts) + len(output.visible_facts)
        missing = lost(output, reduced)
        share = len(missing) / max(1, facts)
        tokens = self.tokens_of(reduced)
        second_look = self.tokens_of(output.text[: self.cost_model.second_look_chars])
        self.outputs += 1
        self.facts += facts
        self.kept += facts - len(missing)
        self.chars += len(output.text)
        self.reduced_chars += len(reduced)
        self.tokens += tokens
        if wrong := false_rows(output.text, reduced, mark):
            self.false += 1
            self.examples.append(f"{output.file}: {wrong[0][:100]}")
        self.uncounted += not is_counted(output.text, reduced)
        self.extra_turns += share
        self.cost += self.cost_model.text(tokens)
        self.cost += share * self.cost_model.extra_turn(tokens, second_look)

    def figures(self) -> dict[str, float]:
        """What is printed and recorded."""
        return {
            "facts kept %": round(100 * self.kept / max(1, self.facts), 1),
            "saved %": round(100 - 100 * self.reduced_chars / max(1, self.chars), 1),
            "false": self.false,
            "uncounted": self.uncounted,
            "tokens": round(self.tokens / max(1, self.outputs)),
            "extra turns": round(self.extra_turns / max(1, self.outputs), 3),
            "cost": round(self.cost / max(1, self.outputs)),
        }
