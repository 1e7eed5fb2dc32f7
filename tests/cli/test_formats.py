"""`ethos-registry formats`: list, test, new and trust."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from cli_program import assert_one_error_line, environment, program, run

OUTPUT = (
    "oak 3.1 reads oak.toml\n"
    + "".join(f"compiled src/{'abcdef'[n % 6]}{n}.oak\n" for n in range(300))
    + "warning: leaf is never used (src/a.oak:7)\n"
    + "error: no door in src/b7.oak:12\n"
    + "built 299 of 300 units in 4.2 s\n"
)
COMMAND = "oakc build --all"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("ETHOS_REGISTRY_SAVE", "0")


def draft(tmp_path: Path, *options: object) -> CompletedProcess[str]:
    (tmp_path / "out.txt").write_text(OUTPUT)
    sample = ("--command", COMMAND, "--exit-code", 1, "--sample", "out.txt")
    return run("formats", "new", "oakc", *sample, *options, cwd=tmp_path)


@pytest.mark.slow
def test_a_draft_from_a_sample_keeps_its_facts_and_shortens_it(tmp_path: Path) -> None:
    done = draft(tmp_path)
    folder = tmp_path / "config" / "ethos-registry" / "formats" / "oakc"
    assert (done.returncode, done.stdout) == (0, f"{folder / 'format.toml'}\n")
    tested = run("formats", "test", cwd=tmp_path)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert tested.stdout.startswith("oakc:\noakc.txt: 3 of 3 facts, ")
    assert "stays as it is" not in tested.stdout
    [row] = json.loads(run("formats", "test", "--json", cwd=tmp_path).stdout)
    assert row["used"]
    assert row["reduced_chars"] * 4 <= row["chars"]


@pytest.mark.slow
def test_run_and_reduce_use_the_formats_of_the_user(tmp_path: Path) -> None:
    draft(tmp_path)
    reduced = run(
        "reduce",
        "--target-chars",
        1_100,
        "--command",
        COMMAND,
        "--exit-code",
        1,
        cwd=tmp_path,
        stdin=OUTPUT,
    )
    assert (reduced.returncode, reduced.stderr) == (0, "")
    assert "error: no door in src/b7.oak:12\n" in reduced.stdout
    assert len(reduced.stdout) <= 1_100
    program = tmp_path / "oakc"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.stdout.write({OUTPUT!r})\nsys.exit(1)\n"
    )
    program.chmod(0o755)
    ran = run("run", "--target-chars", 1_100, "--", "./oakc", "build", cwd=tmp_path)
    assert ran.returncode == 1
    assert ran.stdout.strip() == reduced.stdout.strip()


def test_a_lost_fact_is_named_and_the_exit_code_is_1(tmp_path: Path) -> None:
    draft(tmp_path, "--folder", ".")
    samples = tmp_path / "oakc" / "samples.toml"
    facts = "facts = [\n    'compiled src/a150.oak',\n    'not there',"
    samples.write_text(samples.read_text().replace("facts = [", facts))
    done = run("formats", "test", "oakc", cwd=tmp_path)
    assert done.returncode == 1
    assert "  lost: compiled src/a150.oak\n  not in the sample: not there\n" in done.stdout


@pytest.mark.slow
def test_a_projects_formats_are_used_once_they_are_trusted(tmp_path: Path) -> None:
    draft(tmp_path, "--folder", ".ethos/formats")
    inner = tmp_path / "src"
    inner.mkdir()
    arguments = ("reduce", "--command", COMMAND, "--exit-code", "1")
    refused = run(*arguments, cwd=inner, stdin=OUTPUT)
    assert refused.returncode == 0
    assert refused.stderr.startswith("warning: ")
    assert refused.stderr.count("\n") == 1
    assert f"formats trust {tmp_path}" in refused.stderr
    trusted = run("formats", "trust", "..", cwd=inner)
    file = tmp_path / ".ethos" / "formats" / "oakc" / "format.toml"
    assert trusted.stdout == f"trusted: {file}\n"
    used = run(*arguments, cwd=inner, stdin=OUTPUT)
    assert (used.returncode, used.stderr) == (0, "")
    assert "error: no door in src/b7.oak:12\n" in used.stdout
    file.write_text(file.read_text() + "# changed\n")
    assert "not trusted" in run(*arguments, cwd=inner, stdin=OUTPUT).stderr


@pytest.mark.slow
def test_list_shows_the_formats_of_the_user_and_of_the_package(tmp_path: Path) -> None:
    draft(tmp_path)
    done = run("formats", "list", cwd=tmp_path)
    first, *others = done.stdout.splitlines()
    assert first.startswith("oakc")
    assert first.endswith("/oakc/format.toml)")
    assert len(others) >= 12
    assert any(line.startswith("jest ") for line in others)
    rows = json.loads(run("formats", "list", "--json", cwd=tmp_path).stdout)
    assert rows[0]["commands"] == ["oakc build"]
    assert rows[1]["path"] is None


def test_a_broken_format_is_a_warning_of_run_and_an_error_of_test(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "ethos-registry" / "formats" / "bad"
    folder.mkdir(parents=True)
    (folder / "format.toml").write_text("name = 'bad'\ncommands = ['x']\nnoise = ['(']\n")
    done = run("reduce", cwd=tmp_path, stdin="text\n")
    assert (done.returncode, done.stdout) == (0, "text\n")
    assert done.stderr.startswith(f"warning: {folder / 'format.toml'}: noise: ")
    assert done.stderr.count("\n") == 1
    tested = run("formats", "test", str(folder), cwd=tmp_path)
    assert_one_error_line(tested)


@pytest.mark.parametrize(
    "arguments",
    [
        ("test",),
        ("test", "nowhere"),
        ("trust",),
        ("new", "../x", "--command", "x"),
        ("new", "x", "--command", "x", "--sample", "nowhere.txt"),
        ("new", "x", "--command", "'", "--sample", "out.txt"),
        ("new", "x", "--command", "", "--sample", "out.txt"),
        ("new", "x", "--command", "x", "--sample", "empty.txt"),
    ],
)
def test_a_command_that_cannot_be_done_says_why_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "out.txt").write_text(OUTPUT)
    (tmp_path / "empty.txt").write_text("\n")
    done = run("formats", *arguments, cwd=tmp_path)
    assert_one_error_line(done)


def test_a_folder_that_is_there_is_not_replaced(tmp_path: Path) -> None:
    assert draft(tmp_path).returncode == 0
    again = draft(tmp_path)
    assert again.returncode == 2
    assert "exists" in again.stderr


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="only root can run as a user without a name",
)
def test_a_user_without_a_home_directory_can_run_and_reduce(tmp_path: Path) -> None:
    unnamed = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"]
    env = {
        name: value
        for name, value in environment(ETHOS_REGISTRY_OUTPUTS=str(tmp_path / "outputs")).items()
        if name not in ("HOME", "XDG_CONFIG_HOME")
    }

    def run_unnamed(*arguments: str) -> CompletedProcess[str]:
        return subprocess.run(
            [*unnamed, *program(*arguments)],
            input="oak\n",
            env=env,
            cwd="/",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    if run_unnamed("--version").returncode != 0:
        pytest.skip("this user cannot run the interpreter")
    for arguments in (["run", "--no-save", "--", "echo", "oak"], ["reduce"]):
        done = run_unnamed(*arguments)
        assert (done.returncode, done.stdout) == (0, "oak\n"), done.stderr
