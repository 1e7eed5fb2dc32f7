"""Write the table of `docs/reference/index.md` from the pages: `python docs/make_reference.py`."""

from __future__ import annotations

import re
from pathlib import Path

REFERENCE = Path(__file__).with_name("reference")
SETTINGS = Path(__file__).parent.parent / "mkdocs.yml"
_PAGE = re.compile(r"- (ethos_registry[\w.]*): reference/([\w-]+\.md)")
HEAD = """\
# Reference

Every public name, generated from its docstring: one page a path to import from. What most programs
need is in `ethos_registry` itself.

| Import from | Contents |
|---|---|
"""


def index() -> str:
    """The page: a row for each page of the navigation, with its first sentence."""
    rows = []
    for path, page in _PAGE.findall(SETTINGS.read_text(encoding="utf-8")):
        about = (REFERENCE / page).read_text(encoding="utf-8").split("\n\n")[1]
        sentence = re.split(r"\.? Import from|, in `", about)[0].rstrip(".")
        rows.append(f"| [`{path}`]({page}) | {sentence}. |\n")
    return HEAD + "".join(rows)


if __name__ == "__main__":
    (REFERENCE / "index.md").write_text(index(), encoding="utf-8")
