"""Is it right, and if not, why: locating stages, known mistakes, the result record."""
