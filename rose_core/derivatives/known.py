"""What is known from programs before: a program that has been edited is compiled where it has changed.

Functions that a recording has in common with an earlier one are the same objects (`Known.functions`), and
so are their reverse derivatives, as long as they are asked for the same: what a forward function leaves on
the tape depends on what backward functions need, and these on who wants which cotangents. So each derivative
that functions share remembers, in order, what was asked of it and what it asked of others. Asked the same
once more, it passes the same on; asked anything else, it is `Outdated`, and all derivatives are made anew.

So a program's bytes never depend on what came before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from rose_core.deep import empty
from rose_core.language.ir import ENDLESS, Func

if TYPE_CHECKING:
    from rose_core.derivatives.linearize import Derivatives
    from rose_core.derivatives.tape import Backward, Transposed

Key = tuple[Func, tuple[bool, ...], bool]
"""A function, which of its parameters vary, and whether its loops keep nothing in arrays."""

Limits = tuple[tuple[int, int], ...]
"""Parameters that are another array in every iteration → how many numbers may be kept in place of each."""

Request = tuple[tuple[int, ...], tuple[int, ...], Limits, tuple[int, ...]]
"""The results and the accumulators with cotangents, what may be kept of parameters, and the results, arrays,
whose updates are to be taken back."""

Event = tuple[Key, Request | None]
"""A derivative that was asked for, or a backward function of it."""

PROGRAMS = 4
"""So many programs back things are remembered."""


class Outdated(Exception):
    """A derivative is asked for something else than in the program before."""


class Record:
    """What a derivative was asked, and what it asked for."""

    def __init__(self, known: Known, key: Key, derivative: Transposed, made: list[Event]) -> None:
        self.known = known
        self.key = key
        self.derivative = derivative
        self.is_old = False
        """Whether an earlier program made it."""
        self.program = 0
        """The last program that used it."""
        self.made = made
        """What its forward function asked for."""
        self.requests: dict[Request, list[Event]] = {}
        """The backward functions, in order, and what each of them asked for."""
        self.seen: set[Request] = set()
        """The backward functions that this program has asked for."""
        self.expected: Iterator[Request] = iter(())
        """Those that it is still to ask for, if an earlier program made them."""


class Known:
    """Functions and derivatives of the last programs."""

    def __init__(self) -> None:
        self.functions: dict[object, tuple[Func, int]] = {}
        """By what they are made from: functions, and the last program that had them."""
        self._records: dict[Key, Record] = {}
        self._asking: list[list[Event]] = [[]]
        """Where events are noted: for each derivative being made."""
        self.programs = 0
        """How many there have been."""
        self._derivatives: Derivatives

    def function(self, key: object, make: Callable[[], Func]) -> Func:
        """The function with that key."""
        found = self.functions.get(key)
        func = found[0] if found else make()
        self.functions[key] = func, self.programs
        return func

    def begin(self, derivatives: Derivatives) -> None:
        """Begin the derivatives of a program, of which ``derivatives`` has each."""
        self._derivatives = derivatives
        self._asking = [[]]

    def transposed(
        self, f: Func, varying: tuple[bool, ...], room: int = ENDLESS, is_part: bool = False
    ) -> Transposed:
        """A reverse derivative of the current program."""
        return self._derivatives.transposed(f, varying, room, is_part)

    def forward(self, f: Func, varying: tuple[bool, ...]) -> tuple[Func, list[bool]]:
        """A forward derivative of the current program."""
        return self._derivatives.forward(f, varying)

    def derivative(self, key: Key, make: Callable[[], Transposed]) -> Transposed:
        """The derivative with that key, of which the program has none yet."""
        record = self._records.get(key)
        if record is None:
            self._asking.append([])
            found = make()
            record = found.record = self._records[key] = Record(self, key, found, self._asking.pop())
        else:
            record.is_old = True
            record.seen = set()
            record.expected = iter(record.requests)
        record.program = self.programs
        return record.derivative

    def ask(self, key: Key, request: Request | None = None) -> None:
        """Note what is asked for."""
        self._asking[-1].append((key, request))

    def backward(self, record: Record, request: Request, make: Callable[[Request], Backward]) -> Backward:
        """A backward function of a derivative that is shared, by ``make`` if there is none."""
        self.ask(record.key, request)
        done = record.derivative.done
        if request not in record.seen:
            if record.is_old:
                if next(record.expected, None) != request:
                    raise Outdated
                record.seen.add(request)
                self.repeat(record.requests[request])
            else:
                record.seen.add(request)
                events = record.requests[request] = []
                self._asking.append(events)
                done[request] = make(request)
                self._asking.pop()
        return done[request]

    def repeat(self, events: list[Event]) -> None:
        """Ask for the same once more."""
        for (f, varying, no_arrays), request in events:
            found = self.transposed(f, varying, 0 if no_arrays else ENDLESS)
            if request is not None:
                found.backward(*request)

    def events(self, derivative: Transposed) -> list[Event]:
        """What the forward function of a derivative of an earlier program asked for."""
        record = derivative.record
        return record.made if record and record.is_old else []

    def forget(self) -> None:
        """Forget all of it."""
        self._forget(self._records.values())
        empty(self.functions)

    def _forget(self, records: Iterable[Record]) -> None:
        old = list(records)
        while old:
            record = old.pop()
            del self._records[record.key]
            # what refers to itself would stay until the next full collection
            record.derivative.record = None

    def program(self, make: Callable[[], Func]) -> Func:
        """The program, by ``make``, which begins its derivatives; anew if known ones are `Outdated`."""
        try:
            try:
                return self._program(make)
            except Outdated:
                self._forget(self._records.values())
                return self._program(make)
        except BaseException:
            self._forget(self._records.values())  # of which some may be unfinished
            self._age()
            raise

    def _program(self, make: Callable[[], Func]) -> Func:
        found = make()
        del self._derivatives  # nothing else that the program is made with is to be kept
        self._asking = [[]]
        self._end()
        return found

    def _end(self) -> None:
        """End a program: forget what is old, or raise `Outdated` if not all was asked as before."""
        if any(
            record.program == self.programs and record.is_old and len(record.seen) < len(record.requests)
            for record in self._records.values()
        ):
            raise Outdated
        self._age()

    def _age(self) -> None:
        """Forget what none of the last programs had."""
        self.programs += 1
        oldest = self.programs - PROGRAMS
        self._forget(r for r in self._records.values() if r.program < oldest)
        known = self.functions
        self.functions = {key: pair for key, pair in known.items() if pair[1] >= oldest}
        empty(known)
