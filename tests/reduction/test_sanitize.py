"""Template tokens: none survives, none is made, and the rest of the text stays as it is."""

from __future__ import annotations

import sys

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import oracle_sanitize
from ethos_registry import _core
from long_counts import counts
from stopwatch import assert_ratio_below
from texts import hard_texts

PLACEHOLDER = oracle_sanitize.PLACEHOLDER

FAMILIES = {
    "upstream": "<|im_start|> <|im_end|> <|im_sep|> <|begin_of_text|> <|eot_id|> "
    "<|start_header_id|> <|end_header_id|> <<SYS>> <</SYS>> [INST] [/INST] "
    "<start_of_turn> <end_of_turn> <bos> <eos> </s> <s>",
    "gpt": "<|endoftext|> <|endofprompt|> <|start|> <|end|> <|channel|> <|message|> <|return|> "
    "<|call|> <|constrain|>",
    "llama": "<|end_of_text|> <|python_tag|> <|eom_id|> <|header_start|> <|header_end|> <|eot|> "
    "<|reserved_special_token_0|> <PRE> <SUF> <MID> <EOT>",
    "phi": "<|system|> <|user|> <|assistant|> <|tool|> <|tool_call|>",
    "qwen": "<tool_call> </tool_call> <tool_response> <think> </think> <|vision_start|> "
    "<|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <|repo_name|> <|file_sep|>",
    "starcoder": "<fim_prefix> <fim_middle> <fim_suffix> <fim-prefix> <file_sep>",
    "mistral": "[TOOL_CALLS] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [SYSTEM_PROMPT] "
    "[THINK] [/THINK] [PREFIX] [SUFFIX] [MIDDLE]",
    "gemma": "<pad> <unk> <start_of_image> <end_of_image> <|turn> <turn|> <|channel> <channel|> "
    '<|"|>',
    "deepseek": "<｜begin▁of▁sentence｜> <｜end▁of▁sentence｜> <｜User｜> <｜Assistant｜> "
    "<｜tool▁calls▁begin｜> <｜fim▁hole｜>",
    "cohere": "<|START_OF_TURN_TOKEN|> <|CHATBOT_TOKEN|> <BOS_TOKEN> <EOS_TOKEN>",
    "glm": "[gMASK] <sop> <eop> <|observation|>",
}
TOKENS = [token for family in FAMILIES.values() for token in family.split()]
EXACT_CASE = {"<PRE>", "[THINK]", "[/THINK]", "[PREFIX]", "[SUFFIX]", "[MIDDLE]"}
SPACEABLE = [token for token in TOKENS if not regex.fullmatch(r"<(\|\w+|\w+\|)>", token)]
TURNS = ["\n\nHuman:", "\n\nAssistant:", "\r\n\r\nHuman:", "\n\r\nAssistant:"]
PARTS = [
    "<", ">", "|", "[", "]", "/", "\n", "\r\n", "Human:", "Assistant:", "im_start", "user", "USER",
    "SYS", "inst", "s", "S", "eos", "turn", "word", "＜", "｜", "＞", "\u200b", " ", "\0", "\u3000",
    "‹", "ſ", "\ud83c", "é", "x" * 61, PLACEHOLDER, "STRIPPED-TEMPLATE-TOKEN", "\x1b[0m", "\x1b",
    "[0", "\x1b]0;t\x07", "\x1b(B", "ѕ", "Ⅰ", "ﬆ", "\u0301",
]  # fmt: skip
hostile = st.lists(
    st.sampled_from(PARTS) | st.sampled_from(TOKENS) | st.sampled_from(TURNS), max_size=12
).map("".join)
texts = hostile | hard_texts


def assert_equals_oracle(text: str) -> None:
    given_to_both = oracle_sanitize.oracle.replace_surrogates(text)
    assert _core.sanitize(given_to_both) == oracle_sanitize.sanitize(given_to_both)


@given(texts)
def test_sanitize_equals_its_twin(text: str) -> None:
    assert_equals_oracle(text)


@counts("step", 16, 1)
def test_every_character_looks_the_same_to_both(step: int) -> None:
    codes = [*range(0x3400), *range(0xF900, 0x10000), *range(0x1BC00, 0x1D200)]
    codes += [*range(0xE0000, 0xE1001), *range(0x3400, sys.maxunicode + 1, 97)]
    shown = [
        chr(code) for code in codes[:0x250] + codes[0x250::step] if not 0xD800 <= code <= 0xDFFF
    ]
    for shape in ("<{}eo{}>", "{}s{}", "<|a{}>"):
        text = "\n".join(shape.format(character, character) for character in shown)
        assert _core.sanitize(text) == oracle_sanitize.sanitize(text)


@given(texts)
def test_no_token_survives_and_none_is_made(text: str) -> None:
    once = _core.sanitize(text)
    assert _core.sanitize(once) is once


@given(hostile, st.integers(0, 200))
def test_every_beginning_of_a_safe_text_is_safe(text: str, cut: int) -> None:
    beginning = _core.sanitize(text)[:cut]
    assert _core.sanitize(beginning) is beginning


