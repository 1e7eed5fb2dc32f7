"""Texts that break naive cuts, as hypothesis strategies."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

HARD_PARTS = [
    "", "a", "Z9", " ", "\n", "\r\n", "\r", "\t", "\x1b[31m", "\0",
    "é", "ÿ", "e\u0301", "e\u0301\u0323", "\u0301", "ж", "א", "ع\u064b",
    "漢", "字", "か\u3099", "𠀀",
    "😀", "👍🏽", "👩\u200d💻", "👨\u200d👩\u200d👧\u200d👦", "❤\ufe0f", "1\ufe0f\u20e3", "\u200d",
    "🇩🇪", "🇩", "🇩🇪🇫",
    "가", "각", "\u1100", "\u1161", "\u11a8", "\u1100\u1161\u11a8",
    "क\u094dष", "क\u094d\u200dष", "क\u094d", "ত\u09cdর", "กำ",
    "\u0600", "\u0600a", "\u00ad", "\u2028",
    "\ud83d", "\ude00", "\ud83d\ude00", "\udcff",
    "\n[truncated — 5 chars total]", "\n[truncated — 99999 chars total]", "[truncated —",
]  # fmt: skip

any_character = st.characters(min_codepoint=0, max_codepoint=0x10FFFF)
hard_texts = st.lists(st.sampled_from(HARD_PARTS) | st.text(any_character, max_size=3)).map("".join)
"""Texts of pieces that join, pair, extend and forge; lone surrogates among them."""

caps = st.integers(0, 60)


@dataclass(frozen=True)
class Lines:
    """A text by its recipe: hypothesis refuses to print the long ones."""

    count: int
    line: str
    marks: dict[int, str]
    closing: str

    @property
    def text(self) -> str:
        return "\n".join(self.marks.get(number, self.line) for number in range(self.count)) + (
            self.closing
        )


def texts_of_lines(around: int) -> st.SearchStrategy[Lines]:
    """Texts of about `around` lines, a few or many characters long each."""
    return st.builds(
        Lines,
        st.integers(max(around - 3, 0), around + 3) | st.integers(0, 4 * around),
        st.sampled_from(
            ["", "x", "a line of text", "é" * 200, "😀 " * 150, "y" * 900, "é😀" * 5_100]
        ),
        st.dictionaries(st.integers(0, 4 * around), hard_texts, max_size=6),
        st.sampled_from(["", "\n", "\n\n"]),
    )
