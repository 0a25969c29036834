"""A course of one's own: the files that it starts with, and trying its assignment before it is handed out."""
