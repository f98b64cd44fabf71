"""Python in the page: its functions are like those of JavaScript, and its mistakes have lines."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, expect

from e2e.noted import asked
from e2e.tab import KEPT

MARKUP = """<!doctype html>
<meta charset="utf-8">
<link rel="icon" href="icon.svg">
<title>waits</title>
SCRIPTS
<script type="module">
  import * as rose from "../rose.js";
  const { Real, compile, fn, grad, hessian, interp, mul, python, vjp } = rose;
  try {
    globalThis.told = JSON.stringify(await (async () => { WORK })());
  } catch (error) {
    globalThis.told = error.message;
  }
  document.title = "done";
</script>
"""

BOWL = """<script type="text/x-rose">
  from rose_core import Real, Vec, fn, root, sin, sum

  R2 = Vec(2, Real)

  @fn
  def bowl(v: R2) -> Real:
      return sum(2, lambda i: v[i] * v[i]) + sin(v[0])

  @fn
  def side(volume: Real) -> Real:
      return root(lambda x: x * x * x - volume, 1.0)
</script>
"""

GRADIENT = """
const { bowl } = await python();
const g = await compile(grad(bowl));
return g([0, 3]);
"""


def serve(page: Page, scripts: str, work: str, files: dict[str, str] | None = None) -> str:
    """Make a page with these scripts in Python, which keeps what `work` gives; its address."""
    html = MARKUP.replace("SCRIPTS", scripts).replace("WORK", work)

    def answer(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        texts = {"made.html": html, **(files or {})}
        kind = "text/html" if name == "made.html" else "text/x-python"
        route.fulfill(body=texts.get(name, ""), content_type=kind, status=200 if name in texts else 404)

    page.route(re.compile(r"/pages/(made\.html|.*\.py)$"), answer)
    return "pages/made.html"


def result(page: Page, url: str, scripts: str, work: str, files: dict[str, str] | None = None) -> str:
    page.goto(url + serve(page, scripts, work, files))
    return told(page)


def told(page: Page) -> str:
    expect(page).to_have_title("done")
    return str(page.evaluate("told"))


def test_a_function_from_python_is_like_any_other(page: Page, site_url: str) -> None:
    work = """
        const { bowl, side } = await python();
        const f = fn([Real], Real, (x) => mul(2, bowl([x, side(x)])));
        const second = fn([Real], Real, (x) => vjp(bowl)([x, 1]).grad(1)[1]);
        const values = [];
        for (const g of [f, grad(f), grad(grad(f)), second]) values.push((await compile(g))(8));
        const again = await python();
        return { values, same: again.bowl === bowl, names: Object.keys(again) };
    """
    found = json.loads(result(page, site_url, BOWL, work))
    assert found["same"] and found["names"] == ["bowl", "side"]
    # 2 (x² + x^⅔ + sin x)
    first = 2 * (16 + 2 / 3 * 8 ** (-1 / 3) + math.cos(8))
    second = 2 * (2 - 2 / 9 * 8 ** (-4 / 3) - math.sin(8))
    assert found["values"] == pytest.approx([2 * (64 + 4 + math.sin(8)), first, second, 2.0])


def test_the_browser_keeps_what_scripts_define(page: Page, site_url: str) -> None:
    assert result(page, site_url, BOWL, GRADIENT) == "[1,6]"
    page.wait_for_function(f"async () => {KEPT} === 2")  # what they define, and its gradient
    urls = asked(page.context)
    page.reload()
    assert told(page) == "[1,6]"
    assert not any("/pyodide/" in url or "worker" in url for url in urls)


def test_a_page_without_scripts_loads_nothing_for_them(page: Page, site_url: str) -> None:
    urls = asked(page.context)
    assert result(page, site_url, "", "return 1;") == "1"
    assert not any("python" in url for url in urls)
    assert result(page, site_url, "", "await python();") == (
        'python: there is no <script type="text/x-rose"> in the page'
    )


def test_a_script_may_use_the_standard_library(page: Page, site_url: str) -> None:
    scripts = """<script type="text/x-rose">
    from fractions import Fraction
    from rose_core import *
    third = fn([Real], Real, lambda x: x * Fraction(1, 4))
    </script>"""
    work = "const { third } = await python(); return (await compile(third))(2);"
    assert result(page, site_url, scripts, work) == "0.5"


@pytest.mark.provokes(r"404 .*/python_stdlib\.zip")
def test_a_library_that_could_not_be_had_is_asked_for_again(page: Page, site_url: str) -> None:
    url = "**/python_stdlib.zip"
    page.context.route(url, lambda route: route.fulfill(status=404), times=1)
    work = """
        const text = "from fractions import Fraction\\nfrom rose_core import *\\nf = expr('2 * x')";
        const told = await python(text).catch(({ message }) => message);
        const { f } = await python(text);
        return [told.replace(/.*: /, ""), (await compile(f))(3)];
    """
    assert json.loads(result(page, site_url, "", work)) == ["its host answers 404", 6]


WRONG = """<p>An example: <code>x = = 1</code>.</p>
<script type="text/x-rose" src="tools.py"></script>
<script type="text/x-rose">
  from rose_core import *
  ok = fn([Real], Real, lambda x: thrice(x))
