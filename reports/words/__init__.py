"""The words of reports: what people read, in the terminal and on pages alike."""
