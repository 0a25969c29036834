"""What keeps a submission's process from everything but its own work. Imports no torch."""
