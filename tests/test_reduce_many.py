"""`reduce_text` and `reduce_many`: reducers without a batch."""

import pytest

from ethos_registry import ConfigError, reduce_many, reduce_text

LISTING = "".join(f"./src/parts/file_{n}.py\n" for n in range(400))


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
        ({"commands": ["ls"]}, "`commands` has 1 items for 2 texts"),
        ({"exit_codes": [1, 2, 3]}, "`exit_codes` has 3 items for 2 texts"),
        ({"commands": [1, 2]}, "reduce_many: "),
        ({"budget_chars": -1}, "reduce_many: "),
        ({"tool_name": "weather"}, "no built-in reducer for 'weather': known are terminal"),
    ],
)
def test_wrong_lists_are_refused_before_anything_is_reduced(keywords, message) -> None:
    with pytest.raises(ConfigError, match=message):
        reduce_many(["a", "b"], **keywords)


def test_one_string_is_no_list_of_texts() -> None:
    with pytest.raises(ConfigError, match="use reduce_text"):
        reduce_many("text")
