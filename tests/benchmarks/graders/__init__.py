"""Other graders, and vitcheck as one of them, each given the same ten checks."""
