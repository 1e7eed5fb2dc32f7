"""What a reducer must never state, each on the outputs of three tools and at several targets."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from ethos_registry import reduce_text
from ethos_registry.reduction import ReductionPolicy
from lie_oracle import LISTED, lies

TARGETS = (16_000, 4_000, 1_500)


def reduced(text: str, command: str, target_chars: int, exit_code: int = 1) -> list[str]:
    """The rows of the reduced output, in which nothing is false."""
    policy = ReductionPolicy(target_chars)
    made = reduce_text(text, command=command, exit_code=exit_code, policy=policy)
    assert len(made) <= target_chars
    assert lies(text, made) == []
    return made.split("\n")


def at_each_target(text: str, command: str) -> Iterator[list[str]]:
    assert len(text) > TARGETS[0]
    for target_chars in TARGETS:
        yield reduced(text, command, target_chars)


def assert_in_order(rows: list[str], lines: list[str]) -> None:
    """Rows that are one line each are in the order of the output."""
    counted = Counter(lines)
    known = {line: number for number, line in enumerate(lines) if counted[line] == 1}
    places = [known[row] for row in rows if row in known]
    assert places == sorted(places)


NAMES = [f"berth_{n}" for n in range(400)]
MYPY = [
    f'src/{name}.py:{n + 7}: error: Name "{name}" is not defined' for n, name in enumerate(NAMES)
]
LINKS = [f"main.o: undefined reference to `{name}'" for name in NAMES]
PATHS = [f"quay/{name}/plan.txt" for name in NAMES]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("mypy a; mypy b", ["$ mypy a", *MYPY, "$ mypy b", *(f"b/{line}" for line in MYPY)]),
        (
            "set -x; make one; make two",
            ["+ make one", *LINKS, "+ make two", *(line.replace("main", "two") for line in LINKS)],
        ),
        (
            "for a in x y; do tar tf $a.tar; done",
            ["== x.tar", *PATHS, "== y.tar", *(f"y/{path}" for path in PATHS)],
        ),
    ],
)
def test_lines_stay_under_the_command_that_printed_them(command: str, text: list[str]) -> None:
    second = text.index(next(line for line in text[1:] if line[0] in "$+="))
    for rows in at_each_target("\n".join(text), command):
        assert_in_order(rows, text)
        heading = rows.index(text[second])
        for row in rows:
            if row in text and text.index(row) > second:
                assert rows.index(row) > heading


RECORDS = [
    {"id": n, "state": "failed" if n == 307 else "ok", "port": 8000 + n, "note": f"berth {n}"}
    for n in range(500)
]


@pytest.mark.parametrize(
    "command", ["curl -s example.org/jobs", "kubectl get pods -o json", "jq ."]
)
@pytest.mark.parametrize("indent", [None, 1, 4])
def test_records_of_json_are_shown_or_counted(command: str, indent: int | None) -> None:
    text = json.dumps(RECORDS, indent=indent)
    for rows in at_each_target(text, command):
        shown = "\n".join(rows)
        assert "×" not in shown
        assert "…" not in shown
        assert '"failed"' in shown
        assert re.search(r"307\b", shown)


@pytest.mark.parametrize(
    ("command", "line", "end"),
    [
        (
            "make",
            "main.c:{}:7: error: 'oak_{}' undeclared",
            ["make: *** [main.o] Error 1", "exit status 1"],
        ),
        (
            "./deploy",
            "2026-01-02 10:00:{0:02d} ERROR oak {1} is dry",
            ["root cause: no rain", "aborted"],
        ),
        (
            "go test ./...",
            "--- FAIL: TestOak{} (0.{:02d}s)",
            ["FAIL\texample.com/oak\t0.013s", "FAIL"],
        ),
    ],
)
def test_the_end_is_kept_when_failures_fill_the_target(
    command: str, line: str, end: list[str]
) -> None:
    text = "\n".join([*(line.format(n % 60, n) for n in range(900)), *end])
    for rows in at_each_target(text, command):
        assert [row for row in rows[:-1] if row][-len(end) :] == end


@pytest.mark.parametrize("command", ["git diff", "diff -u a.py b.py", "black --diff a.py"])
def test_lines_that_differ_in_white_space_are_not_shown_as_equal(command: str) -> None:
    hunks = [
        f"@@ -{n}1,3 +{n}1,3 @@\n context {n}\n-    if oak_{n}:\n+\tif oak_{n}:\n end {n}"
        for n in range(400)
    ]
    text = "\n".join(["--- a.py", "+++ b.py", *hunks])
    for rows in at_each_target(text, command):
        changed = [row for row in rows if "if oak_" in row]
        assert changed
        for row in changed:
            assert row.startswith(("-    if oak_", "+\tif oak_"))


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("openssl x509 -text", "        Subject: CN = berth {}, Email=Pier{}@Example.org"),
        ("ldapsearch -x", "dn: CN=Berth {},OU=Piers,Email=Pier{}@Example.org"),
        ("git shortlog -se", "    {}\tPier <Email=Pier{}@Example.org>"),
    ],
)
def test_words_keep_their_case(command: str, line: str) -> None:
    lines = [line.format(n, n) for n in range(600)]
    for rows in at_each_target("\n".join(lines), command):
        assert not [row for row in rows if "email=" in row or "mail=" in row.replace("Email=", "")]


@pytest.mark.parametrize("command", ["man -k grow", "apropos oak", "perldoc -l list"])
def test_a_section_of_a_manual_is_not_a_line_of_a_file(command: str) -> None:
    lines = [f"oak_{n}.leaf({n % 8 + 1}) - grow the leaf {n} of the oak" for n in range(500)]
    for rows in at_each_target("\n".join(lines), command):
        assert not [row for row in rows if row.startswith("  [same]")]


TRACES = {
    "python app.py": (
        "Traceback (most recent call last):",
        ['  File "src/oak_{n}.py", line {n}, in grow', "    leaf({n})"],
        "ValueError: leaf {n} is dry",
    ),
    "java -jar oak.jar": (
        "java.lang.IllegalStateException: leaf {n} is dry",
        ["\tat org.oak.Tree{n}.grow(Tree{n}.java:{n})", "\tat org.oak.Main.run(Main.java:7)"],
        "",
    ),
    "node oak.js": (
        "Error: leaf {n} is dry",
        ["    at grow (src/oak_{n}.js:{n}:3)", "    at run (src/main.js:9:1)"],
        "",
    ),
}


@pytest.mark.parametrize("command", TRACES)
def test_a_frame_is_not_shown_under_another_exception(command: str) -> None:
    head, frames, end = TRACES[command]
    traces = [
        [part.format(n=n) for part in (head, *frames * 3, end) if part] for n in range(10, 300)
    ]
    text = "\n".join("\n".join(trace) for trace in traces)
    for rows in at_each_target(text, command):
        last: int | None = None
        for row in rows:
            found = re.search(r"leaf (\d+) is dry", row)
            frame = re.search(r"(?:oak_|Tree)(\d+)\.", row)
            if row.endswith("left out]") or (found and end):
                last = None
            elif found:
                last = int(found[1])
            elif frame and last is not None:
                assert int(frame[1]) == last, row


@pytest.mark.parametrize(
    ("command", "label", "value"),
    [
        ("kubectl describe pod oak", "Last State {}:", "  Exit Code {}: 137"),
        ("npx jest", "Received {}:", '  "leaf {} is dry"'),
        ("systemctl status oak{}", "Memory {}:", "    peak {}: 8M"),
    ],
)
def test_a_value_is_not_shown_under_the_label_of_another(
    command: str, label: str, value: str
) -> None:
    blocks = [f"{label.format(n)}\n{value.format(n)}" for n in range(1_000, 1_600)]
    for rows in at_each_target("\n".join(blocks), command):
        above: str | None = None
        for row in rows:
            number = re.search(r"\d{4}", row)
            if row.endswith("left out]") or LISTED.fullmatch(row):
                above = None
            elif not row.startswith(" "):
                above = number and number[0]
            elif above is not None and number:
                assert number[0] == above, row


@pytest.mark.parametrize("command", ["pip show -f oak", "dpkg -s oak", "modinfo oak"])
def test_fields_of_several_records_are_not_joined(command: str) -> None:
    records = [
        [f"Name: oak-{n}", f"Version: {n}.0.1", f"Summary: leaf {n}", f"Requires: elm-{n}"]
        for n in range(400)
    ]
    lines = [line for record in records for line in (*record, "")]
    for rows in at_each_target("\n".join(lines), command):
        fields = [row for row in rows if re.match(r"(Name|Version|Summary|Requires)\b", row)]
        assert fields
        assert set(fields) <= set(lines)
        assert_in_order(rows, lines)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("mypy src", 'src/oak_{0}.py:{0}: error: Name "leaf_{0}" is not defined  [name-defined]'),
        ("ruff check", "src/oak_{0}.py:{0}:1: F821 Undefined name `leaf_{0}`"),
        ("gcc -c oak.c", "oak_{0}.c:{0}:3: error: 'leaf_{0}' undeclared"),
    ],
)
def test_a_finding_is_not_shown_twice(command: str, line: str) -> None:
    lines = [line.format(n) for n in range(1, 500)]
    lines += [*lines[100:140], "Found 539 errors"]
    counted = Counter(lines)
    for rows in at_each_target("\n".join(lines), command):
        shown = Counter(row for row in rows if row in counted)
        assert shown
        assert shown <= counted


@pytest.mark.parametrize("text", [MYPY, LINKS, PATHS], ids=["mypy", "link", "tar"])
def test_a_longer_target_shows_no_row_less(text: list[str]) -> None:
    before: set[str] = set()
    for target_chars in range(1_100, 8_000, 300):
        policy = ReductionPolicy(target_chars)
        made = reduce_text("\n".join(text), command="make", exit_code=1, policy=policy)
        assert len(made) <= target_chars
        rows = set(made.split("\n")) & set(text)
        assert before <= rows
        before = rows
