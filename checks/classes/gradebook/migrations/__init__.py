"""How the tables of a gradebook came to be what they are."""
