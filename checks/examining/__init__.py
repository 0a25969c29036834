"""What the checks ask of a submission, computed when it is first asked for."""
