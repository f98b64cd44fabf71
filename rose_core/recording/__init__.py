"""Programs as flat numbers: read, written, and searched for what they repeat.

`record` reads a program, whose functions are `rows` with `operands` and types (`typed`). Authors' helpers and
loops have left copies in it, which are found before anything is built:

- `share`: functions that differ in literals only are one;
- `overlap`: functions that compute much of the same are one, without the calls between them.

`body` builds a function, mostly row by row (`straight`). But loops are found again:

- `reroll`: copies of rows are a loop (`repeat`), if `copies` finds that they do the same, with what differs
  in `columns`, and that no iteration does `harm`; `iteration` builds one;
- `roll`: so are rows of calls; `totals`: sums of what either of these gives.

`named` makes what a recording mentions by name only: derivatives, and solutions of equations. `serialize`
writes recordings of what Python has traced, `rebuild` reads them again, and `scripts` runs Python in a page.
"""
