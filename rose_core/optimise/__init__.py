"""Passes that make programs do the same with less work; in parentheses, what compilers usually call them.

Each takes a function, and gives back that or a changed copy. They run in the order in which they stand here.

On a whole program, before anything is differentiated (`derivatives.expand`):

- `inline`: short functions stand in place of their calls (inlining);
- `common`: what several calls compute of the same arguments is computed once, before them;
- `inline` again: functions that are called once, in a loop, stand in place of that call.

On each function, before it is differentiated, first its loops:

- `proven`: indices are not checked where a condition has told that they are right (bounds-check elimination);
- `hoist`: a loop that does the same in all iterations of one around it moves out (loop-invariant code
  motion);
- `fused`: loops side by side that compute much of the same become one (loop fusion);
- `guarded`: a sum under a condition on the index becomes a loop over the range where that holds;
- `bounded`: so does a loop with a state that only changes in such a range;
- `begun`: iterations at its ends are written out where choices go another way (loop peeling);
- `joined`: a loop that reads what one with a state keeps becomes part of that (loop fusion);

then what these carry:

- `stores`: elements that sides of a choice set are set after it (store sinking);
- `scalars`: short vectors in a state are the numbers they consist of (scalar replacement of aggregates);
- `carried`: elements that earlier iterations have set become state (scalar replacement);
- `outside`: what a body computes of its arguments alone moves out of the loop (loop-invariant code motion);
- `narrow`: the body of a loop gets rows in place of matrices of which it reads no more.

On the whole program, once its derivatives are made:

- `demanded`: results of choices and loops that nobody uses are left out (dead code elimination);
- `powers`: powers with short exponents become products (strength reduction).

On each function, before it is lowered (`unroll.unrolled`):

- `sunk`: a row that only a side of a choice reads is taken there (code sinking);
- `elements`: a vector that is made to be added is added number by number (scalar replacement);
- `interchange`: a loop along rows goes inside of the one over rows (loop interchange);
- `single`: calls of a function that is one operation become that operation;
- `unroll`: short inner loops are unrolled, by `jam` side by side (unroll and jam);
- `predicated`: both sides of short choices are computed, and then what holds is taken (if-conversion);
- `mapped`: what each iteration adds to an element of its own is a result of the loop (scatter to map); and
  again of loops that `tapeless` makes one;
- `tapeless`: a loop and the backward loop that follows it become one (loop fusion);
- `peel`: the iterations at the ends of a loop, where choices go another way, are written out (loop peeling);
- `gather`: what a loop adds to many neighbours is gathered in another one (scatter to gather);
- `once`: what several loops compute with library functions is computed in one of them.

On the whole program, last:

- `sums`: a loop whose state is nothing but sums becomes one without a state, which may run in lanes.

What they have in common:

- `copies`, `other_loops`: functions in which calls, or loops, become others;
- `movable`: what may be done elsewhere; `invariants`: the values that `hoist` computes ahead;
- `numbering`: which values are the same (value numbering);
- `pieces`: how indices follow a loop; `ends`: what goes the same way in all iterations but some at its ends;
- `ranges`: in which iterations a loop does anything;
- `unchanged`: which numbers of a state no iteration changes;
- `cases`: when a value has a part in a derivative; `reads`: which iterations read the same of tables;
- `written`: loops unrolled before anything is differentiated.
"""
