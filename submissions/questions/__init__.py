"""What both sides of a submission's process know: the wire between them, and what they draw and answer."""
