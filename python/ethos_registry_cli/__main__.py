"""`python -m ethos_registry_cli`: the command line."""

import sys

from ethos_registry_cli import main

if __name__ == "__main__":
    sys.exit(main())
