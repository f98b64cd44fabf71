import sys

from rose_core.cli import main

sys.exit(main())
