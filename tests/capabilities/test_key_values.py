"""The key-value store: durable, bounded, shared by processes."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ethos_registry.capabilities import KeyValueDatabase, KeyValueError, QuotaExceededError
from long_counts import counts
from started import ended_with_test, wait_until

pytestmark = pytest.mark.privileges


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(tmp_path, clock):
    found = KeyValueDatabase(tmp_path / "values.db", max_keys=5, max_bytes=1_000, now=clock)
    yield found
    found.close()


async def test_a_value_is_text_or_json_and_comes_back_as_what_it_was(database):
    store = database.scope("tool:t")
    for value in ("text", "", "1", 1, 1.5, None, True, [1, {"a": "é"}], {"b": []}):
        await store.set("k", value)
        assert await store.get("k") == value
        assert type(await store.get("k")) is type(value)


async def test_scopes_do_not_see_each_other(database):
    await database.scope("tool:a").set("k", "a")
    await database.scope("tool:b").set("k", "b")
    assert await database.scope("tool:a").get("k") == "a"
    assert await database.scope("tool:c").get("k") is None
    assert await database.scope("tool:a").delete("k") is True
    assert await database.scope("tool:a").delete("k") is False
    assert await database.scope("tool:b").get("k") == "b"


async def test_keys_are_listed_by_prefix_and_wildcards_mean_nothing(database):
    store = database.scope("s")
    for key in ("b", "a%", "a_", "ab"):
        await store.set(key, "x")
    assert await store.list() == ["a%", "a_", "ab", "b"]
    assert await store.list("a%") == ["a%"]
    assert await store.list("A") == []


def test_an_expired_value_is_gone_without_a_reader(database, clock, tmp_path):
    store = database.scope("s").sync
    store.set("short", "x" * 900, ttl_seconds=10)
    store.set("long", "y", ttl_seconds=100)
    clock.now += 10
    assert store.get("short") is None
    assert store.list() == ["long"]
    # It takes no room any more, and the next write of any scope deletes it.
    store.set("new", "z" * 900)
    with sqlite3.connect(tmp_path / "values.db") as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (2,)
    connection.close()


def test_writing_again_replaces_value_and_expiry(database, clock):
    store = database.scope("s").sync
    store.set("k", "x", ttl_seconds=5)
    store.set("k", "y")
    clock.now += 1_000
    assert store.get("k") == "y"


def test_a_full_scope_refuses_by_number_and_size_and_changes_nothing(database):
    store = database.scope("s").sync
    for number in range(5):
        store.set(f"k{number}", "x")
    with pytest.raises(QuotaExceededError, match="5 keys"):
        store.set("k5", "x")
    store.set("k4", "replaced")
    with pytest.raises(QuotaExceededError, match="limit of 1000"):
        store.set("k4", "x" * 1_000)
    assert store.get("k4") == "replaced"
    database.scope("other").sync.set("k", "x" * 900)


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), "\ud800", b"x"])
def test_a_value_that_is_neither_text_nor_json_is_refused(database, value):
    with pytest.raises(KeyValueError):
        database.scope("s").sync.set("k", value)
    assert database.scope("s").sync.get("k") is None


@pytest.mark.parametrize("key", ["", "x" * 513])
def test_a_key_has_a_length(database, key):
    with pytest.raises(KeyValueError, match="1 to 512"):
        database.scope("s").sync.set(key, "x")


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_time_to_live_is_positive(database, seconds):
    with pytest.raises(KeyValueError, match="greater than 0"):
        database.scope("s").sync.set("k", "x", ttl_seconds=seconds)


def test_the_file_is_its_owners_alone(database, tmp_path):
    database.scope("s").sync.set("k", "x")
    for path in tmp_path.glob("values.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_values_in_memory_are_the_same_without_a_file():
    database = KeyValueDatabase(":memory:")
    database.scope("s").sync.set("k", [1])
    assert database.scope("s").sync.get("k") == [1]
    database.close()


def test_a_damaged_file_is_a_clear_error(tmp_path):
    path = tmp_path / "values.db"
    path.write_bytes(b"this is no database" * 500)
    database = KeyValueDatabase(path)
    with pytest.raises(KeyValueError, match=r"values\.db failed: file is not a database"):
        database.scope("s").sync.get("k")
    database.close()


def test_a_full_disk_is_a_clear_error_and_loses_nothing(tmp_path):
    program = """
