"""The report that is handed in beside the code, read as text with its structure."""
