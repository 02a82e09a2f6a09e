"""`python -m evergrep`: the command line."""

import sys

from evergrep.cli import main

if __name__ == "__main__":
    sys.exit(main())
