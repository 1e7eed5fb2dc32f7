"""Facts kept at each length: the reducers beside a plain cut of the same length.

python benches/curve.py            # prints the table
python benches/curve.py --write    # writes it into docs/retention.md, with the figures to keep
python benches/curve.py --check    # exit 1: at some length fewer facts are kept than recorded
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from corpora import PARTS, Recorded, lost, recorded  # noqa: E402
from ethos_registry import reduce_text  # noqa: E402

PAGE = HERE.parent / "docs" / "retention.md"
RECORDED = HERE / "curve.json"
BEGIN, END = "<!-- curve: begin -->", "<!-- curve: end -->"
TARGETS = (1_000, 2_000, 4_000, 8_000, 16_000, None)
SLACK_PERCENT = 0.05
"""Tolerance for the rounding of the recorded figures."""
TITLES = {"given": "given", "own": "own", "fresh": "real projects"}

Curve = dict[str, dict[str, list[float]]]


def plain_cut(text: str, chars: int) -> str:
    """The first and the last characters, together `chars`."""
    if len(text) <= chars:
        return text
    return text[: chars - chars // 2] + "\n" + text[len(text) - chars // 2 :]


def kept_percent(outputs: list[Recorded], reduced: list[str]) -> float:
    facts = sum(len(output.facts) + len(output.visible_facts) for output in outputs)
    missing = sum(len(lost(output, text)) for output, text in zip(outputs, reduced, strict=True))
    return round(100 - 100 * missing / facts, 1)


def curve() -> Curve:
    """Part of the corpus -> way -> per cent of the facts at each target, unlimited last.

    `cut` is a plain cut to the target; `cut as long` one to the length of the reduced text.
    """
    found: Curve = {}
    for part in PARTS:
        outputs = list(recorded(part))
        ways: dict[str, list[float]] = {"reduced": [], "cut": [], "cut as long": []}
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
            texts = [output.text for output in outputs]
            as_long = [plain_cut(text, len(own)) for text, own in zip(texts, reduced, strict=True)]
            cut = texts if target is None else [plain_cut(text, target) for text in texts]
            ways["reduced"].append(kept_percent(outputs, reduced))
            ways["cut"].append(kept_percent(outputs, cut))
            ways["cut as long"].append(kept_percent(outputs, as_long))
        found[part] = ways
    return found


def table(found: Curve) -> str:
    heads = [f"{target:,}" if target else "unlimited" for target in TARGETS]
    rows = ["| outputs | | " + " | ".join(heads) + " |", "|---|---|" + "--:|" * len(TARGETS)]
    for part, ways in found.items():
        for way, percents in ways.items():
            cells = " | ".join(f"{percent:.1f} %" for percent in percents)
            rows.append(f"| {TITLES[part]} | {way} | {cells} |")
    return "\n".join(rows)


def check(found: Curve) -> list[str]:
    recorded_curve = json.loads(RECORDED.read_text(encoding="utf-8"))
    return [
        f"{part} at {target or 'unlimited'}: {now} % of the facts, {before} % recorded"
        for part, ways in found.items()
        for target, now, before in zip(TARGETS, ways["reduced"], recorded_curve[part], strict=True)
        if now < before - SLACK_PERCENT
    ]


def write(found: Curve) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(found)}\n\n{END}{after}", encoding="utf-8")
    reduced = {part: ways["reduced"] for part, ways in found.items()}
    RECORDED.write_text(json.dumps(reduced, indent=1) + "\n", encoding="utf-8")


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
        write(found)
    print(table(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
