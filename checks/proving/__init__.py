"""Whether what is blamed is the cause: right numbers are put there, and the rest is looked at."""
