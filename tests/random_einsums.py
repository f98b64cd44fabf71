"""Random sums of products of vectors and matrices, by indices in any order, and functions of them."""

from __future__ import annotations

from random import Random

from random_points import numbers

from rose_core import Real, Vec, exp, fn, sin, vec
from rose_core import sum as total

LETTERS = "ijkl"


class Einsums:
    """A function that makes arrays of others, one after the other, and adds up the last and the first."""

    def __init__(self, seed: int) -> None:
        self.draw = draw = Random(seed)
        self.sizes = {letter: draw.choice([2, 3, 4, 4, 5, 6]) for letter in LETTERS}
        self.params = [
            "".join(draw.sample(LETTERS, draw.choice([1, 2, 2, 3]))) for _ in range(draw.choice([2, 3]))
        ]
        known = list(self.params)
        self.steps = []
        for _ in range(draw.randrange(1, 4)):
            factors = [draw.randrange(len(known)) for _ in range(draw.choice([1, 2, 2, 3]))]
            letters = sorted({letter for k in factors for letter in known[k]})
            made = "".join(draw.sample(letters, min(len(letters), draw.choice([1, 2, 2]))))
            over = [letter for letter in letters if letter not in made]
            draw.shuffle(over)
            self.steps.append((factors, made, over, draw.choice([None, None, sin, exp])))
            known.append(made)
        self.known = known
        self.function = fn([self.type(letters) for letters in self.params], Real, self.body)

    def type(self, letters: str):
        return Vec(self.sizes[letters[0]], self.type(letters[1:])) if letters else Real

    def body(self, *arrays):
        arrays = list(arrays)
        for step in self.steps:
            arrays.append(self.made(step, arrays, step[1], {}))
        last = len(self.params)
        sums = [self.summed(arrays[k], self.known[k]) for k in {last, len(arrays) - 1}]
        return sum(sums[1:], sums[0])

    def made(self, step, arrays, letters: str, at: dict):
        factors, _, over, function = step
        if letters:
            first, rest = letters[0], letters[1:]
            element = self.type(rest)
            return vec(self.sizes[first], element, lambda i: self.made(step, arrays, rest, {**at, first: i}))
        value = self.product(factors, arrays, over, at)
        return function(0.3 * value) if function else value

    def product(self, factors, arrays, over, at: dict):
        if over:
            return total(
                self.sizes[over[0]], lambda i: self.product(factors, arrays, over[1:], {**at, over[0]: i})
            )
        out = 1.0
        for k in factors:
            x = arrays[k]
            for letter in self.known[k]:
                x = x[at[letter]]
            out = x * out
        return out

    def summed(self, x, letters: str):
        if not letters:
            return sin(x)
        return total(self.sizes[letters[0]], lambda i: self.summed(x[i], letters[1:]))

    def arguments(self):
        return [numbers(self.draw, [self.sizes[letter] for letter in letters]) for letters in self.params]
