"""Formats of outputs: what a file may state, and what holds whatever it states."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ethos_registry import reduce_text
from ethos_registry.reduction import (
    FormatError,
    OutputFormat,
    ReductionPolicy,
    built_in_formats,
    register_format,
    registered_formats,
    unregister_format,
)

FOLDERS = sorted((Path(__file__).parents[2] / "rust" / "reduce" / "formats").iterdir())
"""A format and its samples each; `generic` has samples alone, of outputs that no format knows."""
OUTPUT = "".join(f"compiled oak_{n}.c in {n} ms\n" for n in range(400))
TARGET = ReductionPolicy(2_000)


@pytest.fixture(autouse=True)
def no_format_stays() -> Iterator[None]:
    yield
    for each in registered_formats():
        unregister_format(each.name)


def register(folder: Path, text: str, *, replace: bool = False) -> OutputFormat:
    file = folder / "format.toml"
    file.write_text(text, encoding="utf-8")
    return register_format(file, replace=replace)


def reduced(text: str, exit_code: int | None = 0) -> str:
    return reduce_text(text, command="oakc build", exit_code=exit_code, policy=TARGET)


def oakc(rules: str) -> str:
    return f"name = 'oakc'\ncommands = ['oakc']\n{rules}\n"


def samples() -> list[tuple[str, Path, dict[str, object]]]:
    return [
        (folder.name, folder / str(entry["file"]), entry)
        for folder in FOLDERS
        for entry in tomllib.loads((folder / "samples.toml").read_text())["sample"]
    ]


def test_each_format_of_the_package_has_samples() -> None:
    assert len(FOLDERS) == len(built_in_formats()) + 1
    assert {name for name, _, _ in samples()} == {folder.name for folder in FOLDERS}


@pytest.mark.parametrize(
    ("name", "path", "entry"), samples(), ids=lambda part: getattr(part, "stem", None)
)
def test_every_sample_keeps_its_facts(name: str, path: Path, entry: dict[str, object]) -> None:
    text = path.read_bytes().decode()
    facts, command, exit_code = entry["facts"], entry["command"], entry["exit_code"]
    assert isinstance(facts, list)
    assert facts, name
    assert isinstance(command, str)
    assert isinstance(exit_code, int)
    shorter = reduce_text(text, command=command, exit_code=exit_code)
    assert len(shorter) <= max(16_000, 1_023)
    assert [fact for fact in facts if fact not in shorter] == []


def test_lines_of_little_worth_go_first_and_are_counted_where_they_were(tmp_path: Path) -> None:
    register(tmp_path, oakc("noise = '^compiled '"))
    shown = reduced(f"begun\n{OUTPUT}one note\n{OUTPUT}done in 2 s\n").splitlines()
    assert {"begun", "one note", "done in 2 s"} <= set(shown)
    marks = [int(line.split()[0][1:]) for line in shown[:-1] if line.endswith("left out]")]
    assert shown[-1] == f"[{sum(marks)} of 803 lines left out]"


def test_a_failure_stays_with_the_lines_below_it(tmp_path: Path) -> None:
    register(tmp_path, oakc("failure = '^bad '\ndetail = '^  because '"))
    text = f"{OUTPUT}bad root\n  because of rain\n{OUTPUT}"
    assert "bad root\n  because of rain\n" in reduced(text, 1)


def test_the_parts_of_a_finding_have_names(tmp_path: Path) -> None:
    pattern = r"^(?P<path>\w+) at (?P<code>B\d+): (?P<message>.*)"
    register(tmp_path, oakc(f"failure = '{pattern}'"))
    rows = "".join(f"leaf{n} at B7: it is wilted\n" for n in range(200))
    assert " leaf20 leaf21 leaf22" in reduced(rows, 1)


def test_the_lines_of_a_block_have_one_kind(tmp_path: Path) -> None:
    block = "[[block]]\nbegin = '^Notes:'\nend = '^End'\nkind = 'noise'"
    register(tmp_path, oakc(block))
    notes = "".join(f"note {n} error\n" for n in range(400))
    assert reduced(f"Notes:\n{notes}End\n{OUTPUT}").count(" error") < 5


@pytest.mark.parametrize(
    ("commands", "line", "is_known"),
    [
        ("oakc build", "oakc -v build x", True),
        ("oakc build", "cd y && sudo oakc build", True),
        ("oakc build", "oakc test", False),
        ("oakc --check", "oakc build --check", True),
        ("oakc --check", "oakc build", False),
        ("git stash list", "git -C x stash list", True),
        ("git stash list", "git log", False),
    ],
)
def test_a_command_is_known_by_its_words(
    tmp_path: Path, commands: str, line: str, is_known: bool
) -> None:
    registered = register(
        tmp_path, f"name = 'x'\ncommands = ['{commands}']\nnoise = '^compiled '\n"
    )
    assert registered.reduces(OUTPUT, command=line) is is_known


def test_marks_know_an_output_whatever_the_command(tmp_path: Path) -> None:
    registered = register(
        tmp_path,
        'name = "x"\nmarks = [["\\noak compiler ", "in 0 ms\\n"]]\nnoise = "^compiled "\n',
    )
    assert registered.reduces(f"oak compiler 7\n{OUTPUT}", command="./ci.sh")
    assert not registered.reduces(OUTPUT, command="./ci.sh")


def test_the_users_format_comes_before_what_the_package_knows(tmp_path: Path) -> None:
    log = "".join(f"commit {n:040x}\nAuthor: A <a@b.c>\n\n    Oak {n}\n\n" for n in range(90))
    before = reduce_text(log, command="git log", exit_code=0, policy=TARGET)
    register(tmp_path, "name = 'my log'\ncommands = ['git log']\nnoise = '^(Author|commit)'\n")
    after = reduce_text(log, command="git log", exit_code=0, policy=TARGET)
    assert after.count("    Oak") > before.count("    Oak")
    assert unregister_format("my log")
    assert not unregister_format("my log")
    assert reduce_text(log, command="git log", exit_code=0, policy=TARGET) == before


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ("noise = '('", 'noise: "(" is not a pattern: unclosed group'),
        ("nosie = 'a'", "nosie: unknown key; known are name, commands, marks"),
        ("signature = 'a'", "no rule"),
        ("noise = 7", "noise: expected a list of strings, got integer"),
        ("noise = 'a'\nleast_lines = -1", "least_lines: expected 0 to 1000, got -1"),
        ("noise = 'a'\nstrategy = 'gone'", "strategy: expected"),
        ("noise = '(?:a{500}){500}'", "is not a pattern: "),
        ("noise = '" + "a" * 2_000 + "'", "noise: a pattern has 1 to 1000 bytes"),
        ("noise = [" + "'a'," * 300 + "]", "noise: 300 entries, at most 256"),
        ("[[block]]\nend = 'a'", "block[0].begin: missing"),
        ("noise = 'a", "line 3: "),
        ("noise = 'a'\nnoise = 'b'", "line 4: "),
    ],
)
def test_an_error_is_one_line_with_the_file_the_key_and_the_reason(
    tmp_path: Path, rules: str, reason: str
) -> None:
    with pytest.raises(FormatError) as raised:
        register(tmp_path, oakc(rules))
    message = str(raised.value)
    assert message.startswith(f"{tmp_path / 'format.toml'}: ")
    assert reason in message
    assert "\n" not in message
    assert registered_formats() == []


def test_a_pattern_that_would_take_long_in_other_engines_takes_linear_time(tmp_path: Path) -> None:
    register(tmp_path, oakc("noise = '^(a+)+$'"))
    assert reduced(("a" * 4_000 + "b\n") * 200) != ""


LINE = st.text(alphabet="abAB 01[]():=.×\t\u00e9\r", max_size=30)
TEXT = st.lists(LINE, max_size=60).map("\n".join)
PATTERN = st.sampled_from(
    ["a", "^b", "[01]+", "A.*B", "^ +", ".", "^$", "é", "(?<same>a|b)", r"\bab\b", "x"]
)
LIST = st.lists(PATTERN, max_size=3)
BLOCK = st.fixed_dictionaries({"begin": PATTERN}, optional={"end": PATTERN})
KINDS = ("noise", "row", "verdict", "failure", "warning", "heading", "frame", "detail", "passed")
SPEC = st.fixed_dictionaries(
    {"plain": st.lists(PATTERN, min_size=1, max_size=2)},
    optional={**dict.fromkeys(KINDS, LIST), "block": st.lists(BLOCK, max_size=2)},
)


def written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(written(each) for each in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {written(each)}' for key, each in value.items())}}}"
    return repr(value)


@example(  # a terminal shows more characters than were printed
    spec={"noise": ["é"]},
    text="\n00\n0000\n00000\n0000000\n00000000000\r\t\t\té",
    times=26,
    exit_code=0,
)
@given(spec=SPEC, text=TEXT, times=st.integers(1, 40), exit_code=st.sampled_from([0, 1, None]))
def test_whatever_a_format_states_the_guards_hold(
    tmp_path_factory: pytest.TempPathFactory,
    spec: dict[str, object],
    text: str,
    times: int,
    exit_code: int | None,
) -> None:
    rules = "\n".join(f"{key} = {written(value)}" for key, value in spec.items())
    folder = tmp_path_factory.getbasetemp()
    register(folder, oakc(rules), replace=True)
    whole = f"{text}\n" * times
    once = reduced(whole, exit_code)
    assert len(once) <= len(whole)
    assert reduced(whole, exit_code) == once
    assert len(once) <= 2_000
    cut = reduce_text(whole, command="oakc build", exit_code=exit_code, budget_chars=400)
    assert len(cut) <= 1_023
