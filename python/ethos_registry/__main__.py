"""`python -m ethos_registry`: the command line."""

from __future__ import annotations

import sys

from ethos_registry._cli import main

if __name__ == "__main__":
    sys.exit(main())
