"""A GPT-style decoder as an architecture of vitcheck: a table of stages, and how they are found."""
