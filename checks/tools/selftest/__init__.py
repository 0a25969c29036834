"""How often vitcheck is wrong: measured on programs of which it is known what is wrong with them."""
