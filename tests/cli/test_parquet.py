"""`ethos-registry reduce --parquet`: a column of a file reduced, everything else kept."""

import os
import signal
import stat
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from cli_program import assert_one_error_line, environment, program, run, run_many
from ethos_registry.reduction import reduce_many
from started import PATIENCE_SECONDS, started, wait_until

LOG = "".join(f"compiled unit {n}\n" for n in range(1_000)) + "error: unit 7 has no door\n"
OUTPUTS = [LOG, None, "short", LOG.replace("unit", "Einheit ä")] * 3
COMMANDS = ["make", None, "ls", "make all"] * 3
EXIT_CODES = [2, None, 0, 1] * 3


def table() -> pa.Table:
    return pa.table(
        {
            "id": range(len(OUTPUTS)),
            "output": pa.array(OUTPUTS),
            "ran": COMMANDS,
            "code": pa.array(EXIT_CODES, pa.int32()),
            "tags": [["a", "b"]] * len(OUTPUTS),
        }
    ).replace_schema_metadata({"made": "by hand"})


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "recorded.parquet"
    parquet.write_table(
        table(),
        path,
        row_group_size=5,
        compression={
            "id": "NONE",
            "output": "ZSTD",
            "ran": "GZIP",
            "code": "SNAPPY",
            "tags.list.element": "ZSTD",
        },
    )
    return path


def codecs(path: Path) -> list[str]:
    group = parquet.ParquetFile(path).metadata.row_group(0)
    return [group.column(index).compression for index in range(group.num_columns)]


def expected(**keywords: object) -> list[str | None]:
    reduced = reduce_many([text or "" for text in OUTPUTS], **keywords)
    return [None if old is None else new for old, new in zip(OUTPUTS, reduced, strict=True)]


