"""``python -m hypermodes`` is the command line."""

import sys

from hypermodes.cli import main

if __name__ == "__main__":
    sys.exit(main())
