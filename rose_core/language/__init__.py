"""What programs are: types, operations, the intermediate representation, its semantics and its text.

- `ir`: functions, blocks and instructions: read this first; `queries`: what passes ask about these; `types`:
  what a value can be;
- `ops`: the table of operations; `formula`: the algebra of their derivatives; `reals`, `indices`, `defined`:
  how they compute;
- `builder`: appends instructions; `simplify`: what it rewrites meanwhile; `tables`, `window`: vectors that it
  knows more of;
- `replay`: copies a function into another, and is what most passes are made of;
- `demand`: which values are needed, and how often; `check`: the typing rules;
- `interp`: runs a function, and is by definition right;
- `text`: prints functions; `parse`, `elaborate`: read them; `flatten`: takes pairs and structs apart.
"""
