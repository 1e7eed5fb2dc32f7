"""`reduce_arrow`: columns of texts, whoever made them."""

import gc
import sys
import threading

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import ConfigError
from ethos_registry.reduction import reduce_arrow, reduce_many

LISTING = "".join(f"./src/parts/file_{n}.py\n" for n in range(1_000))
TEXTS = [LISTING, None, "", "short", "née \U0001f41f\n" * 300, None, LISTING.replace("src", "漢")]
STRING_TYPES = [pa.string(), pa.large_string(), pa.string_view()]
INDEX_TYPES = [
    pa.int8(),
    pa.uint8(),
    pa.int16(),
    pa.uint16(),
    pa.int32(),
    pa.uint32(),
    pa.int64(),
    pa.uint64(),
]


def expected(texts, tool_name="terminal", commands=None, exit_codes=None):
    """What `reduce_many` makes of the same texts."""
    reduced = reduce_many(
        [text or "" for text in texts],
        tool_name=tool_name,
        commands=commands,
        exit_codes=exit_codes,
    )
    return [None if text is None else new for text, new in zip(texts, reduced, strict=True)]


def listed(column):
    """The texts of a result, whose memory pyarrow has looked through."""
    array = pa.array(column)
    array.validate(full=True)
    assert array.type == pa.large_string()
    assert len(array) == len(column)
    return array.to_pylist()


@pytest.mark.parametrize("kind", STRING_TYPES, ids=str)
def test_every_string_type_is_reduced_like_a_list(kind):
    column = pa.array(TEXTS, kind)
    assert listed(reduce_arrow("terminal", column)) == expected(TEXTS)
    assert expected(TEXTS)[0] != LISTING


@pytest.mark.parametrize("kind", STRING_TYPES, ids=str)
def test_chunks_are_read_one_after_the_other(kind):
    parts = [TEXTS[:2], [], TEXTS[2:3], TEXTS[3:]]
    column = pa.chunked_array([pa.array(part, kind) for part in parts])
    assert listed(reduce_arrow("terminal", column)) == expected(TEXTS)


@pytest.mark.parametrize("kind", STRING_TYPES, ids=str)
def test_a_slice_is_reduced_and_nothing_beside_it(kind):
    many = TEXTS * 5
    column = pa.array(many, kind)
    for start, length in [(0, 3), (1, 0), (7, 9), (13, 22)]:
        part = column.slice(start, length)
        assert listed(reduce_arrow("terminal", part)) == expected(many[start : start + length])


@pytest.mark.parametrize("indices", INDEX_TYPES, ids=str)
@pytest.mark.parametrize("values", STRING_TYPES, ids=str)
def test_dictionaries_of_every_index_type_are_read(indices, values):
    dictionary = pa.array(["short", LISTING, None], values)
    rows = pa.array([1, None, 0, 1, 2], indices)
    column = pa.DictionaryArray.from_arrays(rows, dictionary)
    texts = [LISTING, None, "short", LISTING, None]
    assert listed(reduce_arrow("terminal", column)) == expected(texts)


def test_a_null_column_stays_null():
    assert listed(reduce_arrow("terminal", pa.nulls(9))) == [None] * 9


def test_no_rows_are_no_rows():
    assert listed(reduce_arrow("terminal", pa.array([], pa.string()))) == []
    assert listed(reduce_arrow("terminal", pa.chunked_array([], pa.string()))) == []


def test_commands_and_exit_codes_belong_to_their_rows_whatever_their_chunks():
    texts = [LISTING, None, LISTING, LISTING]
    commands = ["find .", "ls", None, "cat list"]
    codes = [0, None, 1, None]
    made = expected(texts, commands=commands, exit_codes=codes)
    for given_codes in (codes, iter(codes), pa.array(codes), pl.Series(codes)):
        reduced = reduce_arrow(
            "terminal",
            pa.chunked_array([texts[:1], texts[1:]]),
            commands=pa.chunked_array([commands[:3], commands[3:]]),
            exit_codes=given_codes,
        )
        assert listed(reduced) == made


