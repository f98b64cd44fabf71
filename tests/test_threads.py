"""Several threads define and compile functions at once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

from rose_core import Real, Size, Vec, compile, fn, sin, sum
from rose_core.deep import deep_recursion


def at_once(*works: Callable[[], float]) -> list[float]:
    with ThreadPoolExecutor(len(works)) as pool:
        return [result.result(timeout=60) for result in [pool.submit(work) for work in works]]


def test_functions_are_defined_at_once() -> None:
    """One is begun before another ends, and ended after it."""
    begun, ended = Event(), Event()

    def first(x):
        begun.wait(30)
        return sin(x)

    def second(x):
        begun.set()
        ended.wait(30)
        return x * x

    def one() -> float:
        f = fn([Real], Real, first)
        ended.set()
        return compile(f)(0.0)

    assert at_once(one, lambda: compile(fn([Real], Real, second))(3.0)) == [0, 9]


def test_sizes_are_known_where_a_function_is_made_for_them() -> None:
    both, n = Barrier(2, timeout=30), Size("n")

    def body(v):
        both.wait()
        total = sum(n, lambda i: v[i]) * n
        both.wait()
        return total

    f = fn([Vec(n, Real)], Real, body)
    assert at_once(lambda: compile(f.at(n=2))([1, 2]), lambda: compile(f.at(n=3))([1, 2, 3])) == [6, 18]


def test_one_thread_ends_no_recursion_of_another() -> None:
    before, inside, entered, left = sys.getrecursionlimit(), [], Event(), Event()

    def other() -> None:
        with deep_recursion():
            entered.set()
            left.wait(30)
            inside.append(sys.getrecursionlimit())

    thread = Thread(target=other)
    with deep_recursion():
        thread.start()
        entered.wait(0.1)
    left.set()
    thread.join()
    assert inside == [1_000_000]
    assert sys.getrecursionlimit() == before
