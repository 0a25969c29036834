"""Going on where no known equation leads, or where a pass ended."""