@pytest.mark.parametrize("kind", [*INDEX_TYPES, pa.null()], ids=str)
def test_every_integer_type_is_an_exit_code(kind):
    codes = [None] if pa.types.is_null(kind) else [1]
    reduced = reduce_arrow("terminal", pa.array([LISTING]), exit_codes=pa.array(codes, kind))
    assert listed(reduced) == expected([LISTING], exit_codes=codes)


def test_polars_gives_and_takes_columns():
    series = pl.Series("output", TEXTS)
    for column in (series, series.cast(pl.Categorical), series.slice(2, 4), series.rechunk()):
        reduced = reduce_arrow("terminal", column)
        assert pl.Series(reduced).to_list() == expected(column.to_list())


def test_duckdb_gives_and_takes_columns():
    connection = duckdb.connect()
    connection.sql("create table runs (output varchar, code integer)")
    connection.executemany("insert into runs values (?, ?)", [(text, 0) for text in TEXTS])
    table = connection.sql("select * from runs").to_arrow_table()
    reduced = reduce_arrow("terminal", table["output"], exit_codes=table["code"])
    shown = pa.table({"output": pa.array(reduced)})
    again = connection.from_arrow(shown).fetchall()
    assert [row for (row,) in again] == expected(TEXTS, exit_codes=[0] * len(TEXTS))


@given(
    st.lists(st.none() | st.text() | st.sampled_from(TEXTS), max_size=6),
    st.sampled_from(STRING_TYPES),
    st.integers(0, 6),
    st.sampled_from(["terminal", "generic", "head_tail", "read_file", "kanban_list"]),
)
def test_a_column_is_reduced_like_a_list(texts, kind, start, tool_name):
    column = pa.array(texts, kind).slice(min(start, len(texts)))
    assert listed(reduce_arrow(tool_name, column)) == expected(texts[start:], tool_name)


def test_a_budget_is_kept():
    log = "".join(f"{'abcdefgh'[n % 8] * (n % 50 + 9)} {n}\n" for n in range(1_000))
    [text] = listed(reduce_arrow("terminal", pa.array([log]), budget_chars=500))
    assert len(text) <= 500


def test_the_result_is_taken_without_a_copy_as_often_as_wanted():
    reduced = reduce_arrow("terminal", pa.array(TEXTS))
    first, second = pa.array(reduced), pa.array(reduced)
    assert first.buffers()[2].address == second.buffers()[2].address
    assert pa.chunked_array(reduced).num_chunks == 1
    del reduced
    gc.collect()
    assert first.to_pylist() == second.to_pylist() == expected(TEXTS)


def test_a_result_may_be_reduced_again():
    once = reduce_arrow("terminal", pa.array(TEXTS))
    assert listed(reduce_arrow("terminal", once)) == listed(once)


def test_no_input_is_left_in_memory():
    before = pa.total_allocated_bytes()
    column = pa.chunked_array([[LISTING] * 20, [LISTING] * 20])
    reduced = reduce_arrow("terminal", column, commands=pa.array(["find ."] * 40))
    assert pa.total_allocated_bytes() > before
    del column
    gc.collect()
    assert pa.total_allocated_bytes() == before
    assert len(reduced) == 40


def test_other_threads_run_meanwhile():
    column = pa.array([LISTING * 10])
    go = threading.Event()
    ran = threading.Event()
    thread = threading.Thread(target=lambda: go.wait() and ran.set())
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1_000)
    try:
        go.set()
        # Without a release of the GIL the other thread could not run for a thousand seconds.
        for _ in range(1_000):
            reduce_arrow("terminal", column)
            if ran.is_set():
                break
        seen = ran.is_set()
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    assert seen


class Offers:
    """An object whose method gives the same capsules each time."""

    def __init__(self, column):
        self.capsules = column.__arrow_c_array__()

    def __arrow_c_array__(self, requested_schema=None):
        return self.capsules


class SwappedCapsules(Offers):
    def __arrow_c_array__(self, requested_schema=None):
        return self.capsules[::-1]


def refused(*args, **keywords):
    with pytest.raises(ConfigError) as raised:
        reduce_arrow("terminal", *args, **keywords)
    message = str(raised.value)
    assert message.startswith("reduce_arrow: ")
    assert "\n" not in message
    return message


