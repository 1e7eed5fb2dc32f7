"""Public text uses plain words: `tests/wording.py` lists the ones it does not use."""

from __future__ import annotations

from pathlib import Path

import pytest

import wording
from wording import ROOT, hits, public_files, retired_words

SOURCE = '''\
"""It tells."""

told = f"{1} stands here"  # of which
'''


@pytest.mark.parametrize("path", public_files())
def test_public_text_uses_plain_words(path: str) -> None:
    assert [str(hit) for hit in hits(path)] == []


def test_tests_and_what_they_share_have_plain_names() -> None:
    paths = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py")]
    assert len(paths) > 300
    assert [str(hit) for path in paths for hit in wording.name_hits(path)] == []


def test_the_files_that_people_read_first_are_checked() -> None:
    files = public_files()
    assert {"README.md", "CONTRIBUTING.md", "docs/index.md", "rust/py/src/lib.rs"} <= files.keys()
    assert {"python/ethos_registry/__init__.py", "python/ethos_registry/_core.pyi"} <= files.keys()
    assert len(files) > 300


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("It tells how many stand there, and stands.", ["tells", "stands"]),
        ("the value is no JSON", ["is no JSON"]),
        ("There is no terminal, and it is no longer needed.", []),
        ("as many as there are, but so many", ["so many"]),
        ("A slip hides tools without a word.", ["A slip", "without a word"]),
        ("see seed 004 and ADK-69, contract 3.9", ["seed 004", "ADK-69", "contract 3.9"]),
        ("`git show --heads` tells", ["tells"]),
        ("`it tells`", []),
    ],
)
def test_retired_words_are_found_and_real_terms_are_not(line: str, found: list[str]) -> None:
    assert sorted(words for words, _ in retired_words(line)) == sorted(found)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("lane_of", ["lane"]),
        ("TransportLane", ["lane"]),
        ("_HANDED_OUT", ["handed"]),
        ("plane", []),
        ("is_known", []),
    ],
)
def test_the_parts_of_a_name_are_compared(name: str, found: list[str]) -> None:
    assert wording.retired_parts(name) == found


def test_comments_docstrings_messages_and_names_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.py").write_text(SOURCE)
    (tmp_path / "rust" / "py").mkdir(parents=True)
    (tmp_path / "rust" / "py" / "lib.rs").write_text('/// told\nlet x = "stands"; // anew\n')
    monkeypatch.setattr(wording, "ROOT", tmp_path)
    found = [hit.words for hit in hits("docs/page.py")]
    assert sorted(found) == ["of which", "stands", "tells", "told"]
    assert {hit.words for hit in hits("rust/py/lib.rs")} == {"told", "stands", "anew"}
