"""`ethos-registry gain`: what hooks saved, against what the agent itself would have shown."""

from __future__ import annotations

import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

import typer

from ethos_registry import _core
from ethos_registry._cli.console import CommandError, make_app, write_json_or_lines
from ethos_registry._cli.cost import CHARS_PER_TOKEN, token_counter
from ethos_registry._cli.options import AsJson

app = make_app()

_LEAST_ELISIONS = 5
_TOO_MANY_RECALLS = 0.3
_TOP = 8
_SAMPLED_OUTPUTS = 20
_MILLION = 1e6


@dataclass(slots=True)
class _Call:
    day: str
    call: str
    program: str
    format: str
    handle: str
    host_chars: int
    reduced_chars: int
    sent_chars: int
    applied: str
    later_requests: int = 0

    @property
    def saved_chars(self) -> int:
        """Signed; nothing if the agent showed its own text."""
        return 0 if self.applied == "rejected" else self.host_chars - self.sent_chars


@dataclass(slots=True)
class Gain:
    """What was measured; all lengths are characters, all differences signed."""

    calls: list[_Call] = field(default_factory=list)
    recalls: list[tuple[str, int]] = field(default_factory=list)
    """The handle and the length of each output that was asked for again."""
    delivered: dict[str, tuple[str, int]] = field(default_factory=dict)
    """The program and the length of each result that reached a model, by call."""
    duplicates: int = 0


def measured_gain(lines: Iterable[str], *, shadow: bool = False) -> Gain:
    """Read rows of hooks and recalls; one that cannot be read is skipped."""
    found = Gain()
    delivered: dict[tuple[str, str, object], str] = {}
    batches: dict[str, list[float]] = defaultdict(list)
    rows: list[dict[str, Any]] = []
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if not isinstance(row, dict) or not isinstance(row.get("time"), (int, float)):
            continue
        if isinstance(row.get("recall"), str):
            found.recalls.append((row["recall"], int(row.get("chars", 0))))
        elif isinstance(row.get("delivered"), str):
            session, call = str(row.get("session")), row["delivered"]
            delivered[session, call, row.get("part", 0)] = str(row.get("hash"))
            _, chars = found.delivered.get(call, ("", 0))
            chars += int(row.get("chars", 0))
            found.delivered[call] = (str(row.get("program")), chars)
            batches[session].append(row["time"])
        elif "host_chars" in row and row.get("shadow", False) is shadow:
            rows.append(row)
    seen: set[tuple[object, ...]] = set()
    for row in rows:
        session, call = str(row.get("session")), str(row.get("call"))
        part = (row.get("agent"), session, call, row.get("part"))
        if call and part in seen:
            found.duplicates += 1
            continue
        seen.add(part)
        shown = delivered.get((session, call, row.get("part", 0)))
        applied = "assumed" if shown is None else "proven"
        if shown is not None and shown != row.get("hash") and not shadow:
            applied = "rejected"
        later = sum(time > row["time"] for time in set(batches[session]))
        found.calls.append(
            _Call(
                datetime.fromtimestamp(row["time"]).strftime("%Y-%m-%d"),
                call,
                str(row.get("program") or row.get("tool")),
                str(row.get("format") or ""),
                str(row.get("handle") or ""),
                int(row["host_chars"]),
                int(row["reduced_chars"]),
                int(row["sent_chars"]),
                applied,
                max(0, later - 1),
            )
        )
    return found


def _recalls(found: Gain) -> list[dict[str, Any]]:
    formats = {call.handle: call.format or "ledger" for call in found.calls if call.handle}
    elisions = Counter(formats.values())
    asked = Counter(formats[handle] for handle, _ in found.recalls if handle in formats)
    verdicts = []
    for name, count in elisions.most_common():
        share = asked[name] / count
        verdict = "no verdict" if count < _LEAST_ELISIONS else "ok"
        if verdict == "ok" and share > _TOO_MANY_RECALLS:
            verdict = "too aggressive"
        verdicts.append(
            {"format": name, "elisions": count, "recalls": asked[name], "verdict": verdict}
        )
    return verdicts


def _tokens() -> tuple[float, str]:
    """Characters per token of saved outputs, and how tokens were counted."""
    method, count = token_counter()
    try:
        archive = _core.OutputArchive()
        contents = [archive.read(facts[0]) for facts in archive.all()[:_SAMPLED_OUTPUTS]]
    except OSError:  # a folder that is not used
        contents = []
    outputs = [content.decode("utf-8", errors="replace") for content in contents if content]
    tokens = sum(map(count, outputs))
    if not tokens:
        return CHARS_PER_TOKEN, f"characters / {CHARS_PER_TOKEN}"
    return sum(map(len, outputs)) / tokens, f"{method}, measured on {len(outputs)} outputs"


