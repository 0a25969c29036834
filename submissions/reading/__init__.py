"""What was handed in, from bytes to files and from text to code. Nothing here executes any of it."""
