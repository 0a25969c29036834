"""What was handed in: reading it, the child process that runs it, and the trace of one forward pass."""
