"""What students might do to get points that they did not earn, or to spoil the grading of others."""
