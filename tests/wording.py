"""Public text, and the words it does not use; `tests/test_wording.py` asserts.

Public text is what a reader or a model sees: Markdown pages; comments, docstrings and string
literals of the package, examples and benchmarks; comments of the Rust crates and string literals of
the binding.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache, lru_cache
from pathlib import Path

ROOT = Path(__file__).parent.parent

RETIRED: tuple[tuple[str, str], ...] = (
    (r"told|tells|telling", "reports, shows, prints, logs, returns"),
    (r"says|saying", "states, shows, reads"),
    (r"stands|stood", "is, appears, is listed"),
    (r"hears|heard", "captures, captured"),
    (r"noughts?", "zero"),
    (r"texts", "output, text, strings, content"),
    (r"a text|each text", "text, a string, output"),
    (
        r"(?<!some )(?<!most )(?<!each )(?<!all )(?<!both )(?<!two )(?<!first )(?<!many )of which",
        "split the sentence",
    ),
    (r"(?:is|are) no such", "does not exist, is unknown"),
    (
        r"(?<!there )is (?:none|no (?!longer|more than|limit|need|such)\w+)",
        "is not a ..., is invalid",
    ),
    (r"(?<!there )are no (?!longer|more than)\w+", "are not ..."),
    (r"so many|as many(?! (?:\w+ )?as)", "the same number, that many"),
    (r"a slip|slips", "a typo"),
    (r"without a word", "silently, with no output"),
    (r"one that was meant", "did you mean `x`?"),
    (r"a word of|no word of", "name the thing"),
    (r"for ever", "forever, permanently"),
    (r"anew", "again"),
    (r"mended|mends", "fixed"),
    (r"begun|whoever", "plain words"),
    (r"goes out|go out|went out", "is sent, is returned"),
    (r"the heads|heads of|heads and", "headers, headings"),
    (r"in vain|thereof|therein|wherein|whereof|lest", "plain words"),
    (r"nobody", "no one, or name the subject"),
    (r"seed \d{3}|the seeds? (?:say|said|document|rule)s?", "state the rule, link to our docs"),
    (r"(?:ADK|ADR|ETH)-\d+", "state the rule, link to our docs"),
    (r"contract \d+(?:\.\d+)?|issue \d+", "state the rule, link to our docs"),
)
"""A pattern over whole words, in any case, and what to write instead."""

ALLOWED = re.compile(
    r"`[^`\n]*`"  # quoted code and messages of other programs
    r"|--seed \d+"
    r"|(?<=\")texts(?=\")|\btexts(?=\[)"  # the name of a parameter of `reduce_many`
    r"|\b(?:with|same|the) seeds?\b(?= (?:\d|of the generator|gives))",
    re.IGNORECASE,
)
"""Terms of the field and quoted code; they are removed before the patterns are applied."""

RETIRED_NAMES = frozenset({"told", "heard", "kept", "Held", "Taken", "Returned", "stands"})
"""Identifiers that a newcomer would not guess."""

RETIRED_PARTS = frozenset(
    {"agreement", "alike", "elsewhere", "fitted", "handed", "heard", "judge", "judged", "lane"}
    | {"lanes", "odd", "signs", "stands", "told"}
)
"""Parts of identifiers and of file names: `shown_lane` and `Lane` are hits for `lane`."""
_PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")

_RETIRED = [
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead) for pattern, instead in RETIRED
]
_ANY_RETIRED = re.compile(
    "|".join(f"(?:{pattern.pattern})" for pattern, _ in _RETIRED), re.IGNORECASE
)
"""One search answers for the lines without any, which are nearly all."""
_RUST_COMMENT = re.compile(r"//[/!]?(.*)")
_RUST_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


@dataclass(frozen=True)
class Hit:
    """One retired word in one file."""

    path: str
    line: int
    words: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: `{self.words}`; instead: {self.instead}"


def markdown(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page, with their numbers; comments for tools are left out."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("<!--"):
            yield number, line


@lru_cache(maxsize=1)
def _tokens(text: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def python(text: str) -> Iterator[tuple[int, str]]:
    """The comments and string literals of a Python file."""
    strings = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in _tokens(text):
        if token.type == tokenize.COMMENT or token.type in strings:
            for offset, line in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, line


def python_names(text: str) -> Iterator[tuple[int, str]]:
    """The identifiers of a Python file."""
    for token in _tokens(text):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string


def retired_parts(name: str) -> list[str]:
    """The retired words that an identifier or a file name is made of."""
    return [part for part in map(str.lower, _PART.findall(name)) if part in RETIRED_PARTS]


def rust_names(text: str) -> Iterator[tuple[int, str]]:
    """The identifiers of a Rust file."""
    for number, line in enumerate(text.splitlines(), 1):
        code = _RUST_COMMENT.sub("", _RUST_STRING.sub(lambda found: " " * len(found[0]), line))
        for found in re.finditer(r"\b[A-Za-z_]\w*", code):
            yield number, found[0]


def rust_comments(text: str) -> Iterator[tuple[int, str]]:
    """The comments of a Rust file, without those inside string literals."""
    for number, line in enumerate(text.splitlines(), 1):
        bare = _RUST_STRING.sub(lambda found: " " * len(found[0]), line)
        found = _RUST_COMMENT.search(bare)
        if found is not None:
            yield number, line[found.start(1) :]


def rust(text: str) -> Iterator[tuple[int, str]]:
    """The comments and string literals of a Rust file."""
    yield from rust_comments(text)
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("//"):
            for found in _RUST_STRING.finditer(line):
                yield number, found[1]


NAMED = (
    (("*.py", "*.pyi"), python_names),
    (("rust/*.rs",), rust_names),
)
"""Whose identifiers are read; `*` matches folders too."""

KINDS = (
    (("*.md", "docs/**/*.md"), markdown),
    (
        (
            "python/**/*.py",
            "python/**/*.pyi",
            "examples/*.py",
            "benches/*.py",
            "docs/*.py",
            ".ci/*.py",
        ),
        python,
    ),
    (("rust/py/**/*.rs",), rust),
    (("rust/**/*.rs",), rust_comments),
    ((".ci/*", "pyproject.toml", "mkdocs.yml", "Cargo.toml", ".github/workflows/*.yml"), markdown),
)
"""Which files are read, and what of each is public text. The first match decides."""


def public_files() -> dict[str, object]:
    """The public files by their path in the repository."""
    return _public_files(ROOT)


@cache
def _public_files(root: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    for patterns, kind in KINDS:
        for pattern in patterns:
            for path in sorted(root.glob(pattern)):
                if path.is_file():
                    found.setdefault(path.relative_to(root).as_posix(), kind)
    return found


def retired_words(line: str) -> Iterator[tuple[str, str]]:
    """The retired words of one line, each with what to write instead."""
    bare = ALLOWED.sub(" ", line)
    if not _ANY_RETIRED.search(bare):
        return
    for pattern, instead in _RETIRED:
        for found in pattern.finditer(bare):
            yield found[0], instead


def hits(path: str) -> list[Hit]:
    """The retired words and names of one public file."""
    kind = public_files()[path]
    text = (ROOT / path).read_text(encoding="utf-8")
    found = [
        Hit(path, number, words, instead)
        for number, line in kind(text)  # type: ignore[operator]
        for words, instead in retired_words(line)
    ]
    return found + name_hits(path)


def name_hits(path: str) -> list[Hit]:
    """The retired names of one file, its own included."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return [
        Hit(path, number, name, "a standard term")
        for patterns, names in NAMED
        if any(fnmatch(path, pattern) for pattern in patterns)
        for number, name in (*names(text), (0, Path(path).stem))
        if name in RETIRED_NAMES or retired_parts(name)
    ]