import resource, signal, sys
from ethos_registry.capabilities import KeyValueDatabase, KeyValueError
database = KeyValueDatabase(sys.argv[1], max_bytes=10**9)
store = database.scope("s").sync
store.set("before", "kept")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    for number in range(100):
        store.set(f"k{number}", "x" * 10_000)
except KeyValueError as error:
    print(number, error)
print(store.get("before"))
"""
    path = tmp_path / "values.db"
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    number, _, message = done.stdout.splitlines()[0].partition(" ")
    assert "failed: " in message
    assert done.stdout.splitlines()[1] == "kept"
    database = KeyValueDatabase(path, max_bytes=10**9)
    store = database.scope("s").sync
    assert list(store.list("k")) == sorted(f"k{index}" for index in range(int(number)))
    database.close()


WRITER = """
import sys
from ethos_registry.capabilities import KeyValueDatabase
path, name, count = sys.argv[1:]
store = KeyValueDatabase(path, max_keys=10**6, max_bytes=10**9).scope("s").sync
for number in range(int(count)):
    store.set(f"{name}-{number}", number)
    print(number, flush=True)
"""


def test_eight_processes_lose_nothing(tmp_path):
    path = tmp_path / "values.db"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), f"w{name}", "40"], stdout=subprocess.DEVNULL
        )
        for name in range(8)
    ]
    with ended_with_test(*writers):
        assert [writer.wait(300) for writer in writers] == [0] * 8
    database = KeyValueDatabase(path)
    assert len(database.scope("s").sync.list()) == 320
    database.close()


@counts("rounds", 1, 50)
def test_eight_processes_killed_at_random_moments_lose_nothing_acknowledged(tmp_path, rounds):
    chance = random.Random(3)
    path = tmp_path / "values.db"
    for round_number in range(rounds):
        writers = {
            f"w{round_number}-{name}": subprocess.Popen(
                [sys.executable, "-c", WRITER, str(path), f"w{round_number}-{name}", "100000"],
                stdout=subprocess.PIPE,
            )
            for name in range(8)
        }
        with ended_with_test(*writers.values()):
            for writer in writers.values():
                assert writer.stdout is not None
                writer.stdout.readline()
            for writer in writers.values():
                time.sleep(chance.random() * 0.05)
                os.kill(writer.pid, signal.SIGKILL)
            outputs = {name: writer.communicate()[0] for name, writer in writers.items()}
        database = KeyValueDatabase(path)
        store = database.scope("s").sync
        for name, output in outputs.items():
            acknowledged = int(output.split()[-1]) if output.split() else 0
            stored = {int(key.rpartition("-")[2]) for key in store.list(f"{name}-")}
            # The last one may be stored and not acknowledged, never the other way round.
            assert stored in (set(range(acknowledged + 1)), set(range(acknowledged + 2)))
            assert store.get(f"{name}-{acknowledged}") == acknowledged
        assert sums_of(path) == kept_sums_of(path)
        database.close()


def sums_of(path) -> dict[str, tuple[int, int]]:
    """The keys and bytes of each scope, counted."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT scope, COUNT(*), SUM(size_bytes) FROM entries GROUP BY scope"
        )
        return {scope: (count, size) for scope, count, size in rows}


