"""The trusted side of a submission's process: starting it, asking it, and ending it within its limits."""