@pytest.mark.parametrize("token", TOKENS)
def test_tokens_of_known_model_families_are_stripped(token: str) -> None:  # D27
    assert _core.sanitize(f"a{token}b") == f"a{PLACEHOLDER}b"
    if token not in EXACT_CASE:
        for spelling in (token.lower(), token.upper()):
            assert _core.sanitize(f"é{spelling}\n") == f"é{PLACEHOLDER}\n"


@pytest.mark.parametrize("token", SPACEABLE)
@pytest.mark.parametrize("filling", [" ", "\t", "\u200b", "\xa0", "\0", "\ufe0f"])
def test_tokens_may_be_spaced(token: str, filling: str) -> None:
    spaced = filling.join(token)
    assert _core.sanitize(spaced) == PLACEHOLDER
    full_width = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in token)
    assert _core.sanitize(full_width) == PLACEHOLDER


@pytest.mark.parametrize("turn", TURNS)
def test_turns_begin_after_an_empty_line(turn: str) -> None:
    assert _core.sanitize(f"a{turn} b") == f"a{PLACEHOLDER} b"
    assert _core.sanitize(turn.removeprefix("\r").removeprefix("\n")) == PLACEHOLDER
    assert _core.sanitize(f"a{turn.lower()}") == f"a{turn.lower()}"


@pytest.mark.parametrize(
    "text",
    [
        "hello <b>world</b>", "if a < s && b > c", "f <| g", "a <|> b <|> c", "a <||> b",
        "Human: x", "a\nHuman: x", "<pre>code</pre>", "values[prefix]", "argv[args]",
        "x = [1, 2]", "<stdio.h>", "Vec<String>", "f <| x > y", "<|" + "x" * 63 + "|>",
        "view <| model\n  |> map", PLACEHOLDER,
    ],
)  # fmt: skip
def test_what_is_no_token_stays_the_same_object(text: str) -> None:
    assert _core.sanitize(text) is text


@pytest.mark.parametrize(
    "token",
    [
        "<|im\x1b[0m_start|>", "<|im_start|\n>", "<|\nim_end|>", "<|eot\r\n_id|>", "[IN\x1b[1mST]",
        "<\x1b]0;title\x07think>", "<th\x1b=ink>", "[ІNST]", "<|іm_start|\n>", "<ⓣⓗⓘⓝⓚ>",
        "<𝘁𝗵𝗶𝗻𝗸>", "[İNST]", "<\x1bthink>",
    ],
)  # fmt: skip
def test_escape_sequences_line_breaks_and_look_alikes_hide_no_token(token: str) -> None:
    assert _core.sanitize(f"a{token}b") == f"a{PLACEHOLDER}b"


def test_code_that_reads_as_a_token_goes_with_it() -> None:
    assert _core.sanitize("<s>old</s>") == f"{PLACEHOLDER}old{PLACEHOLDER}"
    assert _core.sanitize("f <| g |> h") == f"f {PLACEHOLDER} h"


def test_an_outer_token_is_not_re_formed() -> None:
    assert _core.sanitize("<|im_<|im_end|>start|>") == f"<|im_{PLACEHOLDER}start|>"
    assert _core.sanitize("[IN[INST]ST]") == f"[IN{PLACEHOLDER}ST]"
    assert _core.sanitize("\n\n\n\nHuman:Human:") == f"\n\n{PLACEHOLDER}Human:"


@pytest.mark.parametrize(
    "unit",
    ["<", "[", "<|", "< ", "<s", "<|a", "<|a|", "\n\n", "\n\nHuma", "<<SYS>", "[INST", "＜",
     "<" + " " * 99],
)  # fmt: skip
def test_the_time_is_linear_in_hostile_texts(unit: str) -> None:
    short, long = (unit * (size // len(unit)) for size in (10_000, 100_000))
    assert_ratio_below(40, lambda: _core.sanitize(long), lambda: _core.sanitize(short), 1)


def test_a_million_blanks_inside_a_token_are_read_once() -> None:
    blanks = " " * 1_000_000
    assert _core.sanitize(f"<{blanks}|a|>") == PLACEHOLDER
    text = f"<{blanks}<{blanks}<{blanks}"
    assert _core.sanitize(text) is text


def test_a_subclass_and_a_surrogate_are_texts_too() -> None:
    class Name(str):
        __slots__ = ()

    name = Name("é")
    assert _core.sanitize(name) is name
    assert _core.sanitize("\ud83d") == "\ud83d"
    assert _core.sanitize("\ud83d<s>") == f"\ufffd{PLACEHOLDER}"


def test_a_text_keeps_no_second_copy_of_itself() -> None:
    text = "é" * 100_000
    before = sys.getsizeof(text)
    _core.sanitize(text)
    _core.finish(text, 50, fence=("t", "s"))
    assert sys.getsizeof(text) == before


def test_the_comparison_sees_a_token_that_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_equals_oracle("a <think> b")
    pattern = oracle_sanitize.TOKEN.pattern.replace("|think|", "|")
    monkeypatch.setattr(oracle_sanitize, "TOKEN", regex.compile(pattern, regex.ASCII))
    with pytest.raises(AssertionError):
        assert_equals_oracle("a <think> b")
