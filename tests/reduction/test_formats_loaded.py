"""Formats of the user and of projects: loaded when asked for, a project's only if it is trusted."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ethos_registry import reduce_text
from ethos_registry.reduction import (
    FormatError,
    FormatsNotTrustedError,
    built_in_reducers,
    load_formats,
    register_format,
    registered_formats,
    trust_formats,
    unregister_format,
    user_formats_folder,
)
from ethos_registry.reduction._reducers import reducer_identity

OUTPUT = "".join(f"compiled oak_{n}.c in {n} ms\n" for n in range(1_000))
RULES = "commands = ['oakc']\nnoise = '^compiled '\n"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    yield
    for each in registered_formats():
        unregister_format(each.name)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    make(tmp_path / "project" / ".ethos" / "formats" / "oakc", "oakc")
    return tmp_path / "project"


def make(folder: Path, name: str, rules: str = RULES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "format.toml").write_text(f"name = '{name}'\n{rules}")
    return folder


def names() -> list[str]:
    return [each.name for each in registered_formats()]


def test_nothing_is_loaded_on_import(tmp_path: Path) -> None:
    make(user_formats_folder() / "mine", "mine")
    code = "from ethos_registry import reduce_text; reduce_text('x'); "
    code += "from ethos_registry.reduction import registered_formats; print(registered_formats())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_users_formats_are_where_programs_keep_their_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert user_formats_folder() == tmp_path / "config" / "ethos-registry" / "formats"
    for value in ("", "relative"):
        monkeypatch.setenv("XDG_CONFIG_HOME", value)
        monkeypatch.setenv("HOME", str(tmp_path))
        assert user_formats_folder() == tmp_path / ".config" / "ethos-registry" / "formats"


def test_the_users_formats_are_loaded_and_loaded_again(tmp_path: Path) -> None:
    make(user_formats_folder() / "mine", "mine")
    [loaded] = load_formats()
    assert (loaded.name, loaded.commands) == ("mine", ("oakc",))
    assert loaded.path == user_formats_folder() / "mine" / "format.toml"
    assert loaded.reduces(OUTPUT, command="oakc")
    assert [each.name for each in load_formats()] == ["mine"]


def test_a_projects_formats_are_refused_until_they_are_trusted(project: Path) -> None:
    with pytest.raises(FormatsNotTrustedError, match=f"formats trust {project}"):
        load_formats(project=project)
    assert names() == []
    assert trust_formats(project) == [project / ".ethos" / "formats" / "oakc" / "format.toml"]
    assert [each.name for each in load_formats(project=project)] == ["oakc"]
    assert not list(project.rglob("*trust*"))


@pytest.mark.parametrize("change", ["content", "added", "renamed", "removed"])
def test_changed_formats_need_consent_again(project: Path, change: str) -> None:
    folder = project / ".ethos" / "formats"
    make(folder / "elmc", "elmc")
    trust_formats(project)
    if change == "content":
        make(folder / "oakc", "oakc", RULES + "fact = 'x'\n")
    elif change == "added":
        make(folder / "ashc", "ashc")
    elif change == "renamed":
        (folder / "elmc").rename(folder / "ashc")
    else:
        (folder / "elmc" / "format.toml").unlink()
    with pytest.raises(FormatsNotTrustedError):
        load_formats(project=project)
    trust_formats(project)
    assert load_formats(project=project)


def test_consent_is_for_one_path(project: Path, tmp_path: Path) -> None:
    trust_formats(project)
    copy = tmp_path / "copy"
    make(copy / ".ethos" / "formats" / "oakc", "oakc")
    with pytest.raises(FormatsNotTrustedError):
        load_formats(project=copy)
    link = tmp_path / "link"
    link.symlink_to(project)
    assert load_formats(project=link)


def test_a_project_replaces_no_format_of_the_user(project: Path) -> None:
    mine = make(user_formats_folder() / "oakc", "oakc", RULES + "warning = 'x'\n")
    trust_formats(project)
    loaded = load_formats(project=project)
    assert loaded[-1].path == mine / "format.toml"
    problems: list[FormatError] = []
    load_formats(project=project, user=False, on_error=problems.append)
    assert "is registered already" in str(problems[0])
    assert registered_formats()[0].path == mine / "format.toml"


def test_with_on_error_the_others_are_loaded(project: Path) -> None:
    make(user_formats_folder() / "bad", "bad", "commands = ['x']\nnoise = '('\n")
    make(user_formats_folder() / "good", "good")
    with pytest.raises(FormatError, match=r"bad/format.toml: noise: "):
        load_formats()
    problems: list[FormatError] = []
    loaded = load_formats(project=project, on_error=problems.append)
    assert [each.name for each in loaded] == ["good"]
    assert [type(each) for each in problems] == [FormatsNotTrustedError, FormatError]
    assert all("\n" not in str(each) for each in problems)


def test_a_list_of_trusted_formats_that_was_spoilt_is_refused(project: Path) -> None:
    trust_formats(project)
    file = user_formats_folder().parent / "trusted-formats.json"
    assert file.stat().st_mode & 0o077 == 0
    for content in ("{", "[]", '{"version": 9, "projects": {}}'):
        file.write_text(content)
        with pytest.raises(FormatError, match=r"trusted-formats\.json: "):
            load_formats(project=project)


def test_a_name_is_registered_once_unless_it_is_replaced(tmp_path: Path) -> None:
    folder = make(tmp_path / "a", "oakc")
    assert register_format(folder) == registered_formats()[0]
    with pytest.raises(FormatError, match="pass replace=True"):
        register_format(folder)
    register_format(folder / "format.toml", replace=True)
    assert names() == ["oakc"]


@pytest.mark.parametrize("content", [b"\xff", b"#" * 70_000, None])
def test_a_file_that_cannot_be_read_is_an_error_of_one_line(
    tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "format.toml").write_bytes(content)
    with pytest.raises(FormatError, match=r"format\.toml"):
        register_format(tmp_path / "format.toml")


def test_formats_may_be_registered_from_threads_while_others_reduce(tmp_path: Path) -> None:
    folders = [make(tmp_path / f"f{n}", f"f{n}") for n in range(40)]
    failed: list[BaseException] = []

    def work(mine: list[Path]) -> None:
        try:
            for folder in mine:
                register_format(folder)
                assert "left out" in reduce_text(OUTPUT, command="oakc", exit_code=0)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(folders[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert sorted(names()) == sorted(folder.name for folder in folders)


def test_workers_reduce_nothing_that_formats_of_one_process_may_change(tmp_path: Path) -> None:
    reducer = next(each for each in built_in_reducers() if each.kind == "terminal")
    assert reducer_identity(reducer)
    register_format(make(tmp_path / "oakc", "oakc"))
    assert reducer_identity(reducer) is None


@pytest.fixture
def no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user whom the system does not know, as containers have them."""

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr(Path, "home", home)


def test_a_user_without_a_home_directory_has_no_formats(no_home: None, project: Path) -> None:
    assert load_formats() == []
    with pytest.raises(FormatsNotTrustedError):
        load_formats(project=project)
    with pytest.raises(FormatError, match="set XDG_CONFIG_HOME"):
        trust_formats(project)
    with pytest.raises(FormatError, match="set XDG_CONFIG_HOME"):
        user_formats_folder()


def test_the_command_to_trust_a_project_can_be_pasted(tmp_path: Path) -> None:
    make(tmp_path / "my project" / ".ethos" / "formats" / "oakc", "oakc")
    with pytest.raises(FormatsNotTrustedError, match=r"trust '.*/my project'$"):
        load_formats(project=tmp_path / "my project")