</script>
<p>Between.</p>
<script type="text/x-rose">
  LINE
</script>
"""

TOOLS = """from rose_core import *


def thrice(x):
    return x + x + x
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = = 1", "made.html, line 13: SyntaxError: invalid syntax\n    x = = 1\n        ^"),
        ("y = ok + 1", "made.html, line 13: TypeError: unsupported operand"),
        ("fn([Bool], Real, thrice)", "tools.py, line 5: TypeError: add: expected Real, got a symbolic Bool"),
        (
            "import numpy",
            "made.html, line 13: ModuleNotFoundError: No module named 'numpy' (pages have those "
            "parts of Python's library that Rose itself needs, and no packages)\n    import numpy",
        ),
    ],
)
def test_mistakes_are_told_by_the_line_of_the_page(
    page: Page, site_url: str, line: str, expected: str
) -> None:
    """MARKUP has four lines before the scripts."""
    scripts = WRONG.replace("LINE", line)
    assert result(page, site_url, scripts, "return await python();", {"tools.py": TOOLS}).startswith(expected)


@pytest.mark.parametrize("kind", ["src", "srcdoc"])
def test_a_page_without_a_name_of_its_own(page: Page, host: Callable[..., str], kind: str) -> None:
    """Its address is all that is in it, or it has none."""
    origin = host(headers={"Access-Control-Allow-Origin": "*"})
    html = MARKUP.replace("SCRIPTS", '<script type="text/x-rose">\nx = nobody\n</script>')
    html = html.replace("WORK", "return await python();").replace("../", origin)
    page.goto(f"{origin}pages/blank.html")
    page.evaluate(
        "(page) => void document.body.append(Object.assign(document.createElement('iframe'), page))",
        {kind: html if kind == "srcdoc" else f"data:text/html,{quote(html)}"},
    )
    (frame,) = page.main_frame.child_frames
    wait = "while (!globalThis.told) await new Promise((go) => setTimeout(go, 20));"
    assert frame.evaluate(f"async () => {{ {wait} return told; }}").startswith("the page, line 6: NameError")


def test_what_stands_in_a_comment_is_no_script(page: Page, site_url: str) -> None:
    script = '<script type="text/x-rose">\nx = nobody\n</script>'
    before = f"<!-- of old:\n{script}\n--><script>'<!--'</script>\n"
    told = result(page, site_url, before + script, "return await python();")
    assert told.startswith("made.html, line 11: NameError")


