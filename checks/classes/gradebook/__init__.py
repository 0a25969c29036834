"""What is kept of every run: results as they are made, and what instructors decide about them."""
