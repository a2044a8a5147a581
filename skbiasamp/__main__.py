"""``python -m skbiasamp``."""

import sys

from skbiasamp.cli import main

sys.exit(main())
