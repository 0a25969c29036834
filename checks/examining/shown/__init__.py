"""What a student shows as a stage, or returns as the answer, against what was computed."""
