"""The kinds of checks, a file each: what it is called, which points pay for it, and what it looks at."""
