"""The one SQLite file: whose a file is."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ethos_registry._persistence.sqlite_file import SqliteFile

ID = 5
SCHEMA = ("CREATE TABLE notes (text)",)


def read(file: SqliteFile) -> list[Any]:
    return file.read(lambda connection: connection.execute("SELECT * FROM notes").fetchall())


def test_tables_that_another_process_creates_between_two_looks_are_ours(tmp_path: Path) -> None:
    path = tmp_path / "file"
    connection = sqlite3.connect(path)

    class Slow:
        """A connection; the file is created after its first answer."""

        def execute(self, statement: str) -> Any:
            answer = connection.execute(statement).fetchall()
            assert read(SqliteFile(path, SCHEMA, application_id=ID)) == []
            return connection.execute("VALUES (?)", answer[0])

    slow: Any = Slow()
    assert SqliteFile(path, SCHEMA, application_id=ID)._is_ours(slow)
    connection.close()


def test_the_file_of_another_program_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (text)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(sqlite3.DatabaseError, match="another program"):
        read(SqliteFile(path, SCHEMA, application_id=ID))
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
