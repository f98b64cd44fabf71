"""How authors write programs in Python: symbolic values that keep what is done with them."""
