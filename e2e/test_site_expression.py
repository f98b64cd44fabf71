"""Expressions as people type them: what they mean, and what is said when they mean nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import pytest

GOOD = {
    "x**y": 8,
    "x^y": 8,
    "-x^2": -4,
    "2^-x": 0.25,
    "2^3^2": 512,
    "1-2-3": -4,
    "8/2/2": 2,
    "x - -y": 5,
    "--x": 2,
    "-x*y": -6,
    "-x^-1": -0.5,
    "(x+y)*2": 10,
    "2*x+y*3": 13,
    "max(x,y,5)": 5,
    "min(x, y, 5)": 2,
    "atan2(y, x)": math.atan2(3, 2),
    "ln(e)": 1,
    "2·π": 2 * math.pi,
    "x−y": -1,
    "6÷y×x": 4,
    "1e-3*x": 0.002,
    "2E+1*x": 40,
    ".5*x": 1,
    "5.": 5,
    "sqrt(x*x)+abs(-y)": 5,
    "+x": 2,
}

BAD = {
    "": (0, 1, "Type an expression in x and y, for example x*y."),
    "x+": (2, 1, "Something is missing after “+”."),
    "x y": (2, 1, "An operator is missing between “x” and “y”: write * to multiply."),
    "2x": (1, 1, "An operator is missing between “2” and “x”: write * to multiply."),
    "2(x)": (1, 1, "An operator is missing between “2” and “(”: write * to multiply."),
    "x(2)": (0, 1, "“x” is not a function: to multiply, write x*(…)."),
    "x+*y": (2, 1, "Expected a number, x or y after “+”."),
    "*x": (0, 1, "Expected a number, x or y here."),
    "sin": (0, 3, "“sin” needs parentheses: sin(…)."),
    "x+sin()": (6, 1, "Expected a number, x or y after “(”."),
    "y*sinn(x)": (2, 4, "There is no “sinn”; is it “sin”?"),
    "Sqrt(x)": (0, 4, "There is no “Sqrt”; is it “sqrt”?"),
    "x+(y*(2": (5, 1, "This “(” is never closed."),
    "x)": (1, 1, "This “)” closes nothing."),
    "pow(x)": (0, 3, "“pow” takes 2 arguments, here is 1."),
    "sin(x,y)": (0, 3, "“sin” takes 1 argument, here are 2."),
    "max(x)": (0, 3, "“max” takes two arguments or more, here is 1."),
    "x,y": (1, 1, "A comma stands only between the arguments of a function."),
    "1.2.3": (0, 5, "“1.2.3” is not a number."),
    "x=2": (1, 1, "“=” means nothing in an expression."),
    "x+😀": (2, 2, "“😀” means nothing in an expression."),
    "constructor(x)": (
        0,
        11,
        "There is no “constructor”: the variables are x and y, and the functions are listed below.",
    ),
    "(" * 150 + "x": (100, 1, "This is nested too deeply."),
    "+".join("x" * 5000): (1999, 1, "This is too long."),
}


@pytest.fixture(scope="module")
def parse(node: Callable[[str], str]) -> Callable[[list[str]], list[object]]:
    """What expressions give at (2, 3), or what is wrong with them and where."""

    def run(texts: list[str]) -> list[object]:
        answer: list[object] = json.loads(
            node(
                """import { evaluator, parse } from "./site/lib/expression.js";
                const read = (text) => {
                  try { return evaluator(parse(text))(2, 3); }
                  catch ({ at, length, message }) { return [at, length, message]; }
                };
                console.log(JSON.stringify("""
                + json.dumps(texts)
                + ".map(read)))"
            )
        )
        return answer

    return run


def test_values(parse: Callable[[list[str]], list[object]]) -> None:
    assert dict(zip(GOOD, parse(list(GOOD)), strict=True)) == pytest.approx(GOOD, rel=1e-15)


def test_mistakes(parse: Callable[[list[str]], list[object]]) -> None:
    found = dict(zip(BAD, parse(list(BAD)), strict=True))
    assert found == {text: list(error) for text, error in BAD.items()}


def test_rose_computes_the_same(node: Callable[[str], str]) -> None:
    """Every function of the table has the name and the meaning that it has in Rose."""
    answer = node(
        """import * as rose from "./rose.js";
        import { FUNCTIONS, evaluator, parse, record } from "./site/lib/expression.js";
        const { Real, compile, fn } = rose;
        const texts = FUNCTIONS.map((f) => {
          try { parse(`${f}(x)`); return `${f}(x)`; } catch { return `${f}(x, y)`; }
        });
        texts.push("-x + y*2 - x/y^x");
        const wrong = [];
        for (const text of texts) {
          const tree = parse(text);
          const f = await compile(fn([Real, Real], Real, (x, y) => record(tree, rose, x, y)));
          for (const [x, y] of [[0.3, 0.7], [0.9, -2.5], [-0.4, 1.5]])
            if (!(Math.abs(f(x, y) - evaluator(tree)(x, y)) < 1e-12) && !Number.isNaN(f(x, y)))
              wrong.push([text, x, y, f(x, y), evaluator(tree)(x, y)]);
        }
        console.log(JSON.stringify(wrong));"""
    )
    assert json.loads(answer) == []
