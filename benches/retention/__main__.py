"""Compare reducers of command output: facts kept, false statements, and cost.

python benches/retention                         # all runners on all sets, in ten minutes
python benches/retention --quick                 # every fourth output of the unseen set
python benches/retention --runner mine.py        # with a runner of yours (README.md)
python benches/retention --record                # write the figures that the pages show

The other programs of this folder: `first_run.py` records outputs that no rule was written for,
`recorded.py` and `curve.py` hold what this project keeps of the outputs it was written with.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent / "tests")]

from first_run import SETS  # noqa: E402
from judge import Cost, Score  # noqa: E402
from recorded import token_counter  # noqa: E402
from runners import RUNNERS, Runner, has_tokf_filter, load, tokf_version  # noqa: E402

import record  # noqa: E402
from corpora import PARTS, Recorded, recorded  # noqa: E402

TARGETS = (16_000, 4_000)
UNSEEN = "unseen: tools without a rule"


def outputs() -> dict[str, list[Recorded]]:
    """Set -> outputs; the first has played no part in the development of ethos-registry."""
    first, unseen = SETS
    own = [output for part in PARTS for output in recorded(part)]
    found = {
        UNSEEN: unseen.outputs(),
        "mixed: ranking was tuned on these": first.outputs(),
        "recorded: rules were written with these": own,
    }
    if filtered := [output for output in own if has_tokf_filter(output.command)]:
        found[f"recorded, the {len(filtered)} that tokf has a filter for"] = filtered
    return found


def four_chars(text: str) -> int:
    """About the tokens of a text, where no vocabulary is installed."""
    return len(text) // 4


def measured(
    runners: list[Runner], sets: dict[str, list[Recorded]], cost: Cost
) -> dict[str, dict[str, dict[str, float]]]:
    """Set -> runner and target -> figures."""
    tokens_of = token_counter() or four_chars
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name, entries in sets.items():
        found[name] = {}
        for runner in runners:
            for target in TARGETS if runner.has_target else TARGETS[:1]:
                score = Score(cost, tokens_of)
                for output in entries:
                    reduced = runner.reduce(output.command, output.exit_code, output.text, target)
                    score.add(output, reduced, runner.mark)
                label = f"{runner.name}, {target:,}" if runner.has_target else runner.name
                found[name][label] = score.figures()
                for example in score.examples:
                    print(f"{label}: not in the output: {example}", file=sys.stderr)
    return found


def table(found: dict[str, dict[str, float]]) -> str:
    columns = list(next(iter(found.values())))
    rows = ["| | " + " | ".join(columns) + " |", "|---|" + "--:|" * len(columns)]
    for label, figures in found.items():
        cells = (f"{value:,}" for value in figures.values())
        rows.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runner", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--later-turns", type=int, default=Cost.later_turns)
    parser.add_argument("--context-tokens", type=int, default=Cost.context_tokens)
    chosen = parser.parse_args()
    began = time.monotonic()
    runners = []
    for runner in (*RUNNERS, *map(load, chosen.runner)):
        if runner.skipped:
            print(runner.skipped, file=sys.stderr)
        else:
            runners.append(runner)
    sets = {UNSEEN: SETS[1].outputs()[::4]} if chosen.quick else outputs()
    cost = Cost(later_turns=chosen.later_turns, context_tokens=chosen.context_tokens)
    found = measured(runners, sets, cost)
    for name, figures in found.items():
        facts = sum(len(each.facts) + len(each.visible_facts) for each in sets[name])
        print(f"## {name}: {len(sets[name])} outputs, {facts:,} facts\n\n{table(figures)}\n")
    print(f"{time.monotonic() - began:.0f} seconds")
    if chosen.record:
        counter = "o200k_base" if token_counter() else "4 characters"
        record.save("retention", found, tokens=counter, **tokf_version())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
