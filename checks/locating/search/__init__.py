"""Where a predicted tensor is among all that a pass computed, and which parameters made it."""
