"""Draw `docs/demo.svg` from the turn of `ethos-registry demo`: `python docs/make_demo_picture.py`.

The picture has no path of the machine and loads no other files.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from rich.console import Console, Group
from rich.text import Text

from ethos_registry._cli.demo import drawn_turn, run_turn

PICTURE = Path(__file__).with_name("demo.svg")
WIDTH = 116


def picture() -> str:
    """The turn, drawn."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(
            record=True,
            file=nowhere,
            width=WIDTH,
            force_terminal=True,
            color_system="truecolor",
            legacy_windows=False,
        )
        console.print(Text("$ ethos-registry demo", style="bold"))
        console.print(Group(*drawn_turn(run_turn(), WIDTH)))
        svg = console.export_svg(title="ethos-registry demo", unique_id="demo")
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    PICTURE.write_text(picture(), "utf-8")
