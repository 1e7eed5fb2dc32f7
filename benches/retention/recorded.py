"""Facts kept and characters saved by the reducers, on recorded outputs.

python benches/retention/recorded.py          # prints what is kept of each family
python benches/retention/recorded.py --write  # records the figures, and what must not get worse
python benches/retention/recorded.py --check  # exit 1: one more fact is lost, or less is saved
python benches/retention/recorded.py --bound  # prints what no reducer can keep at the default
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests")]

from cuts import head, head_and_tail, seed_rules  # noqa: E402

import record  # noqa: E402
from corpora import HELD, PARTS, Recorded, known_losses, lost, recorded, visible  # noqa: E402
from ethos_registry import reduce_text  # noqa: E402

SHARES = {"read": False, "held out": True}
"""Whether the outputs were held out: they are measured separately (CONTRIBUTING.md)."""
LEAST_HELD_OUT_PERCENT = {"default": 95.0}
"""Facts of the held-out outputs, whatever was recorded."""
SIZES: dict[str, int | None] = {"default": None, "16,000": 16_000}
SLACK_PERCENT = 0.05
"""Tolerance for the rounding of the recorded savings."""

Reducer = Callable[[Recorded], str]


def ours(output: Recorded) -> str:
    return reduce_text(output.text, command=output.command, exit_code=output.exit_code)


REDUCERS: dict[str, Reducer] = {
    "this project": ours,
    "head 20k": lambda output: head(output.text),
    "head + tail 20k": lambda output: head_and_tail(output.text),
    "seed rules": lambda output: head(seed_rules(output.command, output.text)),
}


def folded(text: str) -> str:
    """Without escapes and with white space folded."""
    return " ".join(visible(text).split())


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", folded(text).lower()))


def token_counter() -> Callable[[str], int] | None:
    """Tokens of o200k_base where its vocabulary is installed; it is never fetched."""
    if importlib.util.find_spec("tiktoken") is None:
        return None
    try:
        import tiktoken

        encoding = tiktoken.get_encoding("o200k_base")
    except Exception:  # whatever a missing vocabulary raises: tokens are reported, never needed
        return None

    def tokens(text: str) -> int:
        # Some runs of one character take the tokenizer quadratic time: they are bounded so.
        pieces = (text[at : at + 100_000] for at in range(0, len(text), 100_000))
        return sum(len(encoding.encode(piece, disallowed_special=())) for piece in pieces)

    return tokens


@dataclass
class Score:
    """Sums over outputs."""

    outputs: int = 0
    complete: int = 0
    size: int = 0
    reduced: int = 0
    facts: int = 0
    strict: int = 0
    loose: int = 0
    folded: int = 0
    lost: dict[str, list[str]] = field(default_factory=dict)

    def add(self, output: Recorded, reduced: str, size: Callable[[str], int]) -> None:
        facts = [*output.facts, *output.visible_facts]
        missing = lost(output, reduced)
        known, plain = words(reduced), folded(reduced)
        self.outputs += 1
        self.complete += not missing
        self.size += size(output.text)
        self.reduced += size(reduced)
        self.facts += len(facts)
        self.strict += len(facts) - len(missing)
        self.loose += sum(words(fact) <= known for fact in facts)
        self.folded += sum(folded(fact) in plain for fact in facts)
        if missing:
            self.lost[output.file] = missing

    @property
    def saved_percent(self) -> float:
        return 100 - 100 * self.reduced / max(1, self.size)

    @property
    def kept_percent(self) -> float:
        return round(100 * self.strict / max(1, self.facts), 1)


def scores(
    outputs: Iterable[Recorded], reducer: Reducer, size: Callable[[str], int]
) -> dict[str, Score]:
    """A score a family, and one of all under the empty name."""
    found: dict[str, Score] = {"": Score()}
    for output in outputs:
        reduced = reducer(output)
        for name in (output.family, ""):
            found.setdefault(name, Score()).add(output, reduced, size)
    return found


def figures() -> dict[str, dict[str, dict[str, float | dict[str, list[float]]]]]:
    """Part of the corpus -> family, all under the empty name -> sums over its outputs.

    `others` are per cent saved and per cent of the facts kept by other methods.
    """
    found: dict[str, dict[str, dict[str, float | dict[str, list[float]]]]] = {}
    for part in PARTS:
        by = {name: scores(recorded(part), reducer, len) for name, reducer in REDUCERS.items()}
        own = by.pop("this project")
        found[part] = {
            family: {
                "outputs": score.outputs,
                "chars": score.size,
                "reduced": score.reduced,
                "facts": score.facts,
                "kept": score.strict,
                "folded": score.folded,
                "loose": score.loose,
                "complete": score.complete,
                "others": {
                    name: [round(other[family].saved_percent), other[family].kept_percent]
                    for name, other in by.items()
                },
            }
            for family, score in sorted(own.items())
        }
    return found


def shares() -> dict[str, dict[str, float | int]]:
    """Facts kept and characters saved of the outputs that are read and of those held out."""
    found: dict[str, dict[str, float | int]] = {}
    for name, held_out in SHARES.items():
        outputs = [o for part in PARTS for o in recorded(part) if o.held_out == held_out]
        own: dict[str, float | int] = {"outputs": len(outputs)}
        for size, chars in SIZES.items():

            def reducer(output: Recorded, chars: int | None = chars) -> str:
                return reduce_text(
                    output.text,
                    command=output.command,
                    exit_code=output.exit_code,
                    budget_chars=chars,
                )

            score = scores(outputs, reducer, len)[""]
            own["facts"] = score.facts
            own[f"{size} strict %"] = round(100 * score.strict / score.facts, 1)
            own[f"{size} saved %"] = round(score.saved_percent, 1)
        found[name] = own
    return found


def check_shares(found: dict[str, dict[str, float | int]]) -> list[str]:
    """What is below the recorded figures, or below those that the held-out outputs must reach."""
    least = json.loads(HELD.read_text(encoding="utf-8"))["shares"]
    worse = [
        f"{name}: {column} is {own[column]}, recorded is {least[name][column]}"
        for name, own in found.items()
        for column in own
        if column.endswith("strict %") and own[column] < least[name][column] - SLACK_PERCENT
    ]
    for size, percent in LEAST_HELD_OUT_PERCENT.items():
        if (strict := found["held out"][f"{size} strict %"]) < percent:
            worse.append(f"held out: {strict} % of the facts at {size}, wanted are {percent}")
    return worse


def check() -> list[str]:
    """What is worse than it may be, a line each."""
    held = json.loads(HELD.read_text(encoding="utf-8"))
    worse = []
    for part in PARTS:
        found = scores(recorded(part), ours, len)
        for file, facts in found[""].lost.items():
            if more := sorted(set(facts) - set(known_losses(part).get(file, ()))):
                worse.append(f"{part}/{file}: lost {more}")
        for family, score in found.items():
            least = held[part]["saved_percent"].get(family or "all", 0.0)
            if score.saved_percent < least - SLACK_PERCENT:
                saved = f"saves {score.saved_percent:.1f} %, held are {least} %"
                worse.append(f"{part}, {family or 'all'}: {saved}")
    return worse


def unavoidable(output: Recorded, chars: int) -> int:
    """How many facts are lost even if nothing else is written: each once, the shortest first."""
    facts = (*output.facts, *output.visible_facts)
    kept: list[str] = []
    for fact in sorted({*facts}, key=len, reverse=True):
        if not any(fact in longer for longer in kept):
            kept.append(fact)
    if len(output.text) <= chars or sum(len(fact) + 1 for fact in kept) - 1 <= chars:
        return 0
    while kept and sum(len(fact) + 1 for fact in kept) - 1 > chars:
        kept.pop(0)
    return len(facts) - sum(any(fact in shown for shown in kept) for fact in facts)


def bound(chars: int = 16_000) -> None:
    """Print the share of the facts that fits, whatever the reducer."""
    for share, is_held in SHARES.items():
        outputs = [each for part in PARTS for each in recorded(part) if each.held_out is is_held]
        facts = sum(len(each.facts) + len(each.visible_facts) for each in outputs)
        losses = {each.file: unavoidable(each, chars) for each in outputs}
        left = facts - sum(losses.values())
        print(f"{share}: at most {left} of {facts} facts ({100 * left / facts:.1f} %)")
        for file, count in losses.items():
            if count:
                print(f"  {file}: {count} do not fit")


def write() -> None:
    """Record the figures, and the savings and losses that must not get worse."""
    held: dict[str, object] = {"shares": shares()}
    for part in PARTS:
        found = scores(recorded(part), ours, len)
        saved = {family or "all": round(score.saved_percent, 1) for family, score in found.items()}
        held[part] = {"saved_percent": dict(sorted(saved.items())), "lost": found[""].lost}
    HELD.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
    record.save("recorded", {"shares": held["shares"], "parts": figures()})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bound", action="store_true")
    chosen = parser.parse_args()
    if chosen.bound:
        bound()
        return 0
    if chosen.check:
        worse = check() + check_shares(shares())
        print("\n".join(worse) or "no fact more is lost, no family saves less than recorded")
        return 1 if worse else 0
    if chosen.write:
        write()
    for part, families in figures().items():
        for family, sums in families.items():
            print(f"{part:6} {family or 'all':16} {sums['kept']:>6} of {sums['facts']:>6} facts")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