def kept_sums_of(path) -> dict[str, tuple[int, int]]:
    """The keys and bytes of each scope that quotas are checked with."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT scope, key_count, size_bytes FROM scopes")
        return {scope: (count, size) for scope, count, size in rows}


QUOTA_WRITER = """
import random, sys
from ethos_registry.capabilities import KeyValueDatabase, QuotaExceededError
path, name = sys.argv[1:]
chance = random.Random(name)
store = KeyValueDatabase(path, max_keys=50, max_bytes=4_000).scope("s").sync
print("ready", flush=True)
for number in range(100_000):
    key = f"{name}-{chance.randrange(20)}"
    try:
        store.set(key, "x" * chance.randrange(200), ttl_seconds=chance.choice([None, 0.05]))
    except QuotaExceededError:
        store.delete(key)
"""


def test_quotas_hold_when_eight_processes_write_and_are_killed(tmp_path):
    path = tmp_path / "values.db"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", QUOTA_WRITER, str(path), f"w{name}"], stdout=subprocess.PIPE
        )
        for name in range(8)
    ]
    most = looks = 0

    def was_close() -> bool:
        nonlocal most, looks
        time.sleep(0.05)
        count, size = sums_of(path).get("s", (0, 0))
        assert count <= 50
        assert size <= 4_000
        most, looks = max(most, count), looks + 1
        return looks >= 20 and most > 10

    with ended_with_test(*writers):
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        wait_until(was_close)
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
            writer.communicate()
    assert sums_of(path) == kept_sums_of(path)


def test_a_store_goes_on_after_a_full_disk(tmp_path):
    """A commit that fails leaves no transaction open."""
    program = """
import resource, signal, sys
from ethos_registry.capabilities import KeyValueDatabase, KeyValueError
database = KeyValueDatabase(sys.argv[1], max_bytes=10**9)
store = database.scope("s").sync
store.set("before", "kept")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
failures = 0
for number in range(30):
    try:
        store.set(f"k{number}", "x" * 20_000)
    except KeyValueError:
        failures += 1
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.set("after", "room again")
print(failures > 3, store.get("before"), store.get("after"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "values.db")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True kept room again\n"


def test_a_file_that_was_removed_takes_no_writes(database, tmp_path):
    store = database.scope("s").sync
    store.set("k", 1)
    for path in tmp_path.glob("values.db*"):
        path.unlink()
    store.set("k", 2)
    with contextlib.closing(KeyValueDatabase(tmp_path / "values.db")) as other:
        assert other.scope("s").sync.get("k") == 2


@pytest.mark.parametrize("position", [0, 100, 4096, 8192])
def test_a_file_damaged_anywhere_is_a_clear_error_or_intact(tmp_path, position):
    path = tmp_path / "values.db"
    with contextlib.closing(KeyValueDatabase(path)) as database:
        for number in range(200):
            database.scope("s").sync.set(f"k{number:03}", "x" * 100)
    content = bytearray(path.read_bytes())
    content[position : position + 2_000] = b"\xa5" * 2_000
    path.write_bytes(content)
    with contextlib.closing(KeyValueDatabase(path)) as database:
        store = database.scope("s").sync
        problem = ""
        found = []
        try:
            found = [store.get(key) for key in store.list()]
        except KeyValueError as error:
            problem = str(error)
    clear = "values.db failed: " in problem and (
        "move it away" in problem or "another program" in problem
    )
    assert clear or found == ["x" * 100] * 200


def test_the_database_of_another_program_is_never_changed(tmp_path):
    path = tmp_path / "values.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE entries (mine)")
        connection.commit()
    with (
        contextlib.closing(KeyValueDatabase(path)) as database,
        pytest.raises(KeyValueError, match="another program"),
    ):
        database.scope("s").sync.set("k", 1)


def test_a_missing_folder_is_a_clear_error(tmp_path):
    with (
        contextlib.closing(KeyValueDatabase(tmp_path / "no" / "values.db")) as database,
        pytest.raises(KeyValueError, match=r"values\.db failed: No such file or directory"),
    ):
        database.scope("s").sync.get("k")


