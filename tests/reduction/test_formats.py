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
    built_in_formats,
    register_format,
    registered_formats,
    unregister_format,
)

FOLDERS = sorted((Path(__file__).parents[2] / "rust" / "reduce" / "formats").iterdir())
OUTPUT = "".join(f"compiled oak_{n}.c in {n} ms\n" for n in range(400))


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
    return reduce_text(text, command="oakc build", exit_code=exit_code)


def oakc(rules: str) -> str:
    return f"name = 'oakc'\ncommands = ['oakc']\n{rules}\n"


def samples() -> list[tuple[str, Path, dict[str, object]]]:
    return [
        (folder.name, folder / str(entry["file"]), entry)
        for folder in FOLDERS
        for entry in tomllib.loads((folder / "samples.toml").read_text())["sample"]
    ]


def test_at_least_twenty_formats_are_in_the_package_and_each_has_samples() -> None:
    assert len(FOLDERS) == len(built_in_formats()) >= 20
    assert {name for name, _, _ in samples()} == {folder.name for folder in FOLDERS}


@pytest.mark.parametrize(
    ("name", "path", "entry"), samples(), ids=lambda part: getattr(part, "stem", None)
)
def test_every_sample_keeps_its_facts_and_is_shorter(
    name: str, path: Path, entry: dict[str, object]
) -> None:
    text = path.read_bytes().decode()
    facts, command, exit_code = entry["facts"], entry["command"], entry["exit_code"]
    assert isinstance(facts, list)
    assert facts, name
    assert isinstance(command, str)
    assert isinstance(exit_code, int)
    shorter = reduce_text(text, command=command, exit_code=exit_code)
    assert [fact for fact in facts if fact not in text] == []
    assert [fact for fact in facts if fact not in shorter] == []
    least = 0.25 if len(text) < 5_000 or name == "git-refs" else 0.5
    assert len(shorter) <= (1 - least) * len(text) or len(text) < 2_000


def test_dropped_lines_are_counted_where_they_were(tmp_path: Path) -> None:
    register(tmp_path, oakc("drop = '^compiled '\nverdict_lines = 0"))
    text = f"begun\n{OUTPUT}one note\n{OUTPUT}done in 2 s\n"
    assert reduced(text).splitlines() == [
        "begun",
        "[400 lines left out]",
        "one note",
        "[400 lines left out]",
        "done in 2 s",
        "[800 of 803 lines left out]",
    ]


def test_facts_stay_where_a_drop_pattern_matches_too(tmp_path: Path) -> None:
    register(tmp_path, oakc("drop = '^compiled '\nfact = 'oak_77[.]c'"))
    assert "compiled oak_77.c in 77 ms\n" in reduced(OUTPUT)


def test_lines_of_one_shape_are_counted(tmp_path: Path) -> None:
    register(tmp_path, oakc("count = '^compiled '\nverdict_lines = 1"))
    assert reduced(OUTPUT).startswith("compiled oak_0.c in 0 ms (+398 similar)\n")


def test_of_lines_with_the_same_group_the_first_stays(tmp_path: Path) -> None:
    register(tmp_path, oakc("once = 'warning (?<same>W\\d+):'\nverdict_lines = 0"))
    warnings = "".join(f"file_{n}: warning W{n % 2}: {'ab'[n % 2]}{n}\n" for n in range(100))
    assert reduced(warnings).splitlines() == [
        "file_0: warning W0: a0",
        "file_1: warning W1: b1",
        "[98 of 100 lines left out]",
    ]


def test_of_a_section_the_first_lines_stay(tmp_path: Path) -> None:
    rules = "verdict_lines = 0\n[[section]]\nbegin = '^Notes:'\nend = '^End'\nshow = 2"
    register(tmp_path, oakc(rules))
    notes = "".join(f"note {n}\n" for n in range(200))
    shown = reduced(f"top\nNotes:\n{notes}End\nbottom\n").splitlines()
    assert shown[:6] == ["top", "Notes:", "note 0", "note 1", "[198 lines left out]", "End"]


def test_lines_around_facts_stay_and_only_the_first_frames_do(tmp_path: Path) -> None:
    rules = "rest = 'drop'\nfailure = '^bad'\nbefore = 1\nframes = '^  at '\nframes_shown = 2"
    register(tmp_path, oakc(rules + "\nverdict_lines = 0"))
    frames = "".join(f"  at leaf_{n}\n" for n in range(60))
    shown = reduced(f"{OUTPUT}above\nbad root\n{frames}end of it\n", 1).splitlines()
    assert [line for line in shown if not line.startswith("[")] == [
        "above",
        "bad root",
        "  at leaf_0",
        "  at leaf_1",
    ]


def test_a_failed_command_without_a_failure_in_its_output_is_not_of_the_format(
    tmp_path: Path,
) -> None:
    registered = register(tmp_path, oakc("drop = '^compiled '\nfailure = '^error'"))
    text = f"{OUTPUT}killed\n"
    assert not registered.reduces(text, command="oakc build", exit_code=1)
    assert registered.reduces(text, command="oakc build", exit_code=0)
    assert registered.reduces(f"{text}error: x\n", command="oakc build", exit_code=1)


