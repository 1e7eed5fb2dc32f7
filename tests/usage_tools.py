"""What the tests of the ledger share: processes that record, and a real PostgreSQL server."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUIRED = frozenset(filter(None, os.environ.get("ETHOS_REGISTRY_REQUIRE", "").split(",")))


def missing(what: str, why: str) -> None:
    """Skip a test whose program is not installed; fail where it is required."""
    if what in REQUIRED:
        pytest.fail(f"{what} is required by ETHOS_REGISTRY_REQUIRE: {why}")
    pytest.skip(why)


def is_installed(module: str) -> bool:
    """Whether a module, or one of a namespace package, can be imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a package above it is missing
        return False


def start_python(
    source: str, *arguments: object, stdin: int | None = None
) -> subprocess.Popen[str]:
    """A process of its own that runs Python source."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(source), *map(str, arguments)],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    """What it printed; its errors are shown when it failed."""
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return out


def _program(name: str) -> Path | None:
    found = shutil.which(name)
    # `pg_ctl` finds `postgres` beside itself: a link elsewhere would not.
    return Path(found).resolve() if found else None


class PostgresServer:
    """A server of its own in a temporary folder, reached by a socket."""

    def __init__(self, folder: Path, pg_ctl: Path, user: list[str]) -> None:
        self._folder = folder
        self._pg_ctl = pg_ctl
        self._user = user
        self.url = f"postgresql://postgres@/postgres?host={folder}"

    def control(self, *arguments: str) -> None:
        """Run `pg_ctl`."""
        data = str(self._folder / "data")
        subprocess.run(
            [*self._user, str(self._pg_ctl), "-D", data, "-w", *arguments],
            check=True,
            capture_output=True,
            cwd=self._folder,
            timeout=120,
        )

    def start(self) -> None:
        """Start the server, or start it again."""
        options = f"-c listen_addresses='' -c fsync=off -k {self._folder}"
        self.control("-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop the server and cut all connections."""
        self.control("-m", "immediate", "stop")


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A running server; the test is skipped where PostgreSQL or psycopg is not installed."""
    initdb, pg_ctl = _program("initdb"), _program("pg_ctl")
    if initdb is None or pg_ctl is None:
        missing("postgres", "PostgreSQL (initdb, pg_ctl) is not on PATH")
        raise AssertionError
    try:
        import psycopg  # noqa: F401
    except ImportError:
        missing("postgres", "psycopg is not installed")
    # The path of a socket may have a hundred characters: the folder of pytest has more.
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    user: list[str] = []
    try:
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(folder, "nobody")
            user = ["setpriv", "--reuid=nobody", "--clear-groups", "--"]
        subprocess.run(
            [*user, initdb, "-D", folder / "data", "-U", "postgres", "-A", "trust", "--no-sync"],
            check=True,
            capture_output=True,
            cwd=folder,
            timeout=120,
        )
        server = PostgresServer(folder, pg_ctl, user)
        server.start()
        try:
            yield server
        finally:
            with contextlib.suppress(subprocess.CalledProcessError):
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
