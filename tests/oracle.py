"""Plain-Python twins of the native text functions: slow, short, and easy to believe.

Each says in the simplest words what the native function of the same name must do. Standard library
and `regex` only; nothing of the package is imported.
"""

from __future__ import annotations

import regex

MARKER = regex.compile(r"\n\[truncated — (0|[1-9][0-9]{0,18}) chars total\]\Z")
NOTICE = regex.compile(r"\.\.\. \[reduced from [0-9]+ lines / [0-9]+ chars to head\+tail\] \.\.\.")
HINT = regex.compile(
    r"File is [0-9]+ lines\. Showing lines 1-200\. "
    r"Call read_file with lineStart/lineEnd for more\."
)
LONE_LINKER = regex.compile(
    r"(\P{InCB=Consonant}*[\p{InCB=Linker}\p{InCB=Extend}])(\p{InCB=Consonant}.*)", regex.DOTALL
)
RANGE_ARGUMENTS = {
    *("lineStart", "lineEnd", "line_start", "line_end", "start_line", "end_line"),
    *("offset", "limit"),
}


def replace_surrogates(text: str) -> str:
    """Each lone surrogate as one U+FFFD."""
    return "".join(
        "\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text
    )


def clusters(text: str) -> list[str]:
    """The extended grapheme clusters of `text`.

    `regex` joins a linker to the consonant after it even where no consonant stands before it;
    rule GB9c and Unicode's own test file do not.
    """
    found: list[str] = []
    for cluster in regex.findall(r"\X", text):
        lone = LONE_LINKER.fullmatch(cluster)
        found.extend(lone.groups() if lone else [cluster])
    return found


def trim(text: str, cap: int) -> tuple[str, int | None]:
    """The first `cap` characters in whole clusters, and how many there were if it was cut."""
    text = replace_surrogates(text)
    if (marker := MARKER.search(text)) and marker.start() <= cap:
        total = int(marker[1])
        if total > marker.start():
            return text, total
    if len(text) <= cap:
        return text, None
    remaining = ""
    for cluster in clusters(text):
        if len(remaining) + len(cluster) > cap:
            break
        remaining += cluster
    remaining = remaining or text[:cap]
    return f"{remaining}\n[truncated — {len(text)} chars total]", len(text)


def lines_of(text: str) -> list[str]:
    """The lines of `text`; a closing line feed ends the last one and begins none."""
    return text.removesuffix("\n").split("\n")


def head_tail(text: str) -> str:
    """The first 40 and last 20 lines of a text over 8,192 characters."""
    lines = lines_of(text)
    if len(text) <= 8192 or len(lines) <= 60:
        return text
    if len(lines) == 61 and NOTICE.fullmatch(lines[40]):
        return text
    notice = f"... [reduced from {len(lines)} lines / {len(text)} chars to head+tail] ..."
    closing = "\n" if text.endswith("\n") else ""
    reduced = "\n".join([*lines[:40], notice, *lines[-20:]]) + closing
    return reduced if len(reduced) < len(text) else text


def read_file(text: str, args: object = None, ok: bool = True) -> str:
    """The first 200 lines of a file read without a range, after a hint; long ones shortened."""
    if not ok:
        return text
    if isinstance(args, dict) and any(args.get(name) is not None for name in RANGE_ARGUMENTS):
        return text
    lines = lines_of(text)
    if len(lines) <= 200 or (len(lines) == 201 and HINT.fullmatch(lines[0])):
        reduced = "\n".join(
            shortened(line, number) for number, line in enumerate(text.split("\n"), 1)
        )
        return reduced if len(reduced) < len(text) else text
    hint = (
        f"File is {len(lines)} lines. Showing lines 1-200. "
        "Call read_file with lineStart/lineEnd for more."
    )
    reduced = "\n".join(
        [hint, *(shortened(line, number) for number, line in enumerate(lines[:200], 1))]
    )
    return reduced if len(reduced) < len(text) else text


def shortened(line: str, number: int) -> str:
    """A line of a file: of more than 10,000 characters the ends, and how to read all of it."""
    if len(line) <= 10_000:
        return line
    hint = (
        f"{len(line) - 8_000} characters left out; "
        f"call read_file with lineStart {number} and lineEnd {number} for all"
    )
    return f"{line[:6_000]}...[{hint}]...{line[-2_000:]}"


def reduce(kind: str | None, text: str, args: object = None, ok: bool = True) -> str:
    """What the reducer of `kind` leaves."""
    match kind:
        case "head_tail":
            return head_tail(text)
        case "read_file":
            return read_file(text, args, ok)
    return text


def finish(
    text: str, cap: int, kind: str | None = None, args: object = None, ok: bool = True
) -> tuple[str, int, int | None]:
    """Reduced, freed of surrogates, trimmed; how much entered the trim; how much was cut from."""
    reduced = reduce(kind, text, args, ok)
    sent, truncated_from = trim(reduced, cap)
    return sent, len(reduced), truncated_from
