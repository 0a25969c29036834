"""The stages of a block, one step of the walk after the other."""
