"""The result record: plain data, and all that reports may see. Imports no torch."""
