"""What programs are: types, operations, the intermediate representation, its semantics and its text."""
