"""Write the measured figures of the pages from recorded runs (`benches/records/*.json`).

    python docs/make_figures.py            # writes the pages and the charts
    python docs/make_figures.py --check    # exit 1: a page shows something else

A page has tables between `<!-- NAME: begin -->` and `<!-- NAME: end -->`, and sentences with
figures. `TABLES` and `SENTENCES` say which record they come from; `tests/test_figures.py` also
looks for percentages that no sentence accounts for.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
RECORDS = ROOT / "benches" / "records"
sys.path.insert(0, str(DOCS))

Figures = Mapping[str, Any]
PARTS = {
    "given": "The outputs given to the project",
    "own": "The project's own outputs",
    "fresh": "Outputs of real projects",
}
CURVE_PARTS = {"given": "given", "own": "own", "fresh": "real projects"}
TARGETS = ("1,000", "2,000", "4,000", "8,000", "16,000", "unlimited")


def record(name: str) -> dict[str, Any]:
    """A recorded run: `measured` (commit, date, ...) and `figures`."""
    found: dict[str, Any] = json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def measured(name: str) -> str:
    """When the figures of a record were measured."""
    at = record(name)["measured"]
    return f"{at['date']}, commit `{at['commit']}`, CPython {at['python']}, {at['machine']}"


def rows(columns: list[str], body: list[list[str]]) -> str:
    """A Markdown table whose first column is text."""
    lines = ["| " + " | ".join(columns) + " |", "|---|" + "--:|" * (len(columns) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in body]
    return "\n".join(lines)


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


# Tables.


def first_run() -> str:
    """Each set, the last one first: its first run, and what is kept now."""
    parts = [f"Measured {measured('first_run')}."]
    for found in record("first_run")["figures"]:
        first, now = found["first"], found["now"]
        at = f" First run at commit {first['commit']}." if first["commit"] else ""
        parts.append(
            f"**Set {found['set']}**: {found['outputs']} outputs, {found['chars']:,} characters, "
            f"{found['facts']:,} facts.{at}"
        )
        runs = {"first": first["figures"]}
        if now != first["figures"]:
            runs[first.get("since", "now")] = now
        body = [
            [run, target, *("" if value is None else f"{value:.1f}" for value in values)]
            for run, figures in runs.items()
            for target, values in figures.items()
        ]
        columns = ["run", "target", "facts kept %", "facts kept of outputs over the target %"]
        parts.append(rows([*columns, "saved %"], body))
    return "\n\n".join(parts)


def benchmark() -> str:
    """The public benchmark, a table per set."""
    tokf = record("retention")["measured"].get("tokf")
    parts = [f"Measured {measured('retention')}{f', tokf {tokf}' if tokf else ''}."]
    for name, runners in record("retention")["figures"].items():
        columns = list(next(iter(runners.values())))
        body = [
            [label, *(f"{value:,}" for value in figures.values())]
            for label, figures in runners.items()
        ]
        parts.append(f"**{name[:1].upper()}{name[1:]}**\n\n{rows(['', *columns], body)}")
    return "\n\n".join(parts)


def curve() -> str:
    """Facts kept at each length."""
    body = [
        [CURVE_PARTS[part], way, *(f"{percent:.1f} %" for percent in percents)]
        for part, ways in record("curve")["figures"].items()
        for way, percents in ways.items()
    ]
    table = rows(["outputs", "", *TARGETS], body).replace("|---|--:|", "|---|---|", 1)
    return f"Measured {measured('curve')}.\n\n{table}"


def recorded() -> str:
    """The recorded outputs: shares, then a table per part."""
    figures = record("recorded")["figures"]
    shares = figures["shares"]
    columns = list(next(iter(shares.values())))
    body = [[name, *(f"{own[column]:,}" for column in columns)] for name, own in shares.items()]
    parts = [
        f"Measured {measured('recorded')}.",
        "### Held out",
        rows(["", *columns], body),
    ]
    for part, families in figures["parts"].items():
        parts.append(f"### {PARTS[part]}")
        others = list(next(iter(families.values()))["others"])
        heads = ["kind", "outputs", "characters in", "out", "saved %", "facts"]
        heads += ["strict %", "folded %", "loose %", "complete"]
        heads += [f"{name}: saved / strict %" for name in others]
        body = []
        for kind in [*sorted(filter(None, families)), ""]:
            sums = families[kind]
            facts = sums["facts"]
            saved = 100 - 100 * sums["reduced"] / max(1, sums["chars"])
            row = [kind or "**all**", str(sums["outputs"]), f"{sums['chars']:,}"]
            row += [f"{sums['reduced']:,}", f"{saved:.1f}", str(facts)]
            row += [_percent(sums[each], facts) for each in ("kept", "folded", "loose")]
            row += [f"{sums['complete']}/{sums['outputs']}"]
            row += [" / ".join(map(str, percents)) for percents in sums["others"].values()]
            body.append(row)
        parts.append(rows(heads, body))
    return "\n\n".join(parts)


def performance() -> str:
    """The rows of `benches/guard.py`."""
    figures = record("performance")["figures"]
    ratios = [
        [each["row"], each["baseline"], f"{each['value']:.3g}"]
        for each in figures
        if each["baseline"]
    ]
    counts = [
        [each["row"], f"{each['value'] / 1e6:.1f}"] for each in figures if not each["baseline"]
    ]
    parts = [f"Measured {measured('performance')}.", rows(["", "baseline", "ratio"], ratios)]
    if counts:
        parts.append(rows(["native code", "million instructions"], counts))
    return "\n\n".join(parts).replace("|---|--:|--:|", "|---|---|--:|", 1)


MEMORY = {
    "the registry, without the tools": "register all",
    "the index of the search": "the first search",
    "a turn whose call waits": "a turn, until its call waits",
}
"""What is held, and the step that makes it."""


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def scale() -> str:
    """What each step costs by the number of tools, and a turn by the number of turns."""
    figures = record("scale")["figures"]

    def table(kind: str, unit: str, cells: Callable[[dict[str, Any]], dict[str, float]]) -> str:
        sizes = {size: cells(costs) for size, costs in figures[kind].items()}
        names = next(iter(sizes.values()))
        body = [[name, *(_three_digits(each[name]) for each in sizes.values())] for name in names]
        return rows([f"{unit}, by the number of {kind}", *sizes], body)

    def microseconds(costs: dict[str, Any]) -> dict[str, float]:
        return {name: cost["us"] for name, cost in costs.items()}

    def kilobytes(costs: dict[str, Any]) -> dict[str, float]:
        held = {label: costs.get(name) for label, name in MEMORY.items()}
        return {label: cost["bytes"] / 1e3 for label, cost in held.items() if cost}

    return "\n\n".join(
        [
            f"Measured {measured('scale')}.",
            table("tools", "µs", microseconds),
            table("tools", "kB", kilobytes),
            table("turns", "µs a turn", microseconds),
            table("turns", "kB a turn", kilobytes),
        ]
    )


PEER_NAMES = {
    "ethos": "ethos-registry, `view.execute`",
    "pydantic_ai": "pydantic-ai, `Agent.run`",
    "langgraph": "LangGraph, `ToolNode` in a graph",
    "openai_agents": "OpenAI Agents, `Runner.run`",
    "fastmcp": "FastMCP, in-memory `Client.call_tool`",
}


def peers() -> str:
    """Time per call of each library."""
    figures = record("peers")["figures"]
    body = []
    for name in sorted(PEER_NAMES, key=lambda name: figures[name]["64 calls"]["ratio"]):
        found = figures[name]["64 calls"]
        body.append([PEER_NAMES[name], f"{found['us']:.3g} µs", f"{found['ratio']:.3g}"])
    columns = ["64 calls per batch", "time per call", "relative to `asyncio.gather`"]
    return f"Measured {measured('peers')}.\n\n{rows(columns, body)}"


VERSIONS = ("fastmcp", "pydantic-ai-slim", "toolregistry")


def search() -> str:
    """The rates of each search."""
    found = record("tool_search")
    versions = ", ".join(f"{name} {found['measured'][name]}" for name in VERSIONS)
    columns = ["", *next(iter(found["figures"].values()))]
    body = [
        [label, *(" / ".join(map(str, rates)) for rates in sets.values())]
        for label, sets in found["figures"].items()
    ]
    return f"Measured {measured('tool_search')}, {versions}.\n\n{rows(columns, body)}"


def definitions() -> str:
    """Characters of the definitions of each provider."""
    body = [
        [f"{data_set}, {name}", *(f"{value:,}" for value in chars.values())]
        for data_set, providers in record("definitions")["figures"].items()
        for name, chars in providers.items()
    ]
    table = rows(["", "all tools", "with a search"], body)
    return f"Measured {measured('definitions')}.\n\n{table}"


TABLES: dict[tuple[str, str], Callable[[], str]] = {
    ("docs/retention.md", "first run"): first_run,
    ("docs/retention.md", "benchmark"): benchmark,
    ("docs/retention.md", "curve"): curve,
    ("docs/retention.md", "retention"): recorded,
    ("docs/performance.md", "ratios"): performance,
    ("docs/performance.md", "scale"): scale,
    ("docs/comparison.md", "peers"): peers,
    ("docs/benchmarks.md", "search"): search,
    ("docs/benchmarks.md", "definitions"): definitions,
}

# Sentences.


def _unseen() -> Figures:
    last = record("first_run")["figures"][0]
    whole, over, saved = last["first"]["figures"]["16,000"]
    return {"outputs": last["outputs"], "kept": whole, "over": over, "saved": saved}


def _plain_cut() -> Figures:
    found = record("retention")["figures"]
    unseen = next(iter(found.values()))
    cut, simple = unseen["head and tail, 16,000"], unseen["110 lines of Python, 16,000"]
    return {
        "cut": cut["facts kept %"],
        "baseline": simple["facts kept %"],
        "baseline_saved": simple["saved %"],
        "ours": unseen["ethos-registry, 16,000"]["facts kept %"],
    }


def _filtered() -> Figures:
    found = record("retention")["figures"]
    [name] = [name for name in found if "tokf has a filter" in name]
    theirs, ours = found[name]["tokf"], found[name]["ethos-registry, 16,000"]
    return {
        "theirs": theirs["facts kept %"],
        "saved": theirs["saved %"],
        "ours": ours["facts kept %"],
        "more": ours["saved %"],
    }


def _default() -> Figures:
    parts = record("recorded")["figures"]["parts"].values()
    facts = sum(families[""]["facts"] for families in parts)
    shown = sum(families[""]["kept"] for families in parts)
    return {
        "outputs": sum(families[""]["outputs"] for families in parts),
        "kept": round(100 * shown / facts, 1),
        "facts": f"{facts:,}",
        "lost": f"{facts - shown:,}",
    }


def _large() -> Figures:
    found = record("peers")["figures"]
    ours = found["ethos"]["three large results"]["characters"]
    others = {found[name]["three large results"]["characters"] for name in PEER_NAMES} - {ours}
    [theirs] = others
    return {"ours": f"{ours:,}", "theirs": f"{theirs:,}"}


SENTENCES: list[tuple[str, str, Callable[[], Figures]]] = [
    (
        "README.md",
        "on {outputs} outputs of tools that no rule names, it kept {kept} % of the facts when it",
        _unseen,
    ),
    (
        "docs/index.md",
        "On {outputs} outputs of tools that no rule names, it kept {kept} % of the facts when it",
        _unseen,
    ),
    (
        "docs/retention.md",
        "a plain cut keeps {cut} %, 110 lines of Python {baseline} %, and this package {ours} %",
        _plain_cut,
    ),
    (
        "docs/retention.md",
        "kept {theirs} % of the facts and saved {saved} %, this package {ours} % and {more} %",
        _filtered,
    ),
    (
        "docs/retention.md",
        "{kept} % of all {facts} facts are kept there, {lost} are lost",
        _default,
    ),
    (
        "docs/comparison.md",
        "| {ours} characters in total | {theirs} | {theirs} | {theirs} | {theirs} |",
        _large,
    ),
]
NUMBER = r"\d[\d,]*(?:\.\d+)?"


def pattern(template: str) -> re.Pattern[str]:
    """A template with any figures and any line breaks."""
    parts = re.split(r"\{\w+\}", template)
    escaped = (r"\s+".join(map(re.escape, part.split(" "))) for part in parts)
    return re.compile(f"({NUMBER})".join(escaped))


def _filled(page: str, text: str, template: str, figures: Figures) -> str:
    found = list(pattern(template).finditer(text))
    if len(found) != 1:
        raise SystemExit(f"{page} has {len(found)} sentences like {template!r}; change SENTENCES")
    names = re.findall(r"\{(\w+)\}", template)
    spans = [found[0].span(group) for group in range(1, len(names) + 1)]
    for name, (start, end) in reversed(list(zip(names, spans, strict=True))):
        text = f"{text[:start]}{figures[name]}{text[end:]}"
    return text


def pages() -> Iterator[tuple[Path, str]]:
    """Every page with measured figures, with its text as the records have it."""
    names = dict.fromkeys([page for page, _ in TABLES] + [page for page, _, _ in SENTENCES])
    for page in names:
        text = (ROOT / page).read_text(encoding="utf-8")
        for (of, name), table in TABLES.items():
            if of == page:
                begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
                before, rest = text.split(begin, 1)
                text = f"{before}{begin}\n\n{table()}\n\n{end}{rest.split(end, 1)[1]}"
        for of, template, figures in SENTENCES:
            if of == page:
                text = _filled(page, text, template, figures())
        yield ROOT / page, text


def main() -> int:
    """Write the pages, or compare them."""
    import make_charts

    if "--check" in sys.argv[1:]:
        stale = [path.name for path, text in pages() if path.read_text("utf-8") != text]
        sys.stdout.writelines(f"{name} is not what the records say\n" for name in stale)
        return 1 if stale else 0
    for path, text in pages():
        path.write_text(text, encoding="utf-8")
    make_charts.main()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
