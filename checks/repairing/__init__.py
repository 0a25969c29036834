"""What one small change makes a wrong program right: which line, and what stands there."""
