"""``python -m customgrad``: the same as the command ``customgrad``."""

import sys

from customgrad.cli import main

if __name__ == "__main__":
    sys.exit(main())
