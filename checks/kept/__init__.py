"""What the figures of a report need, kept while grading: tensors of one image, and what was measured on them."""