def test_what_is_read_before_is_refused():
    column = Offers(pa.array(["text"]))
    assert listed(reduce_arrow("terminal", column)) == ["text"]
    assert "`outputs`: it was read before" in refused(column)


def test_capsules_of_another_name_are_refused():
    assert "`outputs` gives no capsule " in refused(SwappedCapsules(pa.array(["text"])))


@pytest.mark.parametrize("given", [5, (None,), (None, None)])
def test_what_is_no_pair_of_capsules_is_refused_by_its_name(given):
    class Offering:
        def __arrow_c_array__(self, requested_schema=None):
            return given

    assert "`commands`" in refused(COLUMN, commands=Offering())


COLUMN = pa.array(["a", "b"])


@pytest.mark.parametrize(
    ("outputs", "keywords", "message"),
    [
        (["a"], {}, "`outputs` must offer `__arrow_c_stream__` or `__arrow_c_array__`"),
        (pa.array([1]), {}, "got numbers"),
        (pa.array([b"a"]), {}, "got binary: cast it to a string type"),
        (pa.array([1.5]), {}, "got floating point"),
        (pa.table({"output": COLUMN}), {}, "got a table: give one column of it"),
        (pa.array([["a"]]), {}, "got lists"),
        (pa.array([0], pa.timestamp("s")), {}, "got times"),
        (pa.RunEndEncodedArray.from_arrays([2], ["a"]), {}, "got run-end encoding: decode it"),
        (pa.array([1, 1]).dictionary_encode(), {}, "got numbers"),
        (COLUMN, {"commands": pa.array(["ls"])}, "`commands` has 1 rows and `outputs` has"),
        (COLUMN, {"commands": pa.array(["ls"] * 3)}, "`commands` has more than the 2 rows"),
        (COLUMN, {"commands": ["ls", "ls"]}, "`commands` must offer"),
        (COLUMN, {"commands": pa.array([1, 2])}, "`commands`: wanted are texts"),
        (COLUMN, {"exit_codes": [1]}, "`exit_codes` has 1 rows and `outputs` has more"),
        (COLUMN, {"exit_codes": [1, 2, 3]}, "`exit_codes` has more than the 2 rows"),
        (COLUMN, {"exit_codes": pa.array([1])}, "`exit_codes` has 1 rows"),
        (COLUMN, {"exit_codes": pa.array([1, 2, 3])}, "`exit_codes` has more than"),
        (COLUMN, {"exit_codes": [1, "2"]}, "`exit_codes[1]` must be a whole number of 64 bits"),
        (COLUMN, {"exit_codes": [2**64, 1]}, "`exit_codes[0]` must be a whole number of 64 bits"),
        (COLUMN, {"exit_codes": 1}, "a list of integers and None: 1"),
        (COLUMN, {"exit_codes": pa.array([0.0, 1.0])}, "got floating point: cast it to int64"),
        (COLUMN, {"budget_chars": -1}, "`budget_chars` must be a whole number from 0 to"),
        (COLUMN, {"budget_chars": "all"}, "or None: 'all'"),
    ],
)
def test_wrong_columns_are_refused_on_one_line(outputs, keywords, message):
    assert message in refused(outputs, **keywords)


def test_what_is_no_utf8_is_refused_with_its_row():
    offsets = pa.py_buffer(b"".join(n.to_bytes(4, "little") for n in (0, 1, 2)))
    column = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"a\xff"))
    assert "`outputs`: row 1 is no UTF-8" in refused(column)


def test_what_an_object_raises_is_reported_on_one_line():
    class Failing:
        def __arrow_c_stream__(self, requested_schema=None):
            raise ValueError("the disk\nis gone")

    assert "the disk is gone" in refused(Failing())


def test_a_tool_without_a_reducer_is_refused():
    with pytest.raises(ConfigError, match="no built-in reducer for 'weather'"):
        reduce_arrow("weather", COLUMN)
    with pytest.raises(ConfigError, match=r"^no built-in reducer for <pyarrow.*: known are .*$"):
        reduce_arrow(COLUMN, "terminal")
