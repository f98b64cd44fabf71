"""The command ``rose``. Nothing here is part of what a page loads.

``rose compile`` is `compile`: it makes a module for the web of `module.js`, with `declarations` for
TypeScript and the `defaults` of parameters.

``rose freeze`` is `freeze`, which has the folder of a site served (`serve`) and its pages used, `several`
at a time:

- `visit`: a page in a Chromium (`browser`), opened in each of its ways (`opening`), and what it compiles
  (`artifact`);
- `actions`: what is done in a page by `page.js`, and by `use.js` in the order in which readers would;
  `elements.js` finds what there is to use, `hands.js`, `inputs.js` and `together.js` know how;
- before the page's own scripts come `watch.js`, which keeps what is compiled, `worker.js`, which tells what
  the page's workers compile, `navigation.js`, `registration.js` and `stored.js`;
- `site`: what is frozen, and what has to change in the folder; `offline`: the service worker, `offline.js`.

`errors` are those that the reader of a command's output can put right.
"""

from __future__ import annotations

import argparse
import io
import logging
import sys
import warnings
from pathlib import Path

from rose_core import __version__
from rose_core.cli.errors import CommandError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rose",
        description="Compiles functions ahead of time, so that readers of a page load no compiler.",
    )
    parser.add_argument("--version", action="version", version=f"rose {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    freeze = commands.add_parser(
        "freeze",
        help="compile ahead of time what the pages of a site compile",
        description="Opens each page of a site in Chromium, uses it, and writes what it compiled into files "
        "next to it, so that its readers load no Python. The pages are not changed. A page is used by the "
        "function warmUp that one of its modules exports, or else as readers do: see the README.",
    )
    freeze.add_argument("site", type=Path, help="the folder of the site, as it is published")
    freeze.add_argument("--check", action="store_true", help="change nothing; say what is out of date")
    freeze.add_argument("--offline", action="store_true", help="let the site work without a network")
    freeze.add_argument(
        "--base",
        default="/",
        help="where the site is on its host, such as /blog/, if its pages depend on that",
    )
    freeze.add_argument("--browser", help="the Chromium to use; else $CHROMIUM, Playwright's, the system's")
    compile = commands.add_parser(
        "compile",
        help="make a JavaScript module of a function in a Python file",
        description="Writes an ES module that depends on nothing, its WebAssembly and its declarations.",
    )
    compile.add_argument("function", metavar="FILE:FUNCTION", help="such as model.py:f")
    compile.add_argument("--grad", action="store_true", help="with its gradient")
    compile.add_argument("--hessian", action="store_true", help="with its matrix of second derivatives")
    compile.add_argument(
        "--precise", action="store_true", help="with powers as near to the exact value as other functions"
    )
    compile.add_argument("-o", "--output", type=Path, default=Path(), help="the folder for the files")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process; its exit status."""
    chosen = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names may have what a terminal cannot show
    try:
        if chosen.command == "compile":
            from rose_core.cli.compile import compile_function

            return compile_function(
                chosen.function, chosen.grad, chosen.hessian, chosen.precise, chosen.output
            )
        from rose_core.cli.freeze import freeze_site

        return freeze_site(chosen.site, chosen.check, chosen.offline, chosen.browser, chosen.base)
    except KeyboardInterrupt:
        # Playwright leaves promises and pipes behind, which tell at the end that nobody heard or closed them
        logging.disable()
        warnings.simplefilter("ignore")
        sys.unraisablehook = lambda _: None
        print("rose: stopped", file=sys.stderr)
        return 130
    except CommandError as error:
        print(f"rose: {error}", file=sys.stderr)
        return 2
    except OSError as error:  # of a file that is to be written
        print(
            f"rose: {error.filename}: {error.strerror}" if error.filename else f"rose: {error}",
            file=sys.stderr,
        )
        return 2