def _summary(found: Gain, prices: tuple[float, float] | None) -> dict[str, Any]:
    changed = [call for call in found.calls if call.sent_chars != call.host_chars]
    counted = [call for call in found.calls if call.applied != "rejected"]
    saved = sum(call.saved_chars for call in found.calls)
    handles = {call.handle for call in found.calls if call.handle}
    recalled = sum(chars for handle, chars in found.recalls if handle in handles)
    by_program: Counter[str] = Counter()
    for call in found.calls:
        by_program[call.program] += call.saved_chars
    top = sum(chars for _, chars in by_program.most_common(_TOP))
    all_chars = sum(chars for _, chars in found.delivered.values())
    ratio, tokenizer = _tokens()
    summary: dict[str, Any] = {
        "recalls": _recalls(found),
        "calls": len(found.calls),
        "untouched": len(found.calls) - len(changed),
        "applied": dict(Counter(call.applied for call in changed)),
        "duplicates": found.duplicates,
        "host_chars": sum(call.host_chars for call in counted),
        "sent_chars": sum(call.sent_chars for call in counted),
        "saved_by_reducers": sum(call.host_chars - call.reduced_chars for call in counted),
        "saved_by_ledger": sum(call.reduced_chars - call.sent_chars for call in counted),
        "longer_chars": -sum(min(0, call.saved_chars) for call in found.calls),
        "recalled_chars": recalled,
        "net_saved_chars": saved - recalled,
        "net_saved_tokens": round((saved - recalled) / ratio),
        "tokenizer": tokenizer,
        "median_saved_chars": statistics.median([call.saved_chars for call in found.calls] or [0]),
        "top_programs_share": top / saved if saved > 0 else None,
        "share_of_all_results": (
            (saved - recalled) / (all_chars + saved) if all_chars and all_chars + saved else None
        ),
    }
    if prices is not None:
        write, read = (price / _MILLION / ratio for price in prices)
        first = (saved - recalled) * write
        again = sum(call.saved_chars * call.later_requests for call in found.calls) * read
        summary["usd"] = sorted((round(first, 6), round(first + again, 6)))
    return summary


def _history(found: Gain) -> list[dict[str, Any]]:
    days: dict[str, list[_Call]] = defaultdict(list)
    for call in found.calls:
        days[call.day].append(call)
    return [
        {
            "day": day,
            "calls": len(calls),
            "host_chars": sum(call.host_chars for call in calls),
            "saved_chars": sum(call.saved_chars for call in calls),
        }
        for day, calls in sorted(days.items())
    ]


def _discovered(found: Gain) -> list[dict[str, Any]]:
    """Programs whose results stay as they are, those with the most characters first."""
    changed = {call.call for call in found.calls if call.sent_chars != call.host_chars}
    chars: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for call, (program, length) in found.delivered.items():
        if call not in changed:
            chars[program] += length
            calls[program] += 1
    return [
        {"program": program, "calls": calls[program], "chars": length}
        for program, length in chars.most_common(_TOP)
    ]


def _parse_prices(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        write, read = map(float, text.split(","))
    except ValueError:
        raise CommandError(
            f"not two prices: {text!r}: give those of a written and of a cached token, in USD per "
            "million, as in 3.75,0.3"
        ) from None
    return write, read


@app.command(short_help="Show what the hooks of coding agents saved.")
def gain(
    shadow: Annotated[
        bool,
        typer.Option(
            "--shadow",
            help="Show what hooks would have saved that ran with ETHOS_REGISTRY_HOOK=shadow, "
            "which changes nothing.",
        ),
    ] = False,
    history: Annotated[bool, typer.Option("--history", help="Show each day.")] = False,
    discover: Annotated[
        bool, typer.Option("--discover", help="Show the longest results that stay as they are.")
    ] = False,
    prices: Annotated[
        str | None,
        typer.Option(
            metavar="WRITE,READ",
            help="Prices of tokens in USD per million: written to the prompt cache, and read from "
            "it by each later request of the session.",
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Show what the hooks of coding agents saved on this machine, and what was asked for again.

    The baseline is what the agent itself would have shown. Nothing here is a cost per task.
    """
    found = measured_gain(_core.OutputArchive().measured(), shadow=shadow)
    if history or discover:
        rows = _history(found) if history else _discovered(found)
        lines = list(map(_line, rows)) or ["Nothing was measured."]
        write_json_or_lines(rows, lines, as_json=json)
        return
    summary = _summary(found, _parse_prices(prices))
    write_json_or_lines(summary, _report(summary), as_json=json)


def _line(row: dict[str, Any]) -> str:
    values = (f"{value:,}" if isinstance(value, int) else value for value in row.values())
    return "  ".join(
        f"{name.replace('_', ' ')} {value}" for name, value in zip(row, values, strict=True)
    )


def _report(summary: dict[str, Any]) -> Sequence[str]:
    lines = ["Asked for again:"]
    lines += [
        f"  {each['format']}: {each['recalls']} of {each['elisions']}, {each['verdict']}"
        for each in summary["recalls"]
    ] or ["  nothing was left out"]
    applied = ", ".join(f"{count} {state}" for state, count in summary["applied"].items())
    lines += [
        f"Calls: {summary['calls']:,}, untouched {summary['untouched']:,}"
        + (f", changed: {applied}" if applied else ""),
        f"The agent would have shown: {summary['host_chars']:,} characters",
        f"Shown: {summary['sent_chars']:,} characters",
        (
            f"Saved by reducers: {summary['saved_by_reducers']:,}, by the ledger: "
            f"{summary['saved_by_ledger']:,}, made longer: {summary['longer_chars']:,}, asked for "
            f"again: {summary['recalled_chars']:,}"
        ),
        (
            f"Net: {summary['net_saved_chars']:,} characters, about "
            f"{summary['net_saved_tokens']:,} tokens ({summary['tokenizer']}); "
            f"median of a call {summary['median_saved_chars']:,}"
        ),
    ]
    if summary["share_of_all_results"] is not None:
        lines.append(f"Share of all tool results: {summary['share_of_all_results']:.1%}")
    if summary["top_programs_share"] is not None:
        lines.append(f"The first {_TOP} programs: {summary['top_programs_share']:.0%} of it")
    if "usd" in summary:
        least, most = summary["usd"]
        lines.append(f"USD {least:,.4f} to {most:,.4f}, if nothing else changed")
    return lines
