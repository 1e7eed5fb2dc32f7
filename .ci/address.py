"""The address of the repository: `Source` in `pyproject.toml` is the one value.

python .ci/address.py            # exit 1: a file has another address
python .ci/address.py --write    # put it into every file
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILES = ("README.md", "docs/index.md", "mkdocs.yml", "CITATION.cff", "pyproject.toml", "Cargo.toml")
_REPOSITORY = re.compile(
    r"https://(?:github|raw\.githubusercontent)\.com/[\w.-]+/ethos-registry(?=[/\"\s)]|$)",
    re.MULTILINE,
)
_SITE = re.compile(r"https://[\w-]+\.github\.io/ethos-registry/")


def address() -> str:
    """`owner/name` of the repository."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    return str(urls["Source"]).removeprefix("https://github.com/")


def rewritten(text: str) -> str:
    """The text with this address in place of any other."""
    owner = address().partition("/")[0]
    text = _REPOSITORY.sub(lambda found: "/".join([*found[0].split("/")[:3], address()]), text)
    return _SITE.sub(f"https://{owner}.github.io/ethos-registry/", text)


def main(*options: str) -> int:
    """Compare or rewrite every file."""
    differs = 0
    for name in FILES:
        text = (ROOT / name).read_text(encoding="utf-8")
        if (wanted := rewritten(text)) != text:
            differs = 1
            print(f"{name} has another address than {address()}")
            if "--write" in options:
                (ROOT / name).write_text(wanted, encoding="utf-8")
    return 0 if "--write" in options else differs


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
