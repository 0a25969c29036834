"""How blocks are wired, and what may stand where a row of the wiring is not followed."""
