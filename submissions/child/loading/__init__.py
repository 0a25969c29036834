"""A student's files executed so far that their classes and functions can be used."""