UNPRIVILEGED = """
import json, os, sys
from ethos_registry.capabilities import KeyValueDatabase, KeyValueError
theirs, own = sys.argv[1:]
os.chdir("/")
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
answers = {}
for name, path in (("theirs", theirs), ("own", own)):
    store = KeyValueDatabase(path).scope("s").sync
    for what, work in (("get", lambda: store.get("k")), ("set", lambda: store.set("k", "new"))):
        try:
            answers[f"{name} {what}"] = work()
        except KeyValueError as error:
            answers[f"{name} {what}"] = str(error).partition("failed: ")[2]
print(json.dumps(answers))
"""


def test_a_user_without_privileges_has_a_store_of_its_own_and_not_that_of_others():
    # Not below `tmp_path`, which other users cannot enter.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        theirs = os.path.join(folder, "theirs.db")
        with contextlib.closing(KeyValueDatabase(theirs)) as database:
            database.scope("s").sync.set("k", "secret")
        if os.geteuid() != 0:
            os.chmod(theirs, 0o000)
        done = subprocess.run(
            [sys.executable, "-c", UNPRIVILEGED, theirs, os.path.join(folder, "own.db")],
            capture_output=True,
            text=True,
            check=True,
        )
    assert json.loads(done.stdout) == {
        "theirs get": "Permission denied",
        "theirs set": "Permission denied",
        "own get": None,
        "own set": None,
    }


def test_threads_share_one_database(database):
    failures = []

    def work(name: int) -> None:
        try:
            store = database.scope(f"thread:{name}").sync
            for number in range(20):
                store.set("n", number)
                assert store.get("n") == number
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_uses_a_connection_of_its_own(database):
    store = database.scope("s").sync
    store.set("parent", 1)
    pid = os.fork()
    if pid == 0:
        try:
            store.set("child", store.get("parent"))
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert store.get("child") == 1
    store.set("parent", 2)


class AgainstADictionary(RuleBasedStateMachine):
    """Random operations give what a dictionary with deadlines gives."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.database = KeyValueDatabase(":memory:", max_keys=4, now=self.clock)
        self.store = self.database.scope("s").sync
        self.model: dict[str, tuple[object, float]] = {}

    def live(self) -> dict[str, object]:
        return {key: value for key, (value, end) in self.model.items() if end > self.clock.now}

    @rule(
        key=st.sampled_from("abcdef"),
        value=st.integers() | st.text("xy"),
        ttl=st.none() | st.integers(1, 5),
    )
    def set(self, key, value, ttl):
        if key not in self.live() and len(self.live()) == 4:
            with pytest.raises(QuotaExceededError):
                self.store.set(key, value, ttl_seconds=ttl)
            return
        self.store.set(key, value, ttl_seconds=ttl)
        self.model[key] = (value, float("inf") if ttl is None else self.clock.now + ttl)

    @rule(key=st.sampled_from("abcdef"))
    def delete(self, key):
        assert self.store.delete(key) == (key in self.live())
        self.model.pop(key, None)

    @rule(seconds=st.integers(1, 3))
    def wait(self, seconds):
        self.clock.now += seconds

    @invariant()
    def is_equal(self):
        assert {key: self.store.get(key) for key in self.store.list()} == self.live()
        sums = "SELECT COUNT(*), COALESCE(SUM(size_bytes), 0) FROM entries"
        remaining = "SELECT COALESCE(SUM(key_count), 0), COALESCE(SUM(size_bytes), 0) FROM scopes"
        counted, quota = self.database.read(
            lambda connection, now: (
                connection.execute(sums).fetchone(),
                connection.execute(remaining).fetchone(),
            )
        )
        assert counted == quota

    def teardown(self):
        self.database.close()


TestAgainstADictionary = AgainstADictionary.TestCase
TestAgainstADictionary.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
