"""`reduce_text` and `reduce_many`: reducers without a batch."""

import pytest

from ethos_registry import ConfigError, reduce_text
from ethos_registry.reduction import reduce_many

LISTING = "".join(f"./src/parts/file_{n}.py\n" for n in range(1_000))


def test_many_texts_are_reduced_each_as_alone() -> None:
    texts = [LISTING, "short", LISTING + "é\n", LISTING.replace("src", "\u6f22")]
    commands = ["find .", None, "find . -type f", "ls"]
    codes = [0, None, 1, None]
    together = reduce_many(texts, commands=commands, exit_codes=codes)
    alone = [
        reduce_text(text, command=command, exit_code=code)
        for text, command, code in zip(texts, commands, codes, strict=True)
    ]
    assert together == alone
    assert together[1] is texts[1]
    assert all(len(new) < len(old) for new, old in zip(together, texts, strict=True) if new != old)


def test_no_texts_are_no_results() -> None:
    assert reduce_many([]) == []


def test_lone_surrogates_do_not_stop_the_others() -> None:
    reduced = reduce_many([LISTING + "\ud800\n", LISTING], commands=["find .", "find ."])
    assert len(reduced[0]) < len(LISTING)
    assert reduced[1] == reduce_text(LISTING, command="find .")


def test_more_text_than_one_chunk_keeps_its_order() -> None:
    texts = [f"{n}\n" + LISTING * 60 for n in range(40)]
    reduced = reduce_many(texts, tool_name="head_tail")
    assert [text.partition("\n")[0] for text in reduced] == [str(n) for n in range(40)]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"commands": ["ls"]}, "`commands` has 1 items for 2 strings"),
        ({"exit_codes": [1, 2, 3]}, "`exit_codes` has 3 items for 2 strings"),
        ({"commands": ["ls", 2]}, r"`commands\[1\]` must be a string: 2"),
        ({"commands": "ls"}, "`commands` must be a list with one item for each string: 'ls'"),
        ({"exit_codes": 0}, "`exit_codes` must be a list with one item for each string: 0"),
        ({"exit_codes": [0, "1"]}, r"`exit_codes\[1\]` must be a whole number of 64 bits.*'1'"),
        ({"exit_codes": [2**64, 0]}, r"`exit_codes\[0\]` must be a whole number of 64 bits"),
        ({"budget_chars": -1}, "`budget_chars` must be a whole number from 0 .*: -1"),
        ({"budget_chars": 2**80}, "`budget_chars` must be a whole number from 0 "),
        ({"tool_name": "weather"}, "no built-in reducer for 'weather': known are terminal"),
    ],
)
def test_wrong_lists_are_refused_before_anything_is_reduced(keywords, message) -> None:
    with pytest.raises(ConfigError, match=message):
        reduce_many(["a", "b"], **keywords)


def test_one_string_is_no_list_of_texts() -> None:
    with pytest.raises(ConfigError, match="use reduce_text"):
        reduce_many("text")


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"text": None}, "`text` must be a string: None"),
        ({"text": b"leaf"}, "`text` must be a string: b'leaf'"),
        ({"command": ["ls"]}, r"`command` must be a string: \['ls'\]"),
        ({"exit_code": "0"}, "`exit_code` must be a whole number of 64 bits, or None: '0'"),
        ({"budget_chars": 1.5}, "`budget_chars` must be a whole number from 0 .*: 1.5"),
    ],
)
def test_a_wrong_value_is_named(keywords, message) -> None:
    with pytest.raises(ConfigError, match=f"^{message}") as raised:
        reduce_text(**({"text": "leaf"} | keywords))
    assert raised.value.__context__ is None


def test_a_wrong_text_among_many_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^`texts\[1\]` must be a string: None") as raised:
        reduce_many(["leaf", None])
    assert raised.value.__context__ is None
    with pytest.raises(ConfigError, match=r"^`texts` must be a list with one item"):
        reduce_many(None)
