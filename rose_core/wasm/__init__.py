"""From instructions to the bytes of a WebAssembly module.

`program` makes the module, and lowers its functions one by one. Before that it asks about all of them:

- `needs`: which functions of `rose_core.libm` they call;
- `enclosed`: which bodies and sides are written where they run, in place of a call;
- `reuse`: which arrays are overwritten by their updates; `given`: which accumulators may be parts of one;
- `constants`: what is in memory from the start; `layout`: how values lie there, and how functions are called.

A function gets all this as its `context`. `lowered` keeps its code for as long as its place is the same, and
`lower` writes that, in a class on top of others, each for some instructions:

- `values`: where values are, in memory and in local variables; `expressions`: the code of scalars, in which
  `branches` set both sides of a minimum;
- `lower_control`: choices, updates of arrays, and tapes; `lower_loops`: loops with a state;
- `lower_sums`: accumulators; `windows`: those of stencils, of which a few elements are in local variables;
- `lower_calls`: calls; and `lower` itself: loops without a state, vectors, and the way in and out.

Loops without a state run two iterations at a time, in the lanes of 128-bit numbers, where they can:

- `lanes`: whether a loop can; `apart`: which of its indices differ; `lane_order`: in which order it adds;
- `recurrences`: whether loops with a state in it can, too; `lane_numbers`: operations in lanes;
- `lane_writer`: the loop; `lane_code`: its iterations, with `lane_sums` and `lane_flow` for what they add up,
  and `recurrence_code` for loops with a state;
- `rows`: the same for a loop over rows, with loops over their elements in it;
- `strides`: numbers of two iterations, read and written.

Besides, `bulk` copies, adds and clears arrays, `parts` cuts long functions, `limits` refuses what engines do
not take, `runtime` has what programs need while they run, and `wat` shows a module as text.
"""
