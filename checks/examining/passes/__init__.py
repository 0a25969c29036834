"""Passes of a submission at drawn sizes: traced, located, and repeated with something changed."""
