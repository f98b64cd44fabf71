"""Scripts in Python of a page: what they define, and where they go wrong."""

from __future__ import annotations

import json

import pytest

from rose_core.recording.scripts import ScriptError, functions_of, imports_more

HEAD = "from rose_core import *\n"
SQUARE = "@fn\ndef square(x: Real) -> Real:\n    return x * x\n"


def message(*texts: str) -> str:
    with pytest.raises(ScriptError) as caught:
        functions_of(texts)
    return str(caught.value)


def test_what_a_page_can_use() -> None:
    rest = "_hidden = square\nn = Size('n')\nalias = grad(square)\n"
    rest += "first = fn([Vec(n, Real)], Real, lambda v: v[0])\n"
    found = json.loads(functions_of([HEAD + SQUARE + rest]))
    assert list(found["exports"]) == ["square", "alias"]
    assert found["functions"][found["exports"]["alias"]]["name"] == "grad_square"
    assert found["open"] == {"first": ["n"]}


def test_later_scripts_see_what_earlier_ones_define() -> None:
    found = json.loads(
        functions_of([HEAD + SQUARE, "quartic = fn([Real], Real, lambda x: square(square(x)))"])
    )
    assert list(found["exports"]) == ["square", "quartic"]
    assert json.loads(functions_of([HEAD]))["exports"] == {}


def test_the_same_scripts_give_the_same() -> None:
    texts = [HEAD + SQUARE + "half = fn([Real], Real, lambda x: root(lambda y: y * y - x, 1.0))"]
    assert functions_of(texts) == functions_of(texts)


def test_scripts_may_be_indented_as_markup_is() -> None:
    text = "\n" + "".join(f"    {line}\n" for line in (HEAD + SQUARE).splitlines())
    assert json.loads(functions_of([text]))["exports"] == {"square": 0}
    assert message("\n      x = 1\n      y = = 2\n") == (
        "script 1, line 3: SyntaxError: invalid syntax\n    y = = 2\n        ^"
    )


def test_a_script_may_be_the_text_of_any_file() -> None:
    """With the mark that some editors begin it with, and the ends of lines of any system."""
    for end in ("\n", "\r\n", "\r"):
        text = "\ufeff" + (HEAD + SQUARE).replace("\n", end)
        assert not imports_more([text])
        assert json.loads(functions_of([text]))["exports"] == {"square": 0}
    assert message("\ufeffx = 1\r\ny = = 2\r\n").startswith("script 1, line 2: SyntaxError: invalid syntax")


AT_MARGIN = """
# at the margin
    from rose_core import *
    text = '''
at the margin
    as it is'''
    assert text.split() == "at the margin as it is".split()
#
"""


def test_comments_and_long_strings_may_be_at_the_margin() -> None:
    assert not imports_more([AT_MARGIN])
    assert json.loads(functions_of([AT_MARGIN]))["exports"] == {}
    assert message(AT_MARGIN + "    y = = 2\n") == (
        "script 1, line 9: SyntaxError: invalid syntax\n    y = = 2\n        ^"
    )


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([HEAD, "x = (1,\n"], "script 2, line 1: SyntaxError: '(' was never closed\n    x = (1,\n        ^"),
        (
            [HEAD, "from rose_core import sine\n"],
            "script 2, line 1: ImportError: cannot import name 'sine' from 'rose_core'\n    from rose_core",
        ),
        (
            ["\n\nimport nowhere.at_all"],
            "script 1, line 3: ModuleNotFoundError: No module named 'nowhere' (pages have",
        ),
        (["raise SystemExit"], "script 1, line 1: SystemExit\n    raise SystemExit"),
        (["x = '\0'"], "SyntaxError: source code string cannot contain null bytes"),
        (
            [HEAD + "def twice(x):\n    return x + True\n", "\nfn([Real], Real, twice)"],
            "script 1, line 3: TypeError: add: expected Real, got bool True\n    return x + True",
        ),
        (
            [HEAD, "\ndef twice(x: Real) -> Real:\n    return 2 * x\n"],
            "script 2, line 2: twice is an ordinary function of Python: write @fn above it",
        ),
        (
            [HEAD + "@fn\ndef f(x: Real) -> Real:\n    return f(x - 1)\n"],
            "script 1, line 4: NameError: name 'f' is not defined yet: a body runs where it is defined, and",
        ),
        (
            [HEAD + "f = fn([Real], Real, lambda x: g(x))\n", "@fn\ndef g(x: Real) -> Real:\n    return x\n"],
            "script 1, line 2: NameError: name 'g' is not defined yet: a body runs where it is defined, and",
        ),
        ([HEAD + "f = fn([Real], Real, fx)"], "script 1, line 2: NameError: name 'fx' is not defined\n"),
        ([HEAD + "\nf = expr('x +')"], "script 1, line 3: ExpressionError: expr: invalid syntax\n  x +\n"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_by_its_place(texts: list[str], expected: str) -> None:
    assert message(*texts).startswith(expected)


@pytest.mark.filterwarnings("default")
def test_warnings_are_told_by_their_place() -> None:
    texts = [HEAD, "\nimport warnings\nfor _ in range(2):\n    warnings.warn('old')\nx = 1 is 1\n"]
    assert not imports_more(texts)
    assert json.loads(functions_of(texts))["warnings"] == [
        'script 2, line 5: SyntaxWarning: "is" with a literal. Did you mean "=="?',
        "script 2, line 4: UserWarning: old",
    ]
    with pytest.warns(UserWarning, match="of no script"):
        functions_of(["import warnings\nwarnings.warn_explicit('of no script', UserWarning, 'else.py', 3)"])


def test_opaque_functions_stay_in_python() -> None:
    opaque = "import math\nlgamma = opaque([Real], Real, math.lgamma)\n"
    assert "lgamma is opaque: it runs Python" in message(HEAD + opaque)


def test_what_has_to_be_fetched_first() -> None:
    assert not imports_more([HEAD, "import json, math\nfrom os import path\nfrom . import x"])
    assert imports_more(["    def f():\n        import nowhere.at_all"])
    # where there are so many names before it that its own has a number of two bytes
    assert imports_more(["\n".join(f"a{k} = {k}" for k in range(300)) + "\nimport nowhere"])
    assert not imports_more([HEAD, "# import nowhere\n'import nowhere'"])
    assert not imports_more(["import nowhere.at_all", "x = "])
