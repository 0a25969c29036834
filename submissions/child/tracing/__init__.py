"""One pass recorded below autograd: its operations, what is returned, and where it fails."""