def test_the_column_is_reduced_and_all_else_is_kept(tmp_path: Path, recorded: Path) -> None:
    done = run(
        *("reduce", "--parquet", recorded, "reduced.parquet", "--column", "output"),
        *("--command-column", "ran", "--exit-code-column", "code"),
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("12 rows, ")
    assert done.stderr.endswith(" % saved)\n")
    old, new = parquet.read_table(recorded), parquet.read_table(tmp_path / "reduced.parquet")
    made = expected(commands=COMMANDS, exit_codes=EXIT_CODES)
    assert new["output"].to_pylist() == made
    assert made != OUTPUTS
    assert new.drop_columns("output").equals(old.drop_columns("output"))
    assert new.schema.equals(old.schema, check_metadata=True)
    assert codecs(tmp_path / "reduced.parquet") == codecs(recorded)
    assert os.listdir(tmp_path).count("reduced.parquet") == len(os.listdir(tmp_path)) - 1


def test_a_file_may_take_its_own_place(tmp_path: Path, recorded: Path) -> None:
    done = run("reduce", "--parquet", recorded, recorded, cwd=tmp_path)
    assert done.returncode == 0
    assert parquet.read_table(recorded)["output"].to_pylist() == expected()
    assert os.listdir(tmp_path) == [recorded.name]


def test_a_file_that_takes_the_place_of_another_is_for_the_same_readers(
    tmp_path: Path, recorded: Path
) -> None:
    recorded.chmod(0o600)
    assert run("reduce", "--parquet", recorded, recorded, cwd=tmp_path).returncode == 0
    assert stat.S_IMODE(recorded.stat().st_mode) == 0o600


def test_a_text_that_is_no_utf8_is_reported_by_its_place_in_the_file(tmp_path: Path) -> None:
    rows = 1_500
    offsets = pa.array(range(rows + 1), pa.int32()).buffers()[1]
    letters = pa.py_buffer(b"a" * (rows - 1) + b"\xff")
    column = pa.Array.from_buffers(pa.string(), rows, [None, offsets, letters])
    parquet.write_table(pa.table({"output": column}), tmp_path / "in.parquet")
    done = run("reduce", "--parquet", "in.parquet", "out.parquet", cwd=tmp_path)
    assert_one_error_line(
        done, "in.parquet: column `output`: row 475 is no UTF-8 (rows from 1,024 on)"
    )


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), pa.null()], ids=str)
def test_the_column_keeps_its_type(tmp_path: Path, kind: pa.DataType) -> None:
    texts = [None, None] if pa.types.is_null(kind) else [LOG, None]
    parquet.write_table(pa.table({"log": pa.array(texts, kind)}), tmp_path / "in.parquet")
    done = run("reduce", "--parquet", "in.parquet", "out.parquet", "--column", "log", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    new = parquet.read_table(tmp_path / "out.parquet")["log"]
    assert new.type == kind
    assert new.null_count == texts.count(None)


def test_a_dictionary_of_texts_becomes_texts(tmp_path: Path) -> None:
    column = pa.array([LOG, LOG, "short"]).dictionary_encode()
    parquet.write_table(pa.table({"output": column}), tmp_path / "in.parquet")
    done = run("reduce", "--parquet", "in.parquet", "out.parquet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    new = parquet.read_table(tmp_path / "out.parquet")["output"]
    assert new.to_pylist() == reduce_many([LOG, LOG, "short"])


def test_a_file_without_rows_is_written(tmp_path: Path) -> None:
    parquet.write_table(table().slice(0, 0), tmp_path / "in.parquet")
    done = run("reduce", "--parquet", "in.parquet", "out.parquet", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "0 rows, 0 bytes to 0 (0.0 % saved)\n")
    assert parquet.read_table(tmp_path / "out.parquet").num_rows == 0


def test_groups_do_not_shrink_to_batches(tmp_path: Path) -> None:
    rows = 5_000
    parquet.write_table(pa.table({"output": ["text"] * rows}), tmp_path / "in.parquet")
    run("reduce", "--parquet", "in.parquet", "out.parquet", cwd=tmp_path)
    assert parquet.ParquetFile(tmp_path / "out.parquet").metadata.num_row_groups == 1


def test_what_cannot_be_done_is_reported_on_one_line_and_leaves_nothing(
    tmp_path: Path, recorded: Path
) -> None:
    (tmp_path / "no.parquet").write_text("this is no Parquet file at all")
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["output", "output"])
    parquet.write_table(twice, tmp_path / "twice.parquet")
    parquet.write_table(pa.table({}), tmp_path / "none.parquet")
    files = ("--parquet", recorded.name)
    cases = {
        (*files, "out.parquet", "--column", "text"): (
            "recorded.parquet: no column `text`; choose with `--column` from ",
            "`output`, `ran`",
        ),
        (*files, "out.parquet", "--command-column", "x"): (
            "no column `x`; choose with `--command-column` from ",
        ),
        (*files, "out.parquet", "--exit-code-column", "ran"): (
            "recorded.parquet: column `ran`: ",
            "integers",
        ),
        (*files, "out.parquet", "--column", "id"): ("recorded.parquet: column `id`: ", "numbers"),
        (*files, "out.parquet", "--tool", "weather"): ("no built-in reducer for 'weather'",),
        (*files, "out.parquet", "--column", ""): ("no column ``",),
        (*files, "gone/out.parquet"): ("error: gone/out.parquet: No such file",),
        (*files, "."): ("error: .: Is a directory",),
        ("--parquet", "gone.parquet", "out.parquet"): ("error: gone.parquet: No such file or",),
        ("--parquet", "empty", "out"): ("error: empty: has no file whose name ends in .parquet",),
        ("--parquet", "-", "out.parquet"): ("IN of `--parquet` is a file", "./-"),
        (*files, "-"): ("OUT of `--parquet` is a file", "./-"),
        ("--parquet", "twice.parquet", "out.parquet"): ("2 columns are named `output`",),
        ("--parquet", "none.parquet", "out.parquet"): ("none.parquet: the file has no columns",),
        (*files, recorded.name, recorded.name): (f"{recorded.name}: is a file; the output of",),
        ("--skip-existing",): ("give `--parquet IN... OUT` too",),
        ("--parquet", "*.txt", "out"): ("error: *.txt: matches no file whose name ends in",),
        ("--parquet", "no.parquet", "out.parquet"): ("no.parquet", "magic bytes"),
        (*files, "out.parquet", "--command", "make"): ("give `--command-column`",),
        ("--column", "output"): ("give `--parquet IN OUT` too",),
    }
    (tmp_path / "empty").mkdir()
    before = sorted(os.listdir(tmp_path))
    answers = run_many([(("reduce", *arguments), b"") for arguments in cases], tmp_path)
    for done, parts in zip(answers, cases.values(), strict=True):
        assert_one_error_line(done, *parts)
    assert sorted(os.listdir(tmp_path)) == before


def test_without_pyarrow_the_error_names_the_way_to_it(tmp_path: Path, recorded: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "pyarrow.py").write_text("raise ImportError('hidden')")
    folder = str(tmp_path / "hidden")
    inherited = os.environ.get("PYTHONPATH")
    done = run(
        *("reduce", "--parquet", recorded, "out.parquet"),
        cwd=tmp_path,
        PYTHONPATH=folder if inherited is None else f"{folder}{os.pathsep}{inherited}",
    )
    assert_one_error_line(
        done, "pip install '.[cli,parquet]' in a checkout", "pip install 'ethos-registry[parquet]'"
    )


def test_a_disk_that_is_full_learns_of_the_file_that_is_written(
    tmp_path: Path, recorded: Path
) -> None:
    pytest.importorskip("resource")
    (tmp_path / "limited.py").write_text(
        "import resource, signal, sys\n"
        "from ethos_registry._cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "sys.argv = ['ethos-registry', 'reduce', '--parquet', 'recorded.parquet', 'new.parquet']\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [*program()[:1], "limited.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert_one_error_line(done, "error: new.parquet: cannot be written: File too large\n")
    assert sorted(os.listdir(tmp_path)) == ["limited.py", "recorded.parquet"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_what_is_no_file_is_neither_read_nor_replaced(tmp_path: Path, recorded: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for files in ((recorded.name, "pipe"), ("pipe", "out.parquet")):
        done = run("reduce", "--parquet", *files, cwd=tmp_path)
        assert_one_error_line(done, "error: pipe: is not a regular file; ")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["pipe", recorded.name]


@pytest.mark.skipif(not hasattr(signal, "SIGQUIT"), reason="there are no such signals here")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_run_that_is_asked_to_end_leaves_the_old_file_and_no_part(
    tmp_path: Path, name: str
) -> None:
    # One text stands for all rows: a long run, and a small file.
    leaves = pa.table({"output": ["".join(f"{n} of the leaves\n" for n in range(1_000))] * 1_000})
    with parquet.ParquetWriter(tmp_path / "in.parquet", leaves.schema) as writer:
        for _ in range(30):
            writer.write_table(leaves)
    (tmp_path / "out.parquet").write_text("the old file")
    number = signal.Signals[name]

    def has_part() -> bool:
        return any(path.suffix == ".part" for path in tmp_path.iterdir())

    with started(
        program("reduce", "--parquet", "in.parquet", "out.parquet"),
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        wait_until(lambda: has_part() or running.poll() is not None)
        running.send_signal(number)
        errors = running.communicate(timeout=PATIENCE_SECONDS)[1]
    reported = "interrupted" if name == "SIGINT" else f"ended by {name}"
    assert (running.returncode, errors) == (128 + number, f"error: {reported}\n")
    assert sorted(os.listdir(tmp_path)) == ["in.parquet", "out.parquet"]
    assert (tmp_path / "out.parquet").read_text() == "the old file"


def test_a_folder_is_reduced_into_a_folder_of_the_same_shape(tmp_path: Path) -> None:
    for name in ("a.parquet", "deep/er/b.parquet", ".hidden.parquet", "notes.txt"):
        place = tmp_path / "in" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table(), place)
    columns = ("--command-column", "ran", "--exit-code-column", "code")
    done = run("reduce", "--parquet", "in", "out", *columns, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith(f"2 files, {2 * len(OUTPUTS)} rows, ")
    written = sorted(path.relative_to(tmp_path / "out") for path in tmp_path.rglob("out/**/*.*"))
    assert written == [Path("a.parquet"), Path("deep/er/b.parquet")]
    texts = expected(commands=COMMANDS, exit_codes=EXIT_CODES)
    for path in written:
        found = parquet.read_table(tmp_path / "out" / path)
        assert found["output"].to_pylist() == texts
        assert found.drop_columns("output").equals(table().drop_columns("output"))


@pytest.mark.slow
def test_a_broken_file_is_one_line_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a", "c", "e"):
        parquet.write_table(table(), tmp_path / "in" / f"{name}.parquet")
    (tmp_path / "in" / "b.parquet").write_text("no")
    whole = (tmp_path / "in" / "e.parquet").read_bytes()
    (tmp_path / "in" / "d.parquet").write_bytes(whole[: len(whole) // 2])
    done = run("reduce", "--parquet", "in", "out", cwd=tmp_path)
    assert done.returncode == 1
    first, second, summary = done.stderr.splitlines()
    assert first.startswith(f"error: in{os.sep}b.parquet: ")
    assert second.startswith(f"error: in{os.sep}d.parquet: ")
    assert summary.startswith(f"3 files, 2 failed, {3 * len(OUTPUTS)} rows, ")
    assert sorted(os.listdir(tmp_path / "out")) == ["a.parquet", "c.parquet", "e.parquet"]
    (tmp_path / "file").write_text("mine")
    done = run("reduce", "--parquet", "in", "file", cwd=tmp_path)
    assert_one_error_line(done, "file: is a file; the output of several files is a folder")
    done = run("reduce", "--parquet", "in", "out", "--tool", "weather", cwd=tmp_path)
    assert_one_error_line(done, "no built-in reducer for 'weather'")


def test_files_folders_and_patterns_are_reduced_into_one_folder(tmp_path: Path) -> None:
    names = ("one.parquet", "f/two.parquet", "f/g/three.parquet", "h/x/four.parquet", "h/no.txt")
    for name in names:
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table(), place)
    inputs = ("one.parquet", "f", "h/**/*.parquet", "f/two.parquet")
    done = run("reduce", "--parquet", *inputs, "out", "--command-column", "ran", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith(f"4 files, {4 * len(OUTPUTS)} rows, ")
    written = sorted(path.relative_to(tmp_path / "out") for path in tmp_path.rglob("out/**/*.*"))
    assert written == [
        Path("g/three.parquet"),
        Path("one.parquet"),
        Path("two.parquet"),
        Path("x/four.parquet"),
    ]
    for path in written:
        found = parquet.read_table(tmp_path / "out" / path)
        assert found["output"].to_pylist() == expected(commands=COMMANDS)


@pytest.mark.slow
def test_no_input_is_overwritten_and_two_files_of_one_place_are_refused(tmp_path: Path) -> None:
    for name in ("a/x.parquet", "b/x.parquet"):
        (tmp_path / name).parent.mkdir()
        parquet.write_table(table(), tmp_path / name)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")}
    cases = {
        ("a", "a"): ("is read as", "choose another folder for OUT"),
        ("a/x.parquet", "b/*.parquet", "b"): ("would both be written to",),
        ("a/*.parquet", "a"): ("is read as",),
        ("a", "b", "out"): ("would both be written to", "two folders"),
    }
    os.symlink("a", tmp_path / "link")
    cases["a", "link"] = ("is read as",)
    for arguments, parts in cases.items():
        done = run("reduce", "--parquet", *arguments, cwd=tmp_path)
        assert_one_error_line(done, *parts)
    assert {path: path.read_bytes() for path in tmp_path.rglob("[ab]/*.parquet")} == before
    # Output inside the input is not input of the next run.
    for _ in range(2):
        done = run("reduce", "--parquet", "a", "a/reduced", cwd=tmp_path)
        assert (done.returncode, done.stderr.split(",")[0]) == (0, "1 file")
    assert sorted(path.name for path in (tmp_path / "a").rglob("*")) == [
        "reduced",
        "x.parquet",
        "x.parquet",
    ]


@pytest.mark.slow
def test_an_interrupted_run_is_continued(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a", "b", "c"):
        parquet.write_table(table(), tmp_path / "in" / f"{name}.parquet")
    old = os.stat(tmp_path / "in" / "a.parquet").st_mtime
    run("reduce", "--parquet", "in", "out", cwd=tmp_path)
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    (tmp_path / "out" / "b.parquet").unlink()
    os.utime(tmp_path / "out" / "c.parquet", (old - 60, old - 60))
    done = run("reduce", "--parquet", "in", "out", "--skip-existing", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith(f"2 files, 1 skipped, {2 * len(OUTPUTS)} rows, ")
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    assert [path.name for path in written if written[path] == after[path]] == ["a.parquet"]
    done = run(
        "reduce", "--parquet", "in/a.parquet", "out/a.parquet", "--skip-existing", cwd=tmp_path
    )
    assert "exists and is not older than in/a.parquet; skipped" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Two files of the same groups, one with four times as many."""
    rows = pa.table({"output": [f"{n} " + "line of text\n" * 1_200 for n in range(100)]})
    for name, groups in (("small", 30), ("large", 120)):
        with parquet.ParquetWriter(tmp_path / f"{name}.parquet", rows.schema) as writer:
            for _ in range(groups):
                writer.write_table(rows)
    (tmp_path / "peak.py").write_text(
        "import re, sys\n"
        "from ethos_registry._cli import main\n"
        "code = main()\n"
        "status = open('/proc/self/status').read()\n"
        "print(code, re.search(r'VmHWM:\\s+(\\d+)', status)[1])\n"
    )
    peaks = []
    for name in ("small", "large"):
        done = subprocess.run(
            [
                *(*program()[:1], "peak.py", "reduce", "--tool", "head_tail"),
                *("--parquet", f"{name}.parquet", f"{name}.out"),
            ],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        code, kilobytes = done.stdout.split()
        assert code == "0"
        peaks.append(int(kilobytes) * 1024)
    more = 90 * sum(len(text) for text in rows["output"].to_pylist())
    # Allocators keep a part of what they freed, more of it on a busy machine.
    assert peaks[1] - peaks[0] < more * 0.7


def test_a_recording_is_reduced_as_it_is(tmp_path: Path) -> None:
    from ethos_registry import Tool, ToolRegistry, ok
    from ethos_registry.recording import TurnRecorder

    tool = Tool("terminal", "", {"type": "object"}, lambda args, context: ok(LOG * 20))
    (tmp_path / "turns").mkdir()
    with TurnRecorder(tmp_path / "turns") as recorder:
        registry = ToolRegistry([tool], observers=[recorder])
        call = {"id": "1", "name": "terminal", "args": {"command": "make"}}
        registry.execute_parallel_sync([call])
    done = run("reduce", "--parquet", "turns", "out", "--column", "raw", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [path] = (tmp_path / "out").iterdir()
    [raw] = parquet.read_table(path)["raw"].to_pylist()
    assert "unit 7 has no door" in raw
    assert len(raw) < len(LOG) * 20