def test_lines_of_a_page_in_another_encoding_that_calls_itself_something_else(
    page: Page, site_url: str
) -> None:
    rename = '<script>history.replaceState(null, "", "blank.html")</script>'
    script = '<script type="text/x-rose">\n# älter\nx = nobody\n</script>'
    html = MARKUP.replace("utf-8", "iso-8859-1").replace("SCRIPTS", f"{rename}\n{script}")
    body = html.replace("WORK", "return await python();").encode("iso-8859-1")
    page.route("**/pages/old.html", lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto(f"{site_url}pages/old.html")
    assert told(page).startswith("old.html, line 8: NameError: name 'nobody' is not defined")


def test_warnings_are_told_by_the_line_of_the_page(page: Page, site_url: str) -> None:
    heard: list[str] = []
    page.on("console", lambda message: heard.append(f"{message.type} {message.text}"))
    scripts = WRONG.replace("LINE", "import warnings; warnings.warn('old')")
    work = "return Object.keys(await python());"
    assert result(page, site_url, scripts, work, {"tools.py": TOOLS}) == '["ok"]'
    assert heard == ["warning made.html, line 13: UserWarning: old"]


@pytest.mark.provokes(r"/pages/missing\.py")
def test_a_script_that_is_missing_is_named(page: Page, site_url: str) -> None:
    scripts = '<script type="text/x-rose" src="missing.py"></script>'
    assert re.fullmatch(
        r"python: could not load http://.*/pages/missing\.py: 404",
        result(page, site_url, scripts, "return await python();"),
    )


SOLVE = """
const { side } = await python();
return (await compile(side))(NaN);
"""


def test_what_goes_wrong_later_has_its_line_as_the_page_is_now(page: Page, site_url: str) -> None:
    """The second time nothing of the scripts is new, but they stand further down."""
    assert result(page, site_url, BOWL, SOLVE).endswith("(made.html, line 16)")
    page.wait_for_function(f"async () => {KEPT} === 2")
    urls = asked(page.context)
    page.unroute_all()
    assert result(page, site_url, f"<p>Above.</p>\n{BOWL}", SOLVE).endswith("(made.html, line 17)")
    assert not any("/pyodide/" in url for url in urls)


def test_scripts_with_open_sizes_say_what_to_do(page: Page, site_url: str) -> None:
    scripts = """<script type="text/x-rose">
    from rose_core import *
    n = Size("n")
    first = fn([Vec(n, Real)], Real, lambda v: v[0])
    first_of_2 = first.at(n=2)
    </script>"""
    work = """
        const found = await python();
        const value = (await compile(found.first_of_2))([3, 4]);
        try { found.first; } catch (error) { return [value, error.message]; }
    """
    assert json.loads(result(page, site_url, scripts, work)) == [
        3,
        "first has sizes that are not known: give them in Python, as in first_at = first.at(n=…)",
    ]


def test_a_function_that_javascript_would_await(page: Page, site_url: str) -> None:
    scripts = """
<script type="text/x-rose">
from rose_core import Real, fn
@fn
def then(x: Real) -> Real:
    return x
</script>
"""
    said = result(page, site_url, scripts, "return Object.keys(await python());")
    assert "JavaScript takes an object with a then for a promise; rename that function" in said


def test_scripts_that_are_given_up(page: Page, site_url: str) -> None:
    """What comes after finds a worker that is not busy with them."""
    work = """
        const given = AbortSignal.timeout(2000);
        const endless = await python("while True: pass", { signal: given }).catch((error) => error.name);
        const { f } = await python("from rose_core import *\\nf = expr('2 * x')");
        return [endless, (await compile(f))(3)];
    """
    assert json.loads(result(page, site_url, "", work)) == ["TimeoutError", 6]


@pytest.mark.provokes("fatal error", "Maximum call stack")
def test_what_is_too_deep_is_told_and_the_next_is_compiled(page: Page, site_url: str) -> None:
    """A sum of many terms is as deep as it is long."""
    work = """
        const head = "from rose_core import *\\nf = fn([Real], Real, lambda x: ";
        const sum = (n) => `${head}${Array(n).fill("x").join("+")})`;
        const tried = [];
        for (const n of [1500, 100000, 300]) {
            const { message, f } = await python(sum(n)).catch((error) => error);
            tried.push(message ?? (await compile(f))(2));
        }
        return tried;
    """
    long, deep, short = json.loads(result(page, site_url, "", work))
    assert (long, short) == (3000, 600)
    assert deep.startswith("Rose's worker has ended twice while it ran scripts in Python")


def test_who_gives_up_while_python_loads_is_told_at_once(page: Page, site_url: str) -> None:
    """For a reason of any kind."""
    page.route("**/pyodide.asm.wasm", lambda route: None)
    work = """
        const told = [];
        for (const reason of ["enough", null]) {
            const giving = new AbortController();
            const made = python("f = 1", { signal: giving.signal });
            setTimeout(() => giving.abort(reason), 100);
            told.push(await made.catch((given) => given));
        }
        return told;
    """
    assert json.loads(result(page, site_url, "", work)) == ["enough", None]


def test_wrong_options_are_told(page: Page, site_url: str) -> None:
    work = """
        const wrong = [{ signal: {} }, null, { sginal: 1 }];
        const told = (options) => python("f = 1", options).catch(({ message }) => message);
        return await Promise.all(wrong.map(told));
    """
    assert json.loads(result(page, site_url, "", work)) == [
        "python: expected signal to be an AbortSignal, got an empty object",
        "python: expected an object of options, got null",
        "python: there is no option sginal; the options are signal",
    ]