def test_rules_for_good_runs_do_not_count_for_others(tmp_path: Path) -> None:
    rules = "failure = '^error'\ndrop = '^-'\n[ok]\ndrop = '^note '"
    register(tmp_path, oakc(rules))
    text = f"note a\n{'- x' * 400}\n" + "- y\n" * 400 + "error: x\nb\nc\nd\n"
    assert "note a" not in reduced(text, 0)
    assert "note a" in reduced(text, 1)
    assert "note a" in reduced(text, None)


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
    registered = register(tmp_path, f"name = 'x'\ncommands = ['{commands}']\ndrop = '^compiled '\n")
    assert registered.reduces(OUTPUT, command=line, exit_code=0) is is_known


def test_marks_know_an_output_whatever_the_command(tmp_path: Path) -> None:
    registered = register(
        tmp_path,
        'name = "x"\nmarks = [["\\noak compiler ", "in 0 ms\\n"]]\ndrop = "^compiled "\n',
    )
    assert registered.reduces(f"oak compiler 7\n{OUTPUT}", command="./ci.sh", exit_code=0)
    assert not registered.reduces(OUTPUT, command="./ci.sh", exit_code=0)


def test_the_users_format_comes_before_what_the_package_knows(tmp_path: Path) -> None:
    log = "".join(f"commit {n:040x}\nAuthor: A <a@b.c>\n\n    Oak {n}\n\n" for n in range(90))
    before = reduce_text(log, command="git log", exit_code=0)
    rules = "drop = '^(Author|commit)'\nverdict_lines = 0\n"
    register(tmp_path, f"name = 'my log'\ncommands = ['git log']\n{rules}")
    after = reduce_text(log, command="git log", exit_code=0)
    assert after != before
    assert "commit" not in after
    assert unregister_format("my log")
    assert not unregister_format("my log")
    assert reduce_text(log, command="git log", exit_code=0) == before


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ("drop = '('", 'drop: "(" is not a pattern: unclosed group'),
        ("ok.drop = '(a'", "ok.drop: "),
        ("dorp = 'a'", "no rule"),
        ("drop = 'a'\ndorp = 'a'", "dorp: unknown key; known are name, commands, marks"),
        ("drop = 7", "drop: expected a list of strings, got integer"),
        ("drop = 'a'\nverdict_lines = -1", "verdict_lines: expected 0 to 1000, got -1"),
        ("drop = 'a'\nrest = 'gone'", "rest: expected"),
        ("drop = '(?:a{500}){500}'", "is not a pattern: "),
        ("drop = '" + "a" * 2_000 + "'", "drop: a pattern has 1 to 1000 bytes"),
        ("drop = [" + "'a'," * 300 + "]", "drop: 300 entries, at most 256"),
        ("drop = 'a'\nmarks = 'ab'", "marks: "),
        ("[[section]]\nshow = 1", "section[0].begin: missing"),
        ("drop = 'a", "line 3: "),
        ("drop = 'a'\ndrop = 'b'", "line 4: "),
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


def test_a_pattern_that_would_take_long_elsewhere_takes_linear_time(tmp_path: Path) -> None:
    register(tmp_path, oakc("drop = '^(a+)+$'\nverdict_lines = 0"))
    assert reduced(("a" * 4_000 + "b\n") * 200) != ""


LINE = st.text(alphabet="abAB 01[]():=.×\t\u00e9\r", max_size=30)
TEXT = st.lists(LINE, max_size=60).map("\n".join)
PATTERN = st.sampled_from(
    ["a", "^b", "[01]+", "A.*B", "^ +", ".", "^$", "é", "(?<same>a|b)", r"\bab\b", "x"]
)
LIST = st.lists(PATTERN, max_size=3)
SECTION = st.fixed_dictionaries({"begin": PATTERN}, optional={"end": PATTERN, "show": st.just(2)})
LISTS = dict.fromkeys(("drop", "keep", "fact", "once", "failure", "count", "frames"), LIST)
SPEC = st.fixed_dictionaries(
    {"lines": st.just([]), "drop": st.lists(PATTERN, min_size=1, max_size=2)},
    optional={
        **{key: value for key, value in LISTS.items() if key != "drop"},
        "rest": st.sampled_from(["keep", "fold", "drop"]),
        "trim": st.booleans(),
        "rest_shown": st.integers(0, 9),
        "before": st.integers(0, 3),
        "after": st.integers(0, 3),
        "frames_shown": st.integers(0, 3),
        "verdict_lines": st.integers(0, 3),
        "section": st.lists(SECTION, max_size=2),
    },
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
    spec={"lines": [], "drop": ["é"]},
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
    assert reduced(once, exit_code) == once
    cut = reduce_text(whole, command="oakc build", exit_code=exit_code, budget_chars=400)
    assert len(cut) <= max(len(once), 400)
