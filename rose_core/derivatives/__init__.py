"""Derivatives of programs: forward mode, and reverse mode as a forward pass that is then transposed.

`expand` makes the derivatives that a program asks for, between passes of `rose_core.optimise`, and `known`
keeps them for the next program. For both modes, `rules` makes the formulas of the table ready for use, and
`activity` tells which values vary, before any derivative is made.

Forward mode:

- `jvp`: a value and its tangent, side by side;
- `directions`: many tangents at one place, for which the primal is computed once;
- `jet`, with the arithmetic of `series`: the same for Taylor series in place of tangents;
- `pushforward`: what both do with calls, choices and loops.

What is done to a function before reverse mode, so that little is kept of it, in this order:

- `compared`: numbers that are only compared are not put into a vector;
- `nearest`: of numbers that are computed `alike`, only the least or largest is differentiated;
- `extremes`: of a loop that finds such a number, only the iteration that it is from, or (`replaced`) the last
  iteration that replaced the state; `iterations` computes one iteration by itself;
- `chosen`: what a condition on indices does not choose has no infinite derivative.

Reverse mode:

- `linearize`, and for choices and loops `linearize_control`: the forward pass;
- `transpose`, and for choices and loops `transpose_control`: the backward pass, in which `cotangents` brings
  values over and adds cotangents up, and `sweep` is the rules for scalars, written out;
- `tape`: a function for each pass, and the tape between them;
- `remat`: checkpoints, which keep less and compute it again (rematerialisation);
- `kept`: which elements of changing arrays are on the tape; `updates`, `versions`: arrays that are not, since
  the backward pass takes their updates back; `passing`: cotangents that stay where they are;
- `promoted`: what all iterations of a backward loop add to one element is added up in its state;
- `settled`: accumulators of backward functions that start from what is added to them, not from zeros;
  `filled`: the same for an element.

`adapt` gives functions another signature.
"""
