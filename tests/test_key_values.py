"""The key-value store: durable, bounded, shared by processes."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ethos_registry.capabilities.key_values import (
    KeyValueDatabase,
    KeyValueError,
    QuotaExceededError,
)


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
from ethos_registry.capabilities.key_values import KeyValueDatabase, KeyValueError
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
from ethos_registry.capabilities.key_values import KeyValueDatabase
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
    assert [writer.wait(120) for writer in writers] == [0] * 8
    database = KeyValueDatabase(path)
    assert len(database.scope("s").sync.list()) == 320
    database.close()


def test_what_was_acknowledged_survives_a_kill(tmp_path):
    chance = random.Random(3)
    path = tmp_path / "values.db"
    for round_number in range(10):
        name = f"w{round_number}"
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name, "100000"], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(chance.random() * 0.05)
        os.kill(writer.pid, signal.SIGKILL)
        output = writer.communicate()[0]
        acknowledged = int(output.split()[-1]) if output.split() else 0
        database = KeyValueDatabase(path)
        stored = database.scope("s").sync.list(f"{name}-")
        assert acknowledged + 1 <= len(stored) <= acknowledged + 2
        database.close()


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

    def teardown(self):
        self.database.close()


TestAgainstADictionary = AgainstADictionary.TestCase
TestAgainstADictionary.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
