"""Facts kept at each length: the reducers beside a plain cut of the same length.

python benches/retention/curve.py          # prints the table
python benches/retention/curve.py --write  # records the figures that the pages show
python benches/retention/curve.py --check  # exit 1: at some length fewer facts are kept than
                                           # recorded, or than by a plain cut or without a policy
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests")]

import record  # noqa: E402
from corpora import PARTS, Recorded, lost, recorded  # noqa: E402
from ethos_registry import reduce_text  # noqa: E402
from ethos_registry.reduction import ReductionPolicy  # noqa: E402

TARGETS = (1_000, 2_000, 4_000, 8_000, 16_000, None)
SLACK_PERCENT = 0.05
"""Tolerance for the rounding of the recorded figures."""

Curve = dict[str, dict[str, list[float]]]


def plain_cut(text: str, chars: int) -> str:
    """The first and the last characters, together `chars`."""
    if len(text) <= chars:
        return text
    return text[: chars - chars // 2] + "\n" + text[len(text) - chars // 2 :]


def kept_percent(outputs: list[Recorded], reduced: list[str]) -> float:
    facts = sum(len(output.facts) + len(output.visible_facts) for output in outputs)
    missing = sum(len(lost(output, text)) for output, text in zip(outputs, reduced, strict=True))
    return round(100 - 100 * missing / max(1, facts), 1)


def with_policy(output: Recorded, target: int | None) -> str:
    return reduce_text(
        output.text,
        command=output.command,
        exit_code=output.exit_code,
        policy=ReductionPolicy(target),
    )


def curve() -> Curve:
    """Part of the corpus -> way -> per cent of the facts at each target, unlimited last.

    `policy` is a `ReductionPolicy` of that target; `reduced` the text without one, cut to the
    target; `cut` a plain cut to the target; `cut as long` one to the length of the
    reduced text.
    """
    found: Curve = {}
    for part in PARTS:
        outputs = list(recorded(part))
        ways: dict[str, list[float]] = {"policy": [], "reduced": [], "cut": [], "cut as long": []}
        for target in TARGETS:
            reduced = [
                reduce_text(
                    output.text,
                    command=output.command,
                    exit_code=output.exit_code,
                    budget_chars=target,
                )
                for output in outputs
            ]
            reduced = [text[:target] for text in reduced]
            texts = [output.text for output in outputs]
            by_policy = [with_policy(output, target) for output in outputs]
            ways["policy"].append(kept_percent(outputs, by_policy))
            as_long = [plain_cut(text, len(own)) for text, own in zip(texts, reduced, strict=True)]
            cut = texts if target is None else [plain_cut(text, target) for text in texts]
            ways["reduced"].append(kept_percent(outputs, reduced))
            ways["cut"].append(kept_percent(outputs, cut))
            ways["cut as long"].append(kept_percent(outputs, as_long))
        found[part] = ways
    return found


def table(found: Curve) -> str:
    heads = [f"{target:,}" if target else "unlimited" for target in TARGETS]
    rows = [f"{'':20} " + " ".join(f"{head:>9}" for head in heads)]
    for part, ways in found.items():
        for way, percents in ways.items():
            rows.append(f"{f'{part}, {way}':20} " + " ".join(f"{each:9.1f}" for each in percents))
    return "\n".join(rows)


def check(found: Curve) -> list[str]:
    recorded_curve = record.load("curve")["figures"]
    worse = [
        f"{part} at {target or 'unlimited'}, {way}: {now} % of the facts, {before} % recorded"
        for part, ways in found.items()
        for way, before_all in recorded_curve[part].items()
        if way in ("policy", "reduced")
        for target, now, before in zip(TARGETS, ways[way], before_all, strict=True)
        if now < before - SLACK_PERCENT
    ]
    below = [
        f"{part} at {target or 'unlimited'}: {now} % of the facts with a policy, {least} % {way}"
        for part, ways in found.items()
        for way in ("reduced", "cut")
        for target, now, least in zip(TARGETS, ways["policy"], ways[way], strict=True)
        if now < least - SLACK_PERCENT
    ]
    return worse + below


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    found = curve()
    if chosen.check:
        worse = check(found)
        print("\n".join(worse) or "at every length no fewer facts are kept than recorded")
        return 1 if worse else 0
    if chosen.write:
        record.save("curve", found)
    print(table(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
