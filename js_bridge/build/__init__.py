"""What build.py consists of, in the order in which one stands on another.

    paths    where things are in a clone
    steps    commands, and steps that are left out where nothing that they depend on has changed
    tools    what a clone needs of the machine: packages, Node, browsers
    site     the site of dist/, and what is frozen of it
    dist     all of dist/: the core's wheel, Pyodide with the core in it, the bridge, the site
    check    what is asked of the sources before they are tested

The scripts for Node that are here, too, are steps of `dist`.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - this is where it is required
    sys.exit("build.py needs Python 3.11 or newer, this is " + sys.version.split()[0])
if sys.platform == "win32":
    sys.exit("build.py needs Linux or macOS; on Windows it runs in WSL (https://aka.ms/wsl)")
